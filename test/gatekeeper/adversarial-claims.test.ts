import type { Assertion, Claim } from '../../src/protocol/executor-evidence';
import { fact, PATTERN_ARGS, ShopRun, TEXT, WINDOW } from './shop-calls';
import { mintInvocationId } from '../../src/protocol/invocation-id';

const run = new ShopRun();
const row = (name: string, index = 0): string => `/rows/${index}/${name}`;
const said = (statement: string, ...paths: string[]): Claim => fact({ statement, bindings: paths.map((path) => run.at(path)) });
const typed = (assertion: Assertion, ...paths: string[]): Claim =>
  fact({ assertion, bindings: paths.map((path) => run.at(path)) });
const other = (claim: Claim, changes: Partial<Claim>): Claim => ({ ...claim, ...changes });
const lines = (raw_path: string, statement: string, quote?: string): Claim =>
  fact({ statement, bindings: [run.at(raw_path, quote, run.text, 'read_lines')] });
const absent = (
  invocation: string,
  changes: Partial<NonNullable<Claim['scope']>> = {},
  path = '/summary/matched_count',
): Claim => ({
  claim_id: 'c1',
  kind: 'absence',
  subject: changes.subject ?? 'cart-service',
  scope: { subject: 'cart-service', filter: 'deadlock', from: WINDOW.from, to: WINDOW.to, ...changes },
  bindings: [run.at(path, undefined, invocation, 'log_patterns')],
});
const rose: Assertion = { op: 'rose', left: 0, right: 1, unit: 'ratio' };
const share = [row('baseline_error_share'), row('error_share')];
const bigOutput = run.add(
  { service: 'cart-service' },
  '{"matched_count":1,"records_scanned":9,"records_rejected":0,"complete":true,"coverage":{"from":null,"to":null,"filter":null},"fields":{"id":{"unit":"none"}},"server_time":null,"data":{"id":12345678901234567890,"price":1.10}}',
);

