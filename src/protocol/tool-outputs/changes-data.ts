import { z } from 'zod';
import { instantSchema } from '../diagnosis-query';
import type { FieldDeclaration } from '../tool-output';
import { LOG_SUMMARY_FIELDS, logPatternsDataSchema } from './log-patterns-data';

/**
 * `data` of `changes`. The nearest to the start of the incident window comes first. `minutes_before` counts from the change to
 * that start, 3 decimals, negative inside the window.
 */
export const changesDataSchema = z.strictObject({
  summary: logPatternsDataSchema.shape.summary,
  changes: z.array(
    z.strictObject({
      service: z.string(),
      kind: z.string(),
      text: z.string(),
      time: instantSchema,
      minutes_before: z.number(),
    }),
  ),
});
export type ChangesData = z.infer<typeof changesDataSchema>;

/** What the fields of `changes` mean. */
export const CHANGES_FIELDS: Readonly<Record<string, FieldDeclaration>> = {
  ...LOG_SUMMARY_FIELDS,
  service: { unit: 'text', entity: true },
  kind: { unit: 'text' },
  text: { unit: 'text' },
  time: { unit: 'instant' },
  minutes_before: { unit: 'min' },
};
