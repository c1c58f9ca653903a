import { z } from 'zod';

/** Shape of `composer_answer_v1`: an arrangement of claims by `{{claim_id}}`, with no facts of its own. Rules: `parseComposerAnswer`. */
export const composerAnswerSchema = z.strictObject({
  schema: z.literal('composer_answer_v1'),
  sections: z.array(z.strictObject({ heading: z.string().min(1), text: z.string().min(1) })).min(1),
});
export type ComposerAnswer = z.infer<typeof composerAnswerSchema>;
