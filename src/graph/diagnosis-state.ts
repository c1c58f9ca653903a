import { Annotation } from '@langchain/langgraph';
import { z } from 'zod';
import {
  initialState,
  MAX_ORCHESTRATION_EVENTS,
  STATE_FIELDS,
  type Attempts,
  type DiagnosisState,
  type IntakeFields,
  type StateField,
} from '../blueprint/state-fields';
import { MAX_EVIDENCE_RETRIES, MAX_TECHNICAL_ATTEMPTS } from '../blueprint/routing-table';
import { DiagnosisError } from '../errors/diagnosis-error';
import { diagnosisPlanSchema } from '../protocol/diagnosis-plan';
import { diagnosisQuerySchema, sessionContextSchema } from '../protocol/diagnosis-query';
import { evidenceRetryContextSchema } from '../protocol/evidence-retry-context';
import { executorEvidenceSchema } from '../protocol/executor-evidence';
import { gatekeeperAuditSchema } from '../protocol/gatekeeper-result';
import { jsonValueSchema } from '../protocol/json-value';
import { orchestrationEventSchema, type OrchestrationEvent } from '../protocol/orchestration-event';
import { allowedMaterialSchema, verifiedEvidenceSchema, verifiedExecutorOutputSchema } from '../protocol/verified-material';
import { verifierFactSchema } from '../protocol/verifier-verdict';
import { NODE_NAMES } from '../vocabulary/node-names';
import { REASON_CODES } from '../vocabulary/reason-codes';
import {
  CODE_NODE_STATUSES,
  EXECUTOR_STATUSES,
  FALLBACK_CLASSES,
  GATEKEEPER_STATUSES,
  PLANNER_MODES,
  RETRIED_AGENT_STATUSES,
} from '../vocabulary/statuses';
import { VERDICTS, VERDICT_CEILINGS } from '../vocabulary/verdicts';
import { frozenJson } from './plain-json';

/** The state version that this code reads and writes. */
export const STATE_SCHEMA_VERSION = 1;

function appendEvents(events: OrchestrationEvent[], more: OrchestrationEvent[]): OrchestrationEvent[] {
  if (events.length + more.length > MAX_ORCHESTRATION_EVENTS) {
    throw new DiagnosisError('STATE_INVALID', 'A run left more events than its longest path has attempts.');
  }
  return Object.freeze([...events, ...more]) as OrchestrationEvent[];
}

const replaced = <F extends StateField>() => Annotation<DiagnosisState[F]>();
const appended = () => Annotation<OrchestrationEvent[]>({ reducer: appendEvents, default: () => [] });

type Channels = {
  [F in StateField]: (typeof STATE_FIELDS)[F]['strategy'] extends 'append'
    ? ReturnType<typeof appended>
    : ReturnType<typeof replaced<F>>;
};

/** The engine's state, one channel for each row of `STATE_FIELDS` with the strategy that stands there. */
export const DiagnosisAnnotation = Annotation.Root(
  Object.fromEntries(
    Object.entries(STATE_FIELDS).map(([field, rule]) => [field, rule.strategy === 'append' ? appended() : replaced()]),
  ) as Channels,
);

const attemptCount = z.number().int().min(0).max(MAX_TECHNICAL_ATTEMPTS);
const attemptsSchema: z.ZodType<Attempts> = z.partialRecord(z.enum(NODE_NAMES), z.tuple([attemptCount, attemptCount]));

const stateSchema = z.strictObject({
  schema_version: z.literal(STATE_SCHEMA_VERSION),
  diagnosis_query: diagnosisQuerySchema,
  session_context: sessionContextSchema,
  planner_mode: z.enum(PLANNER_MODES),
  evidence_retry_count: z.union([z.literal(0), z.literal(MAX_EVIDENCE_RETRIES)]),
  evidence_retry_context: evidenceRetryContextSchema.nullable(),
  retry_prepare_status: z.enum(CODE_NODE_STATUSES).nullable(),
  planner_status: z.enum(RETRIED_AGENT_STATUSES).nullable(),
  diagnosis_plan: diagnosisPlanSchema.nullable(),
  executor_status: z.enum(EXECUTOR_STATUSES).nullable(),
  executor_output: executorEvidenceSchema.nullable(),
  gatekeeper_result: jsonValueSchema,
  gatekeeper_status: z.enum(GATEKEEPER_STATUSES).nullable(),
  verdict_ceiling: z.enum(VERDICT_CEILINGS).nullable(),
  gatekeeper_audit: gatekeeperAuditSchema.nullable(),
  verified_input_status: z.enum(CODE_NODE_STATUSES).nullable(),
  verified_executor_output: verifiedExecutorOutputSchema.nullable(),
  verified_evidence: z.array(verifiedEvidenceSchema).nullable(),
  verifier_status: z.enum(RETRIED_AGENT_STATUSES).nullable(),
  verifier_model_verdict: z.enum(VERDICTS).nullable(),
  effective_verdict: z.enum(VERDICTS).nullable(),
  verifier_facts: z.array(verifierFactSchema).nullable(),
  allowed_material: allowedMaterialSchema.nullable(),
  composer_status: z.enum(RETRIED_AGENT_STATUSES).nullable(),
  composer_answer: z.string().nullable(),
  fallback_class: z.enum(FALLBACK_CLASSES).nullable(),
  fallback_reason: z.enum(REASON_CODES).nullable(),
  fallback_answer: z.string().nullable(),
  attempts: attemptsSchema,
  orchestration_events: z.array(orchestrationEventSchema).max(MAX_ORCHESTRATION_EVENTS),
}) satisfies z.ZodType<DiagnosisState>;

const intakeSchema = stateSchema.pick({ schema_version: true, diagnosis_query: true, session_context: true });

/**
 * The state of a new run, deeply frozen. It refuses an intake that breaks its schema (`DiagnosisError` STATE_INVALID); the
 * other fields are schema defaults and need no check.
 */
export function newDiagnosisState(intake: IntakeFields): DiagnosisState {
  const { schema_version, diagnosis_query, session_context } = intake;
  const value = frozenJson({ schema_version, diagnosis_query, session_context });
  const parsed = intakeSchema.safeParse(value);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.') || '(unknown field)';
    throw new DiagnosisError('STATE_INVALID', `The intake breaks its schema at ${field}.`, { field });
  }
  return initialState(value as unknown as IntakeFields);
}

/**
 * A state as it is loaded: every field present, none beyond them, plain JSON, deeply frozen. It refuses a schema version
 * that this code does not know before it looks at anything else.
 * Throws `DiagnosisError` STATE_INVALID; the message names the first wrong field and never its value.
 */
export function parseDiagnosisState(raw: unknown): DiagnosisState {
  const value = frozenJson(raw);
  const version = typeof value === 'object' && value !== null && !Array.isArray(value) ? value['schema_version'] : undefined;
  if (version !== STATE_SCHEMA_VERSION) {
    throw new DiagnosisError(
      'STATE_INVALID',
      `The state has a schema version that is not known here; version ${STATE_SCHEMA_VERSION} is.`,
      { known_version: STATE_SCHEMA_VERSION, found_version: typeof version === 'number' ? version : null },
    );
  }
  const parsed = stateSchema.safeParse(value);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.') || '(unknown field)';
    throw new DiagnosisError('STATE_INVALID', `The state breaks its schema at ${field}.`, { field });
  }
  return value as unknown as DiagnosisState;
}
