import fc from 'fast-check';
import { formatPointer, parseRawPath } from '../../src/protocol/raw-path';

describe('raw paths', () => {
  it.each([
    ['', []],
    ['/', ['']],
    ['/a~1b/m~0n', ['a/b', 'm~n']],
    ['/rows/0/count', ['rows', '0', 'count']],
    ['$', []],
    ["$['a'][0].b", ['a', '0', 'b']],
    ['$.rows[12]["x y"]', ['rows', '12', 'x y']],
    ["$[ 'it\\'s' ]['\"']", ["it's", '"']],
    ["$['\\u00e9\\n']", ['é\n']],
  ])('[B7] reads %s', (path, tokens) => {
    expect(parseRawPath(path)).toEqual({ tokens, lines: null });
  });

  it('[B7] reads lines alone, behind a pointer and behind a query', () => {
    expect(parseRawPath('#L12-L14')).toEqual({ tokens: [], lines: { from: 12, to: 14 } });
    expect(parseRawPath('/body#L3')).toEqual({ tokens: ['body'], lines: { from: 3, to: 3 } });
    expect(parseRawPath("$['a#L3']")).toEqual({ tokens: ['a#L3'], lines: null });
  });

  it.each([
    'foo',
    ' /foo',
    '#/foo',
    '/m~2n',
    '/m~',
    '#L0',
    '#L4-L3',
    '#L01',
    '$[-1]',
    '$[01]',
    '$..a',
    '$.*',
    '$[0:2]',
    "$['a",
    '$.a ',
    '$a',
    '$[?@.a]',
  ])('[B6] refuses %s', (path) => {
    expect(parseRawPath(path)).toBeNull();
  });

  it('[B7] a written pointer reads back, whatever the member names', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (tokens) => {
        fc.pre(!/#L\d+(-L\d+)?$/.test(tokens.at(-1) ?? ''));
        expect(parseRawPath(formatPointer(tokens))).toEqual({ tokens, lines: null });
        const query = `$${tokens.map((token) => `[${JSON.stringify(token)}]`).join('')}`;
        expect(parseRawPath(query)).toEqual({ tokens, lines: null });
      }),
    );
  });
});
