import { EVIDENCE_ROUND_INSTRUCTIONS, ExecutorNode } from '../../src/nodes/executor.node';
import type { EvidenceRetryContext } from '../../src/protocol/evidence-retry-context';
import { evidenceOf, PLAN, roseClaim, runConfig, ScriptedAgent, stateOf, invocationsOf, recordOf } from './incident-material';

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
    await new ExecutorNode(agent, invocationsOf([])).run(view, runConfig());
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
    const { update } = await new ExecutorNode(new ScriptedAgent([JSON.stringify(second)]), invocationsOf([])).run(
      view,
      runConfig(),
    );
    expect(update.executor_output).toEqual(second);
  });

  it('[B13] the first round is told nothing of an evidence round', async () => {
    const agent = new ScriptedAgent([JSON.stringify(evidenceOf([roseClaim('c1', 'order-db')]))]);
    await new ExecutorNode(agent, invocationsOf([])).run(stateOf({ diagnosis_plan: PLAN }), runConfig());
    expect(JSON.parse(agent.inputs[0] as string)).not.toHaveProperty('instructions');
  });

  describe('without a legal document', () => {
    const denied = invocationsOf([recordOf({ round: 0, status: 'DENIED' })]);
    const deniedEarlier = invocationsOf([recordOf({ round: 1, status: 'DENIED' }), recordOf({ round: 0, status: 'OK' })]);

    it.each([
      ['a broken document', '{', 'INVALID_OUTPUT'],
      ['a failing agent', new Error('gone'), 'FAILED'],
    ])('[A8] [B3] %s is TOOL_BLOCKED when a call of the round was denied, else %s', async (_name, answer, otherwise) => {
      const run = async (store: typeof denied): Promise<unknown> =>
        (await new ExecutorNode(new ScriptedAgent([answer]), store).run(stateOf({ diagnosis_plan: PLAN }), runConfig())).update;
      expect(await run(denied)).toEqual({ executor_status: 'TOOL_BLOCKED' });
      expect(await run(deniedEarlier)).toEqual({ executor_status: otherwise });
      expect(await run(invocationsOf(new Error('store down')))).toEqual({ executor_status: otherwise });
    });

    it('[B3] a legal document stands although a call was denied', async () => {
      const legal = new ScriptedAgent([JSON.stringify(evidenceOf([roseClaim('c1', 'order-db')]))]);
      const { update } = await new ExecutorNode(legal, denied).run(stateOf({ diagnosis_plan: PLAN }), runConfig());
      expect(update.executor_status).toBe('COMPLETED');
    });
  });
});
