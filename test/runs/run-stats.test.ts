import { RunStats, type RunNumbers, type StatsRequest } from '../../src/chat/run-stats.service';
import { RunStatsRepository } from '../../src/runs/run-stats.repository';
import { INVOCATION_STATUSES, RUN_STATUSES } from '../../src/vocabulary/run-lifecycle';
import { FALLBACK_CLASSES } from '../../src/vocabulary/statuses';
import { VERDICTS } from '../../src/vocabulary/verdicts';
import { codeOf, openStore, type Store } from './run-fixture';
import { storeCalls, storeRuns, type StoredCall, type StoredRun } from './stored-runs';
import { describeOnEachDatabase, describeOnMariadb } from './test-databases';

const HOUR = 3_600_000;
const FAILED = ['ERROR', 'DENIED', 'ABANDONED'];

/** The same sequence for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

function randomRuns(count: number, from: number, length: number, seed: number): StoredRun[] {
  const random = randomOf(seed);
  const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
  return Array.from({ length: count }, (_run, index) => {
    const status = pick(RUN_STATUSES);
    const ended = status !== 'PENDING' && status !== 'RUNNING';
    return {
      id: `run-${seed}-${index}`,
      created_at: new Date(from + random(length)),
      status,
      verdict: status === 'SUCCESS' ? pick([...VERDICTS, null]) : null,
      // Few values, so that many runs took equally long.
      duration_ms: ended && random(10) > 0 ? random(40) * 25 : null,
      degraded: ended && random(4) === 0,
      fallback_class: ended ? pick([...FALLBACK_CLASSES, null, null]) : null,
      retries: ended ? Math.max(0, random(6) - 2) : 0,
    };
  });
}

const CODES = [null, 'TOOL_FAILED', 'tool_failed', 'TIMEOUT', 'ÉCHEC'];

function randomCalls(count: number, from: number, length: number, seed: number): StoredCall[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => {
    const status = INVOCATION_STATUSES[random(INVOCATION_STATUSES.length)] as StoredCall['status'];
    return { status, started_at: new Date(from + random(length)), error_code: CODES[random(CODES.length)] ?? null };
  });
}

function countedBy<Value extends string>(values: readonly Value[], of: readonly (string | null)[]): Record<string, number> {
  return Object.fromEntries(values.map((value) => [value, of.filter((one) => (one ?? 'none') === value).length]));
}

/** What the numbers of a range must be, from all rows by plain loops. */
function expectedOf(runs: readonly StoredRun[], calls: readonly StoredCall[], from: string, to: string): RunNumbers {
  const isIn = (at: Date): boolean => at.getTime() >= Date.parse(from) && at.getTime() < Date.parse(to);
  const inside = runs.filter(({ created_at }) => isIn(created_at));
  const called = calls.filter(({ started_at }) => isIn(started_at));
  const ended = inside.filter(({ status }) => status !== 'PENDING' && status !== 'RUNNING').length;
  const durations = inside.map((run) => run.duration_ms ?? null).filter((ms) => ms !== null);
  durations.sort((a, b) => a - b);
  const percentile = (percent: number): number | null => durations[Math.ceil((percent * durations.length) / 100) - 1] ?? null;
  const share = (count: number, whole: number): { count: number; rate: number | null } => ({
    count,
    rate: whole === 0 ? null : count / whole,
  });
  const ofClass = (name: string) => share(inside.filter((run) => run.fallback_class === name).length, ended);
  const failed = called.filter(({ status }) => FAILED.includes(status));
  const reasons = [...new Set(failed.map((call) => call.error_code ?? 'none'))].map((reason) => ({
    reason,
    ...share(failed.filter((call) => (call.error_code ?? 'none') === reason).length, called.length),
  }));
  return {
    runs: inside.length,
    ended,
    byStatus: countedBy(
      RUN_STATUSES,
      inside.map((run) => run.status ?? null),
    ) as RunNumbers['byStatus'],
    byVerdict: countedBy(
      [...VERDICTS, 'none'],
      inside.map((run) => run.verdict ?? null),
    ) as RunNumbers['byVerdict'],
    durationMs: { p50: percentile(50), p95: percentile(95), p99: percentile(99) },
    degraded: share(inside.filter((run) => run.degraded).length, ended),
    fallback: {
      ...share(inside.filter((run) => (run.fallback_class ?? null) !== null).length, ended),
      byClass: { PRE_VERIFICATION: ofClass('PRE_VERIFICATION'), POST_VERIFICATION: ofClass('POST_VERIFICATION') },
    },
    retries: {
      ...share(inside.filter((run) => (run.retries ?? 0) > 0).length, ended),
      sum: inside.reduce((sum, run) => sum + (run.retries ?? 0), 0),
    },
    toolCalls: {
      calls: called.length,
      failed: share(failed.length, called.length),
      failedByReason: reasons.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)),
    },
  };
}

