/**
 * What a claim of the analyst is for, told by the first part of its id, so that its verifier and composer can tell harm from
 * a check. A document of another executor has no such ids; its claims then count as harm of the subject they speak of.
 */
export const CLAIM_ROLES = [
  'harm',
  'check',
  'control',
  'trigger',
  'symptom',
  'hint',
  'clear',
  'range',
  'line',
  'change',
  'asked',
] as const;
export type ClaimRole = (typeof CLAIM_ROLES)[number];

/** The role in a claim id such as `control-2`, null when it names none. */
export function claimRoleOf(claimId: string): ClaimRole | null {
  const [prefix] = claimId.split('-');
  return CLAIM_ROLES.find((role) => role === prefix) ?? null;
}
