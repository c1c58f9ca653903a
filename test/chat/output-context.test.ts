import { contextOf } from '../../src/chat/output-context';
import { DiagnosisError } from '../../src/errors/diagnosis-error';

const output = (data: string): string => `{"matched_count":1,"data":${data},"complete":true}`;

describe('contextOf', () => {
  it('[B7] shows the row that holds a place letter by letter, numbers that no double can hold included', () => {
    const rows = output('{"rows":[{"a":1},{"id":12345678901234567890,"n":1.50,"t":"x, \\"y\\"","z":[1,2]}]}');
    expect(contextOf(rows, '/rows/1/id')).toEqual([
      { number: 1, text: '{', matched: false },
      { number: 2, text: '  "id": 12345678901234567890,', matched: true },
      { number: 3, text: '  "n": 1.50,', matched: false },
      { number: 4, text: '  "t": "x, \\"y\\"",', matched: false },
      { number: 5, text: '  "z": [1,2]', matched: false },
    ]);
    expect(contextOf(rows, '$.rows[1].z[1]')?.find(({ matched }) => matched)?.text).toBe('  2');
  });

  it('shows at most three lines before and after', () => {
    const list = output(`[${Array.from({ length: 20 }, (_, index) => `"v${index}"`).join(', ')}]`);
    expect(contextOf(list, '/10')?.map(({ text }) => text.trim())).toEqual([
      '"v7",',
      '"v8",',
      '"v9",',
      '"v10",',
      '"v11",',
      '"v12",',
      '"v13",',
    ]);
  });

  it('[B7] shows cited lines of a text among their neighbours, counted from 1', () => {
    const text = output(JSON.stringify({ body: Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join('\n') }));
    expect(contextOf(text, '/body#L5-L6')).toEqual(
      [2, 3, 4, 5, 6, 7, 8, 9].map((number) => ({ number, text: `line ${number}`, matched: number === 5 || number === 6 })),
    );
    expect(contextOf(output('"one\\ntwo"'), '#L2')?.map(({ text: line }) => line)).toEqual(['one', 'two']);
    expect(contextOf(text, '/body#L10')).toBeNull();
  });

  it('cuts long lines with a mark, and shows the place alone when what holds it is huge', () => {
    const long = output(JSON.stringify({ t: 'x'.repeat(1_000) }));
    expect(contextOf(long, '/t')?.find(({ matched }) => matched)?.text).toMatch(/^ {2}"t": "x+…$/);
    const huge = output(JSON.stringify(Array.from({ length: 50_000 }, (_, index) => index)));
    expect(contextOf(huge, '/49999')).toEqual([{ number: 1, text: '49999', matched: true }]);
  });

  it('knows places that do not exist, and refuses a text that is no JSON', () => {
    for (const path of ['/none', '/rows/7', 'rows', '/a#L1']) expect(contextOf(output('{"rows":[1],"a":1}'), path)).toBeNull();
    expect(() => contextOf('{"data":', '/a')).toThrow(DiagnosisError);
  });
});
