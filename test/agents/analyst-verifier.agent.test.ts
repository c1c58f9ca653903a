import { AnalystComposerAgent } from '../../src/agents/analyst/analyst-composer.agent';
import { AnalystVerifierAgent } from '../../src/agents/analyst/analyst-verifier.agent';
import { GAP_FACTS } from '../../src/agents/analyst/gap-questions';
import type { AllowedMaterial, VerifiedClaim, VerifiedEvidence } from '../../src/protocol/verified-material';
import type { VerifierVerdict } from '../../src/protocol/verifier-verdict';
import { parseComposerAnswer } from '../../src/protocol/parse-composer-answer';
import { parseVerifierVerdict } from '../../src/protocol/parse-verifier-verdict';
import { isNeutralSentence } from '../../src/nodes/verifier-vocabulary';
import { LIMITATION_CODES } from '../../src/vocabulary/limitation-codes';
import { BASELINE, queryOf } from './scripted-tools';

type Op = NonNullable<VerifiedClaim['assertion']>['op'];

/** A verified claim on a field of a row, with the matched texts of its baseline and incident values. */
function claimOf(claim_id: string, subject: string, op: Op, before: string, after: string): [VerifiedClaim, VerifiedEvidence[]] {
  const at = (field: string): VerifiedClaim['bindings'][number] => ({
    source_invocation_id: 't1-test',
    tool_name: 'error_share',
    raw_path: `/services/0/${field}`,
  });
  const bindings = [at('baseline_error_share'), at('error_share'), at('service')];
  const texts = [before, after, subject];
  return [
    {
      claim_id,
      kind: 'fact',
      subject,
      statement: `${subject} ${op}`,
      assertion: { op, left: 0, right: 1, unit: 'ratio' },
      bindings,
    },
    bindings.map((binding, index) => ({ claim_id, ...binding, matched_text: texts[index] ?? '' })),
  ];
}

/** The same on a series of a metric of some kind whose baseline scatters by `spread`. */
function metricClaimOf(
  claim_id: string,
  op: Op,
  [before, after]: readonly [string, string],
  { kind = 'latency', spread = '0.1' } = {},
): [VerifiedClaim, VerifiedEvidence[]] {
  const texts = { baseline_median: before, median: after, service: 'kettle', kind, baseline_iqr: spread };
  const bindings = Object.keys(texts).map((field) => ({
    source_invocation_id: 't1-test',
    tool_name: 'metric_anomalies',
    raw_path: `/metrics/0/${field}`,
  }));
  return [
    {
      claim_id,
      kind: 'fact',
      subject: 'kettle',
      statement: `kettle ${op}`,
      assertion: { op, left: 0, right: 1, unit: 'none' },
      bindings,
    },
    bindings.map((binding, index) => ({ claim_id, ...binding, matched_text: Object.values(texts)[index] ?? '' })),
  ];
}

const HARM = claimOf('harm-1', 'kettle', 'rose', '0', '0.42');
const CONTROL = claimOf('control-1', 'kettle', 'equals', '0', '0');
const CLEAR = claimOf('clear-1', 'lid', 'equals', '0', '0');

interface Material {
  readonly claims: readonly [VerifiedClaim, VerifiedEvidence[]][];
  readonly cause?: readonly string[];
  readonly limitations?: readonly string[];
  readonly query?: ReturnType<typeof queryOf>;
  readonly ceiling?: 'PASS' | 'LOW_CONFID';
}

async function verdictOf({
  claims,
  cause,
  limitations = [],
  query = queryOf(),
  ceiling = 'PASS',
}: Material): Promise<VerifierVerdict> {
  const output = {
    claims: claims.map(([claim]) => claim),
    assessments: [
      ...(cause === undefined ? [] : [{ rank: 1, subject: 'kettle', role: 'cause' as const, claim_ids: [...cause] }]),
      ...(claims.includes(CLEAR) ? [{ rank: 2, subject: 'lid', role: 'ruled_out' as const, claim_ids: ['clear-1'] }] : []),
    ],
    limitations: [...limitations],
  };
  const input = {
    diagnosis_query: query,
    verified_executor_output: output,
    verified_evidence: claims.flatMap(([, evidence]) => evidence),
    gatekeeper_audit: null,
    verdict_ceiling: ceiling,
    evidence_retry_context: null,
  };
  const parsed = parseVerifierVerdict(await new AnalystVerifierAgent().invoke(JSON.stringify(input)), output);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.value;
}

