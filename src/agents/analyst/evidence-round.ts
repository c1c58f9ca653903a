import type { DiagnosisPlan } from '../../protocol/diagnosis-plan';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { EvidenceRetryContext } from '../../protocol/evidence-retry-context';
import type { Assessment, Claim, ExecutorEvidence } from '../../protocol/executor-evidence';
import type { VerifiedClaim } from '../../protocol/verified-material';
import { LIMITATION_CODES } from '../../vocabulary/limitation-codes';
import type { ClaimRole } from './claim-roles';
import { noChangeOf, errorShareClaim, errorShareControl } from './control-check';
import { EvidenceWriter } from './evidence-writer';
import { GAP_FACTS, leadingCause } from './gap-questions';
import { hasRisen } from './line-ranking';
import { metricsCompared, spansCompared } from './measure-findings';
import type { TelemetryLook } from './telemetry-look';
import { ERROR_SHARE, isAlarming, LOG_PATTERNS, LOG_SEQUENCES, METRIC_ANOMALIES, SPAN_ANALYSIS } from './tool-rows';

const MOST_LINES = 3;

/**
 * The second look: keeps every verified claim as it is, asks the plan's questions alone, and adds what they show to the
 * leading cause. A complete snapshot. It refuses to drop, reword or merge a claim of the first round.
 */
export async function lookAgain(
  query: DiagnosisQuery,
  plan: DiagnosisPlan,
  { prior_verified_output: prior }: EvidenceRetryContext,
  look: TelemetryLook,
): Promise<ExecutorEvidence> {
  const writer = new EvidenceWriter(look.thresholds);
  for (const claim of prior.claims) writer.keep(asClaim(claim));
  const cause = leadingCause(prior.assessments);
  const added: string[] = [];
  for (const step of plan.steps) {
    const role: ClaimRole = step.gap_fact_id === GAP_FACTS.control ? 'control' : 'check';
    added.push(...(await answerStep(step, cause?.subject ?? null, role, look, writer)));
  }
  if (query.baseline !== null && query.baseline.source !== 'request') look.note('BASELINE_PRECEDING_WINDOW');
  // A call that failed in the first round no longer limits anything once its question was answered.
  const answered = added.length > 0;
  const kept = LIMITATION_CODES.filter((code) => prior.limitations.includes(code) && !(answered && code === 'TOOL_FAILED'));
  return {
    schema: 'executor_evidence_v2',
    claims: writer.claims,
    assessments: prior.assessments.map((assessment) => withAdded(assessment, cause, added)),
    limitations: [...new Set([...kept, ...look.limitations()])],
    no_evidence: null,
  };
}

function withAdded(assessment: Assessment, cause: Assessment | null, added: readonly string[]): Assessment {
  if (assessment.subject !== cause?.subject) return assessment;
  return { ...assessment, claim_ids: [...new Set([...assessment.claim_ids, ...added])] };
}

/** A verified claim as an executor writes it: without the sentence that code made of it. */
function asClaim({ statement, ...claim }: VerifiedClaim): Claim {
  return claim.assertion !== undefined || claim.scope !== undefined ? claim : { ...claim, statement };
}

async function answerStep(
  step: DiagnosisPlan['steps'][number],
  service: string | null,
  role: ClaimRole,
  look: TelemetryLook,
  writer: EvidenceWriter,
): Promise<string[]> {
  if (step.tool_name === ERROR_SHARE.name) {
    const answer = await look.ask(ERROR_SHARE, step.arguments);
    if (answer === null || service === null) return [];
    if (role === 'control') return errorShareControl(service, answer, writer);
    const id = errorShareClaim(
      role,
      writer,
      answer,
      answer.rows.findIndex((row) => row.service === service),
    );
    return id === null ? [] : [id];
  }
  if (step.tool_name === LOG_SEQUENCES.name) {
    const answer = await look.ask(LOG_SEQUENCES, step.arguments);
    if (answer === null || service === null) return [];
    const none = noChangeOf(role, service, answer, writer);
    const strongest = answer.rows.findIndex((row) => row.service === service && row.kind !== 'reroute');
    const fields = { baseline: 'baseline_share', incident: 'share', unit: 'ratio' } as const;
    const id = none ?? (strongest < 0 ? null : writer.moved(role, answer, strongest, fields));
    return id === null ? [] : [id];
  }
  if (step.tool_name === SPAN_ANALYSIS.name) {
    const answer = await look.ask(SPAN_ANALYSIS, step.arguments);
    return answer === null || service === null ? [] : spansCompared(role, service, answer, writer);
  }
  if (step.tool_name === METRIC_ANOMALIES.name) {
    const answer = await look.ask(METRIC_ANOMALIES, step.arguments);
    return answer === null || service === null ? [] : metricsCompared(role, service, answer, writer);
  }
  if (step.tool_name !== LOG_PATTERNS.name) return [];
  const answer = await look.ask(LOG_PATTERNS, step.arguments);
  const fields = { baseline: 'baseline_share', incident: 'share', unit: 'ratio' } as const;
  return (answer?.rows ?? [])
    .map((row, index) => ({ row, index }))
    .filter(
      ({ row }) =>
        row.service === service &&
        row.baseline_count !== null &&
        isAlarming(row.level) &&
        hasRisen({ row }, writer.thresholds.logs),
    )
    .slice(0, MOST_LINES)
    .flatMap(({ index }) => (answer === null ? [] : (writer.moved(role, answer, index, fields) ?? [])));
}
