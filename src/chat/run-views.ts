import type { RunMetrics, SelfEvaluation } from '../ports/run-store.port';
import type { DiagnosisQuery } from '../protocol/diagnosis-query';
import type { OrchestrationTrace } from '../protocol/orchestration-trace';
import type { RankedCause } from '../protocol/run-evidence';
import type { VerifiedClaim } from '../protocol/verified-material';
import type { AgentFlow, InvocationStatus, RunFailureCode, RunStatus } from '../vocabulary/run-lifecycle';
import type { Verdict } from '../vocabulary/verdicts';

/** A run as a caller may read it. `orchestrationTrace` is there for graph runs alone, null while there is none. */
export interface RunView {
  readonly id: string;
  readonly sessionId: string;
  /** The question; null where no contents are kept. */
  readonly message: string | null;
  readonly status: RunStatus;
  readonly agent_flow: AgentFlow;
  /** What the run looked at: window, baseline, zone; null when the graph did not start. */
  readonly query: Omit<DiagnosisQuery, 'schema' | 'question'> | null;
  readonly answer: string | null;
  readonly verdict: Verdict | null;
  readonly degraded: boolean;
  readonly causes: readonly RankedCause[];
  readonly failureCode: RunFailureCode | null;
  readonly metrics: RunMetrics | null;
  readonly selfEvaluation: SelfEvaluation | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Whether question, answer, causes, evidence, arguments and outputs outlive the run. */
  readonly keepsContent: boolean;
  /** When somebody asked for the run to be erased; it goes right after its end. */
  readonly eraseRequestedAt: string | null;
  readonly orchestrationTrace?: OrchestrationTrace | null;
}

/** One line around a cited place; `number` counts from 1 within what is shown of the recorded output. */
export interface ContextLine {
  readonly number: number;
  readonly text: string;
  readonly matched: boolean;
}

/** A citation: the place in a recorded output, its text, and the lines around it (null when they cannot be shown). */
export interface BindingView {
  readonly source_invocation_id: string;
  readonly tool_name: string;
  readonly raw_path: string;
  readonly quote: string | null;
  readonly matched_text: string;
  readonly context: readonly ContextLine[] | null;
}

export interface EvidenceClaimView {
  /** Number in square brackets by which the answer cites the claim; null when it does not. */
  readonly citation: number | null;
  readonly claim_id: string;
  readonly kind: VerifiedClaim['kind'];
  readonly subject: string;
  readonly statement: string;
  readonly bindings: readonly BindingView[];
}

/** What an answer rests on; without claims it says why. */
export interface EvidenceView {
  readonly runId: string;
  readonly claims: readonly EvidenceClaimView[];
  readonly emptyReason: string | null;
}

export interface InvocationView {
  readonly id: string;
  readonly invocation_id: string;
  readonly tool_name: string;
  /** Canonical JSON. */
  readonly arguments: string;
  readonly status: InvocationStatus;
  readonly error_code: string | null;
  readonly round: number;
  readonly ordinal: number;
  readonly started_at: string;
  readonly duration_ms: number | null;
  readonly output_sha256: string | null;
  readonly output_bytes: number | null;
}

/** A part of a stored output, in characters from `offset`; `next` is where the rest starts, null at the end. */
export interface OutputPart {
  readonly offset: number;
  readonly text: string;
  readonly total: number;
  readonly next: number | null;
}

export interface InvocationAnswer {
  readonly runId: string;
  readonly invocation: InvocationView;
  readonly output: OutputPart | null;
}
