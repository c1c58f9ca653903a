import { Injectable } from '@nestjs/common';
import { VerifierAgent } from '../../ports/agent-invoker.port';
import type { VerifierFact, VerifierVerdict } from '../../protocol/verifier-verdict';
import type { LimitationCode } from '../../vocabulary/limitation-codes';
import type { Verdict } from '../../vocabulary/verdicts';
import { AGENT_INPUTS, readAgentInput, type VerifierInput } from './agent-inputs';
import { claimRoleOf } from './claim-roles';
import { THRESHOLDS, type Thresholds } from './thresholds';
import { LOG_PATTERNS } from './tool-rows';
import { type Judged, judge } from './verdict-rules';

/** What each limit leaves unknown, in words that hold no number and no name. A code that is not here lowers nothing. */
const UNKNOWN_FOR: { readonly [C in LimitationCode]?: string } = {
  NO_BASELINE: 'There is no baseline, so nothing could be compared with normal times.',
  BASELINE_PRECEDING_WINDOW: 'No baseline was given; the stretch before the window may have been troubled already.',
  SOURCE_INCOMPLETE: 'Some of what matched was left out of the output of a tool.',
  WINDOW_NOT_COVERED: 'The telemetry does not cover the whole window.',
  TOOL_FAILED: 'A tool failed, so part of the look is missing.',
  TOOL_DENIED: 'A tool was refused, so part of the look is missing.',
  BUDGET_EXHAUSTED: 'The budget of tool calls was used up before the look was complete.',
  DEADLINE: 'The time of the run was over before the look was complete.',
  BELOW_THRESHOLD: 'Something moved, but in too few requests to tell it from chance.',
  BASELINE_UNSTEADY: 'The baseline was in trouble itself, so it is no picture of normal times.',
  SCOPE_LOGS_ONLY: 'Only part of the telemetry could be narrowed to what was asked about.',
  SCOPE_EMPTY: 'Nothing of the part that was asked about was found, so nothing can be said of it.',
  SUBJECT_UNKNOWN: 'What was asked about could not be told from its own records.',
  CANDIDATES_CLOSE: 'The leading candidates lie close to each other.',
};

const ONLY_INDIRECT = 'What points at the leading service is not shown by its own records.';
const CHECK_MISSING = 'The query that could disprove the leading cause has no result.';
const NOTHING_TO_JUDGE = 'What was found normal could not be judged for every service.';
const REJECTED_LINES = 'Some records could not be read, so their absence proves little.';
const SKIPPED_FILES = 'Some files could not be read, so what they hold is unknown.';
const UNEXPLAINED_LINES =
  'A kind of line that was rare or unknown before makes up much of the lines of a service; whether it tells of harm is open.';
const CEILING = 'Part of what was put forward did not pass the check against the recorded output.';

const TRY_ROLLING_BACK = 'Compare the change before the incident with what ran before it; rolling it back is the cheapest test.';
const GIVE_BASELINE = 'Ask again with a baseline from a time that is known to be healthy.';

/**
 * Judges by rule from the verified material alone: PASS for harm that is directly shown and whose disproof failed, or for
 * a complete look that found nothing; REJECT when the leading cause is contradicted by its own check; LOW_CONFID for each
 * other stated reason. It never takes a claim on trust: every assertion is computed again from its matched texts.
 */
@Injectable()
export class AnalystVerifierAgent extends VerifierAgent {
  /** A subclass may move them, to measure what hangs on each. */
  protected get thresholds(): Thresholds {
    return THRESHOLDS;
  }

  async invoke(input: string): Promise<string> {
    const material = readAgentInput(AGENT_INPUTS.verifier, input);
    return JSON.stringify(verdictOf(material, judge(material, this.thresholds)));
  }
}

function verdictOf(material: VerifierInput, { cause, facts }: Judged): VerifierVerdict {
  const { claims, assessments } = material.verified_executor_output;
  const contradicted = new Set(
    facts.filter(({ verification }) => verification === 'contradicted').map(({ claim_id }) => claim_id),
  );
  const claim_ids = claims.map(({ claim_id }) => claim_id).filter((id) => !contradicted.has(id));
  const supported = assessments.filter((assessment) => assessment.claim_ids.every((id) => claim_ids.includes(id)));
  const reasons = reasonsAgainstPass(material, facts, cause !== null);
  const disproved = cause !== null && cause.claim_ids.some((id) => contradicted.has(id));
  const verdict: Verdict = disproved || claim_ids.length === 0 ? 'REJECT' : reasons.length > 0 ? 'LOW_CONFID' : 'PASS';
  return {
    schema: 'verifier_verdict_v1',
    verdict,
    facts: [...facts],
    allowed: {
      claim_ids,
      assessment_subjects: [...new Set(supported.map(({ subject }) => subject))],
      missing_information: reasons,
      recommendations: recommendationsFor(material, cause !== null, verdict),
    },
  };
}

function reasonsAgainstPass(material: VerifierInput, facts: readonly VerifierFact[], hasCause: boolean): string[] {
  const { limitations, claims } = material.verified_executor_output;
  const reasons = Object.entries(UNKNOWN_FOR).flatMap(([code, words]) => (limitations.includes(code) ? [words] : []));
  // The query itself says what its baseline is, whatever the executor states.
  const { baseline } = material.diagnosis_query;
  if (baseline === null) reasons.push(UNKNOWN_FOR.NO_BASELINE ?? '');
  else if (baseline.source !== 'request') reasons.push(UNKNOWN_FOR.BASELINE_PRECEDING_WINDOW ?? '');
  if (material.verdict_ceiling !== 'PASS') reasons.push(CEILING);
  const open = facts.filter(({ is_critical, verification }) => is_critical && verification !== 'direct_support');
  if (hasCause) {
    if (open.some(({ verification }) => verification === 'indirect_support')) reasons.push(ONLY_INDIRECT);
    if (open.some(({ verification }) => verification === 'no_evidence')) reasons.push(CHECK_MISSING);
  } else {
    const normal = claims.filter(({ claim_id }) => ['range', 'clear'].includes(claimRoleOf(claim_id) ?? ''));
    const absent = claims.some(({ kind }) => kind === 'absence');
    if (open.length > 0 || (normal.length === 0 && !absent)) reasons.push(NOTHING_TO_JUDGE);
    const isHint = ({ claim_id, bindings }: (typeof claims)[number]): boolean =>
      claimRoleOf(claim_id) === 'hint' && bindings[0]?.tool_name === LOG_PATTERNS.name;
    if (claims.some(isHint) && !limitations.includes('BELOW_THRESHOLD')) reasons.push(UNEXPLAINED_LINES);
    if (limitations.includes('RECORDS_REJECTED')) reasons.push(REJECTED_LINES);
    if (limitations.includes('FILES_SKIPPED')) reasons.push(SKIPPED_FILES);
  }
  return [...new Set(reasons)];
}

function recommendationsFor(material: VerifierInput, hasCause: boolean, verdict: Verdict): string[] {
  if (verdict === 'REJECT') return [];
  const { claims } = material.verified_executor_output;
  const { baseline } = material.diagnosis_query;
  return [
    ...(hasCause && claims.some(({ claim_id }) => claimRoleOf(claim_id) === 'trigger') ? [TRY_ROLLING_BACK] : []),
    ...(baseline === null || baseline.source !== 'request' ? [GIVE_BASELINE] : []),
  ];
}
