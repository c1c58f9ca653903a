import { normaliseGatekeeperResult } from '../../src/gatekeeper/normalise-gatekeeper-result';
import type { ExecutorEvidence } from '../../src/protocol/executor-evidence';
import type { CheckedBinding, GatekeeperResult } from '../../src/protocol/gatekeeper-result';

const binding = { source_invocation_id: 't1-aaaa', tool_name: 'error_share', raw_path: '/rows/0/lines' };
const document: ExecutorEvidence = {
  schema: 'executor_evidence_v2',
  claims: [
    { claim_id: 'c1', kind: 'fact', subject: 'cart', statement: 'x', bindings: [binding] },
    { claim_id: 'h1', kind: 'hypothesis', subject: 'cart', statement: 'x', bindings: [binding] },
  ],
  assessments: [],
  limitations: [],
  no_evidence: null,
};
const passed: CheckedBinding = { claim_id: 'c1', ...binding, passed: true, reason_code: 'OK', matched_text: '12' };
const failed: CheckedBinding = { ...passed, passed: false, reason_code: 'PATH_NOT_FOUND', matched_text: null };
const guessed: CheckedBinding = { ...passed, claim_id: 'h1' };
const pass: GatekeeperResult = { result: 'pass', run_id: 'r1', checked_bindings: [passed], reasons: [] };
const fail: GatekeeperResult = {
  ...pass,
  result: 'fail',
  severity: 'low_confid',
  reasons: [{ code: 'BINDING_FAILED', claim_id: 'c1' }],
};
const read = (raw: unknown): ReturnType<typeof normaliseGatekeeperResult> => normaliseGatekeeperResult(raw, 'r1', document);

describe('normalising the gatekeeper result', () => {
  it('[B6] reads the three results', () => {
    expect(read(pass)).toMatchObject({ status: 'PASS', ceiling: 'PASS', reason_code: 'OK', result: pass });
    expect(read(fail)).toMatchObject({ status: 'LOW_CONFID', ceiling: 'LOW_CONFID', reason_code: 'BINDING_FAILED' });
    expect(read({ ...fail, severity: 'reject' })).toMatchObject({
      status: 'REJECT',
      ceiling: null,
      reason_code: 'FOREIGN_EVIDENCE',
    });
  });

  it('[A10] counts only facts and absences as passed', () => {
    expect(read({ ...fail, checked_bindings: [failed, guessed] })).toMatchObject({
      status: 'LOW_CONFID',
      reason_code: 'NOTHING_VERIFIED',
      audit: { passed: 0, failed: 1, reason_codes: ['BINDING_FAILED', 'PATH_NOT_FOUND'] },
    });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'pass'],
    ['an unknown result', { ...pass, result: 'maybe' }],
    ['an unknown severity', { ...fail, severity: 'mild' }],
    ['an unknown member', { ...pass, extra: 1 }],
    ['another run', { ...pass, run_id: 'r2' }],
    ['pass with a failed binding', { ...pass, checked_bindings: [passed, { ...failed, raw_path: '/x' }] }],
    ['pass with a severity', { ...pass, severity: 'low_confid' }],
    ['pass without a passed binding', { ...pass, checked_bindings: [] }],
    ['pass on a hypothesis alone', { ...pass, checked_bindings: [guessed] }],
    ['fail without a severity', { ...fail, severity: undefined }],
    ['a passed binding without text', { ...fail, checked_bindings: [{ ...passed, matched_text: null }] }],
    ['a passed binding with blank text', { ...fail, checked_bindings: [{ ...passed, matched_text: ' ' }] }],
    ['a passed binding with a reason to fail', { ...fail, checked_bindings: [{ ...passed, reason_code: 'TEXT_EMPTY' }] }],
    ['a passed binding that the document lacks', { ...fail, checked_bindings: [{ ...passed, raw_path: '/rows/1/lines' }] }],
    ['a passed binding of an unknown claim', { ...fail, checked_bindings: [{ ...passed, claim_id: 'c9' }] }],
    ['a passed binding twice', { ...fail, checked_bindings: [passed, passed] }],
  ])('[B6] [C7] fails closed on %s', (_name, raw) => {
    expect(read(raw)).toMatchObject({ status: 'REJECT', ceiling: null, result: null, audit: { passed: 0 } });
  });

  it('[C7] fails closed when the document holds the key twice', () => {
    const doubled = {
      ...document,
      claims: [{ ...(document.claims[0] as (typeof document.claims)[number]), bindings: [binding, binding] }],
    };
    expect(normaliseGatekeeperResult(pass, 'r1', doubled).status).toBe('REJECT');
  });
});
