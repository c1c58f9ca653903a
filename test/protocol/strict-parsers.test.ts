import fc from 'fast-check';
import type { DiagnosisPlan } from '../../src/protocol/diagnosis-plan';
import type { Claim, ExecutorEvidence } from '../../src/protocol/executor-evidence';
import { parseComposerAnswer } from '../../src/protocol/parse-composer-answer';
import { parseDiagnosisPlan, type PlanRules } from '../../src/protocol/parse-diagnosis-plan';
import { parseExecutorEvidence } from '../../src/protocol/parse-executor-evidence';
import { parseVerifierVerdict } from '../../src/protocol/parse-verifier-verdict';
import type { Parsed } from '../../src/protocol/parsed';
import type { VerifiedExecutorOutput } from '../../src/protocol/verified-material';
import type { VerifierVerdict } from '../../src/protocol/verifier-verdict';
import { allowedMaterial, expectBroken } from './protocol-fixtures';

const binding = (raw_path = '/rows/0/count', source_invocation_id = 't1-aaaa') => ({
  source_invocation_id,
  tool_name: 'log_patterns',
  raw_path,
});
const fact = (overrides: Partial<Claim> = {}): Claim => ({
  claim_id: 'c1',
  kind: 'fact',
  subject: 'orders',
  statement: 'The errors are many.',
  bindings: [binding()],
  ...overrides,
});
const evidence = (overrides: Partial<ExecutorEvidence> = {}): ExecutorEvidence => ({
  schema: 'executor_evidence_v2',
  claims: [fact()],
  assessments: [{ rank: 1, subject: 'orders', role: 'cause', claim_ids: ['c1'] }],
  limitations: [],
  no_evidence: null,
  ...overrides,
});
const plan = (overrides: Partial<DiagnosisPlan> = {}): DiagnosisPlan => ({
  schema: 'diagnosis_plan_v1',
  hypotheses: [{ hypothesis_id: 'h1', text: 'The database is locked.' }],
  steps: [
    { step_id: 's1', tool_name: 'log_patterns', arguments: { service: 'x' }, purpose: 'See what changed.', gap_fact_id: null },
  ],
  disproofs: [{ candidate: 'database lock', step_id: 's1', disproved_if: 'no lock waits are logged' }],
  ...overrides,
});
const verified: VerifiedExecutorOutput = {
  claims: allowedMaterial().claims,
  assessments: allowedMaterial().assessments,
  limitations: [],
};
const judged = (claim_id: string | null, verification: VerifierVerdict['facts'][number]['verification'], is_critical = true) => ({
  fact_id: `f-${claim_id}-${verification}`,
  claim_id,
  is_critical,
  verification,
});
const verdict = (
  overrides: Partial<VerifierVerdict> = {},
  allowed: Partial<VerifierVerdict['allowed']> = {},
): VerifierVerdict => ({
  schema: 'verifier_verdict_v1',
  verdict: 'PASS',
  facts: [judged('c1', 'direct_support'), judged('c2', 'indirect_support', false)],
  allowed: {
    claim_ids: ['c1', 'c2'],
    assessment_subjects: ['orders-db'],
    missing_information: [],
    recommendations: ['Look at it.'],
    ...allowed,
  },
  ...overrides,
});
const INITIAL: PlanRules = { mode: 'INITIAL', toolNames: ['log_patterns'], gapFactIds: [] };

