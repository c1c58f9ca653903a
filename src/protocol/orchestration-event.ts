import { z } from 'zod';
import { NODE_NAMES } from '../vocabulary/node-names';
import { NODE_OUTCOMES, type Outcome } from '../vocabulary/outcomes';
import { REASON_CODES } from '../vocabulary/reason-codes';

const outcomes = [...new Set(Object.values(NODE_OUTCOMES).flat())] as [Outcome, ...Outcome[]];

/** One handled attempt of one node. `round` is 0 or 1, `attempt` counts from 1 within node and round. */
export const orchestrationEventSchema = z.strictObject({
  node: z.enum(NODE_NAMES),
  outcome: z.enum(outcomes),
  reason_code: z.enum(REASON_CODES),
  attempt: z.strictObject({ round: z.number().int().min(0).max(1), attempt: z.number().int().min(1).max(2) }),
});
export type OrchestrationEvent = z.infer<typeof orchestrationEventSchema>;
