import { claimSentence } from '../../src/protocol/claim-sentence';
import type { Assertion, Claim } from '../../src/protocol/executor-evidence';

const binding = (raw_path: string): Claim['bindings'][number] => ({
  source_invocation_id: 't1-aaaa',
  tool_name: 'shares_of_a_host',
  raw_path,
});
const share = ['/rows/0/baseline_error_share', '/rows/0/error_share'];
const sentence = (assertion: Assertion, paths: readonly string[], texts: readonly (string | null)[]): string =>
  claimSentence({ claim_id: 'c1', kind: 'fact', subject: 'checkout', assertion, bindings: paths.map(binding) }, texts);

describe('sentences that code writes', () => {
  it.each<[Assertion, readonly string[], readonly string[], string]>([
    [{ op: 'rose', left: 0, right: 1, unit: 'ratio' }, share, ['0.008', '0.43'], 'checkout: error share rose from 0.8 % to 43 %'],
    [
      { op: 'fell', left: 0, right: 1, unit: 'ms' },
      ['/baseline_p99', '/p99'],
      ['1532.123456', '12'],
      'checkout: p99 fell from 1532 ms to 12 ms',
    ],
    [{ op: 'rose', left: 0, right: 1 }, share, ['0.80001', '0.80002'], 'checkout: error share rose from 0.80001 to 0.80002'],
    [{ op: 'count', left: 0, unit: 'count' }, ['/lines'], ['12345678901234567890'], 'checkout: lines is 12345678901234567890'],
    [
      { op: 'equals', left: 0, right: 1, unit: 'count' },
      ['/baseline_lines', '/lines'],
      ['5', '5'],
      'checkout: lines is unchanged at 5',
    ],
    [{ op: 'equals', left: 0, value: 1.5, unit: 's' }, ['/p99'], ['1500'], 'checkout: p99 is 1.5 s'],
    [
      { op: 'greater', left: 0, value: 5, unit: 'percent' },
      ['/error_share'],
      ['0.43'],
      'checkout: error share is greater than 5 % (recorded: 0.43)',
    ],
    [
      { op: 'difference', left: 1, right: 0, value: '42.2', unit: 'percent' },
      share,
      ['0.008', '0.43'],
      'checkout: error share minus baseline error share is 42.2 percentage points (0.43 and 0.008)',
    ],
    [
      { op: 'rose', left: 0, right: 1, unit: 'count' },
      ['/baseline_n', '/n', '/sample'],
      ['1', '2', 'pool\n empty'],
      'checkout: n rose from 1 to 2 (“pool empty”)',
    ],
  ])('[B5] %j', (assertion, paths, texts, expected) => {
    expect(sentence(assertion, paths, texts)).toBe(expected);
  });

  it('[B5] words an absence from its scope, and leaves an untyped claim alone', () => {
    const base = { claim_id: 'c1', subject: 'checkout', bindings: [binding('/summary/matched_count')] };
    const scope = { subject: 'checkout', filter: 'deadlock', from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:10:00Z' };
    expect(claimSentence({ ...base, kind: 'absence', scope }, ['0'])).toBe(
      'checkout: no record with “deadlock” in its text or names between 2026-05-04T14:00:00Z and 2026-05-04T14:10:00Z',
    );
    expect(claimSentence({ ...base, kind: 'fact', statement: 'as it was said' }, ['0'])).toBe('as it was said');
  });

  it.each<[string, Assertion, readonly string[], readonly string[], string]>([
    [
      'log_sequences',
      { op: 'rose', left: 0, right: 1, unit: 'ratio' },
      [
        '/sequences/0/baseline_share',
        '/sequences/0/share',
        '/sequences/0/kind',
        '/sequences/0/first_seen',
        '/sequences/0/sample',
      ],
      ['0', '0.3791', 'cut', '2026-05-04T14:05:03Z', 'request accepted'],
      'checkout: share of flows that end or fail right after this step rose from 0 % to 37.91 % (first at 2026-05-04T14:05:03Z; “request accepted”)',
    ],
    [
      'log_sequences',
      { op: 'rose', left: 0, right: 1, unit: 'ratio' },
      ['/sequences/0/baseline_share', '/sequences/0/share'],
      ['0', '0.5'],
      'checkout: share of flows that deviate at this step rose from 0 % to 50 %',
    ],
    [
      'log_patterns',
      { op: 'appeared', left: 0, right: 1, unit: 'count' },
      ['/patterns/0/baseline_count', '/patterns/0/count', '/patterns/0/sample'],
      ['0', '152', 'pool empty'],
      'checkout: number of lines like this appeared: 0 before, 152 in the incident window (“pool empty”)',
    ],
    [
      'error_share',
      { op: 'equals', left: 0, right: 1, unit: 'ratio' },
      ['/services/0/baseline_error_share', '/services/0/error_share'],
      ['0', '0'],
      'checkout: share of error lines is unchanged at 0 %',
    ],
    [
      'error_share',
      { op: 'percent_change', left: 0, right: 1, value: 41.7, unit: 'percent' },
      ['/services/0/baseline_error_share', '/services/0/error_share'],
      ['0.0012', '0.0017'],
      'checkout: share of error lines is 0.17 %, 0.12 % before',
    ],
    [
      'error_share',
      { op: 'percent_change', left: 0, right: 1, value: 41.7, unit: 'percent' },
      ['/services/0/baseline_error_share', '/services/1/error_share'],
      ['0.0012', '0.0017'],
      'checkout: share of error lines changed by 41.7 % (from 0.12 % to 0.17 %)',
    ],
    [
      'error_share',
      { op: 'less', left: 0, right: 1, unit: 'ratio' },
      ['/services/0/error_share', '/services/0/baseline_error_share'],
      ['0.0017', '0.0019'],
      "checkout: share of error lines is 0.17 %, below the baseline's 0.19 %",
    ],
    [
      'error_share',
      { op: 'greater', left: 0, value: 5, unit: 'percent' },
      ['/services/0/error_share'],
      ['0.43'],
      'checkout: share of error lines is greater than 5 % (recorded: 43 %)',
    ],
    [
      'log_sequences',
      { op: 'count', left: 0, value: 0, unit: 'count' },
      ['/summary/matched_count', '/summary/covered_from', '/summary/covered_to'],
      ['0', '2026-05-04T13:40:00Z', '2026-05-04T13:55:00Z'],
      'checkout: no changed succession of log lines from 2026-05-04T13:40:00Z to 2026-05-04T13:55:00Z',
    ],
    [
      'log_sequences',
      { op: 'rose', left: 0, right: 1, unit: 'ratio' },
      ['/sequences/0/baseline_share', '/sequences/0/share', '/sequences/0/kind', '/summary/by_trace'],
      ['0', '0.5', 'error_line', 'false'],
      'checkout: share of places in the log stream with this error line rose from 0 % to 50 %',
    ],
  ])('says the measures of %s in words', (tool_name, assertion, paths, texts, expected) => {
    const bindings = paths.map((path) => ({ ...binding(path), tool_name }));
    expect(claimSentence({ claim_id: 'c1', kind: 'fact', subject: 'checkout', assertion, bindings }, texts)).toBe(expected);
  });

  it('calls nothing a flow where the run knows of no trace ids', () => {
    const bindings = ['/sequences/0/baseline_share', '/sequences/0/share'].map((path) => ({
      ...binding(path),
      tool_name: 'log_sequences',
    }));
    const assertion: Assertion = { op: 'rose', left: 0, right: 1, unit: 'ratio' };
    const claim: Claim = { claim_id: 'c1', kind: 'fact', subject: 'checkout', assertion, bindings };
    expect(claimSentence(claim, ['0', '0.5'], { hasTraces: false })).toBe(
      'checkout: share of places in the log stream that deviate at this line rose from 0 % to 50 %',
    );
  });
});
