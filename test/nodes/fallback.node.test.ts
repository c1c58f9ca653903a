import { FallbackNode } from '../../src/nodes/fallback.node';
import type { DiagnosisState } from '../../src/blueprint/state-fields';
import type { OrchestrationEvent } from '../../src/protocol/orchestration-event';
import type { AllowedMaterial } from '../../src/protocol/verified-material';
import { invocationsOf, QUERY, recordOf, runConfig, statedClaim, stateOf } from './incident-material';

const { bindings } = statedClaim('c1', 'fact', 'order-db', 'order-db waited for locks');
const ALLOWED: AllowedMaterial = {
  claims: [{ claim_id: 'c1', kind: 'fact', subject: 'order-db', statement: 'order-db waited for locks', bindings }],
  evidence: [
    {
      claim_id: 'c1',
      source_invocation_id: 't2-bbbb',
      tool_name: 'log_patterns',
      raw_path: '/rows/0/sample',
      matched_text: 'lock wait',
    },
  ],
  assessments: [],
  missing_information: [],
  recommendations: ['Find the owner of the lock.'],
  limitations: [],
  dropped: [],
};

const failing = (node: OrchestrationEvent['node'], reason_code: OrchestrationEvent['reason_code']): OrchestrationEvent[] => [
  { node: 'planner', outcome: 'COMPLETED', reason_code: 'OK', attempt: { round: 0, attempt: 1 } },
  { node, outcome: 'NON_RETRYABLE_FAILED', reason_code, attempt: { round: 0, attempt: 1 } },
];

const TOOLS = invocationsOf([recordOf({ tool_name: 'log_patterns' }), recordOf({ tool_name: 'error_share', status: 'ERROR' })]);

const answerOf = async (fields: Partial<DiagnosisState>, store = TOOLS) => {
  const view = stateOf({ effective_verdict: 'LOW_CONFID', allowed_material: ALLOWED, ...fields });
  return (await new FallbackNode(store).run(view, runConfig())).update;
};

describe('FallbackNode', () => {
  it('[A13] [B15] after verification it shows the allowed claims and the reason of the last event', async () => {
    const update = await answerOf({ orchestration_events: failing('composer', 'OUTPUT_NOT_JSON') });
    expect(update).toMatchObject({ fallback_class: 'POST_VERIFICATION', fallback_reason: 'OUTPUT_NOT_JSON' });
    expect(update.fallback_answer).toContain('order-db waited for locks');
  });

  it.each(['planner', 'executor', 'gatekeeper', 'verified_input', 'verifier', 'retry_prepare'] as const)(
    '[A10] [B15] when %s failed it names question, tools and statuses, and no claim',
    async (node) => {
      const update = await answerOf({ orchestration_events: failing(node, 'AGENT_PERMANENT') });
      expect(update).toMatchObject({ fallback_class: 'PRE_VERIFICATION', fallback_reason: 'AGENT_PERMANENT' });
      for (const text of [QUERY.question, 'log_patterns', 'error_share', 'ERROR']) expect(update.fallback_answer).toContain(text);
      for (const text of ['order-db', 'lock']) expect(update.fallback_answer).not.toContain(text);
    },
  );

  it.each([
    ['no allowed material', { allowed_material: null }],
    ['allowed material without a claim', { allowed_material: { ...ALLOWED, claims: [] } }],
  ])('[A13] the composer failed with %s: the class stays, the text is the one without claims', async (_case, fields) => {
    const update = await answerOf({ orchestration_events: failing('composer', 'AGENT_PERMANENT'), ...fields });
    expect(update.fallback_class).toBe('POST_VERIFICATION');
    const pre = await answerOf({ orchestration_events: failing('verifier', 'AGENT_PERMANENT') });
    expect(update.fallback_answer).toBe(pre.fallback_answer);
  });

  it('[A7] it answers without a readable list of tools, says so, and claims no tool was asked', async () => {
    const update = await answerOf(
      { orchestration_events: failing('planner', 'AGENT_PERMANENT') },
      invocationsOf(new Error('down')),
    );
    const none = await answerOf({ orchestration_events: failing('planner', 'AGENT_PERMANENT') }, invocationsOf([]));
    expect(update.fallback_answer).toContain(QUERY.question);
    expect(update.fallback_answer).toMatch(/could not be read/);
    expect(none.fallback_answer).not.toMatch(/could not be read/);
  });

  it('[A7] without any event it is a fallback before verification', async () => {
    const update = await answerOf({ orchestration_events: [] });
    expect(update).toMatchObject({ fallback_class: 'PRE_VERIFICATION', fallback_reason: 'STATUS_UNKNOWN' });
  });
});
