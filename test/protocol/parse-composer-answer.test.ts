import { parseComposerAnswer } from '../../src/protocol/parse-composer-answer';
import { allowedMaterial, expectBroken } from './protocol-fixtures';

describe('parseComposerAnswer', () => {
  const answer = (text: string, heading = 'What happened') =>
    JSON.stringify({ schema: 'composer_answer_v1', sections: [{ heading, text }] });
  const parse = (text: string, heading?: string) => parseComposerAnswer(answer(text, heading), allowedMaterial());

  it.each([
    '{{c1}}',
    'The evidence shows {{c1}}, and before that: {{c2}}.',
    '- {{c1}}\n- {{c2}}',
    'It wasn\u2019t alone? No: {{c1}}'.replace('wasn\u2019t', 'was'),
    'Überlastung: {{c2}}',
  ])('[B14] takes the arrangement %j', (text) => {
    expect(parse(text).ok).toBe(true);
  });

  it.each<[string, string, RegExp]>([
    ['no claim', 'The database was slow.', /places no claim/],
    ['an unknown claim', '{{c1}} {{c9}}', /not allowed/],
    ['a claim twice', '{{c1}} and again {{c1}}', /twice/],
    ['a digit', '{{c1}} happened 3 times', /more than prose/],
    ['a digit of another script', '{{c1}} \u0663', /more than prose/],
    ['a number word', '{{c1}} hit twelve hosts', /quantity/],
    ['a time', '{{c1}} at noon', /quantity or a time/],
    ['double quotes', '"down" {{c1}}', /more than prose/],
    ['typographic quotes', '\u201Cdown\u201D {{c1}}', /more than prose/],
    ['single quotes', "it said 'down' {{c1}}", /quotation/],
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
    ['a rule inside the text', '---\n{{c1}}', /identifier/],
    ['a broken place', '{{c1}} {c2}', /more than prose/],
    ['a denial', 'It is not so that {{c1}}', /denies/],
    ['a denial in short', "This isn't so: {{c1}}", /denies/],
  ])('[B14] refuses %s', (_kind, text, problem) => {
    expectBroken(parse(text), problem);
  });

  it.each(['Run 7', 'Look at {{c1}}', 'two\nlines', 'TBD', '**Bold**', 'The orders-db'])(
    '[B14] refuses the heading %j',
    (heading) => {
      expectBroken(parse('{{c1}}', heading), /^sections\[0\]\.heading/);
    },
  );

  it('knows a subject that is a plain word', () => {
    const allowed = allowedMaterial({ assessments: [{ rank: 1, subject: 'payments', role: 'cause', claim_ids: ['c1'] }] });
    expectBroken(parseComposerAnswer(answer('because of payments: {{c1}}'), allowed), /identifier/);
  });

  it('[B14] refuses every answer when nothing is allowed', () => {
    expect(parseComposerAnswer(answer('{{c1}}'), allowedMaterial({ claims: [], evidence: [], assessments: [] })).ok).toBe(false);
  });

  it('refuses an answer without sections', () => {
    expectBroken(parseComposerAnswer('{"schema":"composer_answer_v1","sections":[]}', allowedMaterial()), /^sections: too_small/);
  });
});
