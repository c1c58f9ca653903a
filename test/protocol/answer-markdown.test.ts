import { renderComposedAnswer, renderPostFallback } from '../../src/protocol/answer-markdown';
import type { ComposerAnswer } from '../../src/protocol/composer-answer';
import { renderPreFallback } from '../../src/protocol/pre-fallback-markdown';
import { clockTime, zonedInstant } from '../../src/protocol/query-scope-markdown';
import { citationOf, isShown } from '../../src/protocol/shown-claim';
import type { VerifiedClaim } from '../../src/protocol/verified-material';
import { REASON_CODES } from '../../src/vocabulary/reason-codes';
import { allowedMaterial, evidenceOf, QUERY, verifiedClaim } from './protocol-fixtures';

const answer = (...texts: string[]): ComposerAnswer => ({
  schema: 'composer_answer_v1',
  sections: texts.map((text, i) => ({ heading: i === 0 ? 'What happened' : 'What else', text })),
});
const composed = (allowed = allowedMaterial(), document = answer('The trail: {{c2}}, then {{c1}}.')) =>
  renderComposedAnswer({ query: QUERY, verdict: 'PASS', allowed, answer: document });

describe('renderComposedAnswer', () => {
  it('[B5] words verdict, assessments, sections, scope and evidence with citations put in by code', () => {
    expect(composed()).toBe(`**Verdict: PASS** (every critical fact is directly supported by recorded evidence)

- Most likely cause: orders-db [1][2]
- Ruled out: deploy-service [2]

## What happened

The trail: The deploy finished before the window [2], then The lock waits rose from 2 to 480 [1].

## Missing information

- The configuration of the pool.

## Recommendations

- Look at the open transactions.

## Limits and sources not looked at

- No metrics were given.

## Scope

- Question: Why is checkout slow?
- Window: 2026-05-04 16:05:00 +02:00 to 2026-05-04 16:35:00.250 +02:00, end excluded, zone Europe/Berlin (read from the question)
- Baseline: 2026-05-04 15:35:00 +02:00 to 2026-05-04 16:05:00 +02:00, end excluded, zone Europe/Berlin (the preceding stretch, as none was given)

## Evidence

Each number opens at \`GET /api/v1/runs/<run>/evidence\`; paths are relative to the \`data\` of the recorded output.

1. \`log_patterns\` \`t1-aaaa\` \`/rows/c1/count\`: \`480\`
2. \`log_patterns\` \`t1-aaaa\` \`/rows/c2/count\`: \`deploy done\``);
  });

  it('[B5] gives equal bytes for equal input', () => {
    const again = JSON.parse(JSON.stringify(allowedMaterial())) as ReturnType<typeof allowedMaterial>;
    expect(composed(again)).toBe(composed());
  });

  it('loses no allowed claim that the composer left out', () => {
    const text = composed(allowedMaterial({ assessments: [] }), answer('{{c2}}'));
    expect(text).toContain('## Further findings\n\n- The lock waits rose from 2 to 480 [2]');
    expect(text).toContain('2. `log_patterns` `t1-aaaa` `/rows/c1/count`: `480`');
  });

  it('names the causes in their order and every role', () => {
    const roles = ['symptom', 'contributing', 'trigger', 'cause'] as const;
    const assessments = [
      ...roles.map((role, i) => ({ rank: i + 1, subject: `${role}-x`, role, claim_ids: ['c1'] })),
      { rank: 1, subject: 'first-x', role: 'cause' as const, claim_ids: ['c2'] },
    ];
    const text = composed(allowedMaterial({ assessments }));
    expect(text).toContain(
      '- Most likely cause: first-x [1]\n- Other possible cause: cause-x [2]\n- Trigger: trigger-x [2]\n- Contributing: contributing-x [2]\n- Symptom: symptom-x [2]',
    );
  });

  it('says that nothing departs from normal over absence and values that stayed close', () => {
    const absence = verifiedClaim('c1', 'No restart was logged.', { kind: 'absence' });
    const two = [
      { source_invocation_id: 't1-aaaa', tool_name: 'error_share', raw_path: '/0/baseline_count' },
      { source_invocation_id: 't1-aaaa', tool_name: 'error_share', raw_path: '/0/count' },
    ];
    const range = verifiedClaim('c2', 'The errors went from 100 to 130.', {
      assertion: { op: 'rose', left: 0, right: 1 },
      bindings: two,
    });
    const material = (after: string) =>
      allowedMaterial({
        claims: [absence, range],
        evidence: [...evidenceOf(absence, '0'), ...evidenceOf(range, '100', after)],
        assessments: [{ rank: 1, subject: 'x', role: 'ruled_out', claim_ids: ['c1'] }],
      });
    expect(composed(material('130'))).toContain('Nothing departs from normal in the window.');
    expect(composed(material('900'))).toContain('No cause was established from the evidence.');
    const low = renderComposedAnswer({ query: QUERY, verdict: 'LOW_CONFID', allowed: material('130'), answer: answer('{{c1}}') });
    expect(low).toContain('Nothing was seen to depart from normal in the window, with low confidence.');
    expect(composed()).not.toContain('normal');
  });

  it('says that there is no baseline, and what a given one is', () => {
    const render = (baseline: typeof QUERY.baseline) =>
      renderComposedAnswer({
        query: { ...QUERY, baseline },
        verdict: 'PASS',
        allowed: allowedMaterial(),
        answer: answer('{{c1}}'),
      });
    expect(render(null)).toContain('- Baseline: none; nothing to compare with');
    expect(render({ ...QUERY.window, source: 'request' })).toMatch(/- Baseline: 2026.*\(given with the request\)/);
  });

  it('marks where it cuts a long matched text', () => {
    const claim = verifiedClaim('c1', 'It is long.');
    const text = composed(
      allowedMaterial({ claims: [claim], evidence: evidenceOf(claim, 'x'.repeat(450)), assessments: [] }),
      answer('{{c1}}'),
    );
    expect(text).toContain(`\`${'x'.repeat(400)}\` (cut here, 50 more characters in the run's evidence)`);
  });

  it('puts a statement in verbatim, even one that looks like a place', () => {
    const claim = verifiedClaim('c1', 'The line says  {{c1}}  twice.');
    const text = composed(allowedMaterial({ claims: [claim], evidence: evidenceOf(claim), assessments: [] }), answer('a{{c1}}b'));
    expect(text).toContain('a The line says  {{c1}}  twice [1] b');
  });
});

