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

/** Evaluations of finished runs. A second one of the same run and kind is refused: answers false. */
export abstract class EvaluationStore {
  abstract insert(evaluation: EvaluationRecord): Promise<boolean>;
  abstract listByRun(runId: string): Promise<EvaluationRecord[]>;
}
