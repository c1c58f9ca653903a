import { VerifiedInputNode } from '../../src/nodes/verified-input.node';
import type { ExecutorEvidence } from '../../src/protocol/executor-evidence';
import type { GatekeeperResult } from '../../src/protocol/gatekeeper-result';
import {
  ABSENCE,
  checkedOf,
  evidenceOf,
  failResult,
  passResult,
  roseClaim,
  runConfig,
  statedClaim,
  stateOf,
} from './incident-material';

function project(output: ExecutorEvidence, raw: GatekeeperResult, gatekeeper_status: 'PASS' | 'LOW_CONFID' | 'REJECT') {
  const view = stateOf({ executor_output: output, gatekeeper_result: structuredClone(raw), gatekeeper_status });
  return new VerifiedInputNode().run(view, runConfig());
}

describe('VerifiedInputNode', () => {
  const fact = statedClaim('c1', 'fact', 'order-db', 'order-db logged lock waits', 0);
  const other = statedClaim('c2', 'fact', 'shipping', 'shipping lost parcels', 1);

  it('[B7] keeps passed facts and absences with exactly the fields of the evidence, and words typed claims itself', async () => {
    const typed = { ...roseClaim('c3', 'order-db'), statement: 'words of the executor' };
    const claims = [fact, typed, ABSENCE];
    const texts = ['order-db lock wait', '3', '40', '0'];
    const { update, reason_code } = await project(evidenceOf(claims), passResult(checkedOf(claims, texts)), 'PASS');
    expect(reason_code).toBe('OK');
    expect(update.verified_input_status).toBe('COMPLETED');
    expect(update.verified_executor_output?.claims.map((claim) => claim.claim_id)).toEqual(['c1', 'c3', 'a1']);
    expect(update.verified_evidence?.map((item) => item.matched_text)).toEqual(texts);
    expect(update.verified_evidence?.[0]).toEqual({
      claim_id: 'c1',
      source_invocation_id: 't2-bbbb',
      tool_name: 'log_patterns',
      raw_path: '/rows/0/sample',
      matched_text: 'order-db lock wait',
    });
    expect(JSON.stringify(update)).not.toContain('words of the executor');
  });

  it('[A11] [B7] failed bindings, hypotheses and free text of the executor are absent', async () => {
    const guess = statedClaim('h1', 'hypothesis', 'order-db', 'a deploy broke it', 2);
    const claims = [fact, other, guess];
    const output = evidenceOf(claims, {
      limitations: ['shipping was surely at fault', 'BUDGET_EXHAUSTED'],
      assessments: [
        { rank: 1, subject: 'order-db', role: 'cause', claim_ids: ['c1'] },
        { rank: 2, subject: 'shipping', role: 'symptom', claim_ids: ['c2'] },
        { rank: 3, subject: 'order-db', role: 'trigger', claim_ids: ['c1', 'h1'] },
        { rank: 4, subject: 'billing', role: 'contributing', claim_ids: ['c1'] },
      ],
    });
    const raw = failResult('low_confid', checkedOf(claims, ['order-db lock wait', null, 'deploy of order-db']));
    const { update } = await project(output, raw, 'LOW_CONFID');
    expect(update.verified_executor_output?.claims).toEqual([{ ...fact }]);
    expect(update.verified_executor_output?.assessments).toEqual([
      { rank: 1, subject: 'order-db', role: 'cause', claim_ids: ['c1'] },
    ]);
    expect(update.verified_executor_output?.limitations).toEqual(['BUDGET_EXHAUSTED']);
    for (const text of ['shipping', 'a deploy broke it', 'deploy of order-db', 'billing']) {
      expect(JSON.stringify(update)).not.toContain(text);
    }
  });

  it('[B7] an assessed subject stands in its verified claims or their matched text, and rests on fully passed claims', async () => {
    const half = {
      ...other,
      bindings: [...other.bindings, { source_invocation_id: 't2-bbbb', tool_name: 'log_patterns', raw_path: '/rows/8/sample' }],
    };
    const output = evidenceOf([fact, half], {
      assessments: [
        { rank: 1, subject: 'db-7', role: 'cause', claim_ids: ['c1'] },
        { rank: 2, subject: 'db-8', role: 'contributing', claim_ids: ['c1'] },
        { rank: 3, subject: 'shipping', role: 'symptom', claim_ids: ['c2'] },
      ],
    });
    const raw = failResult('low_confid', checkedOf([fact, half], ['order-db lock wait on db-7', 'shipping: lost', null]));
    const { update } = await project(output, raw, 'LOW_CONFID');
    expect(update.verified_executor_output?.claims.map((claim) => claim.bindings.length)).toEqual([1, 1]);
    expect(update.verified_executor_output?.assessments.map((assessment) => assessment.subject)).toEqual(['db-7']);
  });

  it('[B7] an assertion follows its bindings when one beside it failed, and falls with one that it computes with', async () => {
    const spare = { source_invocation_id: 't2-bbbb', tool_name: 'log_patterns', raw_path: '/rows/9/sample' };
    const shifted = roseClaim('c1', 'order-db');
    shifted.bindings.unshift(spare);
    shifted.assertion = { op: 'rose', left: 1, right: 2 };
    const broken = roseClaim('c2', 'order-db', 't1-aaaa', 1);
    const claims = [shifted, broken];
    const raw = failResult('low_confid', checkedOf(claims, [null, '3', '40', '5', null]));
    const { update } = await project(evidenceOf(claims), raw, 'LOW_CONFID');
    const kept = update.verified_executor_output?.claims ?? [];
    expect(kept.map((claim) => claim.claim_id)).toEqual(['c1']);
    expect(kept[0]?.assertion).toEqual({ op: 'rose', left: 0, right: 1 });
    expect(kept[0]?.bindings).toEqual(roseClaim('c1', 'order-db').bindings);
    expect(update.verified_evidence).toHaveLength(2);
  });

  it('[B7] bindings are told apart by all four fields', async () => {
    const twin = { ...fact, claim_id: 'c9' };
    const raw = failResult('low_confid', checkedOf([fact, twin], ['order-db lock wait', null]));
    const { update } = await project(evidenceOf([fact, twin]), raw, 'LOW_CONFID');
    expect(update.verified_executor_output?.claims.map((claim) => claim.claim_id)).toEqual(['c1']);
  });

  it('[A11] an empty projection fails', async () => {
    const guess = statedClaim('h1', 'hypothesis', 'order-db', 'a deploy broke it', 2);
    const claims = [roseClaim('c1', 'order-db'), guess];
    const raw = failResult('low_confid', checkedOf(claims, ['3', null, 'deploy of order-db']));
    const result = await project(evidenceOf(claims), raw, 'LOW_CONFID');
    expect(result).toEqual({ update: { verified_input_status: 'FAILED' }, reason_code: 'NOTHING_VERIFIED' });
  });

  it.each([
    ['a result that contradicts itself', passResult(checkedOf([fact, other], ['order-db lock wait', null])), 'PASS'],
    [
      'a status that the result does not bear out',
      failResult('low_confid', checkedOf([fact, other], ['order-db lock wait', null])),
      'PASS',
    ],
    ['a result of another run', { ...passResult(checkedOf([fact, other], ['x1', 'x2'])), run_id: 'another run' }, 'PASS'],
    ['a rejected result', failResult('reject', checkedOf([fact, other], ['order-db lock wait', null])), 'REJECT'],
  ] as const)('[A10] [B6] %s yields nothing', async (_case, raw, status) => {
    const result = await project(evidenceOf([fact, other]), raw, status);
    expect(result).toEqual({ update: { verified_input_status: 'FAILED' }, reason_code: 'GATEKEEPER_RESULT_UNTRUSTED' });
  });
});
