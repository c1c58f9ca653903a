import { randomBytes } from 'node:crypto';
import { RUN_REALM } from '../../src/ports/checkpoint-store.port';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import { RunEraserRepository } from '../../src/runs/run-eraser.repository';
import { RunOutcomeRepository } from '../../src/runs/run-outcome.repository';
import { statementsOf } from './listed-runs';
import { AT, after, codeOf, invocationOf, openStore, success, type Store } from './run-fixture';
import { storeCalls, storeRuns } from './stored-runs';
import { placesOf, storedRows } from './stored-text';
import { describeOnEachDatabase } from './test-databases';

const RUN = '0190a1b2-0000-7000-8000-00000000aaaa';
const OTHER = '0190a1b2-0000-7000-8000-00000000bbbb';
const OF_A_RUN = [
  'agent_step',
  'checkpoint_part',
  'run',
  'run_evaluation',
  'run_evidence',
  'run_outcome',
  'run_word',
  'tool_invocation',
  'tool_output_chunk',
];

const STEP = {
  node: 'planner',
  round: 0,
  attempt: 1,
  outcome: 'COMPLETED',
  reason_code: 'OK',
  started_at: AT,
  duration_ms: 4,
  input_bytes: 1,
  output_bytes: 1,
  input_tokens: null,
  output_tokens: null,
} as const;