const TRUE_CLAIMS: readonly (readonly [string, Claim])[] = [
  ['a count in words', said('cart-service logged 561 error lines', row('error_lines'))],
  ['an "about" number', said('cart-service wrote about 1,200 lines', row('lines'))],
  ['a number in words', said('cart-service was at retry three', row('sample'))],
  ['a rounded share', said('the error share of cart-service was 0.45', row('error_share'))],
  ['a share in percent', said('the error share of cart-service was 45.5 %', row('error_share'))],
  [
    'a converted time',
    said(
      'cart-service took 1.53 s at the 99th percentile'.replace('99th', 'top').replace(' at the top percentile', ''),
      row('p99'),
    ),
  ],
  ['a converted size', said('cart-service held 1536 KiB', row('heap'))],
  ['a converted rate', said('cart-service wrote 2.06 lines per second'.replace('2.06', '2.1'), row('rate'))],
  ['an instant', said('first_seen of cart-service was 2026-05-04 14:02 UTC', row('first_seen'))],
  ['an instant in another zone', said('cart-service was first seen at 2026-05-04T16:02:03+02:00', row('first_seen'))],
  ['a clock in the zone of the text', said('cart-service logged an error at 22:02:03', row('sample'))],
  ['a quotation across white space', said('cart-service logged "Timeout after 1532 ms"', row('sample'))],
  ['a host of an address', said('cart-service was calling db-1', row('sample'))],
  ['a baseline value named so', said('in the baseline cart-service took 120.5 ms', row('baseline_p99'))],
  ['an own field name', said('error_share of cart-service was 0.45', row('error_share'))],
  ['lines of a text', lines('#L12-L14', 'cart-service took 77 ms, then 84 ms')],
  ['a quote in lines', lines('#L1-L60', 'cart-service took 77 ms', 'line 12 of cart-service: took 77 ms')],
  ['rose', typed(rose, ...share)],
  ['rose beside a statement', other(typed(rose, ...share), { statement: 'error share of cart-service rose from 0.8 % to 45 %' })],
  ['fell', other(typed({ op: 'fell', left: 0, right: 1 }, row('baseline_p99', 1), row('p99', 1)), { subject: 'cart' })],
  ['appeared', typed({ op: 'appeared', left: 0, right: 1, unit: 'count' }, row('baseline_error_lines'), row('error_lines'))],
  ['count', typed({ op: 'count', left: 0, value: 561, unit: 'count' }, row('error_lines'))],
  ['equals, rounded', typed({ op: 'equals', left: 0, value: '0.45' }, row('error_share'))],
  ['equals in another unit', typed({ op: 'equals', left: 0, value: '1.53', unit: 's' }, row('p99'))],
  ['equals, text', typed({ op: 'equals', left: 0, value: 'cart-service' }, row('service'))],
  ['greater', typed({ op: 'greater', left: 0, value: 1.5, unit: 's' }, row('p99'))],
  ['less than the baseline', typed({ op: 'less', left: 0, right: 1, unit: 'count' }, row('lines'), row('baseline_lines'))],
  ['ratio', typed({ op: 'ratio', left: 0, right: 1, value: '12.7' }, row('p99'), row('baseline_p99'))],
  ['difference in points', typed({ op: 'difference', left: 1, right: 0, value: '44.7', unit: 'percent' }, ...share)],
  [
    'difference beside a statement',
    other(typed({ op: 'difference', left: 1, right: 0, value: '44.7', unit: 'percent' }, ...share), {
      statement: 'the error share of cart-service rose by 44.7 percentage points',
    }),
  ],
  [
    'percent change',
    typed({ op: 'percent_change', left: 0, right: 1, value: '1171', unit: 'percent' }, row('baseline_p99'), row('p99')),
  ],
  ['duration', typed({ op: 'duration', left: 0, right: 1, value: 5, unit: 'min' }, row('first_seen'), row('last_seen'))],
  [
    'a big integer',
    fact({
      assertion: { op: 'equals', left: 0, value: '12345678901234567890' },
      bindings: [run.at('/id', undefined, bigOutput)],
    }),
  ],
  ['a query path', typed({ op: 'count', left: 0 }, "$['rows'][0].error_lines")],
  [
    'an error of a tool',
    fact({
      subject: 'cart',
      statement: 'cart reported TOOL_FAILED',
      bindings: [run.at('/error/code', undefined, run.failed)],
    }),
  ],
  ['context of the same row', typed(rose, ...share, row('sample'), row('service'))],
  ['absence', absent(run.absent)],
  ['absence over all services', absent(run.absence({}, { ...PATTERN_ARGS, service: null }), { subject: '*' })],
  [
    'a value of a truncated output',
    fact({ assertion: rose, bindings: share.map((path) => run.at(path, undefined, run.truncated)) }),
  ],
];

