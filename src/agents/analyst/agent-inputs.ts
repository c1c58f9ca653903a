import { z } from 'zod';
import { DiagnosisError } from '../../errors/diagnosis-error';
import { diagnosisPlanSchema } from '../../protocol/diagnosis-plan';
import { diagnosisQuerySchema } from '../../protocol/diagnosis-query';
import { evidenceRetryContextSchema } from '../../protocol/evidence-retry-context';
import { assessmentSchema } from '../../protocol/executor-evidence';
import { verifiedEvidenceSchema, verifiedExecutorOutputSchema } from '../../protocol/verified-material';
import { PLANNER_MODES } from '../../vocabulary/statuses';
import { VERDICTS, VERDICT_CEILINGS } from '../../vocabulary/verdicts';

const plannerInputSchema = z.object({
  diagnosis_query: diagnosisQuerySchema,
  planner_mode: z.enum(PLANNER_MODES),
  evidence_retry_context: evidenceRetryContextSchema.nullable(),
});

const executorInputSchema = z.object({
  diagnosis_query: diagnosisQuerySchema,
  planner_mode: z.enum(PLANNER_MODES),
  diagnosis_plan: diagnosisPlanSchema,
  evidence_retry_context: evidenceRetryContextSchema.nullable(),
});

const verifierInputSchema = z.object({
  diagnosis_query: diagnosisQuerySchema,
  verified_executor_output: verifiedExecutorOutputSchema,
  verified_evidence: z.array(verifiedEvidenceSchema),
  verdict_ceiling: z.enum(VERDICT_CEILINGS),
  evidence_retry_context: evidenceRetryContextSchema.nullable(),
});
export type VerifierInput = z.infer<typeof verifierInputSchema>;

const composerInputSchema = z.object({
  effective_verdict: z.enum(VERDICTS),
  claims: z.array(z.object({ claim_id: z.string(), subject: z.string() })),
  assessments: z.array(assessmentSchema),
});
export type ComposerInput = z.infer<typeof composerInputSchema>;

/** Readers of the four roles' inputs, by role; each takes the text that a node serialised. */
export const AGENT_INPUTS = {
  planner: plannerInputSchema,
  executor: executorInputSchema,
  verifier: verifierInputSchema,
  composer: composerInputSchema,
} as const;

/** Reads a node's input; it refuses anything that the role's node would not send: `DiagnosisError` AGENT_PERMANENT. */
export function readAgentInput<T>(schema: z.ZodType<T>, input: string): T {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    throw new DiagnosisError('AGENT_PERMANENT', 'The input of the analyst is no JSON.');
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new DiagnosisError('AGENT_PERMANENT', 'The input of the analyst is not what its node sends.');
  return parsed.data;
}
