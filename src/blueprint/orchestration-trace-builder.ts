import type { OrchestrationTrace } from '../protocol/orchestration-trace';
import type { DiagnosisState } from './state-fields';

type TracedFields = Pick<
  DiagnosisState,
  'orchestration_events' | 'gatekeeper_status' | 'verdict_ceiling' | 'effective_verdict' | 'fallback_class' | 'fallback_reason'
>;

/**
 * The compact audit of a run, from its final state or from the real state at which it broke off. Pure; it refuses to tell
 * anything that did not happen: path and counts come from the events alone, the other values are codes of the last round.
 */
export function buildOrchestrationTrace(state: TracedFields): OrchestrationTrace {
  const events = state.orchestration_events;
  return {
    path: events.map((event) => event.node),
    events: events.map((event) => ({ ...event, attempt: { ...event.attempt } })),
    technical_retries: events.filter((event) => event.attempt.attempt > 1).length,
    evidence_retries: events.filter((event) => event.node === 'retry_prepare' && event.outcome === 'COMPLETED').length,
    gatekeeper_status: state.gatekeeper_status,
    verdict_ceiling: state.verdict_ceiling,
    effective_verdict: state.effective_verdict,
    fallback_class: state.fallback_class,
    fallback_reason: state.fallback_reason,
    degraded: events.some((event) => event.node === 'fallback'),
  };
}