describe('parseDiagnosisPlan', () => {
  const parse = (document: unknown, rules = INITIAL) => parseDiagnosisPlan(JSON.stringify(document), rules);
  const step = plan().steps[0] as DiagnosisPlan['steps'][number];

  it('[B3] takes a legal plan of either mode as it is', () => {
    expect(parse(plan())).toEqual({ ok: true, value: plan() });
    const gapPlan = plan({ steps: [{ ...step, gap_fact_id: 'f1' }] });
    expect(parse(gapPlan, { mode: 'EVIDENCE_GAP_ONLY', toolNames: null, gapFactIds: ['f1'] })).toEqual({
      ok: true,
      value: gapPlan,
    });
  });

  it.each<[string, unknown, RegExp] | [string, unknown, RegExp, PlanRules]>([
    ['a repeated step id', plan({ steps: [step, step] }), /^steps\[1\]\.step_id/],
    ['a repeated hypothesis id', plan({ hypotheses: [...plan().hypotheses, ...plan().hypotheses] }), /^hypotheses\[1\]/],
    ['no steps', plan({ steps: [] }), /^steps: too_small/],
    ['an unknown tool', plan({ steps: [{ ...step, tool_name: 'drop_table' }] }), /tool_name/],
    [
      'a disproof by no step',
      plan({ disproofs: [{ candidate: 'x', step_id: 's9', disproved_if: 'never seen' }] }),
      /^disproofs\[0\]/,
    ],
    ['a gap in the first round', plan({ steps: [{ ...step, gap_fact_id: 'f1' }] }), /gap_fact_id/],
    ['no gap in the evidence round', plan(), /gap_fact_id/, { ...INITIAL, mode: 'EVIDENCE_GAP_ONLY', gapFactIds: ['f1'] }],
    [
      'an unknown gap in the evidence round',
      plan({ steps: [{ ...step, gap_fact_id: 'f2' }] }),
      /gap_fact_id/,
      { ...INITIAL, mode: 'EVIDENCE_GAP_ONLY', gapFactIds: ['f1'] },
    ],
    ['a filler purpose', plan({ steps: [{ ...step, purpose: 'TBD' }] }), /purpose: filler/],
    [
      'a filler hypothesis',
      plan({ hypotheses: [{ hypothesis_id: 'h1', text: '<placeholder>' }] }),
      /hypotheses\[0\]\.text: filler/,
    ],
    ['an unknown key', { ...plan(), verdict: 'PASS' }, /^document: unrecognized_keys/],
    ['another document', evidence(), /schema/],
  ])('[B3] refuses %s', (...[, document, problem, rules]) => {
    expectBroken(parse(document, rules), problem);
  });
});

describe('parseExecutorEvidence', () => {
  const parse = (document: unknown) => parseExecutorEvidence(JSON.stringify(document));
  const scope = { subject: 'restarts', filter: '', from: '2026-05-04T14:00:00Z', to: '2026-05-04T15:00:00Z' };
  const two = [binding('/rows/0/baseline_count'), binding('/rows/0/count')];

  it.each<[string, ExecutorEvidence]>([
    ['a fact and its assessment', evidence()],
    [
      'no evidence with its reason',
      evidence({ claims: [], assessments: [], no_evidence: { reason: 'No telemetry covers the window.' } }),
    ],
    ['an unbound fact, which is the business of the gatekeeper', evidence({ claims: [fact({ bindings: [] })] })],
    ['an unbound hypothesis', evidence({ claims: [fact({ kind: 'hypothesis', bindings: [] })] })],
    [
      'a typed fact',
      evidence({ claims: [fact({ statement: undefined, assertion: { op: 'rose', left: 0, right: 1 }, bindings: two })] }),
    ],
    ['an absence', evidence({ claims: [fact({ kind: 'absence', statement: undefined, scope })] })],
    ['two claims on one place', evidence({ claims: [fact(), fact({ claim_id: 'c2' })] })],
  ])('[B3] takes %s', (_kind, document) => {
    expect(parse(document)).toEqual({ ok: true, value: JSON.parse(JSON.stringify(document)) });
  });

  it.each<[string, unknown, RegExp]>([
    ['a repeated claim id', evidence({ claims: [fact(), fact()] }), /^claims\[1\]\.claim_id: repeated/],
    [
      'a repeated four-field key, another quote or not',
      evidence({ claims: [fact({ bindings: [binding(), { ...binding(), quote: 'timeout waiting' }] })] }),
      /^claims\[0\]\.bindings\[1\]: repeated/,
    ],
    ['no claims and no reason', evidence({ claims: [], assessments: [] }), /^no_evidence/],
    ['claims beside no evidence', evidence({ no_evidence: { reason: 'Nothing found.' } }), /^no_evidence/],
    ['a blank reason', evidence({ claims: [], assessments: [], no_evidence: { reason: '  ' } }), /^no_evidence\.reason/],
    [
      'an assessment of no claim',
      evidence({ assessments: [{ rank: 1, subject: 'orders', role: 'cause', claim_ids: ['c9'] }] }),
      /no such claim/,
    ],
    ['an assessment without evidence', evidence({ claims: [], no_evidence: { reason: 'No access.' } }), /no such claim/],
    [
      'one subject assessed twice',
      evidence({ assessments: [...evidence().assessments, { rank: 2, subject: 'orders', role: 'symptom', claim_ids: ['c1'] }] }),
      /repeated/,
    ],
    [
      'two causes of one rank',
      evidence({ assessments: [...evidence().assessments, { rank: 1, subject: 'cart', role: 'cause', claim_ids: ['c1'] }] }),
      /one rank/,
    ],
    ['an absence without a scope', evidence({ claims: [fact({ kind: 'absence' })] }), /scope: missing/],
    [
      'a scope that ends before it starts',
      evidence({ claims: [fact({ kind: 'absence', scope: { ...scope, from: scope.to } })] }),
      /ends before/,
    ],
    [
      'an absence that compares',
      evidence({ claims: [fact({ kind: 'absence', scope, assertion: { op: 'count', left: 0 } })] }),
      /absence claim carries none/,
    ],
    ['a fact with a scope', evidence({ claims: [fact({ scope })] }), /scope: belongs/],
    [
      'an assertion beyond the bindings',
      evidence({ claims: [fact({ assertion: { op: 'count', left: 1 } })] }),
      /left: no such binding/,
    ],
    [
      'a right side beyond the bindings',
      evidence({ claims: [fact({ assertion: { op: 'rose', left: 0, right: 2 }, bindings: two })] }),
      /right: no such/,
    ],
    [
      'a comparison with itself',
      evidence({ claims: [fact({ assertion: { op: 'rose', left: 0, right: 0 }, bindings: two })] }),
      /with itself/,
    ],
    [
      'a change with one side',
      evidence({ claims: [fact({ assertion: { op: 'ratio', left: 0, value: 2 }, bindings: two })] }),
      /right: missing/,
    ],
    [
      'greater than nothing',
      evidence({ claims: [fact({ assertion: { op: 'greater', left: 0 } })] }),
      /needs a right binding or a value/,
    ],
    ['a fact that says nothing', evidence({ claims: [fact({ statement: undefined })] }), /says nothing/],
    [
      'a hypothesis that says nothing',
      evidence({ claims: [fact({ kind: 'hypothesis', statement: undefined })] }),
      /statement: missing/,
    ],
    [
      'an unknown role',
      evidence({ assessments: [{ rank: 1, subject: 'orders', role: 'culprit' as 'cause', claim_ids: ['c1'] }] }),
      /role: invalid_value/,
    ],
    [
      'a free text in an assessment',
      evidence({ assessments: [{ ...evidence().assessments[0], note: 'x' } as never] }),
      /unrecognized_keys/,
    ],
  ])('[B3] refuses %s', (_kind, document, problem) => {
    expectBroken(parse(document), problem);
  });

  it.each([
    'placeholder',
    '...',
    '\u2026',
    'string',
    'N/A',
    'n/a.',
    'TBD',
    '<statement>'.replace('statement', 'string'),
    'Lorem ipsum dolor',
    '  ',
    '"TODO"',
  ])('[B4] refuses the filler %j as statement and as subject', (filler) => {
    expectBroken(parse(evidence({ claims: [fact({ statement: filler })] })), /statement: filler/);
    expectBroken(parse(evidence({ claims: [fact({ subject: filler })] })), /subject: filler/);
  });

  it('does not take real words for filler', () => {
    for (const subject of ['string-service', 'NATS', 'todo-api', 'nullable', 'placeholder-images']) {
      expect(parse(evidence({ claims: [fact({ subject })], assessments: [] })).ok).toBe(true);
    }
  });
});

