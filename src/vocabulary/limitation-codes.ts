/**
 * What an executor may say of the limits of its own look, and the only form in which that travels further: codes, because
 * free text of an executor is bound to no evidence.
 */
export const LIMITATION_CODES = [
  'BASELINE_PRECEDING_WINDOW',
  'NO_BASELINE',
  'NO_LOGS',
  'NO_METRICS',
  'NO_SPANS',
  'NO_CHANGES',
  'SOURCE_INCOMPLETE',
  'WINDOW_NOT_COVERED',
  'TOOL_FAILED',
  'TOOL_DENIED',
  'BUDGET_EXHAUSTED',
  'NO_TRACE_IDS',
  'RECORDS_REJECTED',
  'FILES_SKIPPED',
  'DEADLINE',
  'BELOW_THRESHOLD',
  'CANDIDATES_CLOSE',
  'BASELINE_UNSTEADY',
  'METRIC_BASELINE_PRECEDING',
  'SCOPE_LOGS_ONLY',
  'SCOPE_EMPTY',
  'SUBJECT_UNKNOWN',
  'NO_LINES',
] as const;
export type LimitationCode = (typeof LIMITATION_CODES)[number];
