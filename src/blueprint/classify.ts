import type { OrchestrationEvent } from '../protocol/orchestration-event';
import type { VerifierFact } from '../protocol/verifier-verdict';
import type { NodeName } from '../vocabulary/node-names';
import type { OutcomeOf } from '../vocabulary/outcomes';
import type { FallbackClass, RetriedAgentStatus } from '../vocabulary/statuses';
import { MAX_EVIDENCE_RETRIES, MAX_TECHNICAL_ATTEMPTS } from './routing-table';
import type { DiagnosisState } from './state-fields';

type RetriedOutcome = 'INVALID_OUTPUT' | 'RETRYABLE_FAILED' | 'RETRY_EXHAUSTED' | 'NON_RETRYABLE_FAILED' | 'UNKNOWN';

/** Attempts that a node has had in the current round, the one just handled included. */
export function attemptsOf(node: NodeName, state: Pick<DiagnosisState, 'attempts' | 'evidence_retry_count'>): number {
  return state.attempts[node]?.[state.evidence_retry_count] ?? 0;
}

/** A fact of the verifier that an evidence round may try to settle: critical, not directly supported, and saying what is missing. */
export function isQualifyingGap(fact: VerifierFact): boolean {
  return (
    fact.is_critical &&
    (fact.verification === 'no_evidence' || fact.verification === 'indirect_support') &&
    typeof fact.gap === 'string' &&
    fact.gap.trim().length > 0
  );
}

/** Class of a fallback: it depends on the failing node alone, which is the node of the last event. */
export function fallbackClassOf(events: readonly OrchestrationEvent[]): FallbackClass {
  return events.at(-1)?.node === 'composer' ? 'POST_VERIFICATION' : 'PRE_VERIFICATION';
}

function failureOutcome(status: RetriedAgentStatus | null, attempts: number): RetriedOutcome {
  switch (status) {
    case 'INVALID_OUTPUT':
    case 'RETRYABLE_FAILED':
      return attempts < MAX_TECHNICAL_ATTEMPTS ? status : 'RETRY_EXHAUSTED';
    case 'NON_RETRYABLE_FAILED':
      return status;
    default:
      return 'UNKNOWN';
  }
}

const CLASSIFIERS: { readonly [N in NodeName]: (state: DiagnosisState) => OutcomeOf<N> } = {
  planner: (state) =>
    state.planner_status === 'COMPLETED' && state.diagnosis_plan !== null
      ? 'COMPLETED'
      : failureOutcome(state.planner_status, attemptsOf('planner', state)),

  executor: (state) => {
    switch (state.executor_status) {
      case 'COMPLETED':
        return state.executor_output === null ? 'UNKNOWN' : 'COMPLETED';
      case 'INVALID_OUTPUT':
      case 'TOOL_BLOCKED':
      case 'FAILED':
        return state.executor_status;
      default:
        return 'UNKNOWN';
    }
  },

  gatekeeper: (state) => {
    switch (state.gatekeeper_status) {
      case 'PASS':
        return state.verdict_ceiling === 'PASS' ? 'PASS' : 'UNKNOWN';
      case 'LOW_CONFID':
        if (state.verdict_ceiling !== 'LOW_CONFID') return 'UNKNOWN';
        return (state.gatekeeper_audit?.passed ?? 0) > 0 ? 'LOW_CONFID' : 'LOW_CONFID_UNBOUND';
      case 'REJECT':
        return 'REJECT';
      default:
        return 'UNKNOWN';
    }
  },

  verified_input: (state) => {
    switch (state.verified_input_status) {
      case 'COMPLETED':
        return state.verified_executor_output === null ? 'UNKNOWN' : 'COMPLETED';
      case 'FAILED':
        return 'FAILED';
      default:
        return 'UNKNOWN';
    }
  },

  verifier: (state) => {
    if (state.verifier_status !== 'COMPLETED') return failureOutcome(state.verifier_status, attemptsOf('verifier', state));
    if (state.effective_verdict === 'REJECT') return 'REJECT';
    if (state.allowed_material === null) return 'UNKNOWN';
    if (state.effective_verdict === 'PASS') return state.verdict_ceiling === 'PASS' ? 'PASS' : 'UNKNOWN';
    if (state.effective_verdict !== 'LOW_CONFID') return 'UNKNOWN';
    const gapMayBeClosed =
      state.verdict_ceiling === 'PASS' &&
      state.evidence_retry_count < MAX_EVIDENCE_RETRIES &&
      (state.verifier_facts ?? []).some(isQualifyingGap);
    return gapMayBeClosed ? 'EVIDENCE_GAP' : 'LOW_CONFID';
  },

  retry_prepare: (state) => {
    switch (state.retry_prepare_status) {
      case 'COMPLETED':
        return state.evidence_retry_context !== null &&
          state.evidence_retry_count === MAX_EVIDENCE_RETRIES &&
          state.planner_mode === 'EVIDENCE_GAP_ONLY'
          ? 'COMPLETED'
          : 'UNKNOWN';
      case 'FAILED':
        return 'FAILED';
      default:
        return 'UNKNOWN';
    }
  },

  composer: (state) =>
    state.composer_status === 'COMPLETED' && state.composer_answer !== null
      ? 'COMPLETED'
      : failureOutcome(state.composer_status, attemptsOf('composer', state)),

  fallback: (state) =>
    state.fallback_class !== null && state.fallback_class === fallbackClassOf(state.orchestration_events)
      ? state.fallback_class
      : 'UNKNOWN',
};

/**
 * Names the outcome of a handled attempt from the state after it, the attempt counted and its event not yet appended.
 * Pure; it refuses to guess: a status, verdict or combination that it does not know is UNKNOWN, which leads to the fallback.
 * A prepared retry that did not count itself is UNKNOWN, so that no node can open a third round; so is a fallback class
 * other than the one that the failing node gives.
 */
export function classify<N extends NodeName>(node: N, state: DiagnosisState): OutcomeOf<N> {
  return CLASSIFIERS[node](state);
}
