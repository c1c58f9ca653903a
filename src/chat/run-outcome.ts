import { isQualifyingGap } from '../blueprint/classify';
import { answerOf, type DiagnosisState } from '../blueprint/state-fields';
import type { AgentStepRecord } from '../ports/agent-step-store.port';
import type { RunMetrics, SelfEvaluation } from '../ports/run-store.port';
import type { RankedCause, RunEvidence } from '../protocol/run-evidence';
import { isShown } from '../protocol/shown-claim';
import { AGENT_NODE_NAMES } from '../vocabulary/node-names';

/** What an answered run says beside its answer. */
export interface AnsweredRun {
  readonly answer: string;
  readonly degraded: boolean;
  readonly causes: readonly RankedCause[];
  readonly evidence: RunEvidence;
}

/**
 * Reads an answered run from its final state; null when the state holds no answer or a blank one. Causes and evidence come
 * from the final round's allowed material, and are empty for an answer that was given before verification.
 */
export function readAnswer(state: DiagnosisState): AnsweredRun | null {
  const answer = answerOf(state);
  if (answer === null || answer.trim() === '') return null;
  const degraded = state.fallback_answer !== null;
  const material = shownMaterial(state);
  if (material === null) {
    const reason = state.fallback_reason ?? 'STATUS_UNKNOWN';
    return {
      answer,
      degraded,
      causes: [],
      evidence: {
        claims: [],
        evidence: [],
        empty_reason: `The answer was given before verification (${reason}) and holds no claim.`,
      },
    };
  }
  return {
    answer,
    degraded,
    causes: material.assessments.map(({ rank, subject, role, claim_ids }) => ({ rank, subject, role, claimIds: [...claim_ids] })),
    evidence: {
      claims: material.claims,
      evidence: material.evidence,
      empty_reason: material.claims.length === 0 ? 'The verifier allowed no claim.' : null,
    },
  };
}

/** Deterministic counts of a final state; they hold nothing of the trace's events. */
export function selfEvaluationOf(state: DiagnosisState, toolCalls: number): SelfEvaluation {
  const material = shownMaterial(state);
  const answer = answerOf(state) ?? '';
  return {
    claims_proposed: state.executor_output?.claims.length ?? 0,
    claims_passed: state.verified_executor_output?.claims.length ?? 0,
    claims_allowed: state.allowed_material?.claims.length ?? 0,
    claims_shown: material?.claims.filter((claim) => isShown(answer, claim, state.diagnosis_query, material)).length ?? 0,
    gaps: (state.verifier_facts ?? []).filter(isQualifyingGap).length,
    tool_calls: toolCalls,
  };
}

/** Durations, calls and tokens of a run; tokens are null as soon as one agent attempt does not know its own. */
export function metricsOf(steps: readonly AgentStepRecord[], toolCalls: number, durationMs: number): RunMetrics {
  const agentSteps = steps.filter(({ node }) => (AGENT_NODE_NAMES as readonly string[]).includes(node));
  const nodeMs: Record<string, number> = {};
  for (const step of steps) nodeMs[step.node] = (nodeMs[step.node] ?? 0) + step.duration_ms;
  return {
    duration_ms: durationMs,
    node_ms: nodeMs,
    agent_calls: agentSteps.length,
    tool_calls: toolCalls,
    input_tokens: sumOrNull(agentSteps.map((step) => step.input_tokens)),
    output_tokens: sumOrNull(agentSteps.map((step) => step.output_tokens)),
  };
}

function shownMaterial(state: DiagnosisState): DiagnosisState['allowed_material'] {
  const givenBeforeVerification = state.fallback_answer !== null && state.fallback_class !== 'POST_VERIFICATION';
  return givenBeforeVerification ? null : state.allowed_material;
}

function sumOrNull(values: readonly (number | null)[]): number | null {
  if (values.length === 0) return null;
  return values.reduce<number | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}
