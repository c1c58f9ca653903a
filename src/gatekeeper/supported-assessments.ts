import { isNameShaped, namesIn } from '../protocol/claim-fidelity/tokens';
import type { Assessment, ExecutorEvidence } from '../protocol/executor-evidence';
import type { CheckedBinding } from '../protocol/gatekeeper-result';

/**
 * The assessments that stand on verified claims: every claim of theirs is a fact or an absence all of whose bindings passed,
 * and the subject is the verified subject of one of them, or an entity in their matched text. It refuses to keep one on
 * words alone: a subject that is no claim's must look like a name or be a verified claim's elsewhere.
 */
export function supportedAssessments(output: ExecutorEvidence, checked: readonly CheckedBinding[]): Assessment[] {
  const verified = output.claims.filter((claim) => {
    const own = checked.filter((binding) => binding.claim_id === claim.claim_id);
    return claim.kind !== 'hypothesis' && own.length > 0 && own.every((binding) => binding.passed);
  });
  const subjects = new Set(verified.map((claim) => claim.subject));
  return output.assessments.filter(({ subject, claim_ids }) => {
    const own = verified.filter((claim) => claim_ids.includes(claim.claim_id));
    if (own.length < new Set(claim_ids).size) return false;
    if (own.some((claim) => claim.subject === subject)) return true;
    if (!subjects.has(subject) && !isNameShaped(subject)) return false;
    return checked.some(
      ({ claim_id, passed, matched_text }) =>
        passed && claim_ids.includes(claim_id) && (matched_text === subject || namesIn(matched_text ?? '').has(subject)),
    );
  });
}
