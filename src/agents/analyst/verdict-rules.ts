import type { Assessment } from '../../protocol/executor-evidence';
import type { VerifiedEvidence } from '../../protocol/verified-material';
import type { VerifierFact } from '../../protocol/verifier-verdict';
import type { Verification } from '../../vocabulary/verdicts';
import type { VerifierInput } from './agent-inputs';
import { type ClaimRole, claimRoleOf } from './claim-roles';
import { GAP_FACTS, leadingCause } from './gap-questions';
import { type RecomputedClaim, recompute, textOfField } from './recomputed-claim';
import type { Thresholds } from './thresholds';
import { METRIC_ANOMALIES } from './tool-rows';

const GAPS = {
  control: 'It is open whether the same change also occurs inside the baseline.',
  ownLines: 'Lines of the leading service itself that show its failure are missing.',
} as const;

/** Judged material: one fact for every verified claim, and facts without a claim for what is missing. */
export interface Judged {
  readonly cause: Assessment | null;
  readonly facts: readonly VerifierFact[];
}

/**
 * Judges every verified claim from its matched texts. Critical are the strongest harm of the leading cause, the check and
 * the control that could disprove it, and, where there is no cause, everything that was found normal.
 */
export function judge(input: VerifierInput, limits: Thresholds): Judged {
  const { verified_executor_output: output, verified_evidence: evidence } = input;
  const claims = output.claims.map((claim) => recompute(claim, evidence));
  const cause = leadingCause(output.assessments);
  return { cause, facts: cause === null ? withoutCause(claims) : withCause(cause, claims, input, limits) };
}

function withoutCause(claims: readonly RecomputedClaim[]): VerifierFact[] {
  return claims.map((item, index) => {
    const role = claimRoleOf(item.claim.claim_id);
    // Symptoms without a cause are nothing normal, whatever form their claims have.
    const normal = item.direction !== 'up' && role !== 'symptom';
    const verification: Verification = !item.holds ? 'contradicted' : normal ? 'direct_support' : 'indirect_support';
    return factOf(`fact-${index + 1}`, item, role !== 'hint' && (role === 'range' || role === 'symptom' || normal), verification);
  });
}

function withCause(
  cause: Assessment,
  claims: readonly RecomputedClaim[],
  input: VerifierInput,
  limits: Thresholds,
): VerifierFact[] {
  const own = claims.filter(({ claim }) => cause.claim_ids.includes(claim.claim_id));
  const roleOf = (item: RecomputedClaim): ClaimRole => claimRoleOf(item.claim.claim_id) ?? 'harm';
  const judged = claims.map((item) => ({
    item,
    role: roleOf(item),
    verification: verificationOf(item, cause, own, input, limits),
  }));
  const harm = judged.filter(({ item, role }) => own.includes(item) && (role === 'harm' || role === 'symptom'));
  const strongest = harm.find(({ verification }) => verification === 'direct_support') ?? harm[0];
  const confirmed = judged.some(
    ({ item, role, verification }) => own.includes(item) && role === 'check' && verification === 'direct_support',
  );
  const facts = judged.map(({ item, role, verification }, index): VerifierFact => {
    const mine = own.includes(item);
    const critical = mine && (item === strongest?.item || role === 'control' || verification === 'contradicted');
    if (item !== strongest?.item || verification !== 'indirect_support')
      return factOf(`fact-${index + 1}`, item, critical, verification);
    // What the service's own lines say in a second look closes what the first one only pointed at.
    return confirmed
      ? factOf(GAP_FACTS.ownLines, item, false, verification)
      : { ...factOf(GAP_FACTS.ownLines, item, true, verification), gap: GAPS.ownLines };
  });
  if (strongest === undefined && !confirmed) facts.push(missing(GAP_FACTS.harm, GAPS.ownLines));
  const controlled = judged.some(({ item, role }) => own.includes(item) && role === 'control');
  if (!controlled && input.diagnosis_query.baseline !== null) facts.push(missing(GAP_FACTS.control, GAPS.control));
  return facts;
}

