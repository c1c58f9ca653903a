import type { DataSource } from 'typeorm';
import { parseDiagnosisOptions, type DiagnosisOptions, type DiagnosisOptionsInput } from '../../src/options/diagnosis-options';
import type { NewInvocation } from '../../src/ports/tool-invocation-store.port';
import type { RunTerminal } from '../../src/ports/run-store.port';
import { AgentStepRepository } from '../../src/runs/agent-step.repository';
import { CheckpointRepository } from '../../src/runs/checkpoint.repository';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import { EvaluationRepository } from '../../src/runs/evaluation.repository';
import { RunRepository } from '../../src/runs/run.repository';
import { SessionRepository } from '../../src/runs/session.repository';
import { SystemClock } from '../../src/runs/system-clock.service';
import { TraceRepository } from '../../src/runs/trace.repository';
import { freshFile, type FreshDatabase, type TestDatabase } from './test-databases';

export interface Store {
  readonly url: string;
  /** Folder and file of SQLite; empty on a server. */
  readonly folder: string;
  readonly file: string;
  readonly options: DiagnosisOptions;
  readonly dataSource: DataSource;
  readonly runs: RunRepository;
  readonly traces: TraceRepository;
  readonly steps: AgentStepRepository;
  readonly sessions: SessionRepository;
  readonly evaluations: EvaluationRepository;
  readonly checkpoints: CheckpointRepository;
  close(): Promise<void>;
}

/** A migrated database of its own with every repository over it: on `db`, or an SQLite file where none is given. */
export async function openStore(input?: DiagnosisOptionsInput): Promise<Store>;
export async function openStore(db: TestDatabase, input?: DiagnosisOptionsInput): Promise<Store>;
export async function openStore(
  first: TestDatabase | DiagnosisOptionsInput = {},
  second?: DiagnosisOptionsInput,
): Promise<Store> {
  if (!('fresh' in first)) return storeOver(await freshFile(), first);
  const input = second ?? {};
  return storeOver(input.database === undefined ? await first.migrated() : await first.fresh(), input);
}

async function storeOver(database: FreshDatabase, input: DiagnosisOptionsInput): Promise<Store> {
  const { url, folder } = database;
  const options = parseDiagnosisOptions({ ...input, database: { ...input.database, url } });
  const dataSource = await openDiagnosisDataSource(options);
  return {
    url,
    folder: folder ?? '',
    file: folder === null ? '' : url.slice('sqlite:'.length),
    options,
    dataSource,
    runs: new RunRepository(dataSource, options),
    traces: new TraceRepository(dataSource, options),
    steps: new AgentStepRepository(dataSource),
    sessions: new SessionRepository(dataSource),
    evaluations: new EvaluationRepository(dataSource),
    checkpoints: new CheckpointRepository(dataSource, new SystemClock()),
    async close() {
      if (dataSource.isInitialized) await dataSource.destroy();
      await database.drop();
    },
  };
}

export const AT = new Date('2026-05-04T12:00:00.123Z');

export function after(ms: number): Date {
  return new Date(AT.getTime() + ms);
}

/** A run of session `s` that `owner` holds for one minute. */
export async function startRun(store: Store, id: string, owner = 'me'): Promise<void> {
  await store.sessions.ensure('s', AT);
  await store.runs.create({ id, session_id: 's', message: `why ${id}?`, agent_flow: 'DIAGNOSIS_GRAPH', created_at: AT });
  await store.runs.markRunning(id, null, { owner, until: after(60_000) }, after(5));
}

export function invocationOf(runId: string, ordinal: number, change: Partial<NewInvocation> = {}): NewInvocation {
  return {
    id: `${runId}-row-${ordinal}`,
    run_id: runId,
    invocation_id: `t${ordinal}-aaaa`,
    call_key: `key-${ordinal}`,
    round: 0,
    ordinal,
    tool_name: 'log_patterns',
    arguments: '{"limit":5}',
    started_at: AT,
    status: 'RUNNING',
    ...change,
  };
}

export function success(change: Partial<Extract<RunTerminal, { status: 'SUCCESS' }>> = {}): RunTerminal {
  return {
    status: 'SUCCESS',
    answer: 'It was the pool.',
    verdict: 'PASS',
    degraded: false,
    causes: [],
    trace: null,
    metrics: null,
    self_evaluation: null,
    evidence: null,
    duration_ms: 900,
    tool_failures: 0,
    finished_at: after(900),
    ...change,
  };
}

/** The code of the `DiagnosisError` that a promise rejects with; any other ending is told as text. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'resolved',
    (error: unknown) => (error as { code?: string }).code ?? `no code: ${String(error)}`,
  );
}
