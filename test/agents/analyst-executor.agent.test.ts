import { AnalystExecutorAgent } from '../../src/agents/analyst/analyst-executor.agent';
import { AnalystPlannerAgent } from '../../src/agents/analyst/analyst-planner.agent';
import { GAP_FACTS } from '../../src/agents/analyst/gap-questions';
import type { DiagnosisPlan } from '../../src/protocol/diagnosis-plan';
import type { DiagnosisQuery } from '../../src/protocol/diagnosis-query';
import type { ExecutorEvidence } from '../../src/protocol/executor-evidence';
import { parseExecutorEvidence } from '../../src/protocol/parse-executor-evidence';
import {
  CONFIG,
  isAboutIncident,
  patternRow,
  queryOf,
  type Script,
  ScriptedToolRunner,
  sequenceRow,
  shareRow,
  valueAt,
} from './scripted-tools';

async function evidenceOf(tools: ScriptedToolRunner, query: DiagnosisQuery = queryOf()): Promise<ExecutorEvidence> {
  const input = { diagnosis_query: query, planner_mode: 'INITIAL', evidence_retry_context: null };
  const diagnosis_plan: unknown = JSON.parse(await new AnalystPlannerAgent(tools).invoke(JSON.stringify(input)));
  const raw = await new AnalystExecutorAgent(tools).invoke(JSON.stringify({ ...input, diagnosis_plan }), CONFIG);
  const parsed = parseExecutorEvidence(raw);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.value;
}

function rolesOf(evidence: ExecutorEvidence): Record<string, string> {
  return Object.fromEntries(evidence.assessments.map(({ subject, role }) => [subject, role]));
}

/** `kettle` fails, `tray` calls it and names it, `spoon` warns all day, `lid` was deployed and is innocent. */
const INCIDENT: Script = (tool, args) => {
  if (!isAboutIncident(args)) return { rows: tool === 'error_share' ? [shareRow('kettle'), shareRow('tray')] : [] };
  if (tool === 'log_sequences')
    return {
      rows: [
        sequenceRow({ service: 'tray', votes: 40, score: 70 }),
        sequenceRow({ service: 'kettle', kind: 'reroute', votes: 0, score: 9 }),
      ],
    };
  if (tool === 'error_share') return { rows: [shareRow('tray', 120), shareRow('kettle'), shareRow('spoon'), shareRow('lid')] };
  if (args['contains'] === 'deploy')
    return {
      rows: [
        patternRow({
          service: 'lid',
          level: 'INFO',
          sample: 'deployment of version two finished',
          count: 1,
          baseline_count: null,
          baseline_share: null,
        }),
      ],
    };
  if (args['contains'] !== null) return { rows: [] };
  return {
    rows: [
      patternRow({ service: 'tray', sample: 'call to kettle timed out after 5000 ms' }),
      patternRow({ service: 'kettle', level: 'WARN', sample: 'slow request: served in 7000 ms' }),
      patternRow({
        service: 'spoon',
        level: 'WARN',
        sample: 'cache ratio low',
        count: 200,
        baseline_count: 400,
        share: 0.2,
        baseline_share: 0.2,
      }),
    ],
  };
};

