import { z } from 'zod';
import { instantSchema } from '../diagnosis-query';
import type { FieldDeclaration } from '../tool-output';

/** Longest sample line in characters; a longer one is cut at its end and marked. */
export const MAX_SAMPLE_CHARACTERS = 1000;

const count = z.number().int().min(0);

/**
 * `data` of `log_patterns`. Counts in the summary are of all lines that match, however many rows are shown; `rows_total` is
 * the number of patterns there are. Shares are of the service's lines, 4 decimals; rates are a minute of the covered time, 3
 * decimals. Baseline values are null without a baseline or when the source holds nothing of it.
 */
export const logPatternsDataSchema = z.strictObject({
  summary: z.strictObject({
    matched_count: count,
    records_scanned: count,
    records_rejected: count,
    files_skipped: count,
    rows_total: count,
    rows_shown: count,
    baseline_matched_count: count.nullable(),
    baseline_records_scanned: count.nullable(),
    covered_from: instantSchema.nullable(),
    covered_to: instantSchema.nullable(),
    baseline_covered_from: instantSchema.nullable(),
    baseline_covered_to: instantSchema.nullable(),
  }),
  patterns: z.array(
    z.strictObject({
      service: z.string(),
      level: z.string().nullable(),
      template: z.string(),
      count,
      baseline_count: count.nullable(),
      share: z.number(),
      baseline_share: z.number().nullable(),
      rate_per_min: z.number(),
      baseline_rate_per_min: z.number().nullable(),
      first_seen: instantSchema.nullable(),
      last_seen: instantSchema.nullable(),
      score: z.number(),
      sample: z.string(),
      sample_cut: z.boolean(),
    }),
  ),
});
export type LogPatternsData = z.infer<typeof logPatternsDataSchema>;

/** What the summary's fields mean; both log tools have them. */
export const LOG_SUMMARY_FIELDS: Readonly<Record<keyof LogPatternsData['summary'], FieldDeclaration>> = {
  matched_count: { unit: 'count', window: 'incident' },
  records_scanned: { unit: 'count', window: 'incident' },
  records_rejected: { unit: 'count' },
  files_skipped: { unit: 'count' },
  rows_total: { unit: 'count' },
  rows_shown: { unit: 'count' },
  baseline_matched_count: { unit: 'count', window: 'baseline' },
  baseline_records_scanned: { unit: 'count', window: 'baseline' },
  covered_from: { unit: 'instant', window: 'incident' },
  covered_to: { unit: 'instant', window: 'incident' },
  baseline_covered_from: { unit: 'instant', window: 'baseline' },
  baseline_covered_to: { unit: 'instant', window: 'baseline' },
};

/** What the fields of `log_patterns` mean. */
export function logPatternsFields(textZone: string | null): Record<string, FieldDeclaration> {
  return {
    ...LOG_SUMMARY_FIELDS,
    service: { unit: 'text', entity: true },
    level: { unit: 'text' },
    template: { unit: 'text' },
    count: { unit: 'count', window: 'incident' },
    baseline_count: { unit: 'count', window: 'baseline' },
    share: { unit: 'ratio', window: 'incident' },
    baseline_share: { unit: 'ratio', window: 'baseline' },
    rate_per_min: { unit: 'per_minute', window: 'incident' },
    baseline_rate_per_min: { unit: 'per_minute', window: 'baseline' },
    first_seen: { unit: 'instant', window: 'incident' },
    last_seen: { unit: 'instant', window: 'incident' },
    score: { unit: 'none', concludes: true },
    sample: textZone === null ? { unit: 'text' } : { unit: 'text', text_zone: textZone },
    sample_cut: { unit: 'none' },
  };
}
