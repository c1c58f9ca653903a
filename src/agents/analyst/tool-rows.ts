import { z } from 'zod';
import type { ErrorShareRow, LogPatternRow, LogSequenceRow } from '../../ports/telemetry-source.port';

const nullableNumber = z.number().nullable();

const patternRowSchema: z.ZodType<LogPatternRow> = z.object({
  service: z.string(),
  level: z.string().nullable(),
  template: z.string(),
  sample: z.string(),
  count: z.number(),
  baseline_count: nullableNumber,
  share: z.number(),
  baseline_share: nullableNumber,
  rate_per_min: z.number(),
  baseline_rate_per_min: nullableNumber,
  first_seen: z.string().nullable(),
  last_seen: z.string().nullable(),
  score: z.number(),
});

const errorShareRowSchema: z.ZodType<ErrorShareRow> = z.object({
  service: z.string(),
  lines: z.number(),
  error_lines: z.number(),
  error_share: z.number(),
  baseline_lines: nullableNumber,
  baseline_error_lines: nullableNumber,
  baseline_error_share: nullableNumber,
  rate_per_min: z.number(),
  baseline_rate_per_min: nullableNumber,
});

const sequenceRowSchema: z.ZodType<LogSequenceRow> = z.object({
  service: z.string(),
  kind: z.enum(['cut', 'missing', 'error_line', 'reroute']),
  step: z.string(),
  step_service: z.string(),
  sample: z.string(),
  count: z.number(),
  total: z.number(),
  share: z.number(),
  baseline_count: z.number(),
  baseline_total: z.number(),
  baseline_share: z.number(),
  votes: z.number(),
  score: z.number(),
  first_seen: z.string(),
});

/** A tool that the analyst can read: its name, where its rows stand in `data`, and how a row looks. */
export interface ReadableTool<Row> {
  readonly name: string;
  readonly rowsAt: 'patterns' | 'services' | 'sequences';
  readonly row: z.ZodType<Row>;
}

export const LOG_PATTERNS: ReadableTool<LogPatternRow> = { name: 'log_patterns', rowsAt: 'patterns', row: patternRowSchema };
export const ERROR_SHARE: ReadableTool<ErrorShareRow> = { name: 'error_share', rowsAt: 'services', row: errorShareRowSchema };
export const LOG_SEQUENCES: ReadableTool<LogSequenceRow> = {
  name: 'log_sequences',
  rowsAt: 'sequences',
  row: sequenceRowSchema,
};

const SEVERE_LEVEL = /^(error|severe|fatal|crit(ical)?|panic|alert|emerg(ency)?)$/i;
const WARNING_LEVEL = /^warn(ing)?$/i;

/** Whether a line's level says that something failed. */
export function isSevere(level: string | null): boolean {
  return level !== null && SEVERE_LEVEL.test(level);
}

/** Whether a line's level says that something may be wrong, or is. */
export function isAlarming(level: string | null): boolean {
  return level !== null && (SEVERE_LEVEL.test(level) || WARNING_LEVEL.test(level));
}
