import { initialState, type DiagnosisState } from '../../src/blueprint/state-fields';
import { metricsOf, readAnswer, selfEvaluationOf } from '../../src/chat/run-outcome';
import type { AgentStepRecord } from '../../src/ports/agent-step-store.port';
import type { AllowedMaterial } from '../../src/protocol/verified-material';

const WINDOW = { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z', source: 'request' } as const;

const MATERIAL: AllowedMaterial = {
  claims: [
    {
      claim_id: 'c1',
      kind: 'fact',
      subject: 'alder',
      statement: 'alder failed 42 times',
      bindings: [{ source_invocation_id: 't1-abcd', tool_name: 'unit_counts', raw_path: '/0' }],
    },
  ],
  evidence: [{ claim_id: 'c1', source_invocation_id: 't1-abcd', tool_name: 'unit_counts', raw_path: '/0', matched_text: '42' }],
  assessments: [{ rank: 1, subject: 'alder', role: 'cause', claim_ids: ['c1'] }],
  missing_information: [],
  recommendations: [],
  limitations: [],
  dropped: [],
};

function stateWith(fields: Partial<DiagnosisState>): DiagnosisState {
  const start = initialState({
    schema_version: 1,
    diagnosis_query: {
      schema: 'diagnosis_query_v1',
      question: 'why?',
      now: '2026-05-04T15:00:00Z',
      window: WINDOW,
      baseline: null,
      time_zone: 'UTC',
      locale: 'en',
    },
    session_context: { earlier_answers: [] },
  });
  return { ...start, allowed_material: MATERIAL, effective_verdict: 'LOW_CONFID', ...fields };
}

describe('readAnswer', () => {
  it.each([['PRE_VERIFICATION' as const], [null]])(
    '[A10] [B15] shows no cause, claim or evidence of a fallback of class %s, whatever material the state still holds',
    (fallback_class) => {
      const state = stateWith({ fallback_class, fallback_reason: 'STATUS_UNKNOWN', fallback_answer: 'Could not look.' });
      expect(readAnswer(state)).toEqual({
        answer: 'Could not look.',
        degraded: true,
        causes: [],
        evidence: { claims: [], evidence: [], empty_reason: expect.stringContaining('before verification') },
      });
      expect(selfEvaluationOf(state, 2)).toMatchObject({ claims_allowed: 1, claims_shown: 0, tool_calls: 2 });
    },
  );

  it('[A13] shows what was allowed after verification', () => {
    const state = stateWith({ fallback_class: 'POST_VERIFICATION', fallback_answer: '- alder failed 42 times [1]' });
    expect(readAnswer(state)).toMatchObject({
      degraded: true,
      causes: [{ subject: 'alder', claimIds: ['c1'] }],
      evidence: { empty_reason: null },
    });
    expect(selfEvaluationOf(state, 0).claims_shown).toBe(1);
  });

  it('[C8] takes nothing for an answer that is blank or missing', () => {
    expect(readAnswer(stateWith({}))).toBeNull();
    expect(readAnswer(stateWith({ composer_answer: ' \n\t' }))).toBeNull();
    expect(readAnswer(stateWith({ composer_answer: 'Nothing.' }))).toMatchObject({ answer: 'Nothing.', degraded: false });
  });
});

describe('metricsOf', () => {
  const step = (node: AgentStepRecord['node'], duration_ms: number, tokens: number | null): AgentStepRecord => ({
    id: 'x',
    run_id: 'r',
    node,
    round: 0,
    attempt: 1,
    outcome: 'COMPLETED',
    reason_code: 'OK',
    started_at: new Date(0),
    duration_ms,
    input_bytes: null,
    output_bytes: null,
    input_tokens: tokens,
    output_tokens: tokens,
  });

  it('adds up by node, counts agents alone, and knows tokens only when every agent does', () => {
    const steps = [step('planner', 2, 10), step('planner', 3, 5), step('gatekeeper', 1, null)];
    expect(metricsOf(steps, 4, 9)).toEqual({
      duration_ms: 9,
      node_ms: { planner: 5, gatekeeper: 1 },
      agent_calls: 2,
      tool_calls: 4,
      input_tokens: 15,
      output_tokens: 15,
    });
    expect(metricsOf([...steps, step('executor', 1, null)], 0, 9)).toMatchObject({ input_tokens: null, output_tokens: null });
    expect(metricsOf([], 0, 0).input_tokens).toBeNull();
  });
});
