import fc from 'fast-check';
import { codeSpan, inertSentence, inertText } from '../../src/protocol/inert-markdown';

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

  it.each([
    ['a: new (\u201Cx -> [y](http://z.example) & <b>\u201D)', 'a: new (`x -> [y](http://z.example) & <b>`)'],
    ['a: new (\u201Cuse `x`\u201D; \u201Cb\u201D)', 'a: new (`` use `x` ``; `b`)'],
    ['\u201Ca\u201D\u201Cb\u201D', '`a` `b`'],
    ['he said \u201Cno \u201Cfoo\u201D here\u201D twice', 'he said `no \u201Cfoo\u201D here` twice'],
    ['# \u201Copen <b>', '\\# \u201Copen &lt;b&gt;'],
  ])('puts what %j quotes whole into code spans', (text, shown) => {
    expect(inertSentence(text)).toBe(shown);
  });

  it('leaves nothing outside code spans that could become active, whatever is quoted', () => {
    const piece = fc.constantFrom(
      '\u201C',
      '\u201D',
      '`',
      '``',
      '<b>',
      '[x](y)',
      '![i](j)',
      ' ',
      '\\',
      '# ',
      '&lt;',
      'www.x.example',
      'a',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const line = inertSentence(pieces.join(''));
        // Code spans as CommonMark reads them, escapes first.
        const prose = line.replace(/\\[!-/:-@[-`{-~]|(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g, 'x');
        expect(prose).not.toMatch(/[<>`[\]]|^#|www/);
      }),
    );
  });

  it('keeps every text on one line, with every code span closed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const span = codeSpan(text);
        const fence = /^`+/.exec(span)?.[0] ?? '';
        const inside = span.slice(fence.length, span.length - fence.length);
        expect(`${span}${inertText(text)}${inertSentence(text)}`).not.toMatch(/[\r\n\p{Cc}]/u);
        expect(inside.match(/`+/g) ?? []).not.toContain(fence);
      }),
    );
  });
});
