/** Kinds of claim that an executor may make. A hypothesis never becomes evidence. */
export const CLAIM_KINDS = ['fact', 'absence', 'hypothesis'] as const;

/** Part that a subject plays in an incident. */
export const ASSESSMENT_ROLES = ['cause', 'contributing', 'symptom', 'trigger', 'ruled_out'] as const;
export type AssessmentRole = (typeof ASSESSMENT_ROLES)[number];

/**
 * Comparisons that the gatekeeper recomputes on the stored output.
 * In `rose`, `fell`, `appeared`, `percent_change` and `duration` the left binding is the earlier (baseline) value and the
 * right binding the later (incident) one; `ratio` is left divided by right, `difference` left minus right.
 */
export const ASSERTION_OPS = [
  'equals',
  'greater',
  'less',
  'rose',
  'fell',
  'appeared',
  'count',
  'ratio',
  'difference',
  'percent_change',
  'duration',
] as const;
export type AssertionOp = (typeof ASSERTION_OPS)[number];

/** Units that a tool can declare for a field of its output. `none` is a plain number, `text` and `instant` are no numbers. */
export const UNITS = [
  'none',
  'count',
  'ratio',
  'percent',
  'per_second',
  'per_minute',
  'ns',
  'us',
  'ms',
  's',
  'min',
  'h',
  'B',
  'KiB',
  'MiB',
  'GiB',
  'instant',
  'text',
] as const;
export type Unit = (typeof UNITS)[number];

/** Which window a field of a tool's output speaks of. */
export const FIELD_WINDOWS = ['incident', 'baseline'] as const;
