import type { JsonObject } from '../protocol/json-value';

export interface EvaluationRecord {
  readonly id: string;
  readonly run_id: string;
  /** What was measured, e.g. `expected_label`; once per run and kind. */
  readonly kind: string;
  /** 0 to 1, null when there was nothing to score against. */
  readonly score: number | null;
  readonly detail: JsonObject;
  readonly created_at: Date;
}

/** Evaluations of finished runs, one for each run and kind. */
export abstract class EvaluationStore {
  /** A second one of the same run and kind is refused: answers false. */
  abstract insert(evaluation: EvaluationRecord): Promise<boolean>;
  /** A second one of the same run and kind takes the place of the first, whose id stays. */
  abstract put(evaluation: EvaluationRecord): Promise<void>;
  abstract listByRun(runId: string): Promise<EvaluationRecord[]>;
}
