import type { DiagnosisPlan } from '../protocol/diagnosis-plan';
import type { DiagnosisQuery, SessionContext } from '../protocol/diagnosis-query';
import type { EvidenceRetryContext } from '../protocol/evidence-retry-context';
import type { ExecutorEvidence } from '../protocol/executor-evidence';
import type { GatekeeperAudit } from '../protocol/gatekeeper-result';
import type { JsonValue } from '../protocol/json-value';
import type { OrchestrationEvent } from '../protocol/orchestration-event';
import type { AllowedMaterial, VerifiedEvidence, VerifiedExecutorOutput } from '../protocol/verified-material';
import type { VerifierFact } from '../protocol/verifier-verdict';
import type { NodeName } from '../vocabulary/node-names';
import type { ReasonCode } from '../vocabulary/reason-codes';
import type {
  CodeNodeStatus,
  ExecutorStatus,
  FallbackClass,
  GatekeeperStatus,
  PlannerMode,
  RetriedAgentStatus,
} from '../vocabulary/statuses';
import type { Verdict, VerdictCeiling } from '../vocabulary/verdicts';

/** Who may write a field: the intake before the graph starts, one node, or the contract guard. */
export type FieldOwner = 'intake' | NodeName | 'guard';

/** `round` fields are cleared by the guard when an evidence round starts; `run` fields live as long as the run. */
export type FieldScope = 'run' | 'round';

/** Attempts so far, by node and round: `attempts.planner[0]` is the number of planner attempts in the first round. */
export type Attempts = Partial<Record<NodeName, [number, number]>>;

/** The state that travels between nodes: plain JSON, one purpose and one owner a field. */
export interface DiagnosisState {
  schema_version: 1;
  diagnosis_query: DiagnosisQuery;
  session_context: SessionContext;
  planner_mode: PlannerMode;
  evidence_retry_count: 0 | 1;
  evidence_retry_context: EvidenceRetryContext | null;
  retry_prepare_status: CodeNodeStatus | null;
  planner_status: RetriedAgentStatus | null;
  diagnosis_plan: DiagnosisPlan | null;
  executor_status: ExecutorStatus | null;
  executor_output: ExecutorEvidence | null;
  gatekeeper_result: JsonValue;
  gatekeeper_status: GatekeeperStatus | null;
  verdict_ceiling: VerdictCeiling | null;
  gatekeeper_audit: GatekeeperAudit | null;
  verified_input_status: CodeNodeStatus | null;
  verified_executor_output: VerifiedExecutorOutput | null;
  verified_evidence: VerifiedEvidence[] | null;
  verifier_status: RetriedAgentStatus | null;
  verifier_model_verdict: Verdict | null;
  effective_verdict: Verdict | null;
  verifier_facts: VerifierFact[] | null;
  allowed_material: AllowedMaterial | null;
  composer_status: RetriedAgentStatus | null;
  composer_answer: string | null;
  fallback_class: FallbackClass | null;
  fallback_reason: ReasonCode | null;
  fallback_answer: string | null;
  attempts: Attempts;
  orchestration_events: OrchestrationEvent[];
}

export type StateField = keyof DiagnosisState;

interface FieldRule {
  readonly owner: FieldOwner;
  readonly scope: FieldScope;
  readonly strategy: 'replace' | 'append';
  readonly purpose: string;
}

/** Most events a run can leave: the longest path has 18 attempts. */
export const MAX_ORCHESTRATION_EVENTS = 18;

/**
 * Every field that crosses nodes, with its one owner. The table is data: the state annotation, the guard, the types of the
 * nodes and `openspec/blueprint.md` are derived from it.
 */
