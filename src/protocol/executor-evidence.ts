import { z } from 'zod';
import { ASSERTION_OPS, ASSESSMENT_ROLES, CLAIM_KINDS, UNITS } from '../vocabulary/evidence-terms';
import { instantSchema } from './diagnosis-query';

/** Most of each that one document may hold; lengths are in characters. A longer document is no diagnosis. */
const MOST_CLAIMS = 200;
const MOST_BINDINGS = 20;
const MOST_ASSESSMENTS = 100;
const MOST_LIMITATIONS = 50;
const LONGEST_TEXT = 1_000;
const LONGEST_SUBJECT = 200;

/** Where a claim's evidence stands: the output of one tool call of this run, addressed relative to its `data`. */
export const bindingSchema = z.strictObject({
  source_invocation_id: z.string().min(1),
  tool_name: z.string().min(1),
  raw_path: z.string(),
  quote: z.string().min(1).max(LONGEST_TEXT).optional(),
});
export type Binding = z.infer<typeof bindingSchema>;

/** A comparison over binding indexes that the gatekeeper recomputes; see `ASSERTION_OPS` for the direction of each. */
export const assertionSchema = z.strictObject({
  op: z.enum(ASSERTION_OPS),
  left: z.number().int().min(0),
  right: z.number().int().min(0).optional(),
  value: z.union([z.string(), z.number()]).optional(),
  unit: z.enum(UNITS).optional(),
});
export type Assertion = z.infer<typeof assertionSchema>;

/** What an absence claim says was looked through: nothing of `subject` matching `filter` in [from, to). */
export const absenceScopeSchema = z.strictObject({
  subject: z.string().min(1).max(LONGEST_SUBJECT),
  filter: z.string(),
  from: instantSchema,
  to: instantSchema,
});
export type AbsenceScope = z.infer<typeof absenceScopeSchema>;

export const claimSchema = z.strictObject({
  claim_id: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/),
  kind: z.enum(CLAIM_KINDS),
  subject: z.string().min(1).max(LONGEST_SUBJECT),
  statement: z.string().min(1).max(LONGEST_TEXT).optional(),
  assertion: assertionSchema.optional(),
  scope: absenceScopeSchema.optional(),
  bindings: z.array(bindingSchema).max(MOST_BINDINGS),
});
export type Claim = z.infer<typeof claimSchema>;

/** One subject's part in the incident, without free text: rank 1 is the most likely. */
export const assessmentSchema = z.strictObject({
  rank: z.number().int().min(1),
  subject: z.string().min(1).max(LONGEST_SUBJECT),
  role: z.enum(ASSESSMENT_ROLES),
  claim_ids: z.array(z.string().min(1)).min(1),
});
export type Assessment = z.infer<typeof assessmentSchema>;

/** Shape of `executor_evidence_v2`; the rules across fields are in `parseExecutorEvidence`. */
export const executorEvidenceSchema = z.strictObject({
  schema: z.literal('executor_evidence_v2'),
  claims: z.array(claimSchema).max(MOST_CLAIMS),
  assessments: z.array(assessmentSchema).max(MOST_ASSESSMENTS),
  limitations: z.array(z.string().min(1)).max(MOST_LIMITATIONS),
  no_evidence: z.strictObject({ reason: z.string().min(1) }).nullable(),
});
export type ExecutorEvidence = z.infer<typeof executorEvidenceSchema>;