function verificationOf(
  item: RecomputedClaim,
  cause: Assessment,
  own: readonly RecomputedClaim[],
  { verified_evidence: evidence }: VerifierInput,
  limits: Thresholds,
): Verification {
  if (!item.holds) return 'contradicted';
  if (!own.includes(item)) return 'direct_support';
  switch (claimRoleOf(item.claim.claim_id)) {
    case 'control':
      if (item.direction === 'up' || (fallsAreTrouble(item) && item.claim.assertion?.op === 'fell')) return 'contradicted';
      return countsChanges(item) && item.value !== 0 ? 'indirect_support' : 'direct_support';
    case 'check':
      if (isOfMetric(item)) return metricSupport(item, evidence, limits);
      if (item.direction === 'up') return 'direct_support';
      // Errors that fell, or went away, speak against a cause that is said to err.
      return item.direction === 'down' ? 'contradicted' : 'indirect_support';
    case 'trigger':
      return 'direct_support';
    default:
      return harmSupport(item, cause, evidence, limits);
  }
}

/** A control that counts changes must have counted none. */
function countsChanges({ claim }: RecomputedClaim): boolean {
  return claim.bindings[0]?.raw_path === '/summary/matched_count';
}

function harmSupport(
  item: RecomputedClaim,
  cause: Assessment,
  evidence: readonly VerifiedEvidence[],
  limits: Thresholds,
): Verification {
  const { claim, direction, change, value } = item;
  if (claim.subject !== cause.subject) return 'indirect_support';
  if (isOfMetric(item)) return metricSupport(item, evidence, limits);
  if (isOfRate(item)) return hasFallenSilent(item, limits) ? 'direct_support' : 'indirect_support';
  if (direction !== 'up') return 'indirect_support';
  // A service that is no longer called said nothing itself: its caller did.
  if (textOfField(claim, 'kind', evidence) === 'missing') return 'indirect_support';
  const enough =
    claim.assertion?.unit === 'count'
      ? (value ?? 0) >= limits.logs.fewest
      : claim.assertion?.unit === 'ratio'
        ? change >= limits.claims.harmfulRise
        : change >= limits.claims.harmfulPart * ((value ?? 0) - change);
  return enough ? 'direct_support' : 'indirect_support';
}

/** A metric bears out harm when it left what its own baseline scatters, in the way that is trouble for its kind. */
function metricSupport(
  { claim, change, value }: RecomputedClaim,
  evidence: readonly VerifiedEvidence[],
  limits: Thresholds,
): Verification {
  const kind = textOfField(claim, 'kind', evidence);
  const spread = Number(textOfField(claim, 'baseline_iqr', evidence) ?? Number.NaN);
  const isTrouble =
    kind === 'availability' ? change < 0 : kind === 'error' || kind === 'latency' || kind === 'saturation' ? change > 0 : false;
  const size = Math.abs(change);
  const isLarge = Number.isFinite(spread) && spread > 0 ? size >= limits.claims.harmfulSpreads * spread : size > 0;
  const isNoted = size >= limits.claims.metricNoise * Math.abs((value ?? 0) - change);
  return isTrouble && isLarge && isNoted ? 'direct_support' : 'indirect_support';
}

/** Rates accuse a service only of having fallen silent: more of it is load. */
function isOfRate({ claim }: RecomputedClaim): boolean {
  return claim.assertion?.unit === 'per_minute';
}

function hasFallenSilent({ direction, change, value }: RecomputedClaim, { silence }: Thresholds): boolean {
  const before = (value ?? 0) - change;
  return direction === 'down' && before > 0 && (value ?? 0) <= before * silence.left;
}

function fallsAreTrouble(item: RecomputedClaim): boolean {
  return isOfMetric(item) || isOfRate(item);
}

/** Metrics have their own directions: a falling one can be the trouble. */
function isOfMetric({ claim }: RecomputedClaim): boolean {
  return claim.bindings[0]?.tool_name === METRIC_ANOMALIES.name;
}

function factOf(fact_id: string, item: RecomputedClaim, is_critical: boolean, verification: Verification): VerifierFact {
  return { fact_id, claim_id: item.claim.claim_id, is_critical, verification, gap: null };
}

function missing(fact_id: string, gap: string): VerifierFact {
  return { fact_id, claim_id: null, is_critical: true, verification: 'no_evidence', gap };
}