describe('parseVerifierVerdict', () => {
  const parse = (document: unknown) => parseVerifierVerdict(JSON.stringify(document), verified);
  const gap = { fact_id: 'f3', claim_id: null, is_critical: true, verification: 'no_evidence', gap: 'pool metrics' } as const;

  it.each<[string, VerifierVerdict]>([
    ['PASS', verdict()],
    ['LOW_CONFID with a gap', verdict({ verdict: 'LOW_CONFID', facts: [...verdict().facts, gap] })],
    ['LOW_CONFID with nothing allowed', verdict({ verdict: 'LOW_CONFID' }, { claim_ids: [], assessment_subjects: [] })],
    [
      'REJECT over a contradiction',
      verdict({ verdict: 'REJECT', facts: [judged('c1', 'contradicted')] }, { claim_ids: [], assessment_subjects: [] }),
    ],
  ])('[B3] takes %s', (_kind, document) => {
    expect(parse(document)).toEqual({ ok: true, value: document });
  });

  it.each<[string, unknown, RegExp]>([
    [
      'a fact on a claim outside the material',
      verdict({ facts: [...verdict().facts, judged('c9', 'direct_support')] }),
      /facts\[2\].*outside/,
    ],
    ['an allowed claim outside the material', verdict({}, { claim_ids: ['c1', 'c2', 'c9'] }), /claim_ids\[2\]: outside/],
    [
      'an allowed subject outside the material',
      verdict({}, { assessment_subjects: ['cart'] }),
      /assessment_subjects\[0\]: outside/,
    ],
    ['an allowed claim that no fact judges', verdict({ facts: [judged('c1', 'direct_support')] }), /claim_ids\[1\]: no fact/],
    [
      'an allowed claim that one fact contradicts',
      verdict({ verdict: 'LOW_CONFID', facts: [...verdict().facts, judged('c1', 'contradicted', false)] }),
      /claim_ids\[0\]: contradicted/,
    ],
    ['an assessment that rests on a claim not allowed', verdict({}, { claim_ids: ['c1'] }), /rests on a claim/],
    ['PASS with nothing allowed', verdict({}, { claim_ids: [], assessment_subjects: [] }), /nothing allowed/],
    [
      'PASS with a critical fact of indirect support',
      verdict({ facts: [judged('c1', 'indirect_support'), judged('c2', 'direct_support')] }),
      /facts\[0\]: PASS/,
    ],
    ['PASS with a critical gap', verdict({ facts: [...verdict().facts, gap] }), /facts\[2\]: PASS/],
    [
      'no_evidence with a claim',
      verdict({ verdict: 'LOW_CONFID', facts: [...verdict().facts, { ...gap, claim_id: 'c1' }] }),
      /null exactly/,
    ],
    [
      'support without a claim',
      verdict({ verdict: 'LOW_CONFID', facts: [...verdict().facts, judged(null, 'indirect_support')] }),
      /null exactly/,
    ],
    [
      'a repeated fact id',
      verdict({ facts: [...verdict().facts, judged('c1', 'direct_support')] }),
      /facts\[2\]\.fact_id: repeated/,
    ],
    ['a claim allowed twice', verdict({}, { claim_ids: ['c1', 'c2', 'c1'] }), /claim_ids\[2\]: repeated/],
    ['claim text of its own', { ...verdict(), statement: 'x' }, /unrecognized_keys/],
    ['a blank recommendation', verdict({}, { recommendations: [' '] }), /recommendations\[0\]: blank/],
    ['an unknown verdict', { ...verdict(), verdict: 'OK' }, /verdict: invalid_value/],
  ])('[B3] [B4] refuses %s', (_kind, document, problem) => {
    expectBroken(parse(document), problem);
  });
});

