import { PlannerNode } from '../../src/nodes/planner.node';
import type { DiagnosisState } from '../../src/blueprint/state-fields';
import { PLAN, runConfig, ScriptedAgent, stateOf, toolsNamed } from './incident-material';

const gapStep = (gap_fact_id: string | null) => ({ ...PLAN, steps: PLAN.steps.map((step) => ({ ...step, gap_fact_id })) });
const evidenceRound: Partial<DiagnosisState> = {
  planner_mode: 'EVIDENCE_GAP_ONLY',
  evidence_retry_context: {
    prior_verified_output: { claims: [], assessments: [], limitations: [] },
    prior_verified_evidence: [],
    gaps: [{ fact_id: 'f7', claim_id: null, verification: 'no_evidence', gap: 'not looked at' }],
    completed_queries: [],
    constraints: {
      max_evidence_retries: 1,
      repeat_completed_queries: false,
      snapshot: 'complete',
      keep_prior_verified_claims: true,
    },
  },
};

const plan = (document: object, tools: string[], fields: Partial<DiagnosisState> = {}) =>
  new PlannerNode(new ScriptedAgent([JSON.stringify(document)]), toolsNamed(...tools)).run(stateOf(fields), runConfig());

describe('PlannerNode', () => {
  it('[B3] keeps the parsed plan', async () => {
    const { update } = await plan(PLAN, ['error_share']);
    expect(update).toEqual({ planner_status: 'COMPLETED', diagnosis_plan: PLAN });
  });

  it('[B3] a plan with a tool that is not registered breaks the contract', async () => {
    const { update } = await plan(PLAN, ['log_patterns']);
    expect(update).toEqual({ planner_status: 'INVALID_OUTPUT' });
  });

  it('[A9] a step of the evidence round names a gap of its context, and none other', async () => {
    expect((await plan(gapStep('f7'), ['error_share'], evidenceRound)).update.planner_status).toBe('COMPLETED');
    expect((await plan(gapStep('f1'), ['error_share'], evidenceRound)).update.planner_status).toBe('INVALID_OUTPUT');
    expect((await plan(gapStep(null), ['error_share'], evidenceRound)).update.planner_status).toBe('INVALID_OUTPUT');
  });
});
