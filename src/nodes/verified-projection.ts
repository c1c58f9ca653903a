import { supportedAssessments } from '../gatekeeper/supported-assessments';
import { claimSentence, type SentenceSetting } from '../protocol/claim-sentence';
import type { Assertion, Binding, Claim, ExecutorEvidence } from '../protocol/executor-evidence';
import type { CheckedBinding } from '../protocol/gatekeeper-result';
import type { VerifiedClaim, VerifiedEvidence, VerifiedExecutorOutput } from '../protocol/verified-material';
import { LIMITATION_CODES } from '../vocabulary/limitation-codes';

/** A binding that passed, with its place in the executor's claim. */
interface KeptBinding {
  readonly index: number;
  readonly binding: Binding;
  readonly matched_text: string;
}

interface VerifiedProjection {
  readonly output: VerifiedExecutorOutput;
  readonly evidence: VerifiedEvidence[];
}

/**
 * The projection of an executor's document onto its passed bindings, null when nothing is left. Bindings are matched by
 * claim, invocation, tool and path. A claim stays when it is a fact or an absence and every binding that its assertion
 * computes with passed; indexes then count the kept bindings. An assessment stays when all its claims do and the gatekeeper's
 * rule finds its subject in them. Limitations stay when they are codes of the closed list: the rest is free text.
 */
export function projectVerified(output: ExecutorEvidence, checked: readonly CheckedBinding[]): VerifiedProjection | null {
  const passed = passedTexts(checked);
  const setting = { hasTraces: !output.limitations.includes('NO_TRACE_IDS') };
  const claims: VerifiedClaim[] = [];
  const evidence: VerifiedEvidence[] = [];
  for (const claim of output.claims) {
    const kept = keptBindings(claim, passed);
    const verified = verifiedClaim(claim, kept, setting);
    if (verified === null) continue;
    claims.push(verified);
    for (const { binding, matched_text } of kept) {
      const { source_invocation_id, tool_name, raw_path } = binding;
      evidence.push({ claim_id: claim.claim_id, source_invocation_id, tool_name, raw_path, matched_text });
    }
  }
  if (claims.length === 0) return null;
  const verified = new Set(claims.map(({ claim_id }) => claim_id));
  const assessments = supportedAssessments(output, checked).filter(({ claim_ids }) => claim_ids.every((id) => verified.has(id)));
  const limitations = LIMITATION_CODES.filter((code) => output.limitations.includes(code));
  return { output: { claims, assessments, limitations }, evidence };
}

function keyOf(claim_id: string, { source_invocation_id, tool_name, raw_path }: Omit<Binding, 'quote'>): string {
  return JSON.stringify([claim_id, source_invocation_id, tool_name, raw_path]);
}

function passedTexts(checked: readonly CheckedBinding[]): ReadonlyMap<string, string> {
  const passed = new Map<string, string>();
  const refused = new Set<string>();
  for (const binding of checked) {
    const key = keyOf(binding.claim_id, binding);
    const text = binding.matched_text ?? '';
    // A key that was checked twice, or failed once, proves nothing.
    if (!binding.passed || text.trim() === '' || passed.has(key)) refused.add(key);
    else passed.set(key, text);
  }
  for (const key of refused) passed.delete(key);
  return passed;
}

function keptBindings(claim: Claim, passed: ReadonlyMap<string, string>): KeptBinding[] {
  return claim.bindings.flatMap((binding, index) => {
    const matched_text = passed.get(keyOf(claim.claim_id, binding));
    return matched_text === undefined ? [] : [{ index, binding, matched_text }];
  });
}

function verifiedClaim(claim: Claim, kept: readonly KeptBinding[], setting: SentenceSetting): VerifiedClaim | null {
  const { claim_id, kind, subject, scope } = claim;
  if (kind === 'hypothesis' || kept.length === 0) return null;
  if (kind === 'absence' && scope === undefined) return null;
  const assertion = claim.assertion === undefined ? undefined : remapped(claim.assertion, kept);
  if (assertion === null) return null;
  const bindings = kept.map(({ binding }) => binding);
  const projected = { ...claim, ...(assertion && { assertion }), bindings };
  const statement = claimSentence(
    projected,
    kept.map(({ matched_text }) => matched_text),
    setting,
  );
  if (statement.trim() === '') return null;
  return { claim_id, kind, subject, statement, ...(assertion && { assertion }), ...(scope && { scope }), bindings };
}

/** The assertion over the kept bindings; null when one that it computes with did not pass. */
function remapped(assertion: Assertion, kept: readonly KeptBinding[]): Assertion | null {
  const left = kept.findIndex(({ index }) => index === assertion.left);
  if (left < 0) return null;
  if (assertion.right === undefined) return { ...assertion, left };
  const right = kept.findIndex(({ index }) => index === assertion.right);
  return right < 0 ? null : { ...assertion, left, right };
}
