import type { RunOutcomeKind } from '../vocabulary/run-lifecycle';

/** What somebody found out about a run's answer afterwards. */
export interface RunOutcomeRecord {
  readonly run_id: string;
  readonly outcome: RunOutcomeKind;
  /** The service or thing that it really was; null where nobody said so. */
  readonly actual_cause: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/**
 * Outcomes of runs, one for each run: a newer one replaces an older one and keeps when the first was told. It refuses an
 * outcome of a run that is not stored: CONFLICT. Throws `DiagnosisError` STORE_UNAVAILABLE.
 */
export abstract class RunOutcomeStore {
  abstract put(outcome: Omit<RunOutcomeRecord, 'created_at' | 'updated_at'>, at: Date): Promise<void>;
  abstract find(runId: string): Promise<RunOutcomeRecord | null>;
}
