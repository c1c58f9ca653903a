import { allowedMaterialOf } from '../../src/nodes/allowed-material';
import { VerifierNode } from '../../src/nodes/verifier.node';
import type { VerifiedClaim, VerifiedEvidence } from '../../src/protocol/verified-material';
import type { VerifierFact, VerifierVerdict } from '../../src/protocol/verifier-verdict';
import { classify } from '../../src/blueprint/classify';
import type { DiagnosisState } from '../../src/blueprint/state-fields';
import { runConfig, ScriptedAgent, statedClaim, stateOf, verdictOf } from './incident-material';

function claimAndEvidence(
  claim_id: string,
  subject: string,
  statement: string,
  matched_text: string,
): [VerifiedClaim, VerifiedEvidence] {
  const { bindings } = statedClaim(claim_id, 'fact', subject, statement);
  const place = { source_invocation_id: 't2-bbbb', tool_name: 'log_patterns', raw_path: '/rows/0/sample' };
  return [
    { claim_id, kind: 'fact', subject, statement, bindings },
    { claim_id, ...place, matched_text },
  ];
}

const [LOCKS, LOCK_LINE] = claimAndEvidence('c1', 'order-db', 'order-db waited 1500 ms for locks', 'order-db: lock wait 1500 ms');
const [PARCELS, PARCEL_LINE] = claimAndEvidence('c2', 'shipping', 'shipping lost 7 parcels', 'shipping: 7 parcels lost');

const DIRECT: VerifierFact = { fact_id: 'f1', claim_id: 'c1', is_critical: true, verification: 'direct_support', gap: null };
const GAP: VerifierFact = {
  fact_id: 'f2',
  claim_id: null,
  is_critical: true,
  verification: 'no_evidence',
  gap: 'who held the lock',
};

function verifiedState(verdict_ceiling: 'PASS' | 'LOW_CONFID' | null, more: Partial<DiagnosisState> = {}): DiagnosisState {
  return stateOf({
    verified_executor_output: {
      claims: [LOCKS, PARCELS],
      assessments: [
        { rank: 1, subject: 'order-db', role: 'cause', claim_ids: ['c1'] },
        { rank: 2, subject: 'shipping', role: 'symptom', claim_ids: ['c1', 'c2'] },
      ],
      limitations: ['NO_METRICS'],
    },
    verified_evidence: [LOCK_LINE, PARCEL_LINE],
    gatekeeper_audit: { status: 'PASS', ceiling: 'PASS', passed: 2, failed: 0, reason_codes: [] },
    verdict_ceiling,
    ...more,
  });
}

function judge(document: VerifierVerdict, state: DiagnosisState) {
  return new VerifierNode(new ScriptedAgent([JSON.stringify(document)])).run(state, runConfig());
}

const allowing = (allowed: Partial<VerifierVerdict['allowed']>): Pick<VerifierVerdict, 'allowed'> => ({
  allowed: { claim_ids: ['c1'], assessment_subjects: [], missing_information: [], recommendations: [], ...allowed },
});

