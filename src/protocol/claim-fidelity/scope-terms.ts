/** Subjects of an absence claim, or of a summary, that stand for "whatever the query was not limited to". */
export const ALL_SUBJECTS: readonly string[] = ['*', 'all', 'all services'];

/** Arguments of a tool that name a subject, e.g. `service`. */
export const SUBJECT_ARGUMENTS: readonly string[] = [
  'service',
  'subject',
  'host',
  'pod',
  'operation',
  'table',
  'metric',
  'entity',
];

/** Arguments of a tool that name what a record must hold, e.g. `contains`. */
export const FILTER_ARGUMENTS: readonly string[] = ['contains', 'part', 'filter', 'query', 'pattern'];

/** Arguments that do not narrow what was counted; looking back counts more. */
export const NEUTRAL_ARGUMENTS: readonly string[] = ['window', 'from', 'to', 'baseline', 'limit', 'lookback_minutes'];

/** Fields on which an absence claim's bindings may stand; `data` repeats them from the envelope, e.g. `/summary/matched_count`. */
export const ABSENCE_FIELDS = ['matched_count', 'records_scanned', 'records_rejected', 'complete'] as const;
