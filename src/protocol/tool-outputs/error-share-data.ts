import { z } from 'zod';
import type { FieldDeclaration } from '../tool-output';
import { LOG_SUMMARY_FIELDS, logPatternsDataSchema } from './log-patterns-data';

const count = z.number().int().min(0);

/**
 * `data` of `error_share`. `matched_count` counts error lines. `rate_per_min` is of all lines of the service, so that one that
 * fell silent shows. Decimals and nulls as in `log_patterns`.
 */
export const errorShareDataSchema = z.strictObject({
  summary: logPatternsDataSchema.shape.summary,
  services: z.array(
    z.strictObject({
      service: z.string(),
      lines: count,
      baseline_lines: count.nullable(),
      error_lines: count,
      baseline_error_lines: count.nullable(),
      error_share: z.number(),
      baseline_error_share: z.number().nullable(),
      rate_per_min: z.number(),
      baseline_rate_per_min: z.number().nullable(),
    }),
  ),
});
export type ErrorShareData = z.infer<typeof errorShareDataSchema>;

/** What the fields of `error_share` mean. */
export const ERROR_SHARE_FIELDS: Readonly<Record<string, FieldDeclaration>> = {
  ...LOG_SUMMARY_FIELDS,
  service: { unit: 'text', entity: true },
  lines: { unit: 'count', window: 'incident' },
  baseline_lines: { unit: 'count', window: 'baseline' },
  error_lines: { unit: 'count', window: 'incident' },
  baseline_error_lines: { unit: 'count', window: 'baseline' },
  error_share: { unit: 'ratio', window: 'incident' },
  baseline_error_share: { unit: 'ratio', window: 'baseline' },
  rate_per_min: { unit: 'per_minute', window: 'incident' },
  baseline_rate_per_min: { unit: 'per_minute', window: 'baseline' },
};
