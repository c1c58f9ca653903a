import { z } from 'zod';
import { jsonObjectSchema } from './json-value';

const planStepSchema = z.strictObject({
  step_id: z.string().min(1),
  tool_name: z.string().min(1),
  arguments: jsonObjectSchema,
  purpose: z.string().min(1),
  gap_fact_id: z.string().min(1).nullable(),
});
export type PlanStep = z.infer<typeof planStepSchema>;

/**
 * What the planner wants to know and by which tool calls: hypotheses, steps, and for each candidate cause the cheapest
 * query that would disprove it. In EVIDENCE_GAP_ONLY every step names the gap that it would close (`gap_fact_id`).
 */
export const diagnosisPlanSchema = z.strictObject({
  schema: z.literal('diagnosis_plan_v1'),
  hypotheses: z.array(z.strictObject({ hypothesis_id: z.string().min(1), text: z.string().min(1) })),
  steps: z.array(planStepSchema).min(1),
  disproofs: z.array(
    z.strictObject({ candidate: z.string().min(1), step_id: z.string().min(1), disproved_if: z.string().min(1) }),
  ),
});
export type DiagnosisPlan = z.infer<typeof diagnosisPlanSchema>;