const slip = `${run.share.slice(0, -1)}${run.share.endsWith('a') ? 'b' : 'a'}`;
const FALSE_CLAIMS: readonly (readonly [string, string, Claim])[] = [
  ['a value off by one digit', 'NUMBER_NOT_FOUND', said('cart-service logged 562 error lines', row('error_lines'))],
  ['a sibling path', 'NUMBER_NOT_FOUND', said('cart-service logged 561 error lines', row('lines'))],
  ['a missing path', 'PATH_NOT_FOUND', said('cart-service logged 561 error lines', row('errors'))],
  ['an inherited member', 'PATH_NOT_FOUND', said('cart-service', '/rows/length')],
  ['no path', 'PATH_SYNTAX', said('cart-service', 'rows/0/service')],
  [
    'another tool',
    'TOOL_MISMATCH',
    fact({ statement: 'cart-service', bindings: [run.at(row('service'), undefined, run.share, 'log_patterns')] }),
  ],
  [
    'an unknown invocation',
    'INVOCATION_UNKNOWN',
    fact({ statement: 'x', bindings: [run.at('', undefined, mintInvocationId(RUN_OF_NOBODY(), 77))] }),
  ],
  [
    "another run's invocation",
    'INVOCATION_OF_ANOTHER_RUN',
    fact({ statement: 'x', bindings: [run.at(row('lines'), undefined, run.foreign)] }),
  ],
  ['a slip of the pen', 'INVOCATION_ID_SLIP', fact({ statement: 'x', bindings: [run.at(row('lines'), undefined, slip)] })],
  ['an empty text', 'TEXT_EMPTY', said('cart-service', row('note'))],
  ['a null', 'TEXT_EMPTY', said('cart-service', row('missing'))],
  ['a container', 'PATH_IS_CONTAINER', said('cart-service', '/rows/0')],
  [
    'a container with a quote',
    'PATH_IS_CONTAINER',
    fact({ statement: 'cart-service', bindings: [run.at('/rows/0', 'cart-service')] }),
  ],
  ['a conclusion', 'CONCLUSION_NOT_CITEABLE', said('cart-service scores 9.5', row('score'))],
  [
    'corrupt bytes',
    'OUTPUT_CORRUPT',
    fact({ statement: 'cart-service', bindings: [run.at(row('service'), undefined, run.corrupt)] }),
  ],
  ['a look-alike subject', 'SUBJECT_NOT_FOUND', other(said('561 error lines', row('error_lines')), { subject: 'cart' })],
  ['a look-alike letter', 'SUBJECT_NOT_FOUND', other(typed(rose, ...share), { subject: 'c\u0430rt-service' })],
  ['a look-alike name', 'IDENTIFIER_NOT_FOUND', said('c\u0430rt and cart-service logged 561 error lines', row('error_lines'))],
  ['a hidden character', 'IDENTIFIER_NOT_FOUND', said('cart\u200b logged 561 error lines', row('error_lines'))],
  ['another name', 'IDENTIFIER_NOT_FOUND', said('cart logged 561 error lines', row('error_lines'))],
  ['a part of a name', 'IDENTIFIER_NOT_FOUND', said('cart-service called db-1:543', row('sample'))],
  ['direction flipped', 'ASSERTION_FALSE', typed({ ...rose, op: 'fell' }, ...share)],
  [
    'baseline and incident exchanged',
    'WINDOW_MISMATCH',
    typed({ ...rose, op: 'fell' }, row('error_share'), row('baseline_error_share')),
  ],
  [
    'direction flipped in words',
    'ASSERTION_FALSE',
    other(typed(rose, ...share), { statement: 'error share of cart-service fell' }),
  ],
  [
    'values exchanged in words',
    'ASSERTION_FALSE',
    other(typed(rose, ...share), { statement: 'error share of cart-service rose from 45 % to 0.8 %' }),
  ],
  ['negated', 'ASSERTION_FALSE', other(typed(rose, ...share), { statement: 'error share of cart-service did not rise' })],
  ['subject swapped', 'SUBJECT_NOT_FOUND', other(typed(rose, ...share), { subject: 'cart' })],
  [
    'subject of one row, value of another',
    'ROW_MISMATCH',
    said('cart-service logged 16 error lines', row('service'), row('error_lines', 1)),
  ],
  ['operands of two rows', 'ROW_MISMATCH', typed(rose, row('baseline_error_share', 1), row('error_share'))],
  [
    'operands of two measures',
    'ROW_MISMATCH',
    typed({ op: 'fell', left: 0, right: 1 }, row('baseline_lines'), row('error_lines')),
  ],
  ['a baseline value as the incident one', 'WINDOW_MISMATCH', said('cart-service took 120.5 ms', row('baseline_p99'))],
  ['an incident value as the baseline one', 'WINDOW_MISMATCH', said('in the baseline cart-service took 1532 ms', row('p99'))],
  ['ms for s', 'UNIT_MISMATCH', said('cart-service took 1532 s', row('p99'))],
  ['a ratio for a percentage', 'UNIT_MISMATCH', said('the error share of cart-service was 0.4549 %', row('error_share'))],
  [
    'a unit in an assertion',
    'UNIT_MISMATCH',
    typed({ op: 'rose', left: 0, right: 1, unit: 's' }, row('baseline_p99'), row('p99')),
  ],
  ['a unit of another kind', 'UNIT_MISMATCH', typed({ op: 'equals', left: 0, value: 1532, unit: 'MiB' }, row('p99'))],
  ['a value in another unit', 'UNIT_MISMATCH', typed({ op: 'equals', left: 0, value: 1532, unit: 's' }, row('p99'))],
  [
    'percentage points for percent',
    'UNIT_MISMATCH',
    said('the share of cart-service was 45.49 percentage points', row('error_share')),
  ],
  [
    'percent for percentage points',
    'ASSERTION_FALSE',
    typed({ op: 'percent_change', left: 0, right: 1, value: '44.7', unit: 'percent' }, ...share),
  ],
  ['rounded up at the edge', 'NUMBER_NOT_FOUND', said('the error share of cart-service was 0.46', row('error_share'))],
  ['one significant digit', 'NUMBER_NOT_FOUND', said('the error share of cart-service was 0.5', row('error_share'))],
  ['a rounded count', 'NUMBER_NOT_FOUND', said('cart-service wrote 1,200 lines', row('lines'))],
  ['"about" too far off', 'NUMBER_NOT_FOUND', said('cart-service wrote about 1,300 lines', row('lines'))],
  ['a ratio off', 'ASSERTION_FALSE', typed({ op: 'ratio', left: 0, right: 1, value: '12.8' }, row('p99'), row('baseline_p99'))],
  [
    'a difference off',
    'ASSERTION_FALSE',
    typed({ op: 'difference', left: 1, right: 0, value: '44.8', unit: 'percent' }, ...share),
  ],
  ['a count off', 'ASSERTION_FALSE', typed({ op: 'count', left: 0, value: 560 }, row('error_lines'))],
  [
    'a big integer off',
    'ASSERTION_FALSE',
    fact({
      assertion: { op: 'equals', left: 0, value: '12345678901234567891' },
      bindings: [run.at('/id', undefined, bigOutput)],
    }),
  ],
  ['a number word off', 'NUMBER_NOT_FOUND', said('cart-service was at retry four', row('sample'))],
  ['a zone shifted', 'TIME_NOT_FOUND', said('cart-service started at 2026-05-04T14:02:03+08:00', row('first_seen'))],
  ['the text clock read as UTC', 'TIME_NOT_FOUND', said('cart-service timed out at 22:02:03 UTC', row('sample'))],
  ['a minute off', 'TIME_NOT_FOUND', said('cart-service started at 14:03 UTC', row('first_seen'))],
  ['a quotation that is not there', 'QUOTATION_NOT_FOUND', said('cart-service logged `Timeout after 1532 s`', row('sample'))],
  ['a quotation that cuts a name', 'QUOTATION_NOT_FOUND', said('cart-service logged "calling db"', row('sample'))],
  ['a short quote', 'QUOTE_TOO_SHORT', fact({ statement: 'cart-service', bindings: [run.at(row('sample'), 'of 5')] })],
  [
    'a quote that cuts a number',
    'QUOTE_NOT_FOUND',
    fact({ statement: 'cart-service', bindings: [run.at(row('sample'), 'Timeout after 15')] }),
  ],
  ['lines past the end', 'PATH_NOT_FOUND', lines('#L60-L61', 'cart-service')],
  ['a line off', 'NUMBER_NOT_FOUND', lines('#L12', 'cart-service took 84 ms')],
  ['too many lines', 'RANGE_TOO_WIDE', lines('#L1-L21', 'cart-service')],
  ['a whole long text', 'RANGE_TOO_WIDE', lines('', 'cart-service')],
  [
    'data of an ERROR',
    'STATUS_NOT_BINDABLE',
    fact({ statement: 'cart', subject: 'cart', bindings: [run.at('/rows/0/service', undefined, run.failed)] }),
  ],
  ['a DENIED call', 'STATUS_NOT_BINDABLE', fact({ statement: 'cart', bindings: [run.at('/error/code', undefined, run.denied)] })],
  [
    'a RUNNING call',
    'STATUS_NOT_BINDABLE',
    fact({ statement: 'cart', bindings: [run.at(row('lines'), undefined, run.running)] }),
  ],
  [
    'a count of a truncated output',
    'SOURCE_INCOMPLETE',
    fact({ assertion: { op: 'count', left: 0 }, bindings: [run.at(row('lines'), undefined, run.truncated)] }),
  ],
  [
    'a worded count of a truncated output',
    'SOURCE_INCOMPLETE',
    fact({ statement: 'cart-service wrote 1234 lines', bindings: [run.at(row('lines'), undefined, run.truncated)] }),
  ],
  [
    '"only" on a truncated output',
    'SOURCE_INCOMPLETE',
    fact({ statement: 'only cart-service was slow', bindings: [run.at(row('p99'), undefined, run.truncated)] }),
  ],
  ['a cause asserted as a fact', 'CAUSAL_STATEMENT', said('cart-service failed because of 561 error lines', row('error_lines'))],
  [
    'appeared, though it was there',
    'ASSERTION_FALSE',
    other(typed({ op: 'appeared', left: 0, right: 1 }, row('baseline_error_lines', 1), row('error_lines', 1)), {
      subject: 'cart',
    }),
  ],
  ['an operand that is not there', 'ASSERTION_MALFORMED', typed({ op: 'rose', left: 0, right: 5 }, ...share)],
  ['absence of what matched', 'ABSENCE_NOT_PROVEN', absent(run.absence({ matched_count: 1 }))],
  ['absence where nothing was scanned', 'ABSENCE_NOT_PROVEN', absent(run.absence({ records_scanned: 0 }))],
  ['absence beside rejected rows', 'SOURCE_INCOMPLETE', absent(run.absence({ records_rejected: 1 }))],
  ['absence in an incomplete source', 'SOURCE_INCOMPLETE', absent(run.absence({ complete: false }))],
  ['absence in a truncated source', 'SOURCE_INCOMPLETE', absent(run.absence({}, PATTERN_ARGS, 'TRUNCATED'))],
  [
    'absence outside the coverage',
    'SCOPE_MISMATCH',
    absent(run.absence({ coverage: { from: '2026-05-04T14:01:00Z', to: WINDOW.to, filter: null } })),
  ],
  ['absence without coverage', 'SCOPE_MISMATCH', absent(run.absence({ coverage: { from: null, to: null, filter: null } }))],
  ['absence under a foreign filter', 'SCOPE_MISMATCH', absent(run.absence({ coverage: { ...WINDOW, filter: 'level=ERROR' } }))],
  ['absence of another word', 'SCOPE_MISMATCH', absent(run.absent, { filter: 'timeout' })],
  ['absence of anything', 'SCOPE_MISMATCH', absent(run.absent, { filter: '' })],
  ['absence for another subject', 'SCOPE_MISMATCH', absent(run.absent, { subject: 'cart' })],
  ['absence in a wider range', 'SCOPE_MISMATCH', absent(run.absent, { to: '2026-05-04T14:11:00Z' })],
  ['absence in a narrower search', 'SCOPE_MISMATCH', absent(run.absence({}, { ...PATTERN_ARGS, level: 'ERROR' }))],
  ['absence on another scalar', 'ABSENCE_NOT_PROVEN', absent(run.absent, {}, '/summary/records_scanned')],
];

