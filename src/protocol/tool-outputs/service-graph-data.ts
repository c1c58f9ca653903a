import { z } from 'zod';
import type { FieldDeclaration } from '../tool-output';
import { LOG_SUMMARY_FIELDS, logPatternsDataSchema } from './log-patterns-data';

const count = z.number().int().min(0);

/**
 * `data` of `service_graph`. `matched_count` counts calls seen in spans of the window, `rows_total` edges. `count` is null for
 * an edge that only a graph file states: nothing was counted there.
 */
export const serviceGraphDataSchema = z.strictObject({
  summary: logPatternsDataSchema.shape.summary,
  edges: z.array(
    z.strictObject({
      caller: z.string(),
      callee: z.string(),
      count: count.nullable(),
      baseline_count: count.nullable(),
    }),
  ),
});
export type ServiceGraphData = z.infer<typeof serviceGraphDataSchema>;

/** What the fields of `service_graph` mean. */
export const SERVICE_GRAPH_FIELDS: Readonly<Record<string, FieldDeclaration>> = {
  ...LOG_SUMMARY_FIELDS,
  caller: { unit: 'text', entity: true },
  callee: { unit: 'text', entity: true },
  count: { unit: 'count', window: 'incident' },
  baseline_count: { unit: 'count', window: 'baseline' },
};