describe('what a reader meets first', () => {
  const at = (tool_name: string, ...paths: string[]) =>
    paths.map((raw_path) => ({ source_invocation_id: 't1-aaaa', tool_name, raw_path }));
  const rose = { op: 'rose', left: 0, right: 1, unit: 'ratio' } as const;
  const flow = (id: string, row: number) =>
    verifiedClaim(id, `db: share rose (row ${row})`, {
      subject: 'db',
      assertion: rose,
      bindings: at(
        'log_sequences',
        ...['baseline_share', 'share', 'kind', 'first_seen', 'sample'].map((name) => `/sequences/${row}/${name}`),
      ),
    });
  const cut = flow('h1', 0);
  const errs = flow('h2', 1);
  const control = verifiedClaim('k1', 'db: no changed succession of log lines', {
    subject: 'db',
    assertion: { op: 'count', left: 0, value: 0, unit: 'count' },
    bindings: at('log_sequences', '/summary/matched_count', '/summary/covered_from', '/summary/covered_to'),
  });
  const clear = verifiedClaim('n1', 'web: share of error lines is 0.17 %, 0.12 % before', {
    subject: 'web',
    assertion: { op: 'percent_change', left: 0, right: 1, value: 41.7, unit: 'percent' },
    bindings: at('error_share', '/services/0/baseline_error_share', '/services/0/error_share'),
  });
  const claims: VerifiedClaim[] = [cut, errs, control, clear];
  const evidence = (covered = ['2026-05-04T13:40:00Z', '2026-05-04T14:05:00Z']) => [
    ...evidenceOf(cut, '0', '0.4', 'cut', '2026-05-04T14:05:03Z', 'request accepted'),
    ...evidenceOf(errs, '0', '0.3', 'error_line', '2026-05-04T14:05:06.048Z', 'pool `a` -> <b>empty</b>'),
    ...evidenceOf(control, '0', ...covered),
    ...evidenceOf(clear, '0.0012', '0.0017'),
  ];
  const material = (overrides = {}) =>
    allowedMaterial({
      claims,
      evidence: evidence(),
      assessments: [
        { rank: 1, subject: 'db', role: 'cause', claim_ids: ['h1', 'h2', 'k1'] },
        { rank: 2, subject: 'web', role: 'ruled_out', claim_ids: ['n1'] },
      ],
      ...overrides,
    });
  const document: ComposerAnswer = {
    schema: 'composer_answer_v1',
    sections: [
      { heading: 'What happened', text: '- {{h1}}\n- {{h2}}\n- {{k1}}' },
      { heading: 'What was ruled out', text: '- {{n1}}' },
    ],
  };

  it('[B5] names what is wrong by the strongest quoted line, verbatim, and why others are ruled out, once', () => {
    const text = composed(material(), document);
    expect(text).toContain(
      '- Most likely cause: db - ``pool `a` -> <b>empty</b>``, first at 16:05:06 +02:00 [1][2][3]\n' +
        '- Ruled out: web, its share of error lines is 0.17 %, 0.12 % before (within normal) [4]',
    );
    expect(text).not.toContain('What was ruled out');
    expect(text.match(/0\.12 %/g)).toHaveLength(1);
  });

  it('[B5] calls a test one inside the baseline only where it covered nothing else', () => {
    const said =
      '- db: the same comparison inside the baseline (2026-05-04T13:40:00Z to 2026-05-04T14:05:00Z) shows no such change [3]';
    expect(composed(material(), document)).toContain(said);
    const later = material({ evidence: evidence(['2026-05-04T13:40:00Z', '2026-05-04T14:06:00Z']) });
    expect(composed(later, document)).toContain('- db: no changed succession of log lines [3]');
    expect(composed(material({ assessments: [] }), document)).toContain('- db: no changed succession of log lines [3]');
  });

  it('[B7] lists each citation in one line, by which its claim is found again', () => {
    const text = composed(material(), document);
    expect(text).toContain(
      '1. `log_sequences` `t1-aaaa` `/sequences/0/{baseline_share,share,kind,first_seen,sample}`: `0`, `0.4`, `2026-05-04T14:05:03Z`, `request accepted`',
    );
    expect(claims.map((claim) => citationOf(claim, evidence(), text))).toEqual([1, 2, 3, 4]);
    expect(claims.every((claim) => isShown(text, claim, QUERY, material()))).toBe(true);
    const other = { ...cut, claim_id: 'zz' };
    expect(citationOf(other, evidence(), text)).toBeNull();
    expect(isShown(text, { ...other, statement: 'db: never said' }, QUERY, material())).toBe(false);
  });

  it('[B5] says nothing of normal where there was nothing to compare with', () => {
    const absence = verifiedClaim('a1', 'No restart was logged.', { kind: 'absence' });
    const only = { claims: [absence], evidence: evidenceOf(absence, '0'), assessments: [] };
    const without = 'The window could not be compared with anything; this is what it holds:';
    expect(composed(allowedMaterial({ ...only, limitations: ['NO_BASELINE'] }), answer('{{a1}}'))).toContain(without);
    const text = renderComposedAnswer({
      query: { ...QUERY, baseline: null },
      verdict: 'PASS',
      allowed: allowedMaterial(only),
      answer: answer('{{a1}}'),
    });
    expect(text).toContain(without);
    expect(text).not.toContain('normal');
    expect(composed(allowedMaterial(only), answer('{{a1}}'))).toContain('Nothing departs from normal');
  });
});