function RUN_OF_NOBODY(): string {
  return 'nobody';
}

describe('claims against recorded output', () => {
  it.each(TRUE_CLAIMS)('[B6] [C7] passes a true claim: %s', async (_name, claim) => {
    const { result, checked_bindings } = await run.check([claim]);
    expect(checked_bindings.map((binding) => binding.reason_code)).toEqual(claim.bindings.map(() => 'OK'));
    expect(result).toBe('pass');
  });

  it.each(FALSE_CLAIMS)('[B6] [C7] fails a false claim: %s (%s)', async (_name, code, claim) => {
    const { result, severity, checked_bindings } = await run.check([claim]);
    expect(result).toBe('fail');
    expect(checked_bindings.map((binding) => [binding.reason_code, binding.matched_text])).toEqual(
      claim.bindings.map(() => [code, null]),
    );
    expect(severity).toBe(
      ['TOOL_MISMATCH', 'INVOCATION_UNKNOWN', 'INVOCATION_OF_ANOTHER_RUN'].includes(code) ? 'reject' : 'low_confid',
    );
  });

  it.each([
    ['compares', 'p99 of cart-service rose from 120.5 ms to 1532 ms', ['baseline_p99', 'p99']],
    ['negates', 'in the baseline cart-service logged no error lines', ['baseline_error_lines']],
    ['quantifies', 'every value of cart-service was 1532 ms', ['p99']],
  ])('[C7] caps an untyped sentence that %s, though its binding passes', async (_name, statement, fields) => {
    const result = await run.check([said(statement, ...fields.map((name) => row(name)))]);
    expect(result).toMatchObject({
      result: 'fail',
      severity: 'low_confid',
      reasons: [{ code: 'UNTYPED_COMPARISON', claim_id: 'c1' }],
    });
    expect(result.checked_bindings.map((binding) => binding.passed)).toEqual(fields.map(() => true));
  });

  it('[B7] gives the source slice as matched text', async () => {
    const at = (path: string, quote?: string): Claim['bindings'][number] => run.at(path, quote, bigOutput);
    const numbers = await run.check([
      fact({ statement: 'cart-service 12345678901234567890', bindings: [at('/id')] }),
      fact({ claim_id: 'c2', statement: 'cart-service 1.10', bindings: [at('/price')] }),
    ]);
    expect(numbers.checked_bindings.map((binding) => binding.matched_text)).toEqual(['12345678901234567890', '1.10']);
    const text = await run.check([lines('#L12-L13', 'cart-service')]);
    expect(text.checked_bindings[0]?.matched_text).toBe(TEXT.split('\n').slice(11, 13).join('\n'));
    const quoted = await run.check([
      fact({ statement: 'cart-service', bindings: [run.at(row('sample'), 'ERROR Timeout after')] }),
    ]);
    expect(quoted.checked_bindings[0]?.matched_text).toBe('ERROR Timeout   after');
  });

  it('says AMBIGUOUS_ZONE when neither sentence nor source has a zone', async () => {
    const noZone = run.add(
      { service: 'cart-service' },
      JSON.stringify({ ...JSON.parse(JSON.stringify(outputOf('2026-05-04 14:02:03 ERROR cart-service'))) }),
    );
    const result = await run.check([
      fact({ statement: 'cart-service failed at 14:02:03', bindings: [run.at('/text', undefined, noZone)] }),
    ]);
    expect(result.checked_bindings[0]?.reason_code).toBe('AMBIGUOUS_ZONE');
  });

  it('[A10] foreign evidence under a hypothesis rejects the whole document', async () => {
    const guess: Claim = { ...said('perhaps the disk', row('lines')), kind: 'hypothesis', claim_id: 'h1' };
    guess.bindings = [run.at(row('lines'), undefined, run.foreign)];
    const result = await run.check([typed(rose, ...share), guess]);
    expect(result).toMatchObject({ result: 'fail', severity: 'reject' });
  });

  it('[A10] no claims, only hypotheses, or an unbound fact: fail with low_confid and nothing passed', async () => {
    const guess: Claim = { claim_id: 'h1', kind: 'hypothesis', subject: 'cart', statement: 'the disk', bindings: [] };
    expect(await run.check([])).toMatchObject({ result: 'fail', severity: 'low_confid', reasons: [{ code: 'NO_CLAIMS' }] });
    expect(await run.check([guess])).toMatchObject({ result: 'fail', severity: 'low_confid', reasons: [{ code: 'NO_CLAIMS' }] });
    const unbound = await run.check([typed(rose, ...share), { ...guess, kind: 'fact', claim_id: 'c2' }]);
    expect(unbound).toMatchObject({
      result: 'fail',
      severity: 'low_confid',
      reasons: [{ code: 'UNBOUND_CLAIM', claim_id: 'c2' }],
    });
  });

  it('reads each output once and asks about other runs only when it must', async () => {
    const counted = new ShopRun();
    const claims = Array.from({ length: 20 }, (_, index) => ({
      ...fact({ assertion: { op: 'count', left: 0 }, bindings: [counted.at(row('lines'))] }),
      claim_id: `c${index}`,
      statement: 'cart-service wrote 1234 lines',
    }));
    expect((await counted.check(claims as Claim[])).result).toBe('pass');
    expect(counted.store.reads.length).toBe(new Set(counted.store.reads).size);
  });

  it('[B7] an assessment whose subject no claim verifies is reported', async () => {
    const assessment = { rank: 1, role: 'cause' as const, claim_ids: ['c1'] };
    const good = await run.check([typed(rose, ...share)], [{ ...assessment, subject: 'cart-service' }]);
    expect(good).toMatchObject({ result: 'pass', reasons: [] });
    const bad = await run.check([typed(rose, ...share)], [{ ...assessment, subject: 'cart' }]);
    expect(bad.reasons).toEqual([{ code: 'ASSESSMENT_UNSUPPORTED', claim_id: null }]);
  });
});

function outputOf(text: string): object {
  return {
    matched_count: 1,
    records_scanned: 1,
    records_rejected: 0,
    complete: true,
    coverage: { from: null, to: null, filter: null },
    fields: {},
    server_time: null,
    data: { text },
  };
}
