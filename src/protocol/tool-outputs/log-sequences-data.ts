import { z } from 'zod';
import { instantSchema } from '../diagnosis-query';
import type { FieldDeclaration } from '../tool-output';
import { LOG_SUMMARY_FIELDS, logPatternsDataSchema } from './log-patterns-data';

const count = z.number().int().min(0);

/**
 * `data` of `log_sequences`. `count` of `total` flows at `step` show the change; shares 4 decimals. `votes` and `score` are the
 * tool's own ranks. `by_trace` says whether flows are traces or, where there are no trace ids, the streams of instances.
 */
export const logSequencesDataSchema = z.strictObject({
  summary: logPatternsDataSchema.shape.summary.extend({ by_trace: z.boolean() }),
  sequences: z.array(
    z.strictObject({
      service: z.string(),
      kind: z.enum(['cut', 'missing', 'error_line', 'reroute']),
      step_service: z.string(),
      step: z.string(),
      count,
      total: count,
      share: z.number(),
      baseline_count: count,
      baseline_total: count,
      baseline_share: z.number(),
      first_seen: instantSchema,
      votes: count,
      score: z.number(),
      sample: z.string(),
      sample_cut: z.boolean(),
    }),
  ),
});
export type LogSequencesData = z.infer<typeof logSequencesDataSchema>;

/**
 * What the fields of `log_sequences` mean. `step_service` is no entity of its row: the row speaks of `service`, and a claim
 * about the caller must not be able to lean on it.
 */
export function logSequencesFields(textZone: string | null): Record<string, FieldDeclaration> {
  return {
    ...LOG_SUMMARY_FIELDS,
    by_trace: { unit: 'none' },
    service: { unit: 'text', entity: true },
    kind: { unit: 'text' },
    step_service: { unit: 'text' },
    step: { unit: 'text' },
    count: { unit: 'count', window: 'incident' },
    total: { unit: 'count', window: 'incident' },
    share: { unit: 'ratio', window: 'incident' },
    baseline_count: { unit: 'count', window: 'baseline' },
    baseline_total: { unit: 'count', window: 'baseline' },
    baseline_share: { unit: 'ratio', window: 'baseline' },
    first_seen: { unit: 'instant', window: 'incident' },
    votes: { unit: 'count', concludes: true },
    score: { unit: 'none', concludes: true },
    sample: textZone === null ? { unit: 'text' } : { unit: 'text', text_zone: textZone },
    sample_cut: { unit: 'none' },
  };
}
