import type { RunListQuery } from '../../src/chat/run-list-query';
import { RunQueries } from '../../src/chat/run-queries.service';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { RUN_SORTS } from '../../src/ports/run-query-store.port';
import { RunQueryRepository } from '../../src/runs/run-query.repository';
import { bodiesIn, listedRun, statementsOf, storeListed, uuid } from './listed-runs';
import { AT, after, openStore, type Store } from './run-fixture';
import { describeOnEachDatabase } from './test-databases';

const FILTERS: readonly RunListQuery[] = [
  {},
  { status: 'SUCCESS' },
  { verdict: 'none' },
  { degraded: false },
  { fallbackClass: 'PRE_VERIFICATION' },
  { fallbackReason: 'TOOL_DENIED' },
  { sessionId: uuid(0) },
  { agentFlow: 'DIAGNOSIS_GRAPH' },
  { toolFailed: false },
  { question: 'slow' },
  { question: 'why run slow' },
  { question: 'why slow', sessionId: uuid(0), status: 'SUCCESS' },
  { from: '2026-05-01T00:00:00Z' },
  { to: '2027-05-01T00:00:00Z' },
];

describeOnEachDatabase('what lists refuse', (db) => {
  let store: Store;
  let queries: RunQueries;

  beforeAll(async () => {
    store = await openStore(db);
    queries = new RunQueries(new RunQueryRepository(store.dataSource), store.evaluations);
    await storeListed(
      store.dataSource,
      [1, 2, 3].map((number) => listedRun(number)),
    );
  });
  afterAll(() => store.close());

  async function refusal(work: Promise<unknown>): Promise<DiagnosisError> {
    const error: unknown = await work.then(
      () => 'resolved',
      (reason: unknown) => reason,
    );
    if (!DiagnosisError.is(error)) throw new Error(`refused nothing: ${String(error)}`);
    return error;
  }

  it('refuses a cursor that is malformed, with the field and the way out', async () => {
    const { nextCursor } = await queries.runs({ limit: 1 });
    const good = JSON.parse(Buffer.from(nextCursor ?? '', 'base64url').toString()) as { last: unknown };
    const made = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const cursor of [
      '',
      'x',
      `${nextCursor}=`,
      ` ${nextCursor}`,
      (nextCursor ?? '').slice(0, -4),
      made(null),
      made([]),
      made({}),
      made({ ...good, more: 1 }),
      made({ ...good, last: ['2026', uuid(1)] }),
      made({ ...good, last: [1.5, uuid(1)] }),
      made({ ...good, last: [-1, uuid(1)] }),
      made({ ...good, last: [1e15, uuid(1)] }),
      made({ ...good, last: [1, 'x'.repeat(37)] }),
      'A'.repeat(4_000),
    ]) {
      const error = await refusal(queries.runs({ limit: 1, cursor }));
      expect([error.code, error.detail['field']]).toEqual(['REQUEST_INVALID', 'cursor']);
      expect(error.message).toMatch(/cursor: .*nextCursor/);
    }
  });

  it('refuses a cursor of another sort, order, filter, run or list', async () => {
    const { nextCursor } = await queries.runs({ limit: 1, status: 'SUCCESS' });
    const cursor = nextCursor ?? '';
    expect((await queries.runs({ limit: 1, status: 'SUCCESS', cursor })).items).toHaveLength(1);
    for (const work of [
      () => queries.runs({ cursor }),
      () => queries.runs({ status: 'FAILED', cursor }),
      () => queries.runs({ status: 'SUCCESS', degraded: false, cursor }),
      () => queries.runs({ status: 'SUCCESS', sort: 'duration', cursor }),
      () => queries.runs({ status: 'SUCCESS', order: 'asc', cursor }),
      () => queries.sessions({ cursor }),
      () => queries.steps(uuid(1), { cursor }),
      () => queries.invocations(uuid(1), { cursor }),
      () => queries.evaluations(uuid(1), { cursor }),
    ]) {
      const error = await refusal(work());
      expect([error.code, error.detail['field']]).toEqual(['REQUEST_INVALID', 'cursor']);
      expect(error.message).toMatch(/another list, sort or filter/);
    }
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a limit of 0', { limit: 0 }, 'limit'],
    ['a limit of 101', { limit: 101 }, 'limit'],
    ['a broken limit', { limit: 1.5 }, 'limit'],
    ['an unknown status', { status: 'DONE' }, 'status'],
    ['a status in small letters', { status: 'success' }, 'status'],
    ['an unknown verdict', { verdict: 'NONE' }, 'verdict'],
    ['an unknown reason', { fallbackReason: 'x' }, 'fallbackReason'],
    ['a session that is no UUID', { sessionId: 'x' }, 'sessionId'],
    ['a question without a word', { question: ' ?! ' }, 'question'],
    ['a question of many words', { question: 'a b c d e f g h i j k' }, 'question'],
    ['a long question', { question: 'x'.repeat(501) }, 'question'],
    ['a time without a zone', { from: '2026-05-04T12:00:00' }, 'from'],
    ['a day', { to: '2026-05-04' }, 'to'],
    ['a time before all', { from: '0000-01-01T00:00:00+14:00' }, 'from'],
    ['a range turned round', { from: after(60_000).toISOString(), to: AT.toISOString() }, 'from'],
    ['an empty range', { from: after(60_000).toISOString(), to: after(60_000).toISOString() }, 'from'],
    ['an unknown sort', { sort: 'verdict' }, 'sort'],
    ['an unknown order', { order: 'up' }, 'order'],
    ['an unknown field', { state: 'SUCCESS' }, 'state'],
  ])('refuses a host %s and names the field', async (_name, query, field) => {
    const error = await refusal(queries.runs(query));
    expect([error.code, error.detail['field']]).toEqual(['REQUEST_INVALID', field]);
    expect(error.message).toContain(`${field}: `);
  });

  it('sends no statement that names a body', async () => {
    const statements = statementsOf(store.dataSource);
    for (const filter of FILTERS) {
      for (const sort of RUN_SORTS) {
        const { nextCursor } = await queries.runs({ ...filter, sort, limit: 1, total: true });
        if (nextCursor !== null) await queries.runs({ ...filter, sort, limit: 1, cursor: nextCursor });
      }
    }
    await queries.steps(uuid(1), { total: true });
    await queries.invocations(uuid(1), { total: true });
    await queries.evaluations(uuid(1), { total: true });
    await queries.sessions({ total: true });
    await queries.session(uuid(0));
    expect(statements.length).toBeGreaterThan(100);
    expect(statements.filter((statement) => bodiesIn(statement).length > 0)).toEqual([]);
    await queries.evaluation(uuid(1), 'x').catch(() => undefined);
    expect(bodiesIn(statements.at(-1) ?? '')).toEqual(['detail']);
  });
});