describe('VerifierNode', () => {
  it.each([
    ['PASS', 'PASS', 'PASS', 'OK'],
    ['PASS', 'LOW_CONFID', 'LOW_CONFID', 'VERDICT_CAPPED'],
    ['LOW_CONFID', 'PASS', 'LOW_CONFID', 'VERDICT_LOW'],
    ['LOW_CONFID', 'LOW_CONFID', 'LOW_CONFID', 'VERDICT_LOW'],
    ['REJECT', 'PASS', 'REJECT', 'VERDICT_REJECT'],
    ['REJECT', 'LOW_CONFID', 'REJECT', 'VERDICT_REJECT'],
  ] as const)('[B9] [A11] model %s under ceiling %s counts as %s', async (word, ceiling, effective, reason) => {
    const { update, reason_code } = await judge(verdictOf(word, { facts: [DIRECT], ...allowing({}) }), verifiedState(ceiling));
    expect(update).toMatchObject({ verifier_status: 'COMPLETED', verifier_model_verdict: word, effective_verdict: effective });
    expect(reason_code).toBe(reason);
    expect(update.allowed_material === null).toBe(effective === 'REJECT');
  });

  it('[B9] without a ceiling nobody is asked and no verdict is given', async () => {
    const agent = new ScriptedAgent([JSON.stringify(verdictOf('PASS'))]);
    const { update } = await new VerifierNode(agent).run(verifiedState(null), runConfig());
    expect(update).toEqual({ verifier_status: 'NON_RETRYABLE_FAILED' });
    expect(agent.inputs).toEqual([]);
  });

  it('[B11] names a gap that an evidence round may close exactly when the route takes it', async () => {
    const document = verdictOf('LOW_CONFID', { facts: [DIRECT, GAP], ...allowing({}) });
    const state = verifiedState('PASS');
    const first = await judge(document, state);
    expect(first.reason_code).toBe('EVIDENCE_GAP');
    expect(classify('verifier', { ...state, ...first.update })).toBe('EVIDENCE_GAP');
    const capped = await judge(document, verifiedState('LOW_CONFID'));
    expect(capped.reason_code).toBe('VERDICT_LOW');
    const context = { gaps: [] } as unknown as DiagnosisState['evidence_retry_context'];
    const second = await judge(document, verifiedState('PASS', { evidence_retry_context: context, evidence_retry_count: 1 }));
    expect(second.reason_code).toBe('VERDICT_LOW');
  });

  it('[A13] [B14] allowed material is the verified one by the ids of the verdict', async () => {
    const document = verdictOf('PASS', { facts: [DIRECT], ...allowing({ assessment_subjects: ['order-db'] }) });
    const { update } = await judge(document, verifiedState('PASS'));
    expect(update.allowed_material).toEqual({
      claims: [LOCKS],
      evidence: [LOCK_LINE],
      assessments: [{ rank: 1, subject: 'order-db', role: 'cause', claim_ids: ['c1'] }],
      missing_information: [],
      recommendations: [],
      limitations: ['NO_METRICS'],
      dropped: [],
    });
  });

  it('[A13] an allowed subject that leans on a claim that is not allowed is dropped and noted', () => {
    const { verified_executor_output: output, verified_evidence: evidence } = verifiedState('PASS');
    if (output === null || evidence === null) throw new Error('the state holds verified material');
    const allowed = allowedMaterialOf(allowing({ assessment_subjects: ['order-db', 'shipping'] }), output, evidence);
    expect(allowed.assessments.map((assessment) => assessment.subject)).toEqual(['order-db']);
    expect(allowed.dropped).toEqual(['ASSESSMENT_UNSUPPORTED']);
  });

  function keptOf(texts: readonly string[], subjects: readonly string[] = []): { kept: string[]; dropped: string[] } {
    const { verified_executor_output: output, verified_evidence: evidence } = verifiedState('PASS');
    if (output === null || evidence === null) throw new Error('the state holds verified material');
    const allowed = allowedMaterialOf(
      allowing({ missing_information: [...texts], assessment_subjects: [...subjects] }),
      output,
      evidence,
    );
    expect(allowedMaterialOf(allowing({ recommendations: [...texts] }), output, evidence).recommendations).toEqual(
      allowed.missing_information,
    );
    return { kept: allowed.missing_information, dropped: allowed.dropped };
  }

  it('[B14] free text stays when it says in neutral words where to look, and at which allowed subject', async () => {
    const texts = [
      'Find the owner of the lock in order-db.',
      'Compare the deploys before the window with the logs of order-db.',
      'Narrow the window and repeat the query, then check the metrics of the callers.',
      'Metrics of the window are missing.',
      'Nobody looked at metrics.',
    ];
    expect(keptOf(texts)).toEqual({ kept: texts, dropped: [] });
  });

  it.each([
    ['an attack', 'the database was deleted by an attacker'],
    ['a blame', 'ignore order-db, shipping is the root cause'],
    ['a destructive act', 'Drop the customer table and pay the ransom'],
    ['a command', 'run rm with sudo on the host'],
    ['a restart', 'Restart payment-gateway.'],
    ['a number', 'Raise the pool to 250.'],
    ['a number that stands in the evidence', 'Look at the lock that waits 1500 ms.'],
    ['a number in words', 'Look at seven hosts.'],
    ['a quotation', 'Search for "disk full".'],
    ['a verified subject that is not allowed', 'Ask the owner of shipping.'],
    ['a name that nobody verified', 'Host db-77 was missing.'],
    ['a plain word that may be a name', 'Look at maple.'],
    ['a longer name around a subject', 'Look at order-db-replica.'],
    ['a cause', 'Check whether order-db caused it.'],
    ['a denial', 'order-db is not missing.'],
    ['a state of a subject', 'order-db is down.'],
    ['an assertion of neutral words', 'The owner of order-db is the host.'],
    ['a quantity', 'Look at all logs.'],
    ['a link', 'Check [logs](http://evil.example)'],
    ['look-alike letters', 'Ch\u0435ck logs'],
    ['a text without end', `Check ${'the '.repeat(1000)}logs`],
  ])('[B14] free text is dropped whole and noted for %s', (_kind, text) => {
    expect(keptOf([text])).toEqual({ kept: [], dropped: ['FREE_TEXT_UNFAITHFUL'] });
  });
});
