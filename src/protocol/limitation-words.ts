import type { LimitationCode } from '../vocabulary/limitation-codes';

const LIMITATION_WORDS: Record<LimitationCode, string> = {
  BASELINE_PRECEDING_WINDOW: 'No baseline was given: the window was compared with the time directly before it.',
  NO_BASELINE: 'There was nothing to compare the window with.',
  NO_LOGS: 'Logs were not looked at.',
  NO_METRICS: 'Metrics were not looked at.',
  NO_SPANS: 'Traces (spans) were not looked at.',
  NO_CHANGES: 'Recorded changes (deploys, flags, configuration) were not looked at.',
  SOURCE_INCOMPLETE: 'A query answered with a part of what it found, so some things may be missing.',
  WINDOW_NOT_COVERED: 'The telemetry does not cover the whole window.',
  TOOL_FAILED: 'A query failed.',
  TOOL_DENIED: 'A query was not allowed.',
  BUDGET_EXHAUSTED: 'The budget of this run was used up before every question was asked.',
  NO_TRACE_IDS: 'The logs carry no trace ids, so lines of one request could not be put together.',
  RECORDS_REJECTED: 'Some records could not be read and were left out.',
  FILES_SKIPPED: 'Some files among the logs could not be read as telemetry and were left out; `inspect` names them.',
  DEADLINE: 'The time of this run was over before every question was asked.',
  BELOW_THRESHOLD: 'Something departed from the baseline, but too weakly to rest a cause on it.',
  CANDIDATES_CLOSE: 'More than one candidate is about equally likely.',
  METRIC_BASELINE_PRECEDING:
    'The baseline holds too few metric values: metrics were compared with the hours directly before the window.',
  SCOPE_LOGS_ONLY:
    'Only kinds of log lines and shares of error lines can be narrowed to this part; flows, metrics and traces were left out, and changes are those of the whole system.',
  SCOPE_EMPTY: 'No log line of the window belongs to this part.',
  SUBJECT_UNKNOWN: 'What was asked about has no records under this name that it could be told from.',
  NO_LINES: 'There is no line to show.',
  BASELINE_UNSTEADY: 'The baseline itself is not steady: errors or slow requests became more frequent within it.',
};

/** What a reader is told about a limitation code; null for text that is no code. */
export function limitationWords(text: string): string | null {
  return Object.hasOwn(LIMITATION_WORDS, text) ? LIMITATION_WORDS[text as LimitationCode] : null;
}
