import { z } from 'zod';
import { BINDING_REASON_CODES, GATEKEEPER_REASON_CODES } from '../vocabulary/reason-codes';
import { GATEKEEPER_STATUSES } from '../vocabulary/statuses';
import { VERDICT_CEILINGS } from '../vocabulary/verdicts';

/** One binding after its check; `matched_text` is null exactly when it did not pass. */
export const checkedBindingSchema = z.strictObject({
  claim_id: z.string(),
  source_invocation_id: z.string(),
  tool_name: z.string(),
  raw_path: z.string(),
  passed: z.boolean(),
  reason_code: z.enum(BINDING_REASON_CODES),
  matched_text: z.string().nullable(),
});
export type CheckedBinding = z.infer<typeof checkedBindingSchema>;

/** What `validateRun` returns. It is raw: nobody but the gatekeeper node and verified input reads it. */
export const gatekeeperResultSchema = z.strictObject({
  result: z.enum(['pass', 'fail']),
  severity: z.enum(['low_confid', 'reject']).optional(),
  run_id: z.string(),
  checked_bindings: z.array(checkedBindingSchema),
  reasons: z.array(z.strictObject({ code: z.enum(GATEKEEPER_REASON_CODES), claim_id: z.string().nullable() })),
});
export type GatekeeperResult = z.infer<typeof gatekeeperResultSchema>;

/** The gatekeeper's word in the form that may travel: counts and codes, no text. */
export const gatekeeperAuditSchema = z.strictObject({
  status: z.enum(GATEKEEPER_STATUSES),
  ceiling: z.enum(VERDICT_CEILINGS).nullable(),
  passed: z.number().int().min(0),
  failed: z.number().int().min(0),
  reason_codes: z.array(z.string()),
});
export type GatekeeperAudit = z.infer<typeof gatekeeperAuditSchema>;
