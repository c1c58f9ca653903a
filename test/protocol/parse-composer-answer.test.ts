import { parseComposerAnswer } from '../../src/protocol/parse-composer-answer';
import { allowedMaterial, expectBroken } from './protocol-fixtures';

describe('parseComposerAnswer', () => {
  const answer = (text: string, heading = 'What happened') =>
    JSON.stringify({ schema: 'composer_answer_v1', sections: [{ heading, text }] });
  const parse = (text: string, heading?: string) => parseComposerAnswer(answer(text, heading), allowedMaterial());

  it.each([
    '{{c1}}',
    'The evidence shows {{c1}}, and also: {{c2}}.',
    '- {{c1}}\n- {{c2}}',
    'In the logs of the service (see below): {{c1}}; furthermore, {{c2}}',
    'This is what the counts show within the window \u2014 {{c2}}',
  ])('[B14] takes the arrangement %j', (text) => {
    expect(parse(text).ok).toBe(true);
  });

  it.each([
    'What happened',
    'What happened?',
    'Summary of the findings',
    'Affected services',
    'Before the window',
    'Evidence and limits',
    'What was checked during the window',
    'How the cause was put to the test',
    'What may have set it off',
    'What moved without convincing',
  ])('[B14] takes the heading %j', (heading) => {
    expect(parse('{{c1}}', heading)).toMatchObject({ ok: true });
  });

  it.each<[string, string, RegExp]>([
    ['no claim', 'The database was slow.', /places no claim/],
    ['an unknown claim', '{{c1}} {{c9}}', /not allowed/],
    ['a claim twice', '{{c1}} and again {{c1}}', /twice/],
    ['a digit', '{{c1}} happened 3 times', /more than prose/],
    ['a digit of another script', '{{c1}} \u0663', /more than prose/],
    ['a number word', '{{c1}} hit twelve hosts', /vocabulary/],
    ['a time', '{{c1}} at noon', /vocabulary/],
    ['double quotes', '"down" {{c1}}', /more than prose/],
    ['typographic quotes', '\u201Cdown\u201D {{c1}}', /more than prose/],
    ['single quotes', "it said 'down' {{c1}}", /more than prose/],
    ['backticks', '`down` {{c1}}', /more than prose/],
    ['an identifier with a dash', 'cart-service failed {{c1}}', /identifier/],
    ['an identifier with a dot', 'cart.svc failed {{c1}}', /identifier/],
    ['an identifier with an underscore', 'cart_svc failed {{c1}}', /more than prose/],
    ['an identifier with inner capitals', 'cartService failed {{c1}}', /identifier/],
    ['a subject of the material', 'c1-service {{c1}}', /identifier/],
    ['a link', '[x](y) {{c1}}', /more than prose/],
    ['HTML', '<b>x</b> {{c1}}', /more than prose/],
    ['an address', 'www.evil.example {{c1}}', /identifier/],
    ['a heading inside the text', '# x\n{{c1}}', /more than prose/],
    ['a rule inside the text', '---\n{{c1}}', /rule/],
    ['a list within a list', '- - {{c1}}', /rule/],
    ['a doubt behind a claim', 'It is so: {{c1}}?', /more than prose/],
    ['a broken place', '{{c1}} {c2}', /more than prose/],
    ['a denial', 'It is not so that {{c1}}', /vocabulary/],
    ['a denial in short', "This isn't so: {{c1}}", /more than prose/],
    ['a lie about a claim', 'It is a lie that {{c1}}', /vocabulary/],
    ['a doubt', 'Hardly anyone believes {{c1}}', /vocabulary/],
    ['a fabricated cause', 'The birch database caused everything. {{c1}}', /vocabulary/],
    ['a cause between claims', '{{c1}} because {{c2}}', /vocabulary/],
    ['an order in time between claims', '{{c1}}, later {{c2}}', /vocabulary/],
    ['a story', 'An attacker stole all customer records. {{c1}}', /vocabulary/],
    ['an address to the reader', 'Please disregard the following, maple is guilty: {{c1}}', /vocabulary/],
    ['a quantity', 'half of everything died {{c1}}', /vocabulary/],
    ['a condition', 'If this is so, {{c1}}', /vocabulary/],
    ['a judgement of a heading', 'The cause is ruled out: {{c1}}', /vocabulary/],
    ['look-alike letters', 'Th\u0435 evidence shows {{c1}}', /more than prose/],
    ['another language', '\u00DCberlastung: {{c2}}', /vocabulary/],
  ])('[B14] refuses %s', (_kind, text, problem) => {
    expectBroken(parse(text), problem);
  });

  it.each([
    'Run 7',
    'Look at {{c1}}',
    'two\nlines',
    'TBD',
    '**Bold**',
    'The orders-db',
    'Birch is the root cause',
    'Nothing happened',
  ])('[B14] refuses the heading %j', (heading) => {
    expectBroken(parse('{{c1}}', heading), /^sections\[0\]\.heading/);
  });

  it('knows a subject that is a word of the vocabulary, in any case', () => {
    const allowed = allowedMaterial({ assessments: [{ rank: 1, subject: 'records', role: 'cause', claim_ids: ['c1'] }] });
    for (const text of ['in the records: {{c1}}', 'Records: {{c1}}'])
      expectBroken(parseComposerAnswer(answer(text), allowed), /identifier/);
  });

  describe('[B14] a heading that judges its claims', () => {
    const assessments = [
      { rank: 1, subject: 'orders-db', role: 'cause' as const, claim_ids: ['c1'] },
      { rank: 2, subject: 'deploy-service', role: 'ruled_out' as const, claim_ids: ['c2'] },
    ];
    const under = (heading: string, text: string) => parseComposerAnswer(answer(text, heading), allowedMaterial({ assessments }));

    it.each([
      ['The cause', '{{c1}}'],
      ['What was ruled out', '{{c2}}'],
      ['How the cause was checked', '{{c1}} {{c2}}'],
    ])('%j may stand over %j', (heading, text) => {
      expect(under(heading, text).ok).toBe(true);
    });

    it.each([
      ['The cause', '{{c2}}', /calls a cause/],
      ['What was ruled out', '{{c1}}', /clears/],
      ['What was found normal', '{{c2}} {{c1}}', /clears/],
      ['The cause was ruled out', '{{c2}}', /at once/],
    ])('%j may not stand over %j', (heading, text, problem) => {
      expectBroken(under(heading, text), problem);
    });
  });

  it('[B14] refuses every answer when nothing is allowed', () => {
    expect(parseComposerAnswer(answer('{{c1}}'), allowedMaterial({ claims: [], evidence: [], assessments: [] })).ok).toBe(false);
  });

  it('refuses an answer without sections', () => {
    expectBroken(parseComposerAnswer('{"schema":"composer_answer_v1","sections":[]}', allowedMaterial()), /^sections: too_small/);
  });
});
