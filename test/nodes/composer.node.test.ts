import { ComposerNode } from '../../src/nodes/composer.node';
import type { DiagnosisState } from '../../src/blueprint/state-fields';
import { QUERY, runConfig, ScriptedAgent, statedClaim, stateOf } from './incident-material';

const ARRANGED = JSON.stringify({
  schema: 'composer_answer_v1',
  sections: [{ heading: 'What was found', text: 'The evidence shows: {{c1}}' }],
});
const { bindings } = statedClaim('c1', 'fact', 'order-db', 'order-db waited for locks');

const state = (fields: Partial<DiagnosisState> = {}): DiagnosisState =>
  stateOf({
    effective_verdict: 'PASS',
    allowed_material: {
      claims: [{ claim_id: 'c1', kind: 'fact', subject: 'order-db', statement: 'order-db waited for locks', bindings }],
      evidence: [
        {
          claim_id: 'c1',
          source_invocation_id: 't2-bbbb',
          tool_name: 'log_patterns',
          raw_path: '/rows/0/sample',
          matched_text: 'MATCHED',
        },
      ],
      assessments: [{ rank: 1, subject: 'order-db', role: 'cause', claim_ids: ['c1'] }],
      missing_information: ['Nobody looked at metrics.'],
      recommendations: ['Find the owner of the lock.'],
      limitations: [],
      dropped: [],
    },
    ...fields,
  });

describe('ComposerNode', () => {
  it('[B14] gives the agent claims without bindings, texts, and neither question nor window', async () => {
    const agent = new ScriptedAgent([ARRANGED]);
    await new ComposerNode(agent).run(state(), runConfig());
    expect(JSON.parse(agent.inputs[0] as string)).toEqual({
      effective_verdict: 'PASS',
      claims: [{ claim_id: 'c1', kind: 'fact', subject: 'order-db', statement: 'order-db waited for locks' }],
      assessments: [{ rank: 1, subject: 'order-db', role: 'cause', claim_ids: ['c1'] }],
      missing_information: ['Nobody looked at metrics.'],
      recommendations: ['Find the owner of the lock.'],
    });
    expect(agent.inputs[0]).not.toContain(QUERY.question);
  });

  it('[B5] the answer is worded by code from the allowed claims', async () => {
    const { update } = await new ComposerNode(new ScriptedAgent([ARRANGED])).run(state(), runConfig());
    expect(update.composer_answer).toContain('order-db waited for locks');
    expect(update.composer_answer).not.toContain('{{');
  });

  it.each([
    ['no allowed material', { allowed_material: null }],
    ['no verdict', { effective_verdict: null }],
    ['a rejected verdict', { effective_verdict: 'REJECT' as const }],
  ])('[B4] with %s nobody is asked and there is no answer', async (_case, fields) => {
    const agent = new ScriptedAgent([ARRANGED]);
    const { update } = await new ComposerNode(agent).run(state(fields), runConfig());
    expect(update).toEqual({ composer_status: 'NON_RETRYABLE_FAILED' });
    expect(agent.inputs).toEqual([]);
  });
});
