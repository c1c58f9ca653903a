import { RetryPrepareNode } from '../../src/nodes/retry-prepare.node';
import type { VerifierFact } from '../../src/protocol/verifier-verdict';
import { invocationsOf, recordOf, roseClaim, runConfig, stateOf } from './incident-material';

const OUTPUT = {
  claims: [
    { claim_id: 'c1', kind: 'fact' as const, subject: 'order-db', statement: 's', bindings: roseClaim('c1', 'x').bindings },
  ],
  assessments: [],
  limitations: [],
};
const EVIDENCE = [
  {
    claim_id: 'c1',
    source_invocation_id: 't1-aaaa',
    tool_name: 'error_share',
    raw_path: '/rows/0/error_lines',
    matched_text: '40',
  },
];
const OPEN: VerifierFact = {
  fact_id: 'f1',
  claim_id: null,
  is_critical: true,
  verification: 'no_evidence',
  gap: 'no sample of the lock',
};
const WEAK: VerifierFact = {
  fact_id: 'f2',
  claim_id: 'c1',
  is_critical: true,
  verification: 'indirect_support',
  gap: 'rate only',
};
const SIDE: VerifierFact = {
  fact_id: 'f3',
  claim_id: null,
  is_critical: false,
  verification: 'no_evidence',
  gap: 'nice to have',
};

const view = (verifier_facts: VerifierFact[], evidence_retry_count: 0 | 1 = 0) =>
  stateOf({ verified_executor_output: OUTPUT, verified_evidence: EVIDENCE, verifier_facts, evidence_retry_count });

describe('RetryPrepareNode', () => {
  it('[B11] [A9] holds prior verified material, the qualifying gaps and fixed constraints, and moves counter and mode once', async () => {
    const sure: VerifierFact = { fact_id: 'f4', claim_id: 'c1', is_critical: true, verification: 'direct_support', gap: 'none' };
    const against: VerifierFact = { fact_id: 'f5', claim_id: 'c1', is_critical: true, verification: 'contradicted', gap: 'no' };
    const { update, reason_code } = await new RetryPrepareNode(invocationsOf([])).run(
      view([OPEN, SIDE, sure, WEAK, against]),
      runConfig(),
    );
    expect(reason_code).toBe('OK');
    expect(update).toEqual({
      retry_prepare_status: 'COMPLETED',
      planner_mode: 'EVIDENCE_GAP_ONLY',
      evidence_retry_count: 1,
      evidence_retry_context: {
        prior_verified_output: OUTPUT,
        prior_verified_evidence: EVIDENCE,
        gaps: [
          { fact_id: 'f1', claim_id: null, verification: 'no_evidence', gap: 'no sample of the lock' },
          { fact_id: 'f2', claim_id: 'c1', verification: 'indirect_support', gap: 'rate only' },
        ],
        completed_queries: [],
        constraints: {
          max_evidence_retries: 1,
          repeat_completed_queries: false,
          snapshot: 'complete',
          keep_prior_verified_claims: true,
        },
      },
    });
  });

  it('[B11] completed queries are the successful ones of this run, each once, in the order they were asked', async () => {
    const store = invocationsOf([
      recordOf({ invocation_id: 't4-dddd', ordinal: 4, arguments: '{"service":"b"}', status: 'TRUNCATED' }),
      recordOf({ invocation_id: 't1-aaaa', ordinal: 1, arguments: '{"service":"a"}' }),
      recordOf({ invocation_id: 't2-bbbb', ordinal: 2, arguments: '{"service":"a"}' }),
      recordOf({ invocation_id: 't3-cccc', ordinal: 3, arguments: '{"service":"a"}', tool_name: 'log_patterns' }),
      recordOf({ invocation_id: 't5-eeee', ordinal: 5, arguments: '{"service":"c"}', status: 'ERROR' }),
      recordOf({ invocation_id: 't6-ffff', ordinal: 6, arguments: '{"service":"d"}', status: 'DENIED' }),
      recordOf({ invocation_id: 't7-gggg', ordinal: 7, arguments: '{"service":"e"}', run_id: 'another run' }),
    ]);
    const { update } = await new RetryPrepareNode(store).run(view([OPEN]), runConfig());
    expect(update.evidence_retry_context?.completed_queries).toEqual([
      { source_invocation_id: 't1-aaaa', tool_name: 'error_share', arguments: '{"service":"a"}' },
      { source_invocation_id: 't3-cccc', tool_name: 'log_patterns', arguments: '{"service":"a"}' },
      { source_invocation_id: 't4-dddd', tool_name: 'error_share', arguments: '{"service":"b"}' },
    ]);
  });

  it.each([
    ['[B12] only gaps that are not critical', invocationsOf([]), view([SIDE])],
    ['[B11] a gap without text', invocationsOf([]), view([{ ...OPEN, gap: '  ' }])],
    ['[A9] a run that had its evidence round', invocationsOf([]), view([OPEN], 1)],
    ['[B11] no verified material', invocationsOf([]), { ...view([OPEN]), verified_executor_output: null }],
    ['[B11] a store that fails', invocationsOf(new Error('down')), view([OPEN])],
  ])('%s: FAILED, and counter and mode stay', async (_case, store, state) => {
    const result = await new RetryPrepareNode(store).run(state, runConfig());
    expect(result).toEqual({ update: { retry_prepare_status: 'FAILED' }, reason_code: 'RETRY_CONTEXT_UNUSABLE' });
  });
});
