import { z } from 'zod';
import { verifiedEvidenceSchema, verifiedExecutorOutputSchema } from './verified-material';

/** A critical fact that lacks direct support: what the second round may look for, and nothing else. */
export const evidenceGapSchema = z.strictObject({
  fact_id: z.string(),
  claim_id: z.string().nullable(),
  verification: z.enum(['no_evidence', 'indirect_support']),
  gap: z.string().min(1),
});
export type EvidenceGap = z.infer<typeof evidenceGapSchema>;

/** A query of the first round that succeeded and must not be asked again. */
export const completedQuerySchema = z.strictObject({
  source_invocation_id: z.string(),
  tool_name: z.string(),
  arguments: z.string(),
});
export type CompletedQuery = z.infer<typeof completedQuerySchema>;

/** What the evidence round starts from: prior verified material, the gaps, the completed queries and fixed constraints. */
export const evidenceRetryContextSchema = z.strictObject({
  prior_verified_output: verifiedExecutorOutputSchema,
  prior_verified_evidence: z.array(verifiedEvidenceSchema),
  gaps: z.array(evidenceGapSchema).min(1),
  completed_queries: z.array(completedQuerySchema),
  constraints: z.strictObject({
    max_evidence_retries: z.literal(1),
    repeat_completed_queries: z.literal(false),
    snapshot: z.literal('complete'),
    keep_prior_verified_claims: z.literal(true),
  }),
});
export type EvidenceRetryContext = z.infer<typeof evidenceRetryContextSchema>;
