import fc from 'fast-check';
import { renderComposedAnswer, renderPostFallback } from '../../src/protocol/answer-markdown';
import type { ComposerAnswer } from '../../src/protocol/composer-answer';
import { codeSpan, inertText } from '../../src/protocol/inert-markdown';
import { renderPreFallback } from '../../src/protocol/pre-fallback-markdown';
import { zonedInstant } from '../../src/protocol/query-scope-markdown';
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

1. The lock waits rose from 2 to 480.
   - \`480\`, tool \`log_patterns\`, invocation \`t1-aaaa\`, path \`/rows/c1/count\`
2. The deploy finished before the window.
   - \`deploy done\`, tool \`log_patterns\`, invocation \`t1-aaaa\`, path \`/rows/c2/count\``);
  });

  it('[B5] gives equal bytes for equal input', () => {
    const again = JSON.parse(JSON.stringify(allowedMaterial())) as ReturnType<typeof allowedMaterial>;
    expect(composed(again)).toBe(composed());
  });

  it('loses no allowed claim that the composer left out', () => {
    const text = composed(allowedMaterial({ assessments: [] }), answer('{{c2}}'));
    expect(text).toContain('## Further findings\n\n- The lock waits rose from 2 to 480 [2]');
    expect(text).toContain('2. The lock waits rose from 2 to 480.');
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
    expect(text).toContain('1. The lock waits rose from 2 to 480.\n   - `480`');
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

describe('inert Markdown', () => {
  it.each([
    ['[click](http://evil.example)', '`[click](http://evil.example)`'],
    ['![x](y)', '!\\[x\\](y)'],
    ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['# heading', '\\# heading'],
    ['- item', '\\- item'],
    ['1. item', '1\\. item'],
    ['> quote', '&gt; quote'],
    ['```sh', '\\`\\`\\`sh'],
    ['see www.evil.example now', 'see `www.evil.example` now'],
    ['mail root@evil.example', 'mail `root@evil.example`'],
    ['a\nb\r\nc', 'a\u240Ab\u240Ac'],
    ['\u001b[2K all passed', '\u241B\\[2K all passed'],
    ['order\u200B-service', 'order(U+200B)-service'],
    ['snake_case stays, _this_ too', 'snake_case stays, \\_this\\_ too'],
    ['&quot; and R&D', '&amp;quot; and R&amp;D'],
    ['*bold* ~~gone~~', '\\*bold\\* \\~\\~gone\\~\\~'],
  ])('shows %j as it is and lets it do nothing', (text, shown) => {
    expect(inertText(text)).toBe(shown);
  });

  it('makes code spans that no text can leave', () => {
    expect(codeSpan('a `b` ``c``')).toBe('``` a `b` ``c`` ```');
    expect(codeSpan('one\n\n# two')).toBe('`one\u240A\u240A# two`');
  });

  it('keeps every text on one line, with every code span closed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const span = codeSpan(text);
        const fence = /^`+/.exec(span)?.[0] ?? '';
        const inside = span.slice(fence.length, span.length - fence.length);
        expect(`${span}${inertText(text)}`).not.toMatch(/[\r\n\p{Cc}]/u);
        expect(inside.match(/`+/g) ?? []).not.toContain(fence);
      }),
    );
  });
});
