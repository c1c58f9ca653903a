import type { DiagnosisQuery } from '../protocol/diagnosis-query';
import type { OrchestrationTrace } from '../protocol/orchestration-trace';
import type { RankedCause, RunEvidence } from '../protocol/run-evidence';
import type { AgentFlow, RunFailureCode, RunStatus } from '../vocabulary/run-lifecycle';
import type { Verdict } from '../vocabulary/verdicts';

export interface NewRun {
  readonly id: string;
  readonly session_id: string;
  readonly message: string;
  readonly agent_flow: AgentFlow;
  readonly created_at: Date;
}

/** Deterministic counts from the final state. */
export interface SelfEvaluation {
  readonly claims_proposed: number;
  readonly claims_passed: number;
  readonly claims_allowed: number;
  readonly claims_shown: number;
  readonly gaps: number;
  readonly tool_calls: number;
}

/** Durations in milliseconds; tokens are null when unknown, never 0 for unknown. */
export interface RunMetrics {
  readonly duration_ms: number;
  readonly node_ms: Readonly<Record<string, number>>;
  readonly agent_calls: number;
  readonly tool_calls: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
}

/** How a run ends. Written in one transaction together with its evidence. */
export type RunTerminal =
  | {
      readonly status: 'SUCCESS';
      readonly answer: string;
      readonly verdict: Verdict | null;
      readonly degraded: boolean;
      readonly causes: readonly RankedCause[];
      readonly trace: OrchestrationTrace | null;
      readonly metrics: RunMetrics | null;
      readonly self_evaluation: SelfEvaluation | null;
      readonly evidence: RunEvidence | null;
      /** From the question to its end. */
      readonly duration_ms: number;
      /** Tool calls that failed, were denied or were given up. */
      readonly tool_failures: number;
      readonly finished_at: Date;
    }
  | {
      readonly status: 'FAILED' | 'CANCELLED';
      readonly failure_code: RunFailureCode;
      readonly trace: OrchestrationTrace | null;
      readonly metrics: RunMetrics | null;
      readonly duration_ms: number;
      readonly tool_failures: number;
      readonly finished_at: Date;
    };

/** A run as it is read back whole. */
export interface RunRecord {
  readonly id: string;
  readonly session_id: string;
  /** Empty where no contents are kept, as is the question of `query`; answer, causes and evidence are missing then. */
  readonly message: string;
  readonly keeps_content: boolean;
  readonly erase_requested_at: Date | null;
  readonly status: RunStatus;
  readonly agent_flow: AgentFlow;
  readonly query: DiagnosisQuery | null;
  readonly answer: string | null;
  readonly verdict: Verdict | null;
  readonly degraded: boolean;
  readonly causes: readonly RankedCause[];
  readonly failure_code: RunFailureCode | null;
  readonly trace: OrchestrationTrace | null;
  readonly metrics: RunMetrics | null;
  readonly self_evaluation: SelfEvaluation | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

/** Right to write a running run: who holds it, and until when. */
export interface RunLease {
  readonly owner: string;
  readonly until: Date;
}

/**
 * Runs and their terminal word. With `content.store` off it keeps hashes and sizes in the place of texts from the beginning, and
 * no run has its terminal status before arguments and outputs of its tool calls are gone. It refuses to write a run whose lease
 * is held by somebody else: such calls answer false.
 * Throws `DiagnosisError` STORE_UNAVAILABLE or CONFLICT.
 */
export abstract class RunStore {
  abstract create(run: NewRun): Promise<void>;
  abstract markRunning(runId: string, query: DiagnosisQuery | null, lease: RunLease, startedAt: Date): Promise<boolean>;
  abstract renewLease(runId: string, lease: RunLease): Promise<boolean>;
  abstract finish(runId: string, leaseOwner: string, terminal: RunTerminal): Promise<boolean>;
  abstract find(runId: string): Promise<RunRecord | null>;
  abstract findEvidence(runId: string): Promise<RunEvidence | null>;
  /** Newest PASS runs of a session whose contents are kept, oldest of them first; never one that fell back or is to be erased. */
  abstract passedAnswers(sessionId: string, limit: number): Promise<Pick<RunRecord, 'id' | 'message' | 'answer' | 'verdict'>[]>;
  /** The newest SUCCESS run of a session that looked at something and is not to be erased, and what that was; null for none. */
  abstract latestQuery(sessionId: string): Promise<{ readonly id: string; readonly query: DiagnosisQuery } | null>;
  /** Ends PENDING and RUNNING runs whose lease ran out before `now` as FAILED/INTERRUPTED, without a duration; answers how many. */
  abstract failExpired(now: Date): Promise<number>;
}
