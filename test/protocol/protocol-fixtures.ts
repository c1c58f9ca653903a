import type { DiagnosisQuery } from '../../src/protocol/diagnosis-query';
import type { Parsed } from '../../src/protocol/parsed';
import type { AllowedMaterial, VerifiedClaim, VerifiedEvidence } from '../../src/protocol/verified-material';

export const QUERY: DiagnosisQuery = {
  schema: 'diagnosis_query_v1',
  question: 'Why is checkout slow?',
  now: '2026-05-04T15:00:00.000Z',
  window: { from: '2026-05-04T14:05:00.000Z', to: '2026-05-04T14:35:00.250Z', source: 'question' },
  baseline: { from: '2026-05-04T13:35:00.000Z', to: '2026-05-04T14:05:00.000Z', source: 'preceding' },
  time_zone: 'Europe/Berlin',
  locale: 'en',
};

export function verifiedClaim(claim_id: string, statement: string, overrides: Partial<VerifiedClaim> = {}): VerifiedClaim {
  return {
    claim_id,
    kind: 'fact',
    subject: `${claim_id}-service`,
    statement,
    bindings: [{ source_invocation_id: 't1-aaaa', tool_name: 'log_patterns', raw_path: `/rows/${claim_id}/count` }],
    ...overrides,
  };
}

export function evidenceOf(claim: VerifiedClaim, ...matchedTexts: string[]): VerifiedEvidence[] {
  return claim.bindings.map(({ source_invocation_id, tool_name, raw_path }, index) => ({
    claim_id: claim.claim_id,
    source_invocation_id,
    tool_name,
    raw_path,
    matched_text: matchedTexts[index] ?? `${index}`,
  }));
}

export function allowedMaterial(overrides: Partial<AllowedMaterial> = {}): AllowedMaterial {
  const claims = [
    verifiedClaim('c1', 'The lock waits rose from 2 to 480.'),
    verifiedClaim('c2', 'The deploy finished before the window.'),
  ];
  return {
    claims,
    evidence: claims.flatMap((claim) => evidenceOf(claim, claim.claim_id === 'c1' ? '480' : 'deploy done')),
    assessments: [
      { rank: 1, subject: 'deploy-service', role: 'ruled_out', claim_ids: ['c2'] },
      { rank: 1, subject: 'orders-db', role: 'cause', claim_ids: ['c1', 'c2'] },
    ],
    missing_information: ['The configuration of the pool.'],
    recommendations: ['Look at the open transactions.'],
    limitations: ['No metrics were given.'],
    dropped: [],
    ...overrides,
  };
}

/** Asserts that a parser refused a document for its contract and named this problem. */
export function expectBroken(parsed: Parsed<unknown>, problem: string | RegExp): void {
  expect(parsed).toMatchObject({ ok: false, reason_code: 'OUTPUT_BREAKS_CONTRACT' });
  expect(parsed.ok ? [] : parsed.problems).toEqual(expect.arrayContaining([expect.stringMatching(problem)]));
}