const EMPTY = expectedOf([], [], '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z');

describeOnEachDatabase('RunStats', (db) => {
  let store: Store;
  let stats: RunStats;

  beforeEach(async () => {
    store = await openStore(db);
    stats = new RunStats(new RunStatsRepository(store.dataSource));
  });

  afterEach(() => store.close());

  it.each<[string, StatsRequest]>([
    ['in hours of UTC', { from: '2026-03-28T05:10:00Z', to: '2026-03-29T20:50:00.001Z', bucket: '1h' }],
    [
      'in days of Berlin',
      { from: '2026-03-27T12:00:00+01:00', to: '2026-04-01T12:00:00+02:00', bucket: '1d', timeZone: 'Europe/Berlin' },
    ],
    [
      'in weeks of Lord Howe',
      { from: '2026-03-26T00:00:00Z', to: '2026-04-09T00:00:00Z', bucket: '1w', timeZone: 'Australia/Lord_Howe' },
    ],
    ['in one bucket', { from: '2026-03-28T12:07:30Z', to: '2026-03-28T12:55:00Z', bucket: '6h' }],
  ])('counts as plain loops over 1,200 random runs do, %s', async (_name, request) => {
    const from = Date.parse('2026-03-26T00:00:00Z');
    const runs = randomRuns(1_200, from, 10 * 24 * HOUR, 7);
    const calls = randomCalls(900, from, 10 * 24 * HOUR, 8);
    await storeRuns(store.dataSource, runs);
    await storeCalls(store.dataSource, 'run-7-0', calls);
    const { total, buckets } = await stats.over(request);
    expect(total).toEqual(expectedOf(runs, calls, request.from, request.to));
    expect(buckets).toEqual(buckets.map(({ from, to }) => ({ from, to, ...expectedOf(runs, calls, from, to) })));
    expect(total.runs).toBeGreaterThan(0);
    expect(buckets.reduce((sum, bucket) => sum + bucket.runs, 0)).toBe(total.runs);
  });

  it('takes the nearest rank, also of one run and of a hundred', async () => {
    const at = (minute: number, ms: number): StoredRun => ({
      id: `run-${minute}-${ms}`,
      created_at: new Date(Date.parse('2026-05-04T12:00:00Z') + minute * 60_000),
      duration_ms: ms,
    });
    await storeRuns(store.dataSource, [at(1, 7), ...Array.from({ length: 100 }, (_run, index) => at(6, index + 1))]);
    const { total, buckets } = await stats.over({ from: '2026-05-04T12:00:00Z', to: '2026-05-04T12:15:00Z', bucket: '5m' });
    expect(buckets.map(({ durationMs }) => durationMs)).toEqual([
      { p50: 7, p95: 7, p99: 7 },
      { p50: 50, p95: 95, p99: 99 },
      { p50: null, p95: null, p99: null },
    ]);
    // 101 runs: rank 51, 96 and 100, where 7 stands twice.
    expect(total.durationMs).toEqual({ p50: 50, p95: 95, p99: 99 });
  });

  it('gives a window without runs all of its buckets, with zeros and without rates', async () => {
    const { total, buckets } = await stats.over({ from: '2026-05-04T12:30:00Z', to: '2026-05-04T15:00:00Z', bucket: '1h' });
    expect(total).toEqual(EMPTY);
    expect(total).toMatchObject({
      runs: 0,
      byVerdict: { PASS: 0, none: 0 },
      durationMs: { p50: null, p99: null },
      degraded: { count: 0, rate: null },
      retries: { rate: null, sum: 0 },
      toolCalls: { calls: 0, failed: { rate: null }, failedByReason: [] },
    });
    expect(buckets).toEqual(
      ['12:30', '13:00', '14:00'].map((from, index) => ({
        from: `2026-05-04T${from}:00.000Z`,
        to: `2026-05-04T${['13:00', '14:00', '15:00'][index]}:00.000Z`,
        ...EMPTY,
      })),
    );
  });

  it('counts what lies on a border once, in the bucket that begins there, and nothing at the end of the window', async () => {
    const times = ['11:59:59.999', '12:00:00.000', '12:59:59.999', '13:00:00.000', '13:59:59.999', '14:00:00.000'];
    const instants = times.map((time) => new Date(`2026-05-04T${time}Z`));
    await storeRuns(
      store.dataSource,
      instants.map((created_at, index) => ({ id: `run-${index}`, created_at })),
    );
    await storeCalls(
      store.dataSource,
      'run-0',
      instants.map((started_at) => ({ status: 'ERROR' as const, started_at })),
    );
    const { total, buckets } = await stats.over({ from: '2026-05-04T12:00:00Z', to: '2026-05-04T14:00:00Z', bucket: '1h' });
    expect([total, ...buckets].map(({ runs, toolCalls }) => [runs, toolCalls.calls])).toEqual([
      [4, 4],
      [2, 2],
      [2, 2],
    ]);
  });

  it('gives the day on which the clocks are set back 25 hours, and each of its runs a place', async () => {
    const from = Date.parse('2026-10-24T00:30:00+02:00');
    await storeRuns(
      store.dataSource,
      Array.from({ length: 73 }, (_run, hour) => ({ id: `run-${hour}`, created_at: new Date(from + hour * HOUR) })),
    );
    const { total, buckets } = await stats.over({
      from: '2026-10-24T00:00:00+02:00',
      to: '2026-10-27T00:00:00+01:00',
      bucket: '1d',
      timeZone: 'Europe/Berlin',
    });
    expect(buckets.map(({ from: start, runs }) => [start, runs])).toEqual([
      ['2026-10-23T22:00:00.000Z', 24],
      ['2026-10-24T22:00:00.000Z', 25],
      ['2026-10-25T23:00:00.000Z', 24],
    ]);
    expect(total.runs).toBe(73);
  });

  it('tells the twenty most frequent reasons of the window, by their bytes, and the rest as one', async () => {
    const started_at = new Date('2026-05-04T12:30:00Z');
    const failed = (error_code: string | null, count: number): StoredCall[] =>
      Array.from({ length: count }, () => ({ status: 'ERROR' as const, started_at, error_code }));
    const rare = Array.from({ length: 5 }, (_code, index) => `RARE_${index}`);
    const common = Array.from({ length: 18 }, (_code, index) => `COMMON_${String(index).padStart(2, '0')}`);
    await storeRuns(store.dataSource, [{ id: 'run-0', created_at: started_at }]);
    await storeCalls(store.dataSource, 'run-0', [
      ...failed('Mixed', 9),
      ...failed('MIXED', 8),
      ...common.flatMap((code) => failed(code, 3)),
      ...rare.flatMap((code) => failed(code, 2)),
      ...failed(null, 1),
      { status: 'OK', started_at, error_code: null },
    ]);
    const { total } = await stats.over({ from: '2026-05-04T12:00:00Z', to: '2026-05-04T13:00:00Z' });
    const { calls, failed: all, failedByReason } = total.toolCalls;
    expect([calls, all]).toEqual([83, { count: 82, rate: 82 / 83 }]);
    expect(failedByReason.map(({ reason, count }) => [reason, count])).toEqual([
      ['Mixed', 9],
      ['MIXED', 8],
      ...common.map((code) => [code, 3]),
      ['none', 1],
      ['other', 10],
    ]);
    expect(failedByReason[0]?.rate).toBeCloseTo(9 / 83, 12);
  });

  it('asks the database five times, whatever the number of buckets, and for no body', async () => {
    const sending = jest.spyOn(store.dataSource.manager, 'query');
    const { buckets } = await stats.over({ from: '2026-05-04T00:00:00Z', to: '2026-05-05T09:15:00Z', bucket: '5m' });
    expect(buckets).toHaveLength(399);
    const sent = sending.mock.calls.map(([sql]) => sql);
    expect(sent).toHaveLength(5);
    for (const body of ['message', 'query', 'answer', 'causes', 'trace', 'metrics', 'self_evaluation', 'title', 'arguments']) {
      expect(sent.join('\n')).not.toMatch(new RegExp(`\\b${body}\\b`));
    }
  });

  it('answers STORE_UNAVAILABLE when the store is closed', async () => {
    await store.dataSource.destroy();
    expect(await codeOf(stats.over({ from: '2026-05-04T12:00:00Z', to: '2026-05-04T13:00:00Z' }))).toBe('STORE_UNAVAILABLE');
  });
});

