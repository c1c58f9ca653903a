import { z } from 'zod';
import { instantSchema } from '../diagnosis-query';
import type { FieldDeclaration } from '../tool-output';
import { LOG_SUMMARY_FIELDS, logPatternsDataSchema } from './log-patterns-data';

const count = z.number().int().min(0);

/**
 * `data` of `metric_anomalies`. `matched_count` counts the values in the window, `rows_total` the series. Values keep the
 * metric's own unit, which `unit` names where it is known; they have 6 significant digits. `median` is of the telling segment, which
 * has `segment_rows` and ends with `last_seen`; a few of its rows may be quiet, so `first_seen` is the first that is not. Baseline values and `change` are null without a baseline that the source holds.
 */
export const metricAnomaliesDataSchema = z.strictObject({
  summary: logPatternsDataSchema.shape.summary,
  metrics: z.array(
    z.strictObject({
      service: z.string(),
      metric: z.string(),
      statistic: z.string().nullable(),
      unit: z.string().nullable(),
      kind: z.enum(['error', 'availability', 'latency', 'traffic', 'saturation', 'other']),
      direction: z.enum(['rises', 'falls', 'either']),
      median: z.number(),
      baseline_median: z.number().nullable(),
      baseline_iqr: z.number().nullable(),
      change: z.number().nullable(),
      rows: count,
      segment_rows: count,
      baseline_rows: count.nullable(),
      coverage: z.number(),
      statistics: count,
      first_seen: instantSchema,
      last_seen: instantSchema,
      score: z.number(),
    }),
  ),
});
export type MetricAnomaliesData = z.infer<typeof metricAnomaliesDataSchema>;

/** What the fields of `metric_anomalies` mean. Units differ from row to row, so values are declared as plain numbers. */
export const METRIC_ANOMALIES_FIELDS: Readonly<Record<string, FieldDeclaration>> = {
  ...LOG_SUMMARY_FIELDS,
  service: { unit: 'text', entity: true },
  metric: { unit: 'text', entity: true },
  statistic: { unit: 'text' },
  unit: { unit: 'text' },
  kind: { unit: 'text' },
  direction: { unit: 'text' },
  median: { unit: 'none', window: 'incident' },
  baseline_median: { unit: 'none', window: 'baseline' },
  baseline_iqr: { unit: 'none', window: 'baseline' },
  change: { unit: 'none' },
  rows: { unit: 'count', window: 'incident' },
  segment_rows: { unit: 'count', window: 'incident' },
  baseline_rows: { unit: 'count', window: 'baseline' },
  coverage: { unit: 'ratio' },
  statistics: { unit: 'count' },
  first_seen: { unit: 'instant', window: 'incident' },
  last_seen: { unit: 'instant', window: 'incident' },
  score: { unit: 'none', concludes: true },
};
