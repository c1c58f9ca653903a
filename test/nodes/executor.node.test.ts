import { EVIDENCE_ROUND_INSTRUCTIONS, ExecutorNode } from '../../src/nodes/executor.node';
import type { EvidenceRetryContext } from '../../src/protocol/evidence-retry-context';
import { evidenceOf, PLAN, roseClaim, runConfig, ScriptedAgent, stateOf } from './incident-material';

const CONTEXT: EvidenceRetryContext = {
  prior_verified_output: {
    claims: [
      { claim_id: 'c1', kind: 'fact', subject: 'order-db', statement: 'first sentence', bindings: roseClaim('c1', 'x').bindings },
    ],
    assessments: [],
    limitations: [],
  },
  prior_verified_evidence: [
    {
      claim_id: 'c1',
      source_invocation_id: 't1-aaaa',
      tool_name: 'error_share',
      raw_path: '/rows/0/error_lines',
      matched_text: '40',
    },
  ],
  gaps: [{ fact_id: 'f1', claim_id: null, verification: 'no_evidence', gap: 'who held the lock' }],
  completed_queries: [{ source_invocation_id: 't1-aaaa', tool_name: 'error_share', arguments: '{"service":"order-db"}' }],
  constraints: {
    max_evidence_retries: 1,
    repeat_completed_queries: false,
    snapshot: 'complete',
    keep_prior_verified_claims: true,
  },
};

describe('ExecutorNode', () => {
  it('[B13] the evidence round gets prior material, gaps, completed queries, and is told not to repeat and to be complete', async () => {
    const agent = new ScriptedAgent([JSON.stringify(evidenceOf([roseClaim('c2', 'order-db')]))]);
    const view = stateOf({ planner_mode: 'EVIDENCE_GAP_ONLY', diagnosis_plan: PLAN, evidence_retry_context: CONTEXT });
    await new ExecutorNode(agent).run(view, runConfig());
    const input = JSON.parse(agent.inputs[0] as string) as Record<string, unknown>;
    expect(input['evidence_retry_context']).toEqual(CONTEXT);
    expect(input['instructions']).toEqual(EVIDENCE_ROUND_INSTRUCTIONS);
    expect(EVIDENCE_ROUND_INSTRUCTIONS.join(' ')).toMatch(
      /not repeat .*completed_queries.*complete executor_evidence_v2.*Keep every claim/s,
    );
  });

  it('[B13] the second snapshot stands as it is: code merges no claim of the first round into it', async () => {
    const second = evidenceOf([roseClaim('c2', 'order-db')]);
    const view = stateOf({ planner_mode: 'EVIDENCE_GAP_ONLY', diagnosis_plan: PLAN, evidence_retry_context: CONTEXT });
    const { update } = await new ExecutorNode(new ScriptedAgent([JSON.stringify(second)])).run(view, runConfig());
    expect(update.executor_output).toEqual(second);
  });

  it('[B13] the first round is told nothing of an evidence round', async () => {
    const agent = new ScriptedAgent([JSON.stringify(evidenceOf([roseClaim('c1', 'order-db')]))]);
    await new ExecutorNode(agent).run(stateOf({ diagnosis_plan: PLAN }), runConfig());
    expect(JSON.parse(agent.inputs[0] as string)).not.toHaveProperty('instructions');
  });
});
