import { RunQueries } from '../../src/chat/run-queries.service';
import type { RunListQuery } from '../../src/chat/run-list-query';
import type { Page } from '../../src/chat/run-list-views';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { RUN_SORTS, SORT_ORDERS } from '../../src/ports/run-query-store.port';
import { RunQueryRepository } from '../../src/runs/run-query.repository';
import { FALLBACK_CLASSES } from '../../src/vocabulary/statuses';
import { RUN_STATUSES } from '../../src/vocabulary/run-lifecycle';
import { VERDICTS } from '../../src/vocabulary/verdicts';
import { eraseListed, listedRun, storeListed, uuid, type ListedRun } from './listed-runs';
import { AT, after, invocationOf, openStore, type Store } from './run-fixture';
import { describeOnEachDatabase } from './test-databases';

const WORDS = ['checkout', 'slow', 'errors', 'payments', 'Zürich', 'why', 'it’s', '支付'] as const;
const REASONS = ['BINDING_FAILED', 'NOTHING_VERIFIED', 'TOOL_DENIED'] as const;

/** Numbers that look random and are the same each time. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Runs with many equal keys: 40 instants and 12 durations for all of them. */
function randomRuns(count: number): ListedRun[] {
  const next = numbersFrom(20_260_504);
  const one = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T;
  return Array.from({ length: count }, (_, index) => {
    const status = one([...RUN_STATUSES, 'SUCCESS' as const, 'SUCCESS' as const]);
    const fell = next() < 0.3;
    return listedRun(index, {
      id: uuid(Math.floor(next() * 2 ** 40)),
      session_id: uuid(Math.floor(next() * 5)),
      status,
      agent_flow: one(['DIAGNOSIS_GRAPH', 'DIAGNOSIS_GRAPH', 'DIRECT']),
      verdict: one([...VERDICTS, null]),
      degraded: fell,
      fallback_class: fell ? one(FALLBACK_CLASSES) : null,
      fallback_reason: fell ? one(REASONS) : null,
      tool_failed: next() < 0.2,
      created_at: after(Math.floor(next() * 40) * 60_001),
      duration_ms: status === 'PENDING' || status === 'RUNNING' ? null : Math.floor(next() * 12) * 100,
      question: WORDS.filter(() => next() < 0.4).join(' '),
    });
  });
}

const [FROM, TO] = [after(10 * 60_001), after(25 * 60_001)] as const;

/** Each documented filter alone, some together, and how a list in memory tells the same. */
const FILTERS: readonly (readonly [string, RunListQuery, (run: ListedRun) => boolean])[] = [
  ['nothing', {}, () => true],
  ...RUN_STATUSES.map((status) => [`status ${status}`, { status }, (run: ListedRun) => run.status === status] as const),
  ...VERDICTS.map((verdict) => [`verdict ${verdict}`, { verdict }, (run: ListedRun) => run.verdict === verdict] as const),
  ['no verdict', { verdict: 'none' }, (run) => run.verdict === null],
  ['degraded', { degraded: true }, (run) => run.degraded],
  ['not degraded', { degraded: false }, (run) => !run.degraded],
  ...FALLBACK_CLASSES.map(
    (fallbackClass) => [fallbackClass, { fallbackClass }, (run: ListedRun) => run.fallback_class === fallbackClass] as const,
  ),
  ['fallback reason', { fallbackReason: 'BINDING_FAILED' }, (run) => run.fallback_reason === 'BINDING_FAILED'],
  ['session', { sessionId: uuid(3).toUpperCase() }, (run) => run.session_id === uuid(3)],
  ['agent flow', { agentFlow: 'DIRECT' }, (run) => run.agent_flow === 'DIRECT'],
  ['tool failed', { toolFailed: true }, (run) => run.tool_failed],
  ['no tool failed', { toolFailed: false }, (run) => !run.tool_failed],
  ['a word', { question: 'Checkout' }, (run) => run.question.includes('checkout')],
  ['a word with an umlaut', { question: 'ZÜRICH?' }, (run) => run.question.includes('Zürich')],
  ['a word of another script', { question: '支付' }, (run) => run.question.includes('支付')],
  ['a part of a word', { question: 'check' }, () => false],
  [
    'words in another order',
    { question: 'slow, Why, checkout' },
    (run) => ['slow', 'why', 'checkout'].every((word) => run.question.includes(word)),
  ],
  ['from', { from: FROM.toISOString() }, (run) => run.created_at >= FROM],
  ['to', { to: '2026-05-04T14:25:01.148+02:00' }, (run) => run.created_at < new Date('2026-05-04T12:25:01.148Z')],
  ['a range', { from: FROM.toISOString(), to: TO.toISOString() }, (run) => run.created_at >= FROM && run.created_at < TO],
  [
    'many at once',
    { status: 'SUCCESS', degraded: false, toolFailed: false, agentFlow: 'DIAGNOSIS_GRAPH', from: FROM.toISOString() },
    (run) =>
      run.status === 'SUCCESS' &&
      !run.degraded &&
      !run.tool_failed &&
      run.agent_flow === 'DIAGNOSIS_GRAPH' &&
      run.created_at >= FROM,
  ],
  [
    'words within a status and a range',
    { question: 'why slow', status: 'SUCCESS', to: TO.toISOString() },
    (run) => ['slow', 'why'].every((word) => run.question.includes(word)) && run.status === 'SUCCESS' && run.created_at < TO,
  ],
  [
    'words within a session',
    { question: 'why slow', sessionId: uuid(1) },
    (run) => ['slow', 'why'].every((word) => run.question.includes(word)) && run.session_id === uuid(1),
  ],
];