describe('AnalystExecutorAgent', () => {
  it('takes a service whose failures name a departing callee for a symptom, and rules out what only looks guilty', async () => {
    const evidence = await evidenceOf(new ScriptedToolRunner(INCIDENT));
    expect(rolesOf(evidence)).toEqual({ kettle: 'cause', tray: 'symptom', lid: 'ruled_out', spoon: 'ruled_out' });
  });

  it('binds every claim to a value that stands in the output, quotes verbatim, and cites no rank of a tool', async () => {
    const tools = new ScriptedToolRunner(INCIDENT);
    const { claims } = await evidenceOf(tools);
    const bindings = claims.flatMap((claim) => claim.bindings);
    expect(claims.every(({ assertion, scope }) => assertion !== undefined || scope !== undefined)).toBe(true);
    for (const { source_invocation_id, raw_path, quote } of bindings) {
      const value = valueAt(tools.outputs.get(source_invocation_id), raw_path);
      expect(['string', 'number']).toContain(typeof value);
      expect(JSON.stringify(value)).toContain(quote ?? '');
    }
    expect(bindings.some(({ raw_path }) => /\/(votes|score)$/.test(raw_path))).toBe(false);
  });

  it('asks for the leading cause the query that would disprove it, inside the baseline', async () => {
    const tools = new ScriptedToolRunner(INCIDENT);
    const { claims, assessments } = await evidenceOf(tools);
    const control = claims.find(({ claim_id }) => claim_id.startsWith('control-'));
    const call = tools.calls.find(({ invocation_id }) => invocation_id === control?.bindings[0]?.source_invocation_id);
    expect(call?.arguments).toMatchObject({ service: 'kettle', window: { to: '2026-05-04T13:55:00.000Z' } });
    expect(assessments[0]?.claim_ids).toContain(control?.claim_id);
  });

  it('names a change of the guilty service as what may have set it off', async () => {
    const evidence = await evidenceOf(
      new ScriptedToolRunner((tool, args) => {
        if (args['contains'] !== 'deploy') return INCIDENT(tool, args);
        return {
          rows: [
            patternRow({
              service: 'kettle',
              level: 'INFO',
              sample: 'deployment finished just now',
              count: 1,
              first_seen: '2026-05-04T14:04:40.000Z',
            }),
          ],
        };
      }),
    );
    expect(evidence.assessments[0]?.claim_ids).toContain('trigger-1');
  });

  it('works without the sequence tool, from error shares and lines alone', async () => {
    const script: Script = (tool, args) => {
      if (tool === 'error_share') return { rows: [shareRow('tray', 60), shareRow('kettle', isAboutIncident(args) ? 150 : 0)] };
      return INCIDENT(tool, args);
    };
    const evidence = await evidenceOf(new ScriptedToolRunner(script, ['error_share', 'log_patterns']));
    expect(rolesOf(evidence)).toMatchObject({ kettle: 'cause', tray: 'symptom' });
  });

  it('keeps a service whose own flows go wrong as the cause, even when its errors name a silent callee', async () => {
    const script: Script = (tool, args) => {
      if (tool === 'log_sequences') return { rows: isAboutIncident(args) ? [sequenceRow({ service: 'tray' })] : [] };
      if (tool === 'log_patterns')
        return { rows: args['contains'] === null ? [patternRow({ service: 'tray', sample: 'no route to kettle' })] : [] };
      return { rows: [shareRow('tray', isAboutIncident(args) ? 120 : 0), shareRow('kettle')] };
    };
    expect(rolesOf(await evidenceOf(new ScriptedToolRunner(script)))).toEqual({ tray: 'cause' });
  });

  it('finds nothing wrong where nothing moved, and says so service by service', async () => {
    const script: Script = (tool) =>
      tool === 'error_share' ? { rows: [shareRow('tray', 2, 1000, 3, 2000), shareRow('kettle')] } : { rows: [] };
    const evidence = await evidenceOf(new ScriptedToolRunner(script));
    expect(evidence.assessments).toEqual([]);
    expect(evidence.claims.map(({ subject, assertion }) => [subject, assertion?.op])).toEqual([
      ['tray', 'percent_change'],
      ['kettle', 'equals'],
    ]);
  });

  it('makes no cause of a change in flows that chance could give, and says that it lies below the threshold', async () => {
    const script: Script = (tool, args) => {
      if (tool === 'log_sequences')
        return {
          rows: isAboutIncident(args) ? [sequenceRow({ service: 'tray', count: 6, total: 10, baseline_total: 12 })] : [],
        };
      return tool === 'error_share' ? { rows: [shareRow('tray')] } : { rows: [] };
    };
    const evidence = await evidenceOf(new ScriptedToolRunner(script));
    expect(evidence.assessments.filter(({ role }) => role === 'cause')).toEqual([]);
    expect(evidence.limitations).toContain('BELOW_THRESHOLD');
  });

  it('says that finding nothing means little against a baseline that was in trouble itself', async () => {
    const script: Script = (tool, args) =>
      tool === 'error_share' ? { rows: [shareRow('tray', 100, 1000, isAboutIncident(args) ? 200 : 0, 2000)] } : { rows: [] };
    const evidence = await evidenceOf(new ScriptedToolRunner(script));
    expect(evidence.assessments).toEqual([]);
    expect(evidence.limitations).toContain('BASELINE_UNSTEADY');
  });

  it.each([
    ['ERROR', 'TOOL_FAILED'],
    ['DENIED', 'BUDGET_EXHAUSTED'],
  ] as const)('[B4] claims nothing when every call ends in %s', async (fails, code) => {
    const evidence = await evidenceOf(new ScriptedToolRunner(() => ({ fails })));
    expect(evidence).toMatchObject({ claims: [], no_evidence: { reason: expect.any(String) } });
    expect(evidence.limitations).toContain(code);
  });

  it('claims nothing about an empty window', async () => {
    const evidence = await evidenceOf(new ScriptedToolRunner(() => ({ rows: [] })));
    expect(evidence.no_evidence?.reason).toContain('no record');
  });

  it('compares nothing when there is no baseline, and says so', async () => {
    const script: Script = (tool) =>
      tool === 'error_share'
        ? { rows: [{ ...shareRow('tray', 400), baseline_lines: null, baseline_error_lines: null, baseline_error_share: null }] }
        : { rows: [] };
    const evidence = await evidenceOf(new ScriptedToolRunner(script), queryOf({ baseline: null }));
    expect(evidence.claims.every(({ assertion }) => assertion?.op === 'count')).toBe(true);
    expect(evidence.limitations).toContain('NO_BASELINE');
    expect(rolesOf(evidence)).toEqual({ tray: 'cause' });
  });

  it('[B13] keeps every verified claim in an evidence round, adds to the cause, and asks nothing but the plan', async () => {
    const prior = {
      claim_id: 'harm-1',
      kind: 'fact' as const,
      subject: 'kettle',
      assertion: { op: 'rose' as const, left: 0, right: 1, unit: 'ratio' as const },
      bindings: ['baseline_share', 'share'].map((field) => ({
        source_invocation_id: 't1-old',
        tool_name: 'log_sequences',
        raw_path: `/sequences/0/${field}`,
      })),
    };
    const context = {
      prior_verified_output: {
        claims: [{ ...prior, statement: 'kettle: share rose' }],
        assessments: [{ rank: 1, subject: 'kettle', role: 'cause', claim_ids: ['harm-1'] }],
        limitations: ['TOOL_FAILED', 'NO_METRICS'],
      },
      prior_verified_evidence: [],
      gaps: [{ fact_id: GAP_FACTS.control, claim_id: null, verification: 'no_evidence', gap: 'It is open.' }],
      completed_queries: [],
      constraints: {
        max_evidence_retries: 1,
        repeat_completed_queries: false,
        snapshot: 'complete',
        keep_prior_verified_claims: true,
      },
    };
    const tools = new ScriptedToolRunner((tool) => (tool === 'error_share' ? { rows: [shareRow('kettle')] } : { rows: [] }));
    const input = { diagnosis_query: queryOf(), planner_mode: 'EVIDENCE_GAP_ONLY', evidence_retry_context: context };
    const diagnosis_plan = JSON.parse(await new AnalystPlannerAgent(tools).invoke(JSON.stringify(input))) as DiagnosisPlan;
    const raw = await new AnalystExecutorAgent(tools).invoke(JSON.stringify({ ...input, diagnosis_plan }), CONFIG);
    const parsed = parseExecutorEvidence(raw);
    expect(parsed.ok && parsed.value.claims).toEqual([
      prior,
      expect.objectContaining({ claim_id: 'control-1', subject: 'kettle' }),
    ]);
    expect(parsed.ok && parsed.value).toMatchObject({
      assessments: [{ subject: 'kettle', role: 'cause', claim_ids: ['harm-1', 'control-1'] }],
      limitations: ['NO_METRICS'],
    });
    expect(tools.calls.map(({ tool_name, arguments: args }) => [tool_name, args])).toEqual(
      diagnosis_plan.steps.map((step) => [step.tool_name, step.arguments]),
    );
  });

  it('stops when the run is aborted', async () => {
    const tools = new ScriptedToolRunner(INCIDENT);
    const plan: unknown = JSON.parse(
      await new AnalystPlannerAgent(tools).invoke(
        JSON.stringify({ diagnosis_query: queryOf(), planner_mode: 'INITIAL', evidence_retry_context: null }),
      ),
    );
    const input = { diagnosis_query: queryOf(), planner_mode: 'INITIAL', diagnosis_plan: plan, evidence_retry_context: null };
    const aborted = { ...CONFIG, signal: AbortSignal.abort('CANCELLED') };
    await expect(new AnalystExecutorAgent(tools).invoke(JSON.stringify(input), aborted)).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(tools.calls).toEqual([]);
  });
});