describe('every strict parser', () => {
  const PARSERS: readonly [string, (raw: unknown) => Parsed<unknown>, unknown][] = [
    ['parseDiagnosisPlan', (raw) => parseDiagnosisPlan(raw, INITIAL), plan()],
    ['parseExecutorEvidence', parseExecutorEvidence, evidence()],
    ['parseVerifierVerdict', (raw) => parseVerifierVerdict(raw, verified), verdict()],
    [
      'parseComposerAnswer',
      (raw) => parseComposerAnswer(raw, allowedMaterial()),
      { schema: 'composer_answer_v1', sections: [{ heading: 'Findings', text: '{{c1}}' }] },
    ],
  ];

  it.each(PARSERS)('[B3] %s never throws and never alters what it takes', (_name, parse, legal) => {
    const mangled = fc
      .tuple(fc.nat(), fc.nat({ max: 6 }), fc.string({ unit: 'binary', maxLength: 4 }))
      .map(([at, length, insert]) => {
        const text = JSON.stringify(legal);
        const start = at % text.length;
        return text.slice(0, start) + insert + text.slice(start + length);
      });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.json(), fc.string({ unit: 'binary' }), mangled), (raw) => {
        const parsed = parse(raw);
        if (!parsed.ok) return parsed.problems.length > 0;
        return (
          typeof raw === 'string' && JSON.stringify(JSON.parse(raw.slice(raw.indexOf('{'), raw.lastIndexOf('}') + 1))) !== ''
        );
      }),
      { numRuns: 400 },
    );
    expect(parse(`Here it is:\n\`\`\`json\n${JSON.stringify(legal)}\n\`\`\``)).toEqual({ ok: true, value: legal });
  });

  it.each(PARSERS)('[B4] %s answers a value that is no text without a document', (_name, parse, legal) => {
    expect(parse(undefined)).toMatchObject({ ok: false, reason_code: 'OUTPUT_MISSING' });
    expect(parse(legal)).toMatchObject({ ok: false, reason_code: 'OUTPUT_NOT_JSON' });
  });

  it.each(PARSERS)('%s shows no text of the document in its problems', (_name, parse, legal) => {
    const secret = 'hunter2secret';
    for (const document of [
      { ...(legal as object), [secret]: 1 },
      { schema: secret },
      { ...(legal as object), steps: [{ arguments: { [secret]: secret } }] },
    ]) {
      const parsed = parse(JSON.stringify(document));
      expect(parsed.ok).toBe(false);
      expect(JSON.stringify(parsed)).not.toContain(secret);
    }
  });
});