describe('AnalystVerifierAgent', () => {
  const whole = { claims: [HARM, CONTROL, CLEAR], cause: ['harm-1', 'control-1'] };

  it('passes harm that is directly shown and whose disproof failed', async () => {
    const verdict = await verdictOf(whole);
    expect(verdict.verdict).toBe('PASS');
    expect(verdict.allowed.assessment_subjects).toEqual(['kettle', 'lid']);
  });

  it('passes a complete look that found nothing', async () => {
    expect(await verdictOf({ claims: [CLEAR] })).toMatchObject({ verdict: 'PASS', allowed: { missing_information: [] } });
  });

  it('gives no more than LOW_CONFID to nothing wrong when files could not be read, and lets a shown cause stand', async () => {
    const verdict = await verdictOf({ claims: [CLEAR], limitations: ['FILES_SKIPPED'] });
    expect(verdict.verdict).toBe('LOW_CONFID');
    expect(verdict.allowed.missing_information).toEqual(['Some files could not be read, so what they hold is unknown.']);
    expect((await verdictOf({ ...whole, limitations: ['FILES_SKIPPED'] })).verdict).toBe('PASS');
  });

  it.each([
    ['a rate that fell to nothing', '133', '0', 'PASS'],
    ['a rate that fell a little', '133', '90', 'LOW_CONFID'],
  ])('takes %s for what it is: silence bears out harm, less load does not', async (_name, before, after, expected) => {
    const [claim, evidence] = claimOf('harm-1', 'kettle', 'fell', before, after);
    const rate: [VerifiedClaim, VerifiedEvidence[]] = [
      { ...claim, assertion: { op: 'fell', left: 0, right: 1, unit: 'per_minute' } },
      evidence,
    ];
    expect((await verdictOf({ ...whole, claims: [rate, CONTROL, CLEAR] })).verdict).toBe(expected);
  });

  it('rejects a cause whose change also occurs inside the baseline', async () => {
    const again = claimOf('control-1', 'kettle', 'rose', '0', '0.4');
    const verdict = await verdictOf({ ...whole, claims: [HARM, again, CLEAR] });
    expect(verdict.verdict).toBe('REJECT');
    expect(verdict.facts).toContainEqual(
      expect.objectContaining({ claim_id: 'control-1', verification: 'contradicted', is_critical: true }),
    );
  });

  it.each([
    ['a latency that left its spread', 'rose', ['0.2', '2.4'], {}, 'PASS'],
    ['an availability that fell', 'fell', ['99.9', '91'], { kind: 'availability' }, 'PASS'],
    ['a latency within its spread', 'rose', ['0.2', '0.25'], {}, 'LOW_CONFID'],
    ['a latency that fell', 'fell', ['2.4', '0.2'], {}, 'LOW_CONFID'],
    ['load alone', 'rose', ['20', '90'], { kind: 'traffic' }, 'LOW_CONFID'],
  ] as const)('judges %s by the kind of the metric and the spread of its baseline', async (_name, op, values, part, expected) => {
    const harm = metricClaimOf('harm-1', op, values, part);
    expect((await verdictOf({ claims: [harm, CONTROL, CLEAR], cause: ['harm-1', 'control-1'] })).verdict).toBe(expected);
  });

  it.each([
    ['rose', ['0.2', '2.4'], 'latency'],
    ['fell', ['99.9', '91'], 'availability'],
  ] as const)('[B11] rejects a cause whose metric %s inside the baseline as well', async (op, values, kind) => {
    const harm = metricClaimOf('harm-1', op, values, { kind });
    const again = metricClaimOf('control-1', op, values, { kind });
    expect((await verdictOf({ claims: [harm, again, CLEAR], cause: ['harm-1', 'control-1'] })).verdict).toBe('REJECT');
  });

  it('rejects a cause that is said to err while its errors fell', async () => {
    const fell = claimOf('check-1', 'kettle', 'fell', '0.3', '0.1');
    expect((await verdictOf({ claims: [HARM, fell, CONTROL], cause: ['harm-1', 'check-1', 'control-1'] })).verdict).toBe(
      'REJECT',
    );
  });

  it('rejects a cause when one matched text no longer bears out its claim', async () => {
    const changed = claimOf('harm-1', 'kettle', 'rose', '0.42', '0');
    expect((await verdictOf({ ...whole, claims: [changed, CONTROL, CLEAR] })).verdict).toBe('REJECT');
  });

  it.each([
    ['a preceding baseline', { query: queryOf({ baseline: { ...BASELINE, source: 'preceding' } }) }],
    ['no baseline', { query: queryOf({ baseline: null }) }],
    ['a lowered ceiling', { ceiling: 'LOW_CONFID' as const }],
    ['candidates that lie close together', { limitations: ['CANDIDATES_CLOSE'] }],
    ['a window that is not covered', { limitations: ['WINDOW_NOT_COVERED'] }],
    ['harm that is small', { claims: [claimOf('harm-1', 'kettle', 'rose', '0', '0.03'), CONTROL] }],
  ])('[A11] gives no more than LOW_CONFID for %s, with the reason in words that hold no fact', async (_name, part) => {
    const verdict = await verdictOf({ ...whole, ...part });
    expect(verdict.verdict).toBe('LOW_CONFID');
    expect(verdict.allowed.missing_information.length).toBeGreaterThan(0);
    const free = [...verdict.allowed.missing_information, ...verdict.allowed.recommendations];
    expect(free.filter((text) => !isNeutralSentence(text, []))).toEqual([]);
  });

  it('[B14] has no text of its own that would be dropped, whatever is missing', async () => {
    const [trigger, triggerEvidence] = claimOf('trigger-1', 'kettle', 'rose', '0', '1');
    const blame = claimOf('symptom-1', 'tray', 'rose', '0', '0.4');
    const again = claimOf('hint-1', 'lid', 'rose', '0', '0.02');
    const verdicts = await Promise.all([
      verdictOf({
        ...whole,
        claims: [HARM, [trigger, triggerEvidence]],
        cause: ['harm-1', 'trigger-1'],
        limitations: LIMITATION_CODES,
      }),
      verdictOf({ claims: [blame], cause: ['symptom-1'], ceiling: 'LOW_CONFID', query: queryOf({ baseline: null }) }),
      verdictOf({ claims: [again], limitations: LIMITATION_CODES }),
    ]);
    const texts = verdicts.flatMap(({ allowed, facts }) => [
      ...allowed.missing_information,
      ...allowed.recommendations,
      ...facts.flatMap(({ gap }) => gap ?? []),
    ]);
    expect(new Set(texts).size).toBeGreaterThan(15);
    expect(texts.filter((text) => !isNeutralSentence(text, []))).toEqual([]);
  });

  it('[B11] leaves a critical gap where the disproof has no result', async () => {
    const verdict = await verdictOf({ claims: [HARM], cause: ['harm-1'] });
    expect(verdict.verdict).toBe('LOW_CONFID');
    expect(verdict.facts).toContainEqual(
      expect.objectContaining({
        fact_id: GAP_FACTS.control,
        claim_id: null,
        is_critical: true,
        verification: 'no_evidence',
        gap: expect.any(String),
      }),
    );
  });

  it('[B11] asks for lines of a service that only others speak of', async () => {
    const blame = claimOf('symptom-1', 'tray', 'rose', '0', '0.4');
    const verdict = await verdictOf({ claims: [blame, CONTROL], cause: ['symptom-1', 'control-1'] });
    expect(verdict.facts).toContainEqual(
      expect.objectContaining({
        fact_id: GAP_FACTS.ownLines,
        claim_id: 'symptom-1',
        is_critical: true,
        verification: 'indirect_support',
      }),
    );
  });

  it('refuses an input that no verifier node sends', async () => {
    await expect(new AnalystVerifierAgent().invoke('{"verdict_ceiling":"PASS"}')).rejects.toMatchObject({
      code: 'AGENT_PERMANENT',
    });
  });
});

