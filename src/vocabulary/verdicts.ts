/** The verifier's word on a diagnosis, and the verdict that counts once the ceiling was applied. */
export const VERDICTS = ['PASS', 'LOW_CONFID', 'REJECT'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The most that the gatekeeper lets a verdict be. REJECT has no ceiling: the run falls back. */
export const VERDICT_CEILINGS = ['PASS', 'LOW_CONFID'] as const;
export type VerdictCeiling = (typeof VERDICT_CEILINGS)[number];

/** How well a fact is supported by its claim. */
export const VERIFICATIONS = ['direct_support', 'indirect_support', 'no_evidence', 'contradicted'] as const;
export type Verification = (typeof VERIFICATIONS)[number];
