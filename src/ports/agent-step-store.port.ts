import type { NodeName } from '../vocabulary/node-names';
import type { Outcome } from '../vocabulary/outcomes';
import type { ReasonCode } from '../vocabulary/reason-codes';

/** One attempt of one node as it was timed; sizes in bytes, tokens null when unknown. It holds no prompt and no output. */
export interface AgentStepRecord {
  readonly id: string;
  readonly run_id: string;
  readonly node: NodeName;
  readonly round: number;
  readonly attempt: number;
  readonly outcome: Outcome;
  readonly reason_code: ReasonCode;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
}

/** Timed attempts of a run. */
export abstract class AgentStepStore {
  abstract record(steps: readonly AgentStepRecord[]): Promise<void>;
  abstract listByRun(runId: string): Promise<AgentStepRecord[]>;
}