describeOnEachDatabase('lists of runs', (db) => {
  let store: Store;
  let queries: RunQueries;

  async function everyPage<T>(read: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
    const seen: T[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await read(cursor);
      seen.push(...page.items);
      if (page.nextCursor === null) return seen;
      expect(page.items.length).toBeGreaterThan(0);
      if (seen.length > 1_000) throw new Error('The pages do not end.');
      cursor = page.nextCursor;
    }
  }

  async function refusal(work: Promise<unknown>): Promise<DiagnosisError> {
    const error: unknown = await work.then(
      () => 'resolved',
      (reason: unknown) => reason,
    );
    if (!DiagnosisError.is(error)) throw new Error(`refused nothing: ${String(error)}`);
    return error;
  }

  async function open(): Promise<void> {
    store = await openStore(db);
    queries = new RunQueries(new RunQueryRepository(store.dataSource), store.evaluations);
  }

  describe('against a list in memory', () => {
    const runs = randomRuns(300);

    beforeAll(async () => {
      await open();
      await storeListed(store.dataSource, runs);
    });
    afterAll(() => store.close());

    function expected(matches: (run: ListedRun) => boolean, sort: 'start' | 'duration', order: 'desc' | 'asc'): string[] {
      const key = (run: ListedRun): number => (sort === 'start' ? run.created_at.getTime() : (run.duration_ms ?? 0));
      const way = order === 'desc' ? -1 : 1;
      return runs
        .filter((run) => matches(run) && (sort === 'start' || run.duration_ms !== null))
        .sort((a, b) => way * (key(a) - key(b) || (a.id < b.id ? -1 : 1)))
        .map((run) => run.id);
    }

    it.each(FILTERS)('gives the same runs for %s, by either sort in both orders', async (_name, filter, matches) => {
      for (const sort of RUN_SORTS) {
        for (const order of SORT_ORDERS) {
          const wanted = expected(matches, sort, order);
          const items = await everyPage((cursor) => queries.runs({ ...filter, sort, order, limit: 23, cursor }));
          expect(items.map((item) => item.id)).toEqual(wanted);
          const counted = await queries.runs({ ...filter, sort, order, limit: 1, total: true });
          expect([counted.total, counted.items.length]).toEqual([wanted.length, Math.min(1, wanted.length)]);
        }
      }
    });

    it('finds something for all but one of the filters', () => {
      const empty = FILTERS.filter(([, , matches]) => !runs.some(matches)).map(([name]) => name);
      expect(empty).toEqual(['a part of a word']);
    });

    it('is newest first, twenty at a time and uncounted, unless asked otherwise', async () => {
      const page = await queries.runs();
      expect(page.items.map((item) => item.id)).toEqual(expected(() => true, 'start', 'desc').slice(0, 20));
      expect(page.total).toBeNull();
    });

    it('takes another limit on the way, and ends with a full page', async () => {
      const first = await queries.runs({ limit: 100 });
      const second = await queries.runs({ limit: 100, cursor: first.nextCursor ?? '' });
      const third = await queries.runs({ limit: 100, cursor: second.nextCursor ?? '' });
      expect([third.items.length, third.nextCursor]).toEqual([100, null]);
      const last = await queries.runs({ limit: 7, cursor: second.nextCursor ?? '' });
      expect(last.items).toEqual(third.items.slice(0, 7));
      expect(last.nextCursor).not.toBeNull();
    });
  });

  describe('over a few runs', () => {
    beforeEach(open);
    afterEach(() => store.close());

    it('shows the scalar facts of a run as they are stored', async () => {
      await storeListed(store.dataSource, [
        listedRun(1, { degraded: true, fallback_class: 'PRE_VERIFICATION', fallback_reason: 'TOOL_DENIED', created_at: AT }),
        listedRun(2, { status: 'RUNNING', verdict: null, duration_ms: null, tool_failed: true, created_at: after(-1) }),
      ]);
      expect((await queries.runs()).items).toEqual([
        {
          id: uuid(1),
          sessionId: uuid(0),
          title: 'Why is run 1 slow?',
          status: 'SUCCESS',
          agent_flow: 'DIAGNOSIS_GRAPH',
          verdict: 'PASS',
          degraded: true,
          failureCode: null,
          fallbackClass: 'PRE_VERIFICATION',
          fallbackReason: 'TOOL_DENIED',
          retries: 0,
          toolFailed: false,
          durationMs: 1_001,
          createdAt: '2026-05-04T12:00:00.123Z',
          startedAt: '2026-05-04T12:00:00.123Z',
          finishedAt: '2026-05-04T12:00:01.124Z',
          messageBytes: null,
          messageSha256: null,
          answerBytes: null,
          answerSha256: null,
          keepsContent: true,
          eraseRequestedAt: null,
        },
        expect.objectContaining({
          id: uuid(2),
          degraded: false,
          verdict: null,
          toolFailed: true,
          durationMs: null,
          startedAt: null,
          finishedAt: null,
          createdAt: '2026-05-04T12:00:00.122Z',
        }),
      ]);
    });

    it.each(RUN_SORTS.flatMap((sort) => SORT_ORDERS.map((order) => [sort, order] as const)))(
      'shows every run that stays exactly once while runs come and go, by %s %s',
      async (sort, order) => {
        const stays = Array.from({ length: 60 }, (_, index) => index * 10);
        const goes = stays.map((number) => number + 1);
        await storeListed(
          store.dataSource,
          [...stays, ...goes].map((number) => listedRun(number, { duration_ms: 100 * Math.floor(number / 30) })),
        );
        const seen: string[] = [];
        let cursor: string | undefined;
        for (let page = 0; ; page += 1) {
          const answer = await queries.runs({ sort, order, limit: 7, cursor });
          seen.push(...answer.items.map((item) => item.id));
          if (answer.nextCursor === null) break;
          cursor = answer.nextCursor;
          // Some go that were shown, some that were not, and with the last of the page the very place that the cursor names.
          const last = answer.items.at(-1)?.id ?? '';
          const gone = goes.filter((number) => number % 7 === page % 7 || uuid(number) === last).map(uuid);
          await eraseListed(store.dataSource, gone);
          const comes = [page * 40 + 3, page * 40 + 24];
          await storeListed(
            store.dataSource,
            comes.map((number) => listedRun(number, { duration_ms: 100 * Math.floor(number / 30) })),
          );
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(stays.map(uuid).filter((id) => !seen.includes(id))).toEqual([]);
      },
    );

    it('goes on behind a run that was erased', async () => {
      await storeListed(
        store.dataSource,
        [1, 2, 3, 4].map((number) => listedRun(number)),
      );
      const { nextCursor } = await queries.runs({ limit: 2 });
      await eraseListed(store.dataSource, [uuid(3)]);
      const rest = await queries.runs({ limit: 2, cursor: nextCursor ?? '' });
      expect(rest.items.map((item) => item.id)).toEqual([uuid(2), uuid(1)]);
    });

    it('lists attempts, tool calls and evaluations of a run in their order, and of no other', async () => {
      await storeListed(store.dataSource, [listedRun(1, { status: 'RUNNING', duration_ms: null }), listedRun(2)]);
      const [run, other] = [uuid(1), uuid(2)];
      const step = (number: number, started: number, run_id = run): Parameters<Store['steps']['record']>[0][number] => ({
        id: uuid(200 + number),
        run_id,
        node: 'planner',
        round: 0,
        attempt: number,
        outcome: 'COMPLETED',
        reason_code: 'OK',
        started_at: after(started),
        duration_ms: 5,
        input_bytes: 10,
        output_bytes: null,
        input_tokens: null,
        output_tokens: 3,
      });
      await store.steps.record([step(1, 30), step(2, 10), step(3, 10), step(4, 0), step(5, 0, other)]);
      for (const ordinal of [3, 1, 2]) await store.traces.begin(invocationOf(run, ordinal, { id: uuid(300 + ordinal) }));
      for (const [number, kind] of ['outcome', 'expected_label', 'a_b', 'aab'].entries()) {
        const detail = { named: kind };
        await store.evaluations.insert({
          id: uuid(400 + number),
          run_id: run,
          kind,
          score: number === 0 ? null : 0.5,
          detail,
          created_at: after(number % 2),
        });
      }
      const steps = await everyPage((cursor) => queries.steps(run, { limit: 1, cursor }));
      expect(steps.map(({ attempt }) => attempt)).toEqual([4, 2, 3, 1]);
      expect(steps[0]).toEqual({
        id: uuid(204),
        node: 'planner',
        round: 0,
        attempt: 4,
        outcome: 'COMPLETED',
        reason_code: 'OK',
        started_at: AT.toISOString(),
        duration_ms: 5,
        input_bytes: 10,
        output_bytes: null,
        input_tokens: null,
        output_tokens: 3,
      });
      const calls = await everyPage((cursor) => queries.invocations(run, { limit: 2, cursor }));
      expect(calls.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3]);
      expect(calls[0]).toEqual({
        id: uuid(301),
        invocation_id: 't1-aaaa',
        round: 0,
        ordinal: 1,
        tool_name: 'log_patterns',
        status: 'RUNNING',
        output_sha256: null,
        output_bytes: null,
        error_code: null,
        started_at: AT.toISOString(),
        duration_ms: null,
      });
      const evaluations = await everyPage((cursor) => queries.evaluations(run, { limit: 1, cursor }));
      expect(evaluations.map(({ kind, score }) => [kind, score])).toEqual([
        ['outcome', null],
        ['a_b', 0.5],
        ['expected_label', 0.5],
        ['aab', 0.5],
      ]);
      expect(await queries.evaluation(run, 'a_b')).toEqual({
        runId: run,
        id: uuid(402),
        kind: 'a_b',
        score: 0.5,
        createdAt: AT.toISOString(),
        detail: { named: 'a_b' },
      });
      const totals = await Promise.all(
        [
          queries.steps(run, { total: true }),
          queries.invocations(run, { total: true }),
          queries.evaluations(run, { total: true }),
        ].map(async (page) => (await page).total),
      );
      expect(totals).toEqual([4, 3, 4]);
      expect((await queries.invocations(other)).items).toEqual([]);
      expect((await refusal(queries.evaluation(run, 'A_B'))).code).toBe('NOT_FOUND');
      expect((await refusal(queries.evaluation(other, 'a_b'))).code).toBe('NOT_FOUND');
    });

    it('knows no run and no session that is not stored', async () => {
      const none = uuid(9);
      for (const work of [
        () => queries.steps(none),
        () => queries.invocations(none),
        () => queries.evaluations(none),
        () => queries.evaluation(none, 'x'),
      ]) {
        expect((await refusal(work())).message).toMatch(/no such run/);
      }
      expect((await refusal(queries.session(none))).code).toBe('NOT_FOUND');
    });

    it('lists sessions newest first, and counts the runs of one', async () => {
      for (const number of [1, 2, 3, 4, 5]) await store.sessions.ensure(uuid(number), after(Math.floor(number / 2)));
      await storeListed(store.dataSource, [
        listedRun(1, { session_id: uuid(3) }),
        listedRun(2, { session_id: uuid(3) }),
        listedRun(3, { session_id: uuid(4) }),
      ]);
      const sessions = await everyPage((cursor) => queries.sessions({ limit: 2, cursor }));
      expect(sessions.map(({ id }) => id)).toEqual([5, 4, 3, 2, 1].map(uuid));
      expect((await queries.sessions({ total: true })).total).toBe(5);
      expect(await queries.session(uuid(3))).toEqual({ id: uuid(3), createdAt: after(1).toISOString(), runs: 2 });
    });
  });
});
