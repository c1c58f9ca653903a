import { isNothingWrong } from '../../src/protocol/nothing-wrong';

/** Material with one claim that compares a share of the window with one of the baseline. */
function compared(before: string, now: string, unit: 'ratio' | 'none'): Parameters<typeof isNothingWrong>[1] {
  const binding = (raw_path: string): { source_invocation_id: string; tool_name: string; raw_path: string } => ({
    source_invocation_id: 't1-abcd',
    tool_name: 'span_analysis',
    raw_path,
  });
  const bindings = [binding('/services/0/baseline'), binding('/services/0/now')];
  return {
    claims: [
      {
        claim_id: 'range-1',
        kind: 'fact',
        subject: 'stock',
        statement: 'stock: share of slow traces',
        assertion: { op: 'less', left: 1, right: 0, unit },
        bindings,
      },
    ],
    assessments: [],
    evidence: bindings.map((bound, index) => ({ claim_id: 'range-1', ...bound, matched_text: index === 0 ? before : now })),
    limitations: [],
  };
}

describe('nothing departs from normal', () => {
  it.each([
    ['a share that went from a trace of noise to none', '0.0044', '0', 'ratio', true],
    ['a share within two percentage points', '0.001', '0.018', 'ratio', true],
    ['a share that fell by more than noise and by more than half', '0.3', '0.1', 'ratio', false],
    ['a value without a unit that went to nothing, however small', '0.0044', '0', 'none', false],
    ['a value within a factor of two', '30', '18', 'none', true],
  ] as const)('%s', (_name, before, now, unit, expected) => {
    expect(isNothingWrong('PASS', compared(before, now, unit))).toBe(expected);
  });
});