describeOnEachDatabase('RunEraser', (db) => {
  let store: Store;
  let eraser: RunEraserRepository;
  beforeEach(async () => {
    store = await openStore(db);
    eraser = new RunEraserRepository(store.dataSource, store.checkpoints);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await store.close();
  });

  async function begun(id: string, session = 's'): Promise<void> {
    await store.sessions.ensure(session, AT);
    await store.runs.create({ id, session_id: session, message: `why ${id}?`, agent_flow: 'DIAGNOSIS_GRAPH', created_at: AT });
    await store.runs.markRunning(id, null, { owner: 'me', until: after(60_000) }, after(5));
    const call = id.replace('0190', 'ca11');
    await store.traces.begin(invocationOf(id, 1, { id: call, arguments: JSON.stringify({ id }) }));
    const output = JSON.stringify({ id, call, noise: randomBytes(200_000).toString('base64') });
    await store.traces.finish(call, { status: 'OK', output, error_code: null, duration_ms: 1 });
    await store.steps.record([{ ...STEP, id: id.replace('0190', '57e9'), run_id: id }]);
    const typed = (text: string) => ({ type: 'json', bytes: Buffer.from(text) });
    const place = { realm: RUN_REALM, thread_id: id, namespace: '', checkpoint_id: '1', parent_id: null };
    await store.checkpoints.put({ ...place, document: typed('{}'), metadata: typed('{}'), values: [] });
  }

  /** A finished run that has rows wherever a run can have any. */
  async function whole(id: string, session = 's'): Promise<void> {
    await begun(id, session);
    await store.runs.finish(id, 'me', success({ evidence: { claims: [], evidence: [], empty_reason: id } }));
    const evaluation = { id: id.replace('0190', 'e7a1'), run_id: id, kind: 'k', score: 1, detail: {}, created_at: AT };
    await store.evaluations.insert(evaluation);
    await new RunOutcomeRepository(store.dataSource).put({ run_id: id, outcome: 'confirmed', actual_cause: null }, AT);
  }

  it('leaves nothing of a run in any table, and every row of another run of the session', async () => {
    await whole(OTHER);
    const before = await storedRows(store.dataSource);
    await whole(RUN);
    const places = await placesOf(store.dataSource, RUN);
    const call = await placesOf(store.dataSource, RUN.replace('0190', 'ca11'));
    expect([...new Set([...places, ...call])].sort()).toEqual([...OF_A_RUN, 'output'].sort());

    expect(await eraser.erase([RUN], after(2_000))).toBe(1);
    expect(await placesOf(store.dataSource, RUN)).toEqual([]);
    expect(await storedRows(store.dataSource)).toEqual(before);
    expect([await eraser.erase([RUN], AT), await eraser.request(RUN, AT), await eraser.isRequested(RUN)]).toEqual([
      0,
      null,
      false,
    ]);
  });

  it('takes a session out with its last run', async () => {
    await whole(RUN, 'mine');
    await whole(OTHER, 'theirs');
    await eraser.erase([RUN], AT);
    expect([await store.sessions.exists('mine'), await store.sessions.exists('theirs')]).toEqual([false, true]);
    await eraser.erase([OTHER], AT);
    const left = Object.entries(await storedRows(store.dataSource)).filter(([table, rows]) => {
      return !table.endsWith('migrations') && rows.length > 0;
    });
    expect(left).toEqual([]);
  });

  it('refuses a run that waits or works: it is marked, and goes once it has ended', async () => {
    await begun(RUN);
    await store.runs.create({ id: OTHER, session_id: 's', message: 'm', agent_flow: 'DIRECT', created_at: AT });
    expect(await eraser.erase([RUN, OTHER], AT)).toBe(0);
    expect(await eraser.isRequested(RUN)).toBe(false);
    expect([await eraser.request(RUN, after(1)), await eraser.request(OTHER, after(1))]).toEqual(['RUNNING', 'PENDING']);
    expect(await eraser.request(RUN, after(99))).toBe('RUNNING');
    expect(await eraser.eraseRequested(after(2))).toBe(0);
    expect(await store.runs.find(RUN)).toMatchObject({ status: 'RUNNING', erase_requested_at: after(1) });
    expect(await store.traces.readOutput(RUN.replace('0190', 'ca11'))).toContain(RUN);

    await store.runs.finish(RUN, 'me', success());
    expect([await eraser.countRequested(), await store.runs.passedAnswers('s', 9)]).toEqual([1, []]);
    expect(await eraser.eraseRequested(after(3))).toBe(1);
    expect([await store.runs.find(RUN), (await store.runs.find(OTHER))?.status]).toEqual([null, 'PENDING']);
    await store.runs.failExpired(after(100_000));
    expect(await eraser.eraseRequested(after(4))).toBe(1);
  });

  it('goes on where it was cut off', async () => {
    await whole(RUN);
    jest.spyOn(store.checkpoints, 'deleteThreads').mockRejectedValueOnce(new Error('killed'));
    await expect(eraser.erase([RUN], after(7))).rejects.toThrow('killed');
    expect(await store.runs.find(RUN)).toMatchObject({ status: 'SUCCESS', erase_requested_at: after(7) });
    const another = new RunEraserRepository(store.dataSource, store.checkpoints);
    const stopped = AbortSignal.abort();
    expect([await another.eraseRequested(after(8), stopped), await another.eraseRequested(after(8))]).toEqual([0, 1]);
    expect(await placesOf(store.dataSource, RUN)).toEqual([]);
  });

  it('takes along what comes while it erases', async () => {
    await whole(RUN);
    const outcomes = new RunOutcomeRepository(store.dataSource);
    jest.spyOn(store.checkpoints, 'deleteThreads').mockImplementationOnce(async () => {
      await outcomes.put({ run_id: RUN, outcome: 'wrong', actual_cause: RUN }, AT);
      await store.steps.record([{ ...STEP, id: 'late', run_id: RUN }]);
    });
    expect(await eraser.erase([RUN], AT)).toBe(1);
    expect(await placesOf(store.dataSource, RUN)).toEqual([]);
    expect(await codeOf(outcomes.put({ run_id: RUN, outcome: 'wrong', actual_cause: null }, AT))).toBe('CONFLICT');
  });

  it('needs more statements for a larger run, and no larger ones', async () => {
    await storeRuns(store.dataSource, [{ id: RUN, created_at: AT }]);
    const steps = Array.from({ length: 1_203 }, (_, at) => ({ ...STEP, id: `step-${at}`, run_id: RUN }));
    for (let at = 0; at < steps.length; at += 100) await store.steps.record(steps.slice(at, at + 100));
    const { driver } = store.dataSource;
    const table = (name: string): string => driver.escape(`diagnosis_${name}`);
    for (let at = 0; at < 250; at += 1) {
      await store.dataSource.query(
        `INSERT INTO ${table('tool_invocation')} (id, run_id, invocation_id, call_key, round, ordinal, tool_name, arguments, status, started_at)
         VALUES (?, ?, ?, ?, 0, ?, 'x', '{}', 'OK', '2026-05-04 12:00:00')`,
        [`call-${at}`, RUN, `t${at}`, `key-${at}`, at],
      );
    }
    for (let seq = 0; seq < 330; seq += 1) {
      await store.dataSource.query(`INSERT INTO ${table('tool_output_chunk')} (invocation_row_id, seq, bytes) VALUES (?, ?, ?)`, [
        seq < 300 ? 'call-7' : `call-${seq - 200}`,
        seq,
        Buffer.from('x'),
      ]);
    }
    const statements = statementsOf(store.dataSource);
    expect(await eraser.erase([RUN], AT)).toBe(1);
    const deletes = statements.filter((statement) => statement.startsWith('DELETE'));
    const of = (name: string): string[] =>
      deletes.filter((statement) => statement.includes(`${name}\` `) || statement.includes(`${name}" `));
    expect(of('agent_step')).toHaveLength(3);
    expect(of('tool_invocation')).toHaveLength(3);
    expect(of('tool_output_chunk').length).toBeGreaterThanOrEqual(4);
    expect(Math.max(...deletes.map((statement) => statement.split('?').length - 1))).toBeLessThanOrEqual(500);
    expect(await placesOf(store.dataSource, RUN)).toEqual([]);
  });

  it('lets two erase the same runs at once', async () => {
    const ids = Array.from({ length: 120 }, (_, at) => `run-${at}`);
    await storeRuns(
      store.dataSource,
      ids.map((id) => ({ id, created_at: AT })),
    );
    await storeCalls(store.dataSource, 'run-3', [{ status: 'OK', started_at: AT }]);
    const second = await openDiagnosisDataSource(store.options);
    try {
      const other = new RunEraserRepository(second, store.checkpoints);
      const erased = await Promise.all([eraser.erase(ids, AT), other.erase([...ids].reverse(), AT)]);
      expect(erased[0] + erased[1]).toBe(120);
      expect([await eraser.countRequested(), await store.sessions.exists('s')]).toEqual([0, false]);
    } finally {
      await second.destroy();
    }
  });

  it('finds the oldest ended runs, the position of the first that is too much, and sessions without a run', async () => {
    const at = (minutes: number): Date => after(minutes * 60_000);
    await storeRuns(store.dataSource, [
      ...[1, 2, 3, 4].map((minute) => ({ id: `r${minute}`, created_at: at(minute) })),
      { id: 'r2-works', created_at: at(2), status: 'RUNNING' },
      { id: 'r2-same', created_at: at(2) },
    ]);
    expect(await eraser.firstBeyond(2)).toEqual({ id: 'r2-works', created_at: at(2) });
    expect([await eraser.firstBeyond(6), (await eraser.firstBeyond(5))?.id, (await eraser.firstBeyond(0))?.id]).toEqual([
      null,
      'r1',
      'r4',
    ]);
    const upTo = { id: 'r2-same', created_at: at(2) };
    expect([await eraser.ended(upTo, 9), await eraser.ended(upTo, 1), await eraser.countEnded(upTo)]).toEqual([
      ['r1', 'r2', 'r2-same'],
      ['r1'],
      3,
    ]);
    expect(await eraser.ended({ id: '', created_at: at(2) }, 9)).toEqual(['r1']);
    expect(await eraser.countDead(at(2))).toBe(0);
    expect(await eraser.countDead(at(3))).toBe(1);
    for (let minute = 0; minute < 1_100; minute += 1) {
      await store.dataSource.manager.query(
        `INSERT INTO diagnosis_chat_session (id, created_at) VALUES ('empty-${minute}', '2026-05-01 ${minute < 600 ? '10' : '11'}:00:00.000')`,
      );
    }
    const empty: string[] = [];
    for await (const ids of eraser.emptySessions(AT)) empty.push(...ids);
    expect([empty.length, new Set(empty).size, empty.includes('s')]).toEqual([1_100, 1_100, false]);
    expect(await eraser.eraseSessions(['empty-3', 's', 'nobody'])).toBe(1);
  });
});

