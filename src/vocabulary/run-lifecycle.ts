/** Life of a run. A safe answer is SUCCESS even when it is a fallback; degradation is told apart from failure. */
export const RUN_STATUSES = ['PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'CANCELLED'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Why a run ended without an answer. */
export const RUN_FAILURE_CODES = [
  'GRAPH_FAILED',
  'GRAPH_RECURSION_LIMIT',
  'ANSWER_BLANK',
  'STATE_MISSING',
  'TELEMETRY_UNAVAILABLE',
  'LEASE_LOST',
  'INTERRUPTED',
  'CANCELLED',
  'DRAIN',
] as const;
export type RunFailureCode = (typeof RUN_FAILURE_CODES)[number];

/** What somebody found out about a run's answer afterwards. */
export const RUN_OUTCOMES = ['confirmed', 'wrong'] as const;
export type RunOutcomeKind = (typeof RUN_OUTCOMES)[number];

/** Which way a message was answered: by the graph, or by quoting an earlier stored answer. */
export const AGENT_FLOWS = ['DIAGNOSIS_GRAPH', 'DIRECT'] as const;
export type AgentFlow = (typeof AGENT_FLOWS)[number];

/** Reasons with which a run's signal is aborted. `RUN_DEADLINE` alone becomes an outcome; the others end the graph. */
export const ABORT_REASONS = ['CANCELLED', 'LEASE_LOST', 'DRAIN', 'RUN_DEADLINE'] as const;
export type AbortReason = (typeof ABORT_REASONS)[number];

/** Life of a tool call as it is recorded. Only OK, TRUNCATED and ERROR bear evidence, each within limits. */
export const INVOCATION_STATUSES = ['RUNNING', 'OK', 'TRUNCATED', 'ERROR', 'DENIED', 'ABANDONED'] as const;
export type InvocationStatus = (typeof INVOCATION_STATUSES)[number];
