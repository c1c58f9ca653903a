import { z } from 'zod';
import { NODE_NAMES } from '../vocabulary/node-names';
import { REASON_CODES } from '../vocabulary/reason-codes';
import { FALLBACK_CLASSES, GATEKEEPER_STATUSES } from '../vocabulary/statuses';
import { VERDICTS, VERDICT_CEILINGS } from '../vocabulary/verdicts';
import { orchestrationEventSchema } from './orchestration-event';

/** Compact audit of one graph run, derived from its bounded events; codes and counts, no prompt, no output. */
export const orchestrationTraceSchema = z.strictObject({
  path: z.array(z.enum(NODE_NAMES)),
  events: z.array(orchestrationEventSchema),
  technical_retries: z.number().int().min(0),
  evidence_retries: z.number().int().min(0),
  gatekeeper_status: z.enum(GATEKEEPER_STATUSES).nullable(),
  verdict_ceiling: z.enum(VERDICT_CEILINGS).nullable(),
  effective_verdict: z.enum(VERDICTS).nullable(),
  fallback_class: z.enum(FALLBACK_CLASSES).nullable(),
  fallback_reason: z.enum(REASON_CODES).nullable(),
  degraded: z.boolean(),
});
export type OrchestrationTrace = z.infer<typeof orchestrationTraceSchema>;
