import fc from 'fast-check';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { serialiseAgentInput } from '../../src/protocol/agent-input';

describe('serialiseAgentInput', () => {
  it('[B2] orders keys at every depth and leaves out what is undefined', () => {
    const text = serialiseAgentInput({ b: [{ z: 1, a: null }], a: { d: 'x', c: true }, u: undefined, B: 0 });
    expect(text).toBe('{"B":0,"a":{"c":true,"d":"x"},"b":[{"a":null,"z":1}]}');
  });

  it('[B10] gives equal bytes for equal values, whatever order they were built in', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        const text = serialiseAgentInput(value);
        expect(serialiseAgentInput(reversed)).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('refuses what is no plain JSON', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const value of [
      undefined,
      NaN,
      Infinity,
      1n,
      new Date(0),
      new Map(),
      () => 1,
      Symbol('x'),
      [undefined],
      { a: new Date(0) },
      cycle,
    ]) {
      expect(() => serialiseAgentInput(value)).toThrow(DiagnosisError);
    }
  });

  it('takes the same part at two places', () => {
    const part = { k: 1 };
    expect(serialiseAgentInput({ a: part, b: [part, part] })).toBe('{"a":{"k":1},"b":[{"k":1},{"k":1}]}');
  });
});
