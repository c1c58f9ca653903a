import { z } from 'zod';
import { ASSESSMENT_ROLES } from '../vocabulary/evidence-terms';
import { verifiedClaimSchema, verifiedEvidenceSchema } from './verified-material';

/** A subject with its part in the incident, as a caller gets it: from allowed assessments only. */
export const rankedCauseSchema = z.strictObject({
  rank: z.number().int().min(1),
  subject: z.string(),
  role: z.enum(ASSESSMENT_ROLES),
  claimIds: z.array(z.string()),
});
export type RankedCause = z.infer<typeof rankedCauseSchema>;

/** The evidence of an answer, kept with its run: the final round's allowed claims, or nothing and the reason. */
export const runEvidenceSchema = z.strictObject({
  claims: z.array(verifiedClaimSchema),
  evidence: z.array(verifiedEvidenceSchema),
  empty_reason: z.string().nullable(),
});
export type RunEvidence = z.infer<typeof runEvidenceSchema>;
