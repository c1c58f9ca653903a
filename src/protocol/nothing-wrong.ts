import type { Verdict } from '../vocabulary/verdicts';
import type { AllowedMaterial, VerifiedClaim, VerifiedEvidence } from './verified-material';

/** How far two compared values may lie apart, as a factor, to be worded as normal. */
const NORMAL_FACTOR = 2;

/** Difference of two shares up to which they are worded as normal: some noise is always there, beside none at all too. */
const NORMAL_SHARE = 0.02;

/** How many standard deviations of two Poisson counts their difference may have, to be worded as normal. */
const NORMAL_SIGMAS = 3;

/**
 * Whether an answer may be worded as "nothing departs from normal": an accepted verdict, no assessment but ruled-out ones,
 * and nothing but absence claims and typed claims that state no departure. Compared values count as normal within a factor
 * of two, as shares within two percentage points, or as counts within three standard deviations of their difference (Poisson: the root of their sum). Without a
 * baseline nothing is normal. It decides wording only, never a verdict, and refuses when in doubt.
 */
export function isNothingWrong(
  verdict: Verdict,
  allowed: Pick<AllowedMaterial, 'claims' | 'assessments' | 'evidence' | 'limitations'>,
): boolean {
  return (
    !allowed.limitations.includes('NO_BASELINE') &&
    !allowed.limitations.includes('SCOPE_EMPTY') &&
    verdict !== 'REJECT' &&
    allowed.claims.length > 0 &&
    allowed.assessments.every((assessment) => assessment.role === 'ruled_out') &&
    allowed.claims.every((claim) => statesNoDeparture(claim, allowed.evidence))
  );
}

/** Whether a claim says that nothing is there, or compares values that are normal beside each other. */
export function statesNoDeparture(claim: VerifiedClaim, evidence: readonly VerifiedEvidence[]): boolean {
  if (claim.kind === 'absence') return true;
  const { assertion } = claim;
  if (assertion === undefined) return false;
  if (assertion.right === undefined) return assertion.op === 'equals' || assertion.op === 'less' || assertion.op === 'count';
  const [left, right] = [boundNumber(claim, assertion.left, evidence), boundNumber(claim, assertion.right, evidence)];
  return areClose(left, right) || (assertion.unit === 'ratio' && Math.abs(left - right) <= NORMAL_SHARE);
}

function areClose(a: number, b: number): boolean {
  if (a === b) return true;
  if (Number.isInteger(a) && Number.isInteger(b) && a >= 0 && b >= 0 && Math.abs(a - b) <= NORMAL_SIGMAS * Math.sqrt(a + b))
    return true;
  return a / b >= 1 / NORMAL_FACTOR && a / b <= NORMAL_FACTOR;
}

function boundNumber(claim: VerifiedClaim, index: number, evidence: readonly VerifiedEvidence[]): number {
  const binding = claim.bindings[index];
  const row = evidence.find(
    (candidate) =>
      candidate.claim_id === claim.claim_id &&
      candidate.source_invocation_id === binding?.source_invocation_id &&
      candidate.tool_name === binding.tool_name &&
      candidate.raw_path === binding.raw_path,
  );
  return row === undefined ? Number.NaN : Number(row.matched_text);
}
