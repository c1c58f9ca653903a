import { unfaithfulTokens } from '../protocol/claim-fidelity/unfaithful-tokens';
import type { Assessment } from '../protocol/executor-evidence';
import type { AllowedMaterial, VerifiedEvidence, VerifiedExecutorOutput } from '../protocol/verified-material';
import type { VerifierVerdict } from '../protocol/verifier-verdict';
import type { DropReasonCode } from '../vocabulary/reason-codes';
import { isNeutralSentence } from './verifier-vocabulary';

/**
 * All that an answer may be made of. Claims and evidence are taken from the verified material by the verifier's ids, never
 * from its words. Its free text stays when it holds nothing but the neutral words of `verifier-vocabulary` and subjects that
 * are allowed; an offender is dropped whole and noted, as is an allowed subject that leans on a claim that is not allowed.
 */
export function allowedMaterialOf(
  { allowed }: Pick<VerifierVerdict, 'allowed'>,
  output: VerifiedExecutorOutput,
  evidence: readonly VerifiedEvidence[],
): AllowedMaterial {
  const ids = new Set(allowed.claim_ids);
  const claims = output.claims.filter((claim) => ids.has(claim.claim_id));
  const allowedEvidence = evidence.filter((item) => ids.has(item.claim_id));
  const dropped: DropReasonCode[] = [];

  const subjects = new Set(allowed.assessment_subjects);
  const assessments: Assessment[] = [];
  for (const assessment of output.assessments.filter(({ subject }) => subjects.has(subject))) {
    if (assessment.claim_ids.every((id) => ids.has(id))) assessments.push(assessment);
    else dropped.push('ASSESSMENT_UNSUPPORTED');
  }

  const nameable = [...claims, ...assessments].map(({ subject }) => subject);
  // Names that were verified but not allowed count as names, so that a sentence about them is noticed and dropped.
  const names = new Set([...output.claims, ...output.assessments].map(({ subject }) => subject));
  const faithful = (sentence: string): boolean => {
    const isFaithful = isNeutralSentence(sentence, nameable) && unfaithfulTokens(sentence, nameable, names).length === 0;
    if (!isFaithful) dropped.push('FREE_TEXT_UNFAITHFUL');
    return isFaithful;
  };
  return {
    claims,
    evidence: allowedEvidence,
    assessments,
    missing_information: allowed.missing_information.filter(faithful),
    recommendations: allowed.recommendations.filter(faithful),
    limitations: output.limitations,
    dropped,
  };
}