export const STATE_FIELDS = {
  schema_version: {
    owner: 'intake',
    scope: 'run',
    strategy: 'replace',
    purpose: 'version of this state, checked when a state is loaded',
  },
  diagnosis_query: {
    owner: 'intake',
    scope: 'run',
    strategy: 'replace',
    purpose: 'question, pinned now, window, baseline, zone and locale',
  },
  session_context: {
    owner: 'intake',
    scope: 'run',
    strategy: 'replace',
    purpose: 'PASS answers of earlier runs of the session, with their run ids',
  },
  planner_mode: { owner: 'retry_prepare', scope: 'run', strategy: 'replace', purpose: 'INITIAL or EVIDENCE_GAP_ONLY' },
  evidence_retry_count: {
    owner: 'retry_prepare',
    scope: 'run',
    strategy: 'replace',
    purpose: 'evidence rounds started beyond the first: 0 or 1',
  },
  evidence_retry_context: {
    owner: 'retry_prepare',
    scope: 'run',
    strategy: 'replace',
    purpose: 'prior verified material, gaps, completed queries, constraints',
  },
  retry_prepare_status: {
    owner: 'retry_prepare',
    scope: 'run',
    strategy: 'replace',
    purpose: 'whether an evidence round could be prepared',
  },
  planner_status: { owner: 'planner', scope: 'round', strategy: 'replace', purpose: 'how the planner attempt ended' },
  diagnosis_plan: { owner: 'planner', scope: 'round', strategy: 'replace', purpose: 'the parsed plan' },
  executor_status: { owner: 'executor', scope: 'round', strategy: 'replace', purpose: 'how the executor ended' },
  executor_output: { owner: 'executor', scope: 'round', strategy: 'replace', purpose: 'parsed executor_evidence_v2: untrusted' },
  gatekeeper_result: { owner: 'gatekeeper', scope: 'round', strategy: 'replace', purpose: 'what validateRun returned, raw' },
  gatekeeper_status: { owner: 'gatekeeper', scope: 'round', strategy: 'replace', purpose: 'the normalised result' },
  verdict_ceiling: { owner: 'gatekeeper', scope: 'round', strategy: 'replace', purpose: 'the most that the verdict may be' },
  gatekeeper_audit: {
    owner: 'gatekeeper',
    scope: 'round',
    strategy: 'replace',
    purpose: 'status, ceiling, counts and reason codes',
  },
  verified_input_status: {
    owner: 'verified_input',
    scope: 'round',
    strategy: 'replace',
    purpose: 'whether the projection holds anything',
  },
  verified_executor_output: {
    owner: 'verified_input',
    scope: 'round',
    strategy: 'replace',
    purpose: 'claims and assessments that passed',
  },
  verified_evidence: {
    owner: 'verified_input',
    scope: 'round',
    strategy: 'replace',
    purpose: 'passed bindings with their matched text',
  },
  verifier_status: {
    owner: 'verifier',
    scope: 'round',
    strategy: 'replace',
    purpose: 'how the verifier attempt ended; never a diagnosis',
  },
  verifier_model_verdict: { owner: 'verifier', scope: 'round', strategy: 'replace', purpose: "the verifier's own word" },
  effective_verdict: {
    owner: 'verifier',
    scope: 'round',
    strategy: 'replace',
    purpose: 'the verdict that counts, under the ceiling',
  },
  verifier_facts: { owner: 'verifier', scope: 'round', strategy: 'replace', purpose: 'judged facts and their gaps' },
  allowed_material: { owner: 'verifier', scope: 'round', strategy: 'replace', purpose: 'all that an answer may be made of' },
  composer_status: { owner: 'composer', scope: 'run', strategy: 'replace', purpose: 'how the composer attempt ended' },
  composer_answer: { owner: 'composer', scope: 'run', strategy: 'replace', purpose: 'the worded answer, Markdown' },
  fallback_class: { owner: 'fallback', scope: 'run', strategy: 'replace', purpose: 'PRE_VERIFICATION or POST_VERIFICATION' },
  fallback_reason: { owner: 'fallback', scope: 'run', strategy: 'replace', purpose: 'reason code of the failing attempt' },
  fallback_answer: { owner: 'fallback', scope: 'run', strategy: 'replace', purpose: 'the deterministic safe answer, Markdown' },
  attempts: { owner: 'guard', scope: 'run', strategy: 'replace', purpose: 'attempts by node and round' },
  orchestration_events: { owner: 'guard', scope: 'run', strategy: 'append', purpose: 'one event per handled attempt, bounded' },
} as const satisfies Record<StateField, FieldRule>;

/** The fields that one owner may write. */
export type FieldsOwnedBy<O extends FieldOwner> = {
  [F in StateField]: (typeof STATE_FIELDS)[F]['owner'] extends O ? F : never;
}[StateField];

/** What the intake hands to a new run. */
export type IntakeFields = Pick<DiagnosisState, FieldsOwnedBy<'intake'>>;

/** State of a run before its first node: schema defaults everywhere but in what the intake gives. */
export function initialState(intake: IntakeFields): DiagnosisState {
  return {
    ...intake,
    planner_mode: 'INITIAL',
    evidence_retry_count: 0,
    evidence_retry_context: null,
    retry_prepare_status: null,
    planner_status: null,
    diagnosis_plan: null,
    executor_status: null,
    executor_output: null,
    gatekeeper_result: null,
    gatekeeper_status: null,
    verdict_ceiling: null,
    gatekeeper_audit: null,
    verified_input_status: null,
    verified_executor_output: null,
    verified_evidence: null,
    verifier_status: null,
    verifier_model_verdict: null,
    effective_verdict: null,
    verifier_facts: null,
    allowed_material: null,
    composer_status: null,
    composer_answer: null,
    fallback_class: null,
    fallback_reason: null,
    fallback_answer: null,
    attempts: {},
    orchestration_events: [],
  };
}

/** The one derivation of a run's answer; null when the run has none. */
export function answerOf(state: Pick<DiagnosisState, 'fallback_answer' | 'composer_answer'>): string | null {
  return state.fallback_answer ?? state.composer_answer;
}
