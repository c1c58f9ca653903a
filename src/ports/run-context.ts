import type { RunnableConfig } from '@langchain/core/runnables';
import { DiagnosisError } from '../errors/diagnosis-error';

/**
 * What belongs to a run and is no state: it travels by reference under `config.configurable.run`, so that the config object
 * itself stays the one the engine gave. The contract guard alone moves `round`.
 */
export interface RunContext {
  readonly runId: string;
  /** Aborted with reason RUN_DEADLINE when the run's time is over; the run's own signal is `config.signal`. */
  readonly deadline: AbortSignal;
  round: 0 | 1;
}

/**
 * The run that a config belongs to. It refuses a config whose thread is not the run: `DiagnosisError` STATE_INVALID.
 * The run id comes from `metadata.runId`, which must equal `configurable.thread_id`.
 */
export function runIdOf(config: RunnableConfig): string {
  const runId: unknown = config.metadata?.['runId'];
  const thread: unknown = config.configurable?.['thread_id'];
  if (typeof runId !== 'string' || runId === '' || runId !== thread) {
    throw new DiagnosisError('STATE_INVALID', 'The config names no run, or its thread is not its run.');
  }
  return runId;
}

/** The run context of a config; it refuses a config without one, or with the one of another run. */
export function runContextOf(config: RunnableConfig): RunContext {
  const runId = runIdOf(config);
  const context = config.configurable?.['run'] as RunContext | undefined;
  if (context === undefined || context.runId !== runId) {
    throw new DiagnosisError('STATE_INVALID', 'The config carries no context of its run.');
  }
  return context;
}
