import fc from 'fast-check';
import { findPaths, scalarText, stringsOfMembers, WantedPaths } from '../../src/protocol/json-source';
import { formatPointer, parseRawPath, type LineRange } from '../../src/protocol/raw-path';
import { decodeLines } from '../../src/protocol/text-lines';

/** Pointers of all values in a document, with the values. */
function allPaths(value: unknown, tokens: string[] = []): [string[], unknown][] {
  const inside = value === null || typeof value !== 'object' ? [] : Object.keys(value);
  return [[tokens, value], ...inside.flatMap((key) => allPaths((value as Record<string, unknown>)[key], [...tokens, key]))];
}

function sliceOf(source: string, path: string): string | null {
  const wanted = new WantedPaths();
  const found = wanted.add(parseRawPath(path)?.tokens ?? ['?'], null);
  findPaths(source, 0, wanted, new Set());
  const { place } = found();
  return place === null ? null : source.slice(place.start, place.end);
}

function linesOf(text: string, range: LineRange): string | null {
  const wanted = new WantedPaths();
  const found = wanted.add([], range);
  const source = JSON.stringify(text);
  findPaths(source, 0, wanted, new Set());
  const { span } = found();
  return span === null ? null : decodeLines(source, span);
}

describe('scanner over source text', () => {
  it('[B7] finds every value of any document in one pass, and it is the value', () => {
    fc.assert(
      fc.property(fc.json(), fc.boolean(), (text, spaced) => {
        const document: unknown = JSON.parse(text);
        const source = spaced ? JSON.stringify(document, null, 2) : JSON.stringify(document);
        const wanted = new WantedPaths();
        const found = allPaths(document).map(([tokens, value]) => ({ tokens, value, read: wanted.add(tokens, null) }));
        expect(findPaths(source, 0, wanted, new Set())).toBe(source.length);
        for (const { value, read } of found) {
          const { place } = read();
          expect(place === null ? 'nothing' : JSON.parse(source.slice(place.start, place.end))).toEqual(value);
          if (place !== null && typeof value === 'string') expect(scalarText(source, place)).toBe(value);
        }
      }),
    );
  });

  it('[B6] resolves nothing that JSON does not own', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.constantFrom('__proto__', 'constructor', 'length', 'toString', '-', '00', '01', '+1', '1e0'),
        (text, token) => {
          const own = allPaths(JSON.parse(text)).map(([tokens]) => formatPointer(tokens));
          for (const pointer of own) {
            const path = `${pointer}/${token}`;
            if (!own.includes(path)) expect(sliceOf(JSON.stringify(JSON.parse(text)), path)).toBeNull();
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('[B7] keeps the lexeme of a number', () => {
    const source = '{ "a" : [ 12345678901234567890 , 1.10, -0.0, 1E+2 ] }';
    expect(['/a/0', '/a/1', '/a/2', '/a/3'].map((path) => sliceOf(source, path))).toEqual([
      '12345678901234567890',
      '1.10',
      '-0.0',
      '1E+2',
    ]);
  });

  it.each(['{"a":1', '{"a" 1}', '{"a":1,}', '[1 2]', '{"a":"x', '{a:1}', '', '[', '{"a":}'])(
    'refuses %s as corrupt',
    (source) => {
      expect(() => sliceOf(source, '/a/b')).toThrow(expect.objectContaining({ code: 'OUTPUT_CORRUPT' }) as Error);
    },
  );

  it('[B7] finds the lines that a decoded text has', () => {
    const piece = fc.constantFrom('\n', '\r\n', '"', '\\', '\\n', 'word', 'é', '\u0000', ' ', '\n\n');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 5 }),
        (pieces, from, more) => {
          const text = pieces.join('');
          const lines = text.split('\n');
          if (lines.length > 1 && lines.at(-1) === '') lines.pop();
          const expected =
            from + more > lines.length ? null : lines.slice(from - 1, from + more).map((line) => line.replace(/\r$/, ''));
          expect(linesOf(text, { from, to: from + more })).toBe(expected === null ? null : expected.join('\n'));
        },
      ),
    );
  });

  it('finds the strings of members and is not misled by texts that look like members', () => {
    const document = {
      service: 'cart',
      rows: [{ service: 'pay' }, { services: ['a', 'b'] }],
      text: '{"service":"no"}',
      list: ['service', 'x'],
    };
    expect([...stringsOfMembers(JSON.stringify(document), ['service', 'services'])].sort()).toEqual(['a', 'b', 'cart', 'pay']);
  });
});