/** SQLite knows no numbers of rows: with an index of the wrong condition it would read a whole table, and all wait meanwhile. */
describe('statements that every run and every sweep send, on SQLite', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
  });
  afterEach(() => store.close());

  async function planOf(work: (eraser: RunEraserRepository) => Promise<unknown>): Promise<string> {
    const statements = statementsOf(store.dataSource);
    await work(new RunEraserRepository(store.dataSource, store.checkpoints));
    const [select = ''] = statements.filter((statement) => statement.startsWith('SELECT'));
    const parameters = Array.from({ length: select.split('?').length - 1 }, () => 'x');
    const plan = await store.dataSource.query<{ detail: string }[]>(`EXPLAIN QUERY PLAN ${select}`, parameters);
    return plan.map(({ detail }) => detail).join('; ');
  }

  it.each([
    ['answers of a session', () => store.runs.passedAnswers('s', 3), /\(session_id=\?\)$/],
    ['the newest query of a session', () => store.runs.latestQuery('s'), /\(session_id=\?\)$/],
    ['dead runs', () => store.runs.failExpired(AT), /\(status=\? AND lease_until<\?\)/],
  ])('finds %s by an index of its own', async (_what, work, plan) => {
    expect(await planOf(work)).toMatch(plan);
  });

  it('finds runs to erase by the mark, and the oldest ones in their order', async () => {
    expect(await planOf((eraser) => eraser.eraseRequested(AT))).toMatch(/\(erase_requested_at>\?\)$/);
    const oldest = await planOf((eraser) => eraser.ended({ created_at: AT, id: 'x' }, 9));
    expect(oldest).toMatch(/USING INDEX/);
    expect(oldest).not.toMatch(/TEMP B-TREE|status|erase_requested_at/);
  });
});
