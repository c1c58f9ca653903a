import { AnalystPlannerAgent } from '../../src/agents/analyst/analyst-planner.agent';
import { GAP_FACTS } from '../../src/agents/analyst/gap-questions';
import { parseDiagnosisPlan } from '../../src/protocol/parse-diagnosis-plan';
import { BASELINE, queryOf, ScriptedToolRunner, WINDOW } from './scripted-tools';

const ALL = ['log_sequences', 'error_share', 'log_patterns'];

async function planOf(names: readonly string[], part: object): Promise<unknown> {
  const planner = new AnalystPlannerAgent(new ScriptedToolRunner(() => undefined, names));
  const input = { diagnosis_query: queryOf(), planner_mode: 'INITIAL', evidence_retry_context: null, ...part };
  return planner.invoke(JSON.stringify(input));
}

describe('AnalystPlannerAgent', () => {
  it('[B3] plans a first round that its strict parser takes, with a disproof for each kind of candidate', async () => {
    const parsed = parseDiagnosisPlan(await planOf(ALL, {}), { mode: 'INITIAL', toolNames: ALL, gapFactIds: [] });
    expect(parsed.ok && parsed.value.steps.map((step) => step.tool_name).slice(0, 3)).toEqual(ALL);
    expect(parsed.ok && parsed.value.disproofs.length).toBeGreaterThanOrEqual(2);
  });

  it('plans with the log tools that are registered and never with a baseline that is not there', async () => {
    const names = ['error_share', 'log_patterns'];
    const raw = await planOf(names, { diagnosis_query: queryOf({ baseline: null }) });
    const parsed = parseDiagnosisPlan(raw, { mode: 'INITIAL', toolNames: names, gapFactIds: [] });
    expect(parsed.ok && parsed.value.steps.every((step) => step.arguments['baseline'] === null)).toBe(true);
  });

  it('refuses to plan without any log tool', async () => {
    await expect(planOf(['something_else'], {})).rejects.toMatchObject({ code: 'AGENT_PERMANENT' });
  });

  it('[A9] [B13] asks in an evidence round for the named gaps alone, and nothing that was asked before', async () => {
    const done = {
      window: { from: '2026-05-04T13:40:00.000Z', to: BASELINE.to },
      baseline: { from: BASELINE.from, to: '2026-05-04T13:40:00.000Z' },
      service: 'kettle',
      limit: 60,
    };
    const claim = {
      claim_id: 'harm-1',
      kind: 'fact',
      subject: 'kettle',
      statement: 'x',
      bindings: [{ source_invocation_id: 't1-test', tool_name: 'error_share', raw_path: '/services/0/error_share' }],
    };
    const context = {
      prior_verified_output: {
        claims: [claim],
        assessments: [{ rank: 1, subject: 'kettle', role: 'cause', claim_ids: ['harm-1'] }],
        limitations: [],
      },
      prior_verified_evidence: [],
      gaps: [{ fact_id: GAP_FACTS.control, claim_id: null, verification: 'no_evidence', gap: 'open' }],
      completed_queries: [{ source_invocation_id: 't2-test', tool_name: 'log_sequences', arguments: JSON.stringify(done) }],
      constraints: {
        max_evidence_retries: 1,
        repeat_completed_queries: false,
        snapshot: 'complete',
        keep_prior_verified_claims: true,
      },
    };
    const raw = await planOf(ALL, { planner_mode: 'EVIDENCE_GAP_ONLY', evidence_retry_context: context });
    const parsed = parseDiagnosisPlan(raw, { mode: 'EVIDENCE_GAP_ONLY', toolNames: ALL, gapFactIds: [GAP_FACTS.control] });
    expect(parsed.ok && parsed.value.steps).toMatchObject([
      { tool_name: 'error_share', gap_fact_id: GAP_FACTS.control, arguments: { window: done.window, service: 'kettle' } },
    ]);
    expect(parsed.ok && parsed.value.steps.some((step) => JSON.stringify(step.arguments).includes(WINDOW.to))).toBe(false);
  });
});
