import { z } from 'zod';
import type { FieldDeclaration } from '../tool-output';

const count = z.number().int().min(0);

/**
 * `data` of `read_output`: a part of an earlier output as it is recorded. `text` cannot be cited, because it is evidence of
 * the call that it comes from: cite `source_invocation_id` with its own path.
 */
export const readOutputDataSchema = z.strictObject({
  source_invocation_id: z.string(),
  source_tool: z.string(),
  path: z.string(),
  text: z.string(),
  offset: count,
  characters_shown: count,
  characters_total: count,
});
export type ReadOutputData = z.infer<typeof readOutputDataSchema>;

/** What the fields of `read_output` mean. */
export const READ_OUTPUT_FIELDS: Readonly<Record<string, FieldDeclaration>> = {
  source_invocation_id: { unit: 'text', concludes: true },
  source_tool: { unit: 'text', concludes: true },
  path: { unit: 'text', concludes: true },
  text: { unit: 'text', concludes: true },
  offset: { unit: 'count', concludes: true },
  characters_shown: { unit: 'count', concludes: true },
  characters_total: { unit: 'count', concludes: true },
};
