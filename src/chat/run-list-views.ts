import type { AgentStepRecord } from '../ports/agent-step-store.port';
import type { JsonObject } from '../protocol/json-value';
import type { ReasonCode } from '../vocabulary/reason-codes';
import type { AgentFlow, RunFailureCode, RunStatus } from '../vocabulary/run-lifecycle';
import type { FallbackClass } from '../vocabulary/statuses';
import type { Verdict } from '../vocabulary/verdicts';
import type { InvocationView } from './run-views';

/** A part of a list. `nextCursor` asks for what follows, null at the end; `total` is null unless it was asked for. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
  readonly total: number | null;
}

/** A run as lists show it: its scalar facts. Sizes are bytes of UTF-8; `title` is the beginning of the question. */
export interface RunListItem {
  readonly id: string;
  readonly sessionId: string;
  readonly title: string | null;
  readonly status: RunStatus;
  readonly agent_flow: AgentFlow;
  readonly verdict: Verdict | null;
  readonly degraded: boolean;
  readonly failureCode: RunFailureCode | null;
  readonly fallbackClass: FallbackClass | null;
  readonly fallbackReason: ReasonCode | null;
  readonly retries: number;
  readonly toolFailed: boolean;
  /** From the question to the end; null before the end, and for a run whose process died: nobody knows how long it worked. */
  readonly durationMs: number | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly messageBytes: number | null;
  readonly messageSha256: string | null;
  readonly answerBytes: number | null;
  readonly answerSha256: string | null;
  /** Whether question, answer, evidence and outputs outlive the run. */
  readonly keepsContent: boolean;
  readonly eraseRequestedAt: string | null;
}

/** One timed attempt of one node. */
export type StepView = Omit<AgentStepRecord, 'run_id' | 'started_at'> & { readonly started_at: string };

/** A recorded tool call as lists show it: without its arguments and its output. */
export type InvocationListItem = Omit<InvocationView, 'arguments'>;

/** An evaluation as lists show it; `score` is from 0 to 1, null when there was nothing to score against. */
export interface EvaluationListItem {
  readonly id: string;
  readonly kind: string;
  readonly score: number | null;
  readonly createdAt: string;
}

/** An evaluation with what it was reckoned from. */
export interface EvaluationView extends EvaluationListItem {
  readonly runId: string;
  readonly detail: JsonObject;
}

export interface SessionListItem {
  readonly id: string;
  readonly createdAt: string;
}

/** A session with the number of its runs. */
export interface SessionView extends SessionListItem {
  readonly runs: number;
}
