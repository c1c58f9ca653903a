import { cursorOf } from '../../src/chat/list-cursor';
import type { RunListQuery } from '../../src/chat/run-list-query';
import { RunQueries } from '../../src/chat/run-queries.service';
import { RUN_SORTS, SORT_ORDERS, type ListPosition, type RunSort, type SortOrder } from '../../src/ports/run-query-store.port';
import { wordKeysOf } from '../../src/runs/question-words';
import { RunQueryRepository } from '../../src/runs/run-query.repository';
import { RUN_STATUSES } from '../../src/vocabulary/run-lifecycle';
import { VERDICTS } from '../../src/vocabulary/verdicts';
import { bodiesIn, statementsOf } from './listed-runs';
import { openStore, type Store } from './run-fixture';
import { describeOnMariadb } from './test-databases';

const RUNS = 200_000;
const PAGE = 50;
/** What a page may read at most: three rows for each that it shows, and a few for finding its place and seeing that more follows. */
const MOST_READS = 3 * PAGE + 5;
const START = Date.UTC(2026, 4, 1);
/** Runs come in threes, one instant each; ten thousand in the middle share one. */
const SPAN = Math.floor(RUNS / 3) * 7_000;
const BURST = { first: 100_000, count: 10_000 };
const MAX_DURATION = 20_000;

