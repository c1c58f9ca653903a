import { z } from 'zod';
import { FIELD_WINDOWS, UNITS } from '../vocabulary/evidence-terms';
import { instantSchema } from './diagnosis-query';
import { jsonValueSchema } from './json-value';

/**
 * What a tool says of one field name of its `data`: its unit, the window it speaks of, whether its values are entity
 * names (service, host, pod, operation, table, metric), whether it is the tool's own conclusion or rank (then it cannot be
 * cited), and the zone of clock times written in its text.
 */
export const fieldDeclarationSchema = z.strictObject({
  unit: z.enum(UNITS),
  window: z.enum(FIELD_WINDOWS).optional(),
  entity: z.boolean().optional(),
  concludes: z.boolean().optional(),
  text_zone: z.string().optional(),
});
export type FieldDeclaration = z.infer<typeof fieldDeclarationSchema>;

/**
 * What every tool returns and the recorder stores as text. `raw_path` addresses into `data` alone. `complete` is true when
 * nothing that matched was left out of the counts; `coverage` says which time range and filter were really looked through.
 */
export const toolOutputSchema = z.strictObject({
  matched_count: z.number().int().min(0),
  records_scanned: z.number().int().min(0),
  records_rejected: z.number().int().min(0),
  complete: z.boolean(),
  coverage: z.strictObject({ from: instantSchema.nullable(), to: instantSchema.nullable(), filter: z.string().nullable() }),
  fields: z.record(z.string(), fieldDeclarationSchema),
  server_time: instantSchema.nullable(),
  data: jsonValueSchema,
});
export type ToolOutput = z.infer<typeof toolOutputSchema>;
