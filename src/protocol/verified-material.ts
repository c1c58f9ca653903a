import { z } from 'zod';
import { DROP_REASON_CODES } from '../vocabulary/reason-codes';
import { absenceScopeSchema, assertionSchema, assessmentSchema, bindingSchema } from './executor-evidence';

/** A claim all of whose shown bindings passed; `statement` is the sentence that may be shown (rendered by code when typed). */
export const verifiedClaimSchema = z.strictObject({
  claim_id: z.string(),
  kind: z.enum(['fact', 'absence']),
  subject: z.string(),
  statement: z.string().min(1),
  assertion: assertionSchema.optional(),
  scope: absenceScopeSchema.optional(),
  bindings: z.array(bindingSchema).min(1),
});
export type VerifiedClaim = z.infer<typeof verifiedClaimSchema>;

/** A passed binding with the text it points at. */
export const verifiedEvidenceSchema = z.strictObject({
  claim_id: z.string(),
  source_invocation_id: z.string(),
  tool_name: z.string(),
  raw_path: z.string(),
  matched_text: z.string().min(1),
});
export type VerifiedEvidence = z.infer<typeof verifiedEvidenceSchema>;

/** The executor's document after the gate: passed claims and supported assessments only. */
export const verifiedExecutorOutputSchema = z.strictObject({
  claims: z.array(verifiedClaimSchema).min(1),
  assessments: z.array(assessmentSchema),
  limitations: z.array(z.string()),
});
export type VerifiedExecutorOutput = z.infer<typeof verifiedExecutorOutputSchema>;

/** Everything that an answer may be made of, after the verifier's word; the only material composer and fallback see. */
export const allowedMaterialSchema = z.strictObject({
  claims: z.array(verifiedClaimSchema),
  evidence: z.array(verifiedEvidenceSchema),
  assessments: z.array(assessmentSchema),
  missing_information: z.array(z.string()),
  recommendations: z.array(z.string()),
  limitations: z.array(z.string()),
  dropped: z.array(z.enum(DROP_REASON_CODES)),
});
export type AllowedMaterial = z.infer<typeof allowedMaterialSchema>;
