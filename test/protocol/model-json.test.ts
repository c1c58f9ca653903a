import fc from 'fast-check';
import { MAX_MODEL_TEXT_LENGTH, unwrapModelJson } from '../../src/protocol/model-json';
import { MAX_JSON_DEPTH } from '../../src/protocol/strict-json-object';

const FENCE = '```';

describe('unwrapModelJson', () => {
  it.each<[string, string, unknown]>([
    ['a bare object', '{"status":"open","n":3}', { status: 'open', n: 3 }],
    ['blanks and CRLF around', '\r\n \t{"n":1}\r\n', { n: 1 }],
    ['a byte-order mark', '\uFEFF{"n":1}', { n: 1 }],
    ['a byte-order mark, a think block and a fence', `\uFEFF<think>hm</think>\n${FENCE}json\n{"n":1}\n${FENCE}`, { n: 1 }],
    ['a fence with a language tag', `${FENCE}json\r\n{"n":1}\r\n${FENCE}\r\n`, { n: 1 }],
    ['a fence without a closing one', `${FENCE}\n{"n":1}`, { n: 1 }],
    ['a closing fence only', `{"n":1}\n${FENCE}`, { n: 1 }],
    ['nested fences', `~~~\n${FENCE}json\n{"n":1}\n${FENCE}\n~~~`, { n: 1 }],
    ['prose with parentheses before and after', 'Result (as asked): {"n":1} (end).', { n: 1 }],
    ['a think block that drafts an object', '<think>maybe {"n":0} or [1]</think> {"n":1}', { n: 1 }],
    ['a long tag of thinking', '<thinking>draft {</thinking>{"n":1}', { n: 1 }],
    ['an end of thinking whose start the template swallowed', 'let me see</think>{"n":1}', { n: 1 }],
    [
      'braces, fences and think tags inside a string',
      `{"t":"} ] ${FENCE}json {\\"a\\":1} </think><think>"}`,
      {
        t: `} ] ${FENCE}json {"a":1} </think><think>`,
      },
    ],
    ['the same key in two objects', '{"a":{"k":1},"b":[{"k":2},{"k":3}]}', { a: { k: 1 }, b: [{ k: 2 }, { k: 3 }] }],
    [
      'every escape and a surrogate pair',
      '{"t":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00"}',
      { t: '"\\/\b\f\n\r\tA\u{1F600}' },
    ],
    ['numbers of every form', '{"n":[0,-0.5,1e3,1E-2,12345678901234567890]}', { n: [0, -0.5, 1000, 0.01, 12345678901234567890] }],
    ['an empty object', '{}', {}],
    ['a zero-width character outside', '\u200B{"n":1}\u200B', { n: 1 }],
    ['constructor as an ordinary key', '{"constructor":"acme","prototype":1}', { constructor: 'acme', prototype: 1 }],
  ])('[B3] takes the object out of %s', (_kind, raw, value) => {
    expect(unwrapModelJson(raw)).toEqual({ ok: true, value });
  });

  it.each<[string, string]>([
    ['two objects', '{"a":1}{"a":1}'],
    ['an object and then an array', '{"a":1} [2]'],
    ['an array and then an object', '[1] {"a":1}'],
    ['a stray closing brace', '{"a":1}}'],
    ['a stray opening brace', '{{"a":1}'],
    ['a bracket in the prose', 'As said in [1]: {"a":1}'],
    ['two fences', `${FENCE}\n{"a":1}\n${FENCE}\n${FENCE}\n{"a":1}\n${FENCE}`],
    ['an array', '[{"a":1}]'],
    ['null', 'null'],
    ['a string that holds an object', '"{\\"a\\":1}"'],
    ['a string that holds an empty object', '"{}"'],
    ['an unclosed think block', '<think>I answer {"a":1}'],
    ['an unclosed think block without brackets before', '<THINK>hm\n{"a":1}'],
    ['an object inside the think block only', '<think>{"a":1}</think>'],
    ['two think blocks', '<think>x</think><think>y</think>{"a":1}'],
    ['nested think blocks', '<think>x<think>y</think>z</think>{"a":1}'],
    ['a think block after prose', 'Hello <think>x</think>{"a":1}'],
    ['a think block that ends after the object', '{"a":1}</think>'],
    ['a refusal', 'I cannot help with that.'],
    ['truncation in a string', '{"a":"b'],
    ['truncation in an escape', '{"a":"\\u00'],
    ['truncation after a comma', '{"a":{"b":[1,'],
    ['a missing last brace', '{"a":{"b":1}'],
    ['a trailing comma in an object', '{"a":1,}'],
    ['a trailing comma in an array', '{"a":[1,]}'],
    ['a leading comma', '{,"a":1}'],
    ['a line comment', '{"a":1 // one\n}'],
    ['a block comment', '{/* one */"a":1}'],
    ['single quotes', "{'a':1}"],
    ['typographic quotes', '{\u201Ca\u201D:1}'],
    ['bare keys', '{a:1}'],
    ['a Python literal', '{"a":None}'],
    ['NaN', '{"a":NaN}'],
    ['Infinity', '{"a":-Infinity}'],
    ['undefined', '{"a":undefined}'],
    ['a leading zero', '{"a":007}'],
    ['a leading plus', '{"a":+1}'],
    ['a bare dot', '{"a":.5}'],
    ['a trailing dot', '{"a":5.}'],
    ['a hexadecimal number', '{"a":0x1F}'],
    ['digits with separators', '{"a":1_000}'],
    ['a number beyond every double', '{"a":1e999}'],
    ['a missing colon', '{"a" 1}'],
    ['a missing comma', '{"a":1 "b":2}'],
    ['an ellipsis', '{"a":1, ...}'],
    ['a no-break space between tokens', '{"a":\u00A01}'],
    ['a byte-order mark between tokens', '{\uFEFF"a":1}'],
    ['a raw line break in a string', '{"a":"x\ny"}'],
    ['a raw tab in a string', '{"a":"x\ty"}'],
    ['a bad escape', '{"a":"\\x41"}'],
    ['a lone surrogate', '{"a":"\uD83D"}'],
    ['an escaped lone surrogate', '{"a":"\\ude00"}'],
    ['a duplicate key', '{"a":1,"a":1}'],
    ['a duplicate key deep inside', '{"x":[{"y":{"a":1,"b":2,"a":3}}]}'],
    ['a duplicate key behind an escape', '{"a":1,"\\u0061":2}'],
    ['a prototype key', '{"__proto__":{"a":1}}'],
    ['a prototype key deep inside', '{"x":[{"__proto__":1}]}'],
    ['a prototype key behind an escape', '{"\\u005f_proto__":1}'],
    ['a prototype under a constructor', '{"constructor":{"prototype":{"a":1}}}'],
    ['Markdown as a value', '{"a":**bold**}'],
  ])('[B4] refuses %s', (_kind, raw) => {
    expect(unwrapModelJson(raw)).toMatchObject({ ok: false, reason_code: 'OUTPUT_NOT_JSON' });
  });

  it.each([undefined, null, '', ' \n', '\uFEFF'])('[B3] calls %j a missing output', (raw) => {
    expect(unwrapModelJson(raw)).toMatchObject({ ok: false, reason_code: 'OUTPUT_MISSING' });
  });

  it.each([0, true, {}, { toString: () => '{}' }, ['{}'], Buffer.from('{}'), Symbol('x'), () => '{}'])(
    '[B3] refuses a value that is no text',
    (raw) => {
      expect(unwrapModelJson(raw)).toMatchObject({ ok: false, reason_code: 'OUTPUT_NOT_JSON' });
    },
  );

  it('takes nesting up to the maximum and refuses one level more', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(unwrapModelJson(nested(MAX_JSON_DEPTH)).ok).toBe(true);
    expect(unwrapModelJson(nested(MAX_JSON_DEPTH + 1)).ok).toBe(false);
    expect(unwrapModelJson(`{"a":${'['.repeat(200_000)}`).ok).toBe(false);
  });

  it('takes a text up to the maximum and refuses a longer one', () => {
    const padded = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`;
    expect(unwrapModelJson(padded(MAX_MODEL_TEXT_LENGTH)).ok).toBe(true);
    expect(unwrapModelJson(padded(MAX_MODEL_TEXT_LENGTH + 1)).ok).toBe(false);
  });

  it('shows no text of the answer in its problems', () => {
    for (const raw of ['{"secretword":secretword}', 'secretword', '{"secretword":1,"secretword":2}', '<think>secretword']) {
      expect(JSON.stringify(unwrapModelJson(raw))).not.toContain('secretword');
    }
  });

  const SCAN_RUNS = { numRuns: 500 };
  const jsonObject = fc
    .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }))
    .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>)
    .filter((value) => !JSON.stringify(value).includes('__proto__') && !JSON.stringify(value).includes('\\ud'));
  const prose = fc.string({ unit: 'binary' }).map((text) => text.replace(/[{}[\]<>"]/g, '').trimStart());

  it('[B3] never throws, and takes only what JSON.parse takes too', () => {
    const noise = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(
          fc.constantFrom(
            '{',
            '}',
            '[',
            ']',
            '"',
            ':',
            ',',
            '\\',
            'u',
            '0',
            '1',
            '-',
            '.',
            'e',
            'a',
            ' ',
            'null',
            '<think>',
            '</think>',
          ),
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(noise, (raw) => {
        const parsed = unwrapModelJson(raw);
        if (!parsed.ok) return parsed.problems.length > 0;
        const inner = raw.slice(raw.lastIndexOf('</think>') + 1);
        return (
          JSON.stringify(JSON.parse(inner.slice(inner.indexOf('{'), inner.lastIndexOf('}') + 1))) === JSON.stringify(parsed.value)
        );
      }),
      SCAN_RUNS,
    );
  });

  it('[B3] gives a valid object back from prose, fences, a mark and a think block around it', () => {
    fc.assert(
      fc.property(jsonObject, prose, prose, fc.boolean(), fc.constantFrom('', FENCE), (value, before, after, thinks, fence) => {
        const raw = `${thinks ? '<think>is it {"x": 1}?</think>' : ''}${before}${fence}${JSON.stringify(value, null, 2)}${fence}${after}`;
        expect(unwrapModelJson(raw)).toEqual({ ok: true, value });
      }),
      SCAN_RUNS,
    );
  });

  it('[B4] refuses every true prefix of an object', () => {
    fc.assert(
      fc.property(jsonObject, fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        return !unwrapModelJson(text.slice(0, cut % text.length)).ok;
      }),
      SCAN_RUNS,
    );
  });

  it('[B4] refuses a second object wherever it stands', () => {
    fc.assert(
      fc.property(
        jsonObject,
        jsonObject,
        prose,
        (first, second, between) => !unwrapModelJson(`${JSON.stringify(first)}${between}${JSON.stringify(second)}`).ok,
      ),
    );
  });
});