class HurriedRepository extends RunStatsRepository {
  protected override readonly statementLimitMs = 1;
}

describeOnMariadb('RunStats on 50,000 runs [mariadb]', (db) => {
  const SESSION_START = Date.parse('2026-01-01T00:00:00Z');
  let store: Store;

  beforeAll(async () => {
    store = await openStore(db, { database: { poolSize: 1 } });
    const { dataSource } = store;
    await storeRuns(dataSource, [{ id: 'first', created_at: new Date(SESSION_START) }]);
    // One run a minute, with two tool calls each for the first 10,000.
    await dataSource.query(
      `INSERT INTO diagnosis_run (id, session_id, status, agent_flow, verdict, degraded, lease_until, created_at, started_at, duration_ms, retries, message)
       SELECT CONCAT('run-', seq), 's', 'SUCCESS', 'DIAGNOSIS_GRAPH', 'PASS', seq % 9 = 0, '2026-01-01', '2026-01-01' + INTERVAL seq MINUTE,
              '2026-01-01', seq % 997, seq % 3, '{"text":"why?"}' FROM seq_1_to_50000`,
    );
    await dataSource.query(
      `INSERT INTO diagnosis_tool_invocation (id, run_id, invocation_id, call_key, round, ordinal, tool_name, arguments, status, error_code, started_at)
       SELECT CONCAT('call-', seq), CONCAT('run-', seq DIV 2 + 1), CONCAT('t', seq), CONCAT('key-', seq), 0, seq % 2, 'log_patterns', '{}',
              IF(seq % 7 = 0, 'ERROR', 'OK'), IF(seq % 7 = 0, 'TOOL_FAILED', NULL), '2026-01-01' + INTERVAL seq * 30 SECOND FROM seq_1_to_19999`,
    );
    await dataSource.query('ANALYZE TABLE diagnosis_run, diagnosis_tool_invocation');
  });

  afterAll(() => store.close());

  async function reads(): Promise<{ readonly all: number; readonly ofIndexes: number }> {
    const rows = await store.dataSource.query<{ Variable_name: string; Value: string }[]>(
      "SHOW SESSION STATUS LIKE 'Handler_read%'",
    );
    const sum = (name: RegExp): number =>
      rows.filter(({ Variable_name }) => name.test(Variable_name)).reduce((total, { Value }) => total + Number(Value), 0);
    return { all: sum(/./), ofIndexes: sum(/^Handler_read_(next|prev)$/) };
  }

  it.each([
    ['an hour', '2026-01-03T10:00:00Z', '2026-01-03T11:00:00Z', '5m', 60, 120],
    ['a day', '2026-01-03T00:00:00Z', '2026-01-04T00:00:00Z', '1h', 1440, 2880],
    ['two days in 192 buckets', '2026-01-03T00:00:00Z', '2026-01-05T00:00:00Z', '15m', 2880, 5760],
  ] as const)(
    'reads each run of %s three times and each call twice, and not the table',
    async (_name, from, to, bucket, runs, calls) => {
      const stats = new RunStats(new RunStatsRepository(store.dataSource));
      const before = await reads();
      const { total, buckets } = await stats.over({ from, to, bucket });
      const after = await reads();
      expect([total.runs, total.toolCalls.calls]).toEqual([runs, calls]);
      const failedCalls = total.toolCalls.failed.count;
      expect(after.ofIndexes - before.ofIndexes).toBeLessThanOrEqual(3 * runs + calls + failedCalls + 20);
      // What is sorted and ranked is read again, in tables that live for one statement.
      console.log(
        `${total.runs} runs, ${total.toolCalls.calls} calls, ${buckets.length} buckets: ${after.all - before.all} reads in all`,
      );
      expect(after.all - before.all).toBeLessThanOrEqual(30 * runs + 2 * calls + 10 * buckets.length);
    },
  );

  it('gives up a statement that takes too long, and says what would help', async () => {
    const stats = new RunStats(new HurriedRepository(store.dataSource));
    const asked = stats.over({ from: '2026-01-01T00:00:00Z', to: '2026-02-04T00:00:00Z' });
    await expect(asked).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringMatching(/shorter window/) });
  });
});