const id = (number: number): string => `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const at = (share: number): Date => new Date(START + Math.floor(share * SPAN));

const FILTERS: readonly (readonly [string, RunListQuery])[] = [
  ['nothing', {}],
  ...RUN_STATUSES.map((status): [string, RunListQuery] => [`status ${status}`, { status }]),
  ...VERDICTS.map((verdict): [string, RunListQuery] => [`verdict ${verdict}`, { verdict }]),
  ['no verdict', { verdict: 'none' }],
  ['degraded', { degraded: true }],
  ['not degraded', { degraded: false }],
  ['fallback class', { fallbackClass: 'PRE_VERIFICATION' }],
  ['fallback reason', { fallbackReason: 'BINDING_FAILED' }],
  ['a session with a third of all', { sessionId: id(7) }],
  ['a session with few', { sessionId: id(8) }],
  ['agent flow DIAGNOSIS_GRAPH', { agentFlow: 'DIAGNOSIS_GRAPH' }],
  ['agent flow DIRECT', { agentFlow: 'DIRECT' }],
  ['tool failed', { toolFailed: true }],
  ['no tool failed', { toolFailed: false }],
  ['a word of every question', { question: 'slow' }],
  ['a word of every fifth question', { question: 'checkout' }],
  ['a word of few questions', { question: 'zebra' }],
  ['words of which one is rare', { question: 'slow Zebra' }],
  ['words that come together', { question: 'slow Checkout' }],
];
const RANGES: readonly (readonly [string, RunListQuery])[] = [
  ['from', { from: at(0.2).toISOString() }],
  ['to', { to: at(0.8).toISOString() }],
  ['a wide range', { from: at(0.2).toISOString(), to: at(0.8).toISOString() }],
  ['a narrow range', { from: at(0.3).toISOString(), to: at(0.301).toISOString() }],
];

/** Behind which position a page is read: none, in the middle, near the end, and among runs with equal keys. */
function positions(sort: RunSort, order: SortOrder): readonly (ListPosition | null)[] {
  const share = (part: number): number => (order === 'asc' ? part : 1 - part);
  const key = (part: number): number => (sort === 'start' ? at(share(part)).getTime() : Math.floor(share(part) * MAX_DURATION));
  const equal = sort === 'start' ? START + Math.floor(BURST.first / 3) * 7_000 : 0;
  return [
    null,
    { key: key(0.5), id: id(0) },
    { key: key(0.97), id: id(RUNS) },
    { key: equal, id: id(BURST.first + BURST.count / 2) },
  ];
}

describeOnMariadb(`list pages over ${RUNS} runs`, (db) => {
  let store: Store;
  let queries: RunQueries;
  let statements: string[];

  const sql = (statement: string): Promise<Record<string, unknown>[]> => store.dataSource.query(statement);

  beforeAll(async () => {
    // One connection, whose own counters tell what a page reads.
    store = await openStore(db, { database: { poolSize: 1, tablePrefix: '' } });
    await fill(sql);
    queries = new RunQueries(new RunQueryRepository(store.dataSource), store.evaluations);
    statements = statementsOf(store.dataSource);
  }, 180_000);
  afterAll(() => store.close());

  /** Rows that are read meanwhile, and entries of indexes that are looked at and passed over without being counted as rows. */
  async function readsOf(work: () => Promise<unknown>): Promise<number> {
    const counted = async (): Promise<readonly [number, number]> => {
      const rows = await sql(
        "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name = 'Handler_icp_attempts'",
      );
      const isEntry = (row: Record<string, unknown>): boolean => row['Variable_name'] === 'Handler_icp_attempts';
      const sum = (some: typeof rows): number => some.reduce((total, row) => total + Number(row['Value']), 0);
      return [sum(rows.filter((row) => !isEntry(row))), sum(rows.filter(isEntry))];
    };
    const before = await counted();
    await work();
    const after = await counted();
    return Math.max(after[0] - before[0], after[1] - before[1]);
  }

  async function pages(filter: RunListQuery, sort: RunSort, order: SortOrder): Promise<string[]> {
    const told: string[] = [];
    for (const position of positions(sort, order)) {
      const identity = { list: 'runs', sort, order, scope: filter };
      const cursor = position === null ? undefined : cursorOf(identity, position);
      let shown = 0;
      const reads = await readsOf(async () => {
        shown = (await queries.runs({ ...filter, sort, order, limit: PAGE, cursor })).items.length;
      });
      if (reads > MOST_READS) told.push(`${sort} ${order} behind ${JSON.stringify(position)}: ${reads} for ${shown}`);
    }
    return told;
  }

  it('stores as many runs as it says, in the schema of the migrations', async () => {
    expect(Number((await sql('SELECT COUNT(*) AS total FROM run'))[0]?.['total'])).toBe(RUNS);
    expect((await store.dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
  });

  it.each(FILTERS)(`reads at most three rows for each that it shows: %s`, async (_name, filter) => {
    for (const sort of RUN_SORTS) {
      for (const order of SORT_ORDERS) expect(await pages(filter, sort, order)).toEqual([]);
    }
  });

  it.each(RANGES)('reads at most three rows for each that it shows, by start: %s', async (_name, filter) => {
    for (const order of SORT_ORDERS) expect(await pages(filter, 'start', order)).toEqual([]);
  });

  it('reads by duration no more than a time range holds, and of a wide one a part', async () => {
    for (const [name, range] of RANGES) {
      const total = (await queries.runs({ ...range, limit: 1, total: true })).total ?? 0;
      const reads = await readsOf(() => queries.runs({ ...range, sort: 'duration', limit: PAGE }));
      expect({ name, few: reads <= total + 2 * PAGE, part: name === 'a narrow range' || reads <= MOST_READS }).toEqual({
        name,
        few: true,
        part: true,
      });
    }
  });

  it('shows what a page of the same depth shows when it is counted off', async () => {
    const filter = { status: 'SUCCESS' } as const;
    const identity = { list: 'runs', sort: 'duration', order: 'asc', scope: filter } as const;
    const cursor = cursorOf(identity, { key: 0, id: id(BURST.first) });
    const { items } = await queries.runs({ ...filter, sort: 'duration', order: 'asc', limit: PAGE, cursor });
    const counted = await sql(
      `SELECT id FROM run IGNORE INDEX (${await allIndexes()}) WHERE status = 'SUCCESS' AND (duration_ms > 0 OR (duration_ms = 0 AND id > '${id(BURST.first)}')) ORDER BY duration_ms, id LIMIT ${PAGE}`,
    );
    expect(items.map((item) => item.id)).toEqual(counted.map((row) => row['id']));
  });

  it('reads sessions at any depth, and what belongs to one run', async () => {
    for (const share of [0, 0.5, 0.97]) {
      const identity = { list: 'sessions', sort: 'created_at', order: 'desc', scope: {} } as const;
      const cursor = share === 0 ? undefined : cursorOf(identity, { key: START + (1 - share) * 20_000_000, id: id(0) });
      expect(await readsOf(() => queries.sessions({ limit: PAGE, cursor }))).toBeLessThanOrEqual(MOST_READS);
    }
    for (const read of ['steps', 'invocations', 'evaluations'] as const) {
      let shown = 0;
      const reads = await readsOf(async () => {
        shown = (await queries[read](id(123_456), { limit: PAGE })).items.length;
      });
      expect(shown).toBe(read === 'evaluations' ? 2 : 30);
      expect(reads).toBeLessThanOrEqual(3 * shown + 5);
    }
  });

  it('names no body in any statement that it sent', () => {
    const lists = statements.filter((statement) => !/^SHOW |information_schema|IGNORE INDEX/i.test(statement));
    expect(lists.length).toBeGreaterThan(300);
    expect(lists.filter((statement) => bodiesIn(statement).length > 0)).toEqual([]);
  });

  async function allIndexes(): Promise<string> {
    const rows = await sql(
      "SELECT DISTINCT index_name AS name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'run' AND index_name <> 'PRIMARY'",
    );
    return rows.map((row) => String(row['name'])).join(', ');
  }
});

describe('list pages on SQLite', () => {
  let store: Store;
  beforeAll(async () => {
    store = await openStore();
  });
  afterAll(() => store.close());

  it.each([...FILTERS, ...RANGES])('begins at its place in an index, at any depth: %s', async (name, filter) => {
    const queries = new RunQueries(new RunQueryRepository(store.dataSource), store.evaluations);
    const asked = jest.spyOn(store.dataSource, 'query');
    for (const sort of RUN_SORTS) {
      if (sort === 'duration' && RANGES.some(([range]) => range === name)) continue;
      for (const order of SORT_ORDERS) {
        const cursor = cursorOf({ list: 'runs', sort, order, scope: filter }, { key: at(0.3005).getTime(), id: id(0) });
        await queries.runs({ ...filter, sort, order, limit: PAGE, cursor });
        const [statement, parameters] = asked.mock.lastCall ?? [''];
        const plan: { readonly detail: string }[] = await store.dataSource.query(`EXPLAIN QUERY PLAN ${statement}`, parameters);
        expect(plan[0]?.detail).toMatch(
          /^SEARCH (run|word) USING (COVERING )?INDEX .*\((created_at|duration_ms),(run_)?id\)[<>]\(\?,\?\)/,
        );
        expect(plan.map(({ detail }) => detail).join('; ')).not.toMatch(/SCAN|TEMP/);
      }
    }
    asked.mockRestore();
  });
});

/** Stores the runs. The indexes of the migrations are taken away meanwhile and built again from what is there, which is faster. */
async function fill(sql: (statement: string) => Promise<Record<string, unknown>[]>): Promise<void> {
  const indexes = await sql(
    "SELECT index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'run' AND index_name <> 'PRIMARY' GROUP BY index_name",
  );
  const each = (text: (index: Record<string, unknown>) => string): string => indexes.map(text).join(', ');
  await sql('SET SESSION foreign_key_checks = 0, unique_checks = 0');
  await sql(`ALTER TABLE run ${each(({ name }) => `DROP INDEX ${String(name)}`)}`);
  await sql(`INSERT INTO chat_session SELECT ${sqlId('seq')}, '2026-05-01' + INTERVAL seq SECOND FROM seq_0_to_19999`);
  const place = `IF(seq BETWEEN ${BURST.first} AND ${BURST.first + BURST.count - 1}, ${BURST.first}, seq)`;
  const came = `'2026-05-01' + INTERVAL FLOOR(${place} / 3) * 7 SECOND`;
  await sql(
    `INSERT INTO run (id, session_id, status, agent_flow, verdict, degraded, lease_until, created_at, started_at, finished_at,
       duration_ms, fallback_class, fallback_reason, tool_failed, title, message)
     SELECT ${sqlId('seq')}, ${sqlId('IF(seq % 3 = 0, 7, seq % 20000)')},
       CASE WHEN seq % 1000 = 0 THEN 'RUNNING' WHEN seq % 1000 = 1 THEN 'PENDING' WHEN seq % 10 = 2 THEN 'FAILED' WHEN seq % 50 = 3 THEN 'CANCELLED' ELSE 'SUCCESS' END,
       IF(seq % 20 = 5, 'DIRECT', 'DIAGNOSIS_GRAPH'),
       CASE WHEN seq % 10 = 2 THEN NULL WHEN seq % 5 = 1 THEN 'LOW_CONFID' WHEN seq % 25 = 8 THEN 'REJECT' ELSE 'PASS' END,
       seq % 25 = 8, '2026-05-01', ${came}, ${came}, IF(seq % 1000 < 2, NULL, ${came}),
       CASE WHEN seq % 1000 < 2 THEN NULL WHEN seq % 10 = 5 THEN 0 ELSE (seq * 7919) % ${MAX_DURATION} END,
       IF(seq % 25 = 8, IF(seq % 2 = 0, 'PRE_VERIFICATION', 'POST_VERIFICATION'), NULL),
       IF(seq % 25 = 8, ELT(1 + seq % 4, 'BINDING_FAILED', 'NOTHING_VERIFIED', 'AGENT_TRANSIENT', 'VERDICT_REJECT'), NULL),
       seq % 12 = 4, CONCAT('Why is it slow? ', seq), CONCAT('{"text":"Why is it slow? ', seq, '"}')
     FROM seq_0_to_${RUNS - 1}`,
  );
  await sql(`ALTER TABLE run ${each(({ name, columns }) => `ADD INDEX ${String(name)} (${String(columns)})`)}`);
  for (const [word, every] of [
    ['slow', 1],
    ['checkout', 5],
    ['zebra', 500],
  ] as const) {
    await sql(
      `INSERT INTO run_word (run_id, word_key, created_at, duration_ms)
       SELECT id, '${wordKeysOf(word)[0]}', created_at, duration_ms FROM run WHERE RIGHT(id, 12) % ${every} = 0`,
    );
  }
  const of = `'${id(123_456)}'`;
  await sql(
    `INSERT INTO agent_step SELECT ${sqlId('seq')}, ${of}, 'planner', 0, seq, 'COMPLETED', 'OK', '2026-05-01' + INTERVAL seq SECOND, 5, 1, 1, NULL, NULL FROM seq_1_to_30`,
  );
  await sql(
    `INSERT INTO tool_invocation (id, run_id, invocation_id, call_key, round, ordinal, tool_name, arguments, status, started_at)
     SELECT ${sqlId('seq')}, ${of}, CONCAT('t', seq), SHA2(seq, 256), 0, seq, 'changes', '{}', 'OK', '2026-05-01' FROM seq_1_to_30`,
  );
  await sql(
    `INSERT INTO run_evaluation SELECT ${sqlId('seq')}, ${of}, CONCAT('kind', seq), 0.5, '{}', '2026-05-01' FROM seq_1_to_2`,
  );
  await sql('SET SESSION foreign_key_checks = 1, unique_checks = 1');
  await sql('ANALYZE TABLE run, run_word, chat_session, agent_step, tool_invocation, run_evaluation');
}

function sqlId(number: string): string {
  return `CONCAT('01900000-0000-7000-8000-', LPAD(${number}, 12, '0'))`;
}
