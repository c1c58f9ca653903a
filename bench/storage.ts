import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import type { DataSource, Logger } from 'typeorm';
import { ChatService } from '../src/chat/chat.service';
import { DiagnosisModule } from '../src/diagnosis.module';
import { DiagnosisGraphService } from '../src/graph/diagnosis-graph.service';
import type { DiagnosisOptionsInput } from '../src/options/diagnosis-options';
import { DIAGNOSIS_NODES, type AnyGraphNode } from '../src/ports/graph-node.port';
import {
  ToolInvocationStore,
  type FinishedInvocation,
  type InvocationRecord,
  type NewInvocation,
} from '../src/ports/tool-invocation-store.port';
import { onEachDatabase, openBenchDatabase, type BenchDatabase } from './bench-databases';
import { intake } from './graph-overhead';
import { QUESTION, scenario, SCRIPTED } from './scripted-agents';

interface StorageRow {
  readonly name: string;
  readonly ratio: number;
  readonly limit: number | null;
  readonly atLeast?: number;
}

/** Hears of every statement that TypeORM sends, those that open and end a transaction included. */
class StatementLog implements Logger {
  readonly sent: string[] = [];

  logQuery(query: string): void {
    this.sent.push(query);
  }

  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}

async function withService<T>(
  dataSource: DataSource,
  options: DiagnosisOptionsInput,
  work: (app: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const module = DiagnosisModule.forRoot({ ...options, ...SCRIPTED, dataSource, controllers: false });
  const app = await NestFactory.createApplicationContext(module, { logger: ['error'] });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

const CASES: readonly { readonly name: string; readonly calls: number; readonly hasGap: boolean }[] = [
  { name: '6 nodes, 1 call', calls: 1, hasGap: false },
  { name: '6 nodes, 8 calls', calls: 8, hasGap: false },
  { name: '11 nodes, 2 calls', calls: 1, hasGap: true },
];

/** With BENCH_STATEMENTS=1 it also prints what was sent. */
async function countedRuns(database: BenchDatabase, keep: boolean): Promise<StorageRow[]> {
  const log = new StatementLog();
  const dataSource = await openBenchDatabase(database, log);
  try {
    return await withService(dataSource, { checkpoints: { keep } }, async (app) => {
      const rows: StorageRow[] = [];
      for (const { name, calls, hasGap } of CASES) {
        Object.assign(scenario, { calls, hasGap });
        log.sent.length = 0;
        const { runId } = await app.get(ChatService).chat(QUESTION);
        const sent = log.sent.slice();
        const [nodes, made, chunks] = await sizesOf(dataSource, runId);
        if (process.env['BENCH_STATEMENTS'] === '1') console.log(sent.map((text) => text.slice(0, 160)).join('\n'));
        rows.push({
          name: `statements of a run, ${database.name}, checkpoints ${keep ? 'on' : 'off'}: ${name}`,
          ratio: sent.length,
          limit: 10 + 4 * nodes + 2 * made + chunks,
        });
      }
      return rows;
    });
  } finally {
    Object.assign(scenario, { calls: 1, hasGap: false });
    await dataSource.destroy();
  }
}

async function sizesOf(dataSource: DataSource, runId: string): Promise<[nodes: number, calls: number, chunks: number]> {
  const count = async (from: string): Promise<number> => {
    const [row] = await dataSource.query<{ n: number | string }[]>(`SELECT COUNT(*) AS n FROM ${from}`, [runId]);
    return Number(row?.n);
  };
  return [
    await count('diagnosis_agent_step WHERE run_id = ?'),
    await count('diagnosis_tool_invocation WHERE run_id = ?'),
    await count(
      'diagnosis_tool_output_chunk WHERE invocation_row_id IN (SELECT id FROM diagnosis_tool_invocation WHERE run_id = ?)',
    ),
  ];
}

/** Tool calls in memory, as little as the gate and the recorder need. */
class MemoryInvocations extends ToolInvocationStore {
  private readonly calls = new Map<string, { record: InvocationRecord; output: string }>();

  override begin(call: NewInvocation): Promise<{ readonly record: InvocationRecord; readonly existed: boolean }> {
    const none = { output_sha256: null, output_bytes: null, error_code: null, duration_ms: null };
    const record: InvocationRecord = { ...none, ...call };
    this.calls.set(call.id, { record, output: '' });
    return Promise.resolve({ record, existed: false });
  }

  override finish(id: string, { status, output, duration_ms }: FinishedInvocation): Promise<void> {
    const call = this.calls.get(id);
    if (call !== undefined) this.calls.set(id, { record: { ...call.record, status, duration_ms }, output: output ?? '' });
    return Promise.resolve();
  }

  override listByRun(runId: string): Promise<InvocationRecord[]> {
    return Promise.resolve([...this.calls.values()].map(({ record }) => record).filter(({ run_id }) => run_id === runId));
  }

  override findOfRun(runId: string, id: string): Promise<InvocationRecord | null> {
    return this.listByRun(runId).then((calls) => calls.find((call) => call.id === id || call.invocation_id === id) ?? null);
  }

  override existsInAnotherRun(): Promise<boolean> {
    return Promise.resolve(false);
  }

  override readOutput(id: string): Promise<string> {
    return Promise.resolve(this.calls.get(id)?.output ?? '');
  }

  forget(runId: string): void {
    for (const [id, { record }] of this.calls) if (record.run_id === runId) this.calls.delete(id);
  }
}

const ROUNDS = 5;
const RUNS_A_ROUND = 48;
const AT_ONCE = 8;
const WARM_UP_RUNS = 48;
/** Time that an agent takes where agents are not to answer at once: a language model takes ten times as long. */
const THINK_MS = 50;

type OneRun = (id: string) => Promise<unknown>;

/** Runs a second, eight at once. */
async function rateOf(run: OneRun, runs: number, prefix: string): Promise<number> {
  let next = 0;
  const start = process.hrtime.bigint();
  const worker = async (): Promise<void> => {
    while (next < runs) await run(`${prefix}-${(next += 1)}`);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return runs / (Number(process.hrtime.bigint() - start) / 1e9);
}

/** Median over the rounds of left rate to right rate, the two taken in turns. */
async function rateRatio(left: OneRun, right: OneRun): Promise<{ readonly ratio: number; readonly rate: number }> {
  await rateOf(left, WARM_UP_RUNS, 'warm-left');
  await rateOf(right, WARM_UP_RUNS, 'warm-right');
  const rounds: { ratio: number; rate: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first, second] = round % 2 === 0 ? [left, right] : [right, left];
    const rates = [await rateOf(first, RUNS_A_ROUND, `a${round}`), await rateOf(second, RUNS_A_ROUND, `b${round}`)] as const;
    const [own, other] = round % 2 === 0 ? rates : ([rates[1], rates[0]] as const);
    rounds.push({ ratio: own / other, rate: own });
  }
  return rounds.sort((a, b) => a.ratio - b.ratio)[ROUNDS >> 1] ?? { ratio: Number.NaN, rate: Number.NaN };
}

async function throughput(database: BenchDatabase): Promise<StorageRow[]> {
  const dataSource = await openBenchDatabase(database);
  const isSqlite = database.name === 'SQLite';
  const rows: StorageRow[] = [];
  try {
    await withService(dataSource, {}, async (app) =>
      withService(dataSource, {}, async (other) => {
        const service: OneRun = () => app.get(ChatService).chat(QUESTION);
        const alone = graphAlone(other);
        if (isSqlite) {
          const { ratio } = await rateRatio(alone, alone);
          rows.push({ name: 'throughput: graph alone / graph alone, agents of 0 ms (A/A)', ratio, limit: null });
        }
        for (const thinkMs of [0, THINK_MS]) {
          scenario.thinkMs = thinkMs;
          const { ratio, rate } = await rateRatio(service, alone);
          const name = `throughput: service on ${database.name} / graph alone, agents of ${thinkMs} ms (${rate.toFixed(0)} runs/s)`;
          rows.push({ name, ratio, limit: null, ...(isSqlite && thinkMs > 0 ? { atLeast: 0.9 } : {}) });
        }
      }),
    );
    return rows;
  } finally {
    scenario.thinkMs = 0;
    await dataSource.destroy();
  }
}

/** The same nodes, agents, gate and recorder, with tool calls in memory and no run, step or session stored. */
function graphAlone(app: INestApplicationContext): OneRun {
  const memory = new MemoryInvocations();
  const store = app.get(ToolInvocationStore);
  for (const name of ['begin', 'finish', 'listByRun', 'findOfRun', 'existsInAnotherRun', 'readOutput'] as const) {
    Object.assign(store, { [name]: memory[name].bind(memory) });
  }
  const graph = new DiagnosisGraphService(app.get<AnyGraphNode[]>(DIAGNOSIS_NODES, { strict: false }));
  return async (runId) => {
    const [signal, deadline] = [new AbortController().signal, new AbortController().signal];
    const { state } = await graph.run({ runId, sessionId: 's', intake, signal, deadline });
    if (state?.effective_verdict !== 'PASS') throw new Error('The measured graph did not reach its answer.');
    memory.forget(runId);
  };
}

/**
 * What storage costs: statements that a run sends, against 10, 4 a node, 2 a tool call and the chunks of its outputs; and how
 * many questions a second the service answers with everything stored, eight at once, against its graph without a database.
 * With agents of 0 ms that is the bare price in processor time, storage and intake together; the limit is for agents that
 * take some time, as every agent but a script does.
 */
export async function measureStorage(): Promise<StorageRow[]> {
  return onEachDatabase(async (database) => [
    ...(await countedRuns(database, false)),
    ...(await countedRuns(database, true)),
    ...(await throughput(database)),
  ]);
}
