import { z } from 'zod';
import { VERDICTS, VERIFICATIONS } from '../vocabulary/verdicts';

/** One thing that must be true for the diagnosis; `claim_id` is null exactly for `no_evidence`; a gap says what is missing. */
export const verifierFactSchema = z.strictObject({
  fact_id: z.string().min(1),
  claim_id: z.string().min(1).nullable(),
  is_critical: z.boolean(),
  verification: z.enum(VERIFICATIONS),
  gap: z.string().min(1).nullable().optional(),
});
export type VerifierFact = z.infer<typeof verifierFactSchema>;

/** Shape of `verifier_verdict_v1`; it names claims by id and never carries their text. Rules: `parseVerifierVerdict`. */
export const verifierVerdictSchema = z.strictObject({
  schema: z.literal('verifier_verdict_v1'),
  verdict: z.enum(VERDICTS),
  facts: z.array(verifierFactSchema),
  allowed: z.strictObject({
    claim_ids: z.array(z.string().min(1)),
    assessment_subjects: z.array(z.string().min(1)),
    missing_information: z.array(z.string().min(1)),
    recommendations: z.array(z.string().min(1)),
  }),
});
export type VerifierVerdict = z.infer<typeof verifierVerdictSchema>;
