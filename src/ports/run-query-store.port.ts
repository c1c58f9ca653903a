import type { ReasonCode } from '../vocabulary/reason-codes';
import type { AgentFlow, RunFailureCode, RunStatus } from '../vocabulary/run-lifecycle';
import type { FallbackClass } from '../vocabulary/statuses';
import type { Verdict } from '../vocabulary/verdicts';
import type { AgentStepRecord } from './agent-step-store.port';
import type { EvaluationRecord } from './evaluation-store.port';
import type { InvocationRecord } from './tool-invocation-store.port';

/** What a list of runs is sorted by: when the run came in, or how long its work took. */
export const RUN_SORTS = ['start', 'duration'] as const;
export type RunSort = (typeof RUN_SORTS)[number];

export const SORT_ORDERS = ['desc', 'asc'] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

/** Which runs a list holds: those that meet every condition that is there. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  /** null: runs without a verdict. */
  readonly verdict?: Verdict | null | undefined;
  readonly degraded?: boolean | undefined;
  readonly fallbackClass?: FallbackClass | undefined;
  readonly fallbackReason?: ReasonCode | undefined;
  readonly sessionId?: string | undefined;
  readonly agentFlow?: AgentFlow | undefined;
  /** Whether a tool call of the run failed, was denied or was given up. */
  readonly toolFailed?: boolean | undefined;
  /** Words that all stand in the question, in any order and case. */
  readonly question?: string | undefined;
  /** When the run came in: `from` inclusive, `to` exclusive. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Where a row stands in its list; `key` is the value it is sorted by: ms since 1970, a duration in ms, or a number in a row. */
export interface ListPosition {
  readonly key: number;
  readonly id: string;
}

/** A part of a list: at most `limit` rows behind `after`, or from the beginning. */
export interface ListSlice {
  readonly order: SortOrder;
  readonly after: ListPosition | null;
  readonly limit: number;
}

/** The scalar facts of a run, without any of its bodies. */
export interface RunSummary {
  readonly id: string;
  readonly session_id: string;
  readonly status: RunStatus;
  readonly agent_flow: AgentFlow;
  readonly verdict: Verdict | null;
  readonly degraded: boolean;
  readonly failure_code: RunFailureCode | null;
  readonly fallback_class: FallbackClass | null;
  readonly fallback_reason: ReasonCode | null;
  readonly retries: number;
  readonly tool_failed: boolean;
  readonly title: string | null;
  readonly message_sha256: string | null;
  readonly message_bytes: number | null;
  readonly answer_sha256: string | null;
  readonly answer_bytes: number | null;
  readonly keeps_content: boolean;
  readonly erase_requested_at: Date | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly duration_ms: number | null;
}

export interface SessionRecord {
  readonly id: string;
  readonly created_at: Date;
}

/** A tool call without its arguments and its output. */
export type InvocationSummary = Omit<InvocationRecord, 'arguments' | 'call_key'>;
/** An evaluation without what it was reckoned from. */
export type EvaluationSummary = Omit<EvaluationRecord, 'detail'>;

/**
 * Lists over what is stored. Every list is read from a position on, so that depth costs nothing and rows that come or go
 * meanwhile shift nobody; it refuses to read a body. A list of runs by duration holds those alone that have one. Steps and
 * evaluations are sorted by time, tool calls by ordinal. Throws `DiagnosisError` STORE_UNAVAILABLE.
 */
export abstract class RunQueryStore {
  abstract runs(filter: RunFilter, sort: RunSort, slice: ListSlice): Promise<RunSummary[]>;
  /** How many runs the whole list has; it reads an entry of an index for each. */
  abstract countRuns(filter: RunFilter, sort: RunSort): Promise<number>;
  abstract runExists(runId: string): Promise<boolean>;
  abstract steps(runId: string, slice: ListSlice): Promise<AgentStepRecord[]>;
  abstract countSteps(runId: string): Promise<number>;
  abstract invocations(runId: string, slice: ListSlice): Promise<InvocationSummary[]>;
  abstract countInvocations(runId: string): Promise<number>;
  abstract evaluations(runId: string, slice: ListSlice): Promise<EvaluationSummary[]>;
  abstract countEvaluations(runId: string): Promise<number>;
  abstract sessions(slice: ListSlice): Promise<SessionRecord[]>;
  abstract countSessions(): Promise<number>;
  /** A session with the number of its runs, or null. */
  abstract session(sessionId: string): Promise<(SessionRecord & { readonly runs: number }) | null>;
}