describe('renderPostFallback', () => {
  it('[A13] [B15] shows the allowed material, the reason in words, and nothing else', () => {
    const text = renderPostFallback({
      query: QUERY,
      verdict: 'LOW_CONFID',
      allowed: allowedMaterial(),
      reason: 'AGENT_TRANSIENT',
    });
    expect(text).toContain('**Verdict: LOW_CONFID**');
    expect(text).toContain('An agent could not be reached or was too busy, twice.');
    expect(text).toContain('- Most likely cause: orders-db [1][2]');
    expect(text).toContain(
      '## Verified findings\n\n- The lock waits rose from 2 to 480 [1]\n- The deploy finished before the window [2]',
    );
    expect(text).toContain('1. `log_patterns` `t1-aaaa` `/rows/c1/count`: `480`');
  });

  it('[B15] is the answer without claims when nothing is allowed', () => {
    const allowed = allowedMaterial({ claims: [], evidence: [], assessments: [], missing_information: ['unsaid'] });
    const reason = 'OUTPUT_MISSING';
    expect(renderPostFallback({ query: QUERY, verdict: 'LOW_CONFID', allowed, reason })).toBe(
      renderPreFallback({ query: QUERY, tools: [], reason }),
    );
  });
});

describe('renderPreFallback', () => {
  const tools = [
    { tool_name: 'log_patterns', status: 'OK' },
    { tool_name: 'error_share', status: 'ERROR' },
    { tool_name: 'log_patterns', status: 'OK' },
    { tool_name: 'orders-db is the cause', status: 'DENIED' },
  ];

  it('[B15] gives question, window, tools with statuses, reason and next step', () => {
    expect(renderPreFallback({ query: QUERY, tools, reason: 'FOREIGN_EVIDENCE' }))
      .toBe(`**No verified answer.** Nothing was found that may be stated with evidence, so nothing is claimed about the cause.

## Why

What was put forward pointed at tool output that is not part of this run, so all of it was refused.

## What was asked

- Question: Why is checkout slow?
- Window: 2026-05-04 16:05:00 +02:00 to 2026-05-04 16:35:00.250 +02:00, end excluded, zone Europe/Berlin (read from the question)
- Baseline: 2026-05-04 15:35:00 +02:00 to 2026-05-04 16:05:00 +02:00, end excluded, zone Europe/Berlin (the preceding stretch, as none was given)

## Tools asked

- \`log_patterns\`: OK, answered (2 calls)
- \`error_share\`: ERROR, failed
- a tool that does not exist: DENIED, was not allowed

## Next step

Ask the same question again. If it ends like this a second time, look at the run with its id.`);
  });

  it('[B15] says which range held nothing, once a tool has answered', () => {
    const range = 'The range looked at is 2026-05-04 16:05:00 +02:00 to 2026-05-04 16:35:00.250 +02:00';
    expect(renderPreFallback({ query: QUERY, tools, reason: 'NO_EVIDENCE' })).toContain(range);
    expect(renderPreFallback({ query: QUERY, tools: [], reason: 'NO_EVIDENCE' })).not.toContain('The range looked at');
    expect(renderPreFallback({ query: QUERY, tools, reason: 'OUTPUT_MISSING' })).not.toContain('The range looked at');
  });

  it('[B5] has words and a next step for every reason code', () => {
    for (const reason of REASON_CODES) {
      const text = renderPreFallback({ query: QUERY, tools: [], reason });
      expect(text).toMatch(/## Why\n\n[A-Z].{15,}\.\n/);
      expect(text).toMatch(/## Next step\n\n[A-Z].{15,}\.$/);
      expect(text).not.toContain(reason === 'OK' ? 'undefined' : reason);
    }
    expect(renderPreFallback({ query: QUERY, tools: null, reason: 'OK' })).toContain(
      'The list of tool calls of this run could not be read.',
    );
  });
});

describe('clockTime', () => {
  it('leaves out the date within one day, and is nothing for text without a zone', () => {
    const { window } = QUERY;
    expect(clockTime('2026-05-04T14:05:06.048Z', window, 'Europe/Berlin')).toBe('16:05:06 +02:00');
    expect(clockTime('2026-05-03T14:05:06Z', window, 'UTC')).toBe('2026-05-03 14:05:06 +00:00');
    expect(clockTime('2026-05-04 14:05:06', window, 'UTC')).toBeNull();
  });
});

describe('zonedInstant', () => {
  it.each([
    ['2026-01-15T12:00:00Z', 'Europe/Berlin', '2026-01-15 13:00:00 +01:00'],
    ['2026-07-15T12:00:00Z', 'Europe/Berlin', '2026-07-15 14:00:00 +02:00'],
    ['2026-07-15T12:00:00+08:00', 'UTC', '2026-07-15 04:00:00 +00:00'],
    ['2026-07-15T02:00:00Z', 'America/St_Johns', '2026-07-14 23:30:00 -02:30'],
    ['2026-07-15T02:00:00.5Z', '+08:00', '2026-07-15 10:00:00.500 +08:00'],
    ['2026-07-15T02:00:00Z', 'Mars/Base', '2026-07-15 02:00:00 +00:00'],
  ])('shows %s in %s', (instant, zone, shown) => {
    expect(zonedInstant(instant, zone)).toBe(shown);
  });
});
