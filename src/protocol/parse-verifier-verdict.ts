import { parseDocument, repeatedIndexes } from './parse-document';
import type { Parsed } from './parsed';
import type { VerifiedExecutorOutput } from './verified-material';
import { verifierVerdictSchema, type VerifierVerdict } from './verifier-verdict';

/**
 * Strict parser of `verifier_verdict_v1`, held against the material that was verified. It refuses: ids and subjects outside
 * the material, repeated ids, a claim id beside `no_evidence` or none beside anything else, an allowed claim that no fact
 * judges or that a fact contradicts, an allowed assessment that rests on a claim that is not allowed, and PASS with no
 * allowed claim or with a critical fact short of direct support. It never takes claim text from the verifier.
 */
export function parseVerifierVerdict(raw: unknown, material: VerifiedExecutorOutput): Parsed<VerifierVerdict> {
  const claimIds = new Set(material.claims.map((claim) => claim.claim_id));
  return parseDocument(raw, verifierVerdictSchema, (verdict) => [
    ...factProblems(verdict, claimIds),
    ...allowedClaimProblems(verdict, claimIds),
    ...allowedAssessmentProblems(verdict, material),
    ...freeTextProblems(verdict),
    ...passProblems(verdict),
  ]);
}

function factProblems({ facts }: VerifierVerdict, claimIds: ReadonlySet<string>): string[] {
  return [
    ...repeatedIndexes(facts.map((fact) => fact.fact_id)).map((i) => `facts[${i}].fact_id: repeated`),
    ...facts.flatMap((fact, i) => {
      if ((fact.claim_id === null) !== (fact.verification === 'no_evidence'))
        return [`facts[${i}].claim_id: null exactly for no_evidence`];
      return fact.claim_id === null || claimIds.has(fact.claim_id) ? [] : [`facts[${i}].claim_id: outside the verified material`];
    }),
  ];
}

function allowedClaimProblems({ facts, allowed }: VerifierVerdict, claimIds: ReadonlySet<string>): string[] {
  return [
    ...repeatedIndexes(allowed.claim_ids).map((i) => `allowed.claim_ids[${i}]: repeated`),
    ...allowed.claim_ids.flatMap((id, i) => {
      if (!claimIds.has(id)) return [`allowed.claim_ids[${i}]: outside the verified material`];
      const judgements = facts.filter((fact) => fact.claim_id === id);
      if (judgements.length === 0) return [`allowed.claim_ids[${i}]: no fact judges this claim`];
      return judgements.some((fact) => fact.verification === 'contradicted') ? [`allowed.claim_ids[${i}]: contradicted`] : [];
    }),
  ];
}

function allowedAssessmentProblems({ allowed }: VerifierVerdict, material: VerifiedExecutorOutput): string[] {
  const allowedIds = new Set(allowed.claim_ids);
  return [
    ...repeatedIndexes(allowed.assessment_subjects).map((i) => `allowed.assessment_subjects[${i}]: repeated`),
    ...allowed.assessment_subjects.flatMap((subject, i) => {
      const assessments = material.assessments.filter((assessment) => assessment.subject === subject);
      if (assessments.length === 0) return [`allowed.assessment_subjects[${i}]: outside the verified material`];
      const supported = assessments.every((assessment) => assessment.claim_ids.every((id) => allowedIds.has(id)));
      return supported ? [] : [`allowed.assessment_subjects[${i}]: rests on a claim that is not allowed`];
    }),
  ];
}

function freeTextProblems({ allowed }: VerifierVerdict): string[] {
  return (['missing_information', 'recommendations'] as const).flatMap((list) =>
    allowed[list].flatMap((text, i) => (text.trim() === '' ? [`allowed.${list}[${i}]: blank`] : [])),
  );
}

function passProblems({ verdict, facts, allowed }: VerifierVerdict): string[] {
  if (verdict !== 'PASS') return [];
  return [
    ...(allowed.claim_ids.length > 0 ? [] : ['verdict: PASS with nothing allowed']),
    ...facts.flatMap((fact, i) =>
      fact.is_critical && fact.verification !== 'direct_support'
        ? [`facts[${i}]: PASS with a critical fact short of direct support`]
        : [],
    ),
  ];
}
