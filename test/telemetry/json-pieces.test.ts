import * as fc from 'fast-check';
import { JsonPieces, type JsonPiece } from '../../src/telemetry/json-pieces';

const PATHS = [
  { kind: 'head', path: ['groups', '*', 'head'] },
  { kind: 'item', path: ['groups', '*', 'parts', '*', 'items', '*'] },
];
const OWNERS = [['groups', '*']];

function cut(
  bytes: Buffer,
  sizes: readonly number[],
  byLine = false,
  maxBytes = 1_000_000,
): { pieces: JsonPiece[]; rejected: number } {
  const cutter = new JsonPieces(PATHS, OWNERS, byLine, maxBytes);
  const pieces: JsonPiece[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    pieces.push(...cutter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  cutter.end();
  return { pieces, rejected: cutter.rejected };
}

const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), fc.array(fc.jsonValue(), { maxLength: 3 }));
const group = fc.record(
  {
    before: fc.jsonValue(),
    head: value,
    parts: fc.array(fc.record({ items: fc.array(value, { maxLength: 3 }), 'it"ems': fc.jsonValue() }, { requiredKeys: [] }), {
      maxLength: 3,
    }),
    after: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const document = fc.record({ other: fc.jsonValue(), groups: fc.array(group, { maxLength: 3 }) }, { requiredKeys: [] });

describe('values cut out of documents', () => {
  it('[B3] are those that parsing the whole document finds, however its bytes come', () => {
    fc.assert(
      fc.property(
        fc.array(document, { minLength: 1, maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(undefined, 2),
        fc.boolean(),
        (documents, sizes, indent, asArray) => {
          const text = asArray
            ? JSON.stringify(documents, null, indent)
            : documents.map((one) => JSON.stringify(one, null, indent)).join('\n');
          const { pieces, rejected } = cut(Buffer.from(text), sizes);
          const expected = documents.flatMap(({ groups = [] }) =>
            groups.map((one) => ({
              heads: 'head' in one ? [one.head] : [],
              items: (one.parts ?? []).flatMap((part) => part.items ?? []),
            })),
          );
          const found = new Map<number, { heads: unknown[]; items: unknown[] }>();
          for (const { kind, owner, text: piece } of pieces) {
            const own = found.get(owner) ?? { heads: [], items: [] };
            own[kind === 'head' ? 'heads' : 'items'].push(JSON.parse(piece));
            found.set(owner, own);
          }
          const asRead = expected.filter(({ heads, items }) => heads.length + items.length > 0);
          expect([...found.values()]).toEqual(JSON.parse(JSON.stringify(asRead)));
          expect(rejected).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('[B3] of broken lines cost no other line, and are counted', () => {
    const good = JSON.stringify({ groups: [{ head: { a: '}"\\' } }] });
    const broken = ['{"groups":[{"head":{', '}', 'NaN', '{"groups":[{"head":{"a":"', ']'];
    const lines = broken.flatMap((line) => [line, good]);
    const { pieces, rejected } = cut(Buffer.from(lines.join('\n')), [7], true);
    expect(pieces.map(({ text }) => text)).toEqual(broken.map(() => '{"a":"}\\"\\\\"}'));
    expect(rejected).toBe(broken.length);
  });

  it('[B3] that are too long are given up and counted', () => {
    const text = JSON.stringify({ groups: [{ head: { a: 'x'.repeat(100) } }, { head: { a: 'y' } }] });
    expect(cut(Buffer.from(text), [9], false, 50)).toMatchObject({ pieces: [{ text: '{"a":"y"}' }], rejected: 1 });
  });
});
