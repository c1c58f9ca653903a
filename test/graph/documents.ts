import { initialState, type DiagnosisState, type IntakeFields } from '../../src/blueprint/state-fields';
import type { DiagnosisPlan } from '../../src/protocol/diagnosis-plan';
import type { EvidenceRetryContext } from '../../src/protocol/evidence-retry-context';
import type { ExecutorEvidence } from '../../src/protocol/executor-evidence';
import type { GatekeeperResult } from '../../src/protocol/gatekeeper-result';
import type { AllowedMaterial, VerifiedEvidence, VerifiedExecutorOutput } from '../../src/protocol/verified-material';
import type { VerifierFact } from '../../src/protocol/verifier-verdict';

/** Legal documents of every kind, small, with words that would give a leak away. */
export const EXECUTOR_WORDS = 'words of the executor';

export const intake: IntakeFields = {
  schema_version: 1,
  diagnosis_query: {
    schema: 'diagnosis_query_v1',
    question: 'Why do orders fail?',
    now: '2026-05-04T15:00:00.000Z',
    window: { from: '2026-05-04T14:00:00.000Z', to: '2026-05-04T14:10:00.000Z', source: 'request' },
    baseline: null,
    time_zone: 'UTC',
    locale: 'en',
  },
  session_context: { earlier_answers: [] },
};

export const plan: DiagnosisPlan = {
  schema: 'diagnosis_plan_v1',
  hypotheses: [{ hypothesis_id: 'h1', text: 'a lock' }],
  steps: [{ step_id: 's1', tool_name: 'log_patterns', arguments: {}, purpose: 'look', gap_fact_id: null }],
  disproofs: [],
};

const binding = { source_invocation_id: 't1-aaaa', tool_name: 'log_patterns', raw_path: '/rows/0/count' };

export const evidence: ExecutorEvidence = {
  schema: 'executor_evidence_v2',
  claims: [{ claim_id: 'c1', kind: 'fact', subject: 'orders', statement: EXECUTOR_WORDS, bindings: [binding] }],
  assessments: [{ rank: 1, subject: 'orders', role: 'cause', claim_ids: ['c1'] }],
  limitations: [],
  no_evidence: null,
};

export const noEvidence: ExecutorEvidence = {
  schema: 'executor_evidence_v2',
  claims: [],
  assessments: [],
  limitations: [],
  no_evidence: { reason: 'no telemetry covers the window' },
};

export const gatekeeperPass: GatekeeperResult = {
  result: 'pass',
  run_id: 'run',
  checked_bindings: [{ ...binding, claim_id: 'c1', passed: true, reason_code: 'OK', matched_text: '41' }],
  reasons: [],
};

export const verifiedOutput: VerifiedExecutorOutput = {
  claims: [{ claim_id: 'c1', kind: 'fact', subject: 'orders', statement: 'orders: count is 41', bindings: [binding] }],
  assessments: [{ rank: 1, subject: 'orders', role: 'cause', claim_ids: ['c1'] }],
  limitations: [],
};

export const verifiedEvidence: VerifiedEvidence[] = [{ ...binding, claim_id: 'c1', matched_text: '41' }];

export const allowed: AllowedMaterial = {
  claims: verifiedOutput.claims,
  evidence: verifiedEvidence,
  assessments: verifiedOutput.assessments,
  missing_information: [],
  recommendations: [],
  limitations: [],
  dropped: [],
};

export const supported: VerifierFact = { fact_id: 'f1', claim_id: 'c1', is_critical: true, verification: 'direct_support' };
export const criticalGap: VerifierFact = {
  fact_id: 'f2',
  claim_id: null,
  is_critical: true,
  verification: 'no_evidence',
  gap: 'what held the lock',
};
export const minorGap: VerifierFact = { ...criticalGap, fact_id: 'f3', is_critical: false };

export const retryContext: EvidenceRetryContext = {
  prior_verified_output: verifiedOutput,
  prior_verified_evidence: verifiedEvidence,
  gaps: [{ fact_id: 'f2', claim_id: null, verification: 'no_evidence', gap: 'what held the lock' }],
  completed_queries: [],
  constraints: {
    max_evidence_retries: 1,
    repeat_completed_queries: false,
    snapshot: 'complete',
    keep_prior_verified_claims: true,
  },
};

/** A state with every field filled, as after a first round that asks for more evidence. */
export function fullState(): DiagnosisState {
  return {
    ...initialState(structuredClone(intake)),
    planner_status: 'COMPLETED',
    diagnosis_plan: plan,
    executor_status: 'COMPLETED',
    executor_output: evidence,
    gatekeeper_result: gatekeeperPass,
    gatekeeper_status: 'PASS',
    verdict_ceiling: 'PASS',
    gatekeeper_audit: { status: 'PASS', ceiling: 'PASS', passed: 1, failed: 0, reason_codes: [] },
    verified_input_status: 'COMPLETED',
    verified_executor_output: verifiedOutput,
    verified_evidence: verifiedEvidence,
    verifier_status: 'COMPLETED',
    verifier_model_verdict: 'LOW_CONFID',
    effective_verdict: 'LOW_CONFID',
    verifier_facts: [supported, criticalGap],
    allowed_material: allowed,
    planner_mode: 'EVIDENCE_GAP_ONLY',
    evidence_retry_count: 1,
    evidence_retry_context: retryContext,
    retry_prepare_status: 'COMPLETED',
    composer_status: 'INVALID_OUTPUT',
    composer_answer: 'an answer',
    fallback_class: 'PRE_VERIFICATION',
    fallback_reason: 'OK',
    fallback_answer: 'a safe answer',
    attempts: { planner: [1, 0], executor: [1, 0], gatekeeper: [1, 0], verified_input: [1, 0], verifier: [1, 0] },
    orchestration_events: [{ node: 'retry_prepare', outcome: 'COMPLETED', reason_code: 'OK', attempt: { round: 0, attempt: 1 } }],
  };
}
