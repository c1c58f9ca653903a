import { z } from 'zod';
import { instantSchema } from '../diagnosis-query';
import type { FieldDeclaration } from '../tool-output';
import { LOG_SUMMARY_FIELDS, logPatternsDataSchema } from './log-patterns-data';

const count = z.number().int().min(0);

/**
 * `data` of `span_analysis`. `matched_count` counts spans, `rows_total` services. Times are ms with 3 decimals, shares have 4,
 * rates are traces a minute of the covered time with 3. Baseline values are null without a baseline that the source
 * holds, and `self_ms` and `gap_ms` where there is no such span, `unanswered_share` where no own time is above normal.
 */
export const spanAnalysisDataSchema = z.strictObject({
  summary: logPatternsDataSchema.shape.summary,
  services: z.array(
    z.strictObject({
      service: z.string(),
      traces: count,
      baseline_traces: count.nullable(),
      high_traces: count,
      baseline_high_traces: count.nullable(),
      high_share: z.number(),
      baseline_high_share: z.number().nullable(),
      self_ms: z.number().nullable(),
      baseline_self_ms: z.number().nullable(),
      gap_ms: z.number().nullable(),
      baseline_gap_ms: z.number().nullable(),
      excess_ms: z.number(),
      baseline_excess_ms: z.number().nullable(),
      error_share: z.number(),
      baseline_error_share: z.number().nullable(),
      rate_per_min: z.number(),
      baseline_rate_per_min: z.number().nullable(),
      first_seen: instantSchema.nullable(),
      unanswered_share: z.number().nullable(),
      role: z.enum(['self', 'incoming', 'outgoing']).nullable(),
      gain: z.number(),
      precision: z.number(),
      score: z.number(),
    }),
  ),
});
export type SpanAnalysisData = z.infer<typeof spanAnalysisDataSchema>;

/** What the fields of `span_analysis` mean. */
export const SPAN_ANALYSIS_FIELDS: Readonly<Record<string, FieldDeclaration>> = {
  ...LOG_SUMMARY_FIELDS,
  service: { unit: 'text', entity: true },
  traces: { unit: 'count', window: 'incident' },
  baseline_traces: { unit: 'count', window: 'baseline' },
  high_traces: { unit: 'count', window: 'incident' },
  baseline_high_traces: { unit: 'count', window: 'baseline' },
  high_share: { unit: 'ratio', window: 'incident' },
  baseline_high_share: { unit: 'ratio', window: 'baseline' },
  self_ms: { unit: 'ms', window: 'incident' },
  baseline_self_ms: { unit: 'ms', window: 'baseline' },
  gap_ms: { unit: 'ms', window: 'incident' },
  baseline_gap_ms: { unit: 'ms', window: 'baseline' },
  excess_ms: { unit: 'ms', window: 'incident' },
  baseline_excess_ms: { unit: 'ms', window: 'baseline' },
  error_share: { unit: 'ratio', window: 'incident' },
  baseline_error_share: { unit: 'ratio', window: 'baseline' },
  rate_per_min: { unit: 'per_minute', window: 'incident' },
  baseline_rate_per_min: { unit: 'per_minute', window: 'baseline' },
  first_seen: { unit: 'instant', window: 'incident' },
  unanswered_share: { unit: 'ratio', window: 'incident' },
  role: { unit: 'text', concludes: true },
  gain: { unit: 'none', concludes: true },
  precision: { unit: 'none', concludes: true },
  score: { unit: 'none', concludes: true },
};