describe('AnalystComposerAgent', () => {
  const assessments = [
    { rank: 1, subject: 'kettle', role: 'cause' as const, claim_ids: ['harm-1', 'control-1'] },
    { rank: 2, subject: 'lid', role: 'ruled_out' as const, claim_ids: ['clear-1'] },
  ];
  const claims = [HARM, CONTROL, CLEAR].map(([claim]) => claim);
  const inputOf = (some: readonly VerifiedClaim[]): string =>
    JSON.stringify({
      effective_verdict: 'PASS',
      claims: some.map(({ claim_id, kind, subject, statement }) => ({ claim_id, kind, subject, statement })),
      assessments,
      missing_information: [],
      recommendations: [],
    });

  it('[B14] places every allowed claim once, under headings that its strict parser takes', async () => {
    const allowed: AllowedMaterial = {
      claims,
      evidence: [],
      assessments,
      missing_information: [],
      recommendations: [],
      limitations: [],
      dropped: [],
    };
    const parsed = parseComposerAnswer(await new AnalystComposerAgent().invoke(inputOf(claims)), allowed);
    expect(parsed.ok && parsed.value.sections.map(({ heading, text }) => [heading, text])).toEqual([
      ['What happened', '- {{harm-1}}'],
      ['How the cause was put to the test', '- {{control-1}}'],
      ['What was ruled out', '- {{clear-1}}'],
    ]);
  });

  it('refuses to answer without a claim', async () => {
    await expect(new AnalystComposerAgent().invoke(inputOf([]))).rejects.toMatchObject({ code: 'AGENT_PERMANENT' });
  });
});
