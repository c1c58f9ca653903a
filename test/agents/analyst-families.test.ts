import { AnalystExecutorAgent } from '../../src/agents/analyst/analyst-executor.agent';
import { AnalystPlannerAgent } from '../../src/agents/analyst/analyst-planner.agent';
import type { DiagnosisQuery } from '../../src/protocol/diagnosis-query';
import type { ExecutorEvidence } from '../../src/protocol/executor-evidence';
import { parseExecutorEvidence } from '../../src/protocol/parse-executor-evidence';
import {
  ALL_TOOLS,
  changeRow,
  CONFIG,
  edgeRow,
  isAboutIncident,
  metricRow,
  patternRow,
  queryOf,
  quietMetricRow,
  quietSpanRow,
  type Script,
  ScriptedToolRunner,
  sequenceRow,
  shareRow,
  spanRow,
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

function rolesOf({ assessments }: ExecutorEvidence): Record<string, string> {
  return Object.fromEntries(assessments.map(({ subject, role }) => [subject, role]));
}

const CALM_LOGS = [shareRow('tray'), shareRow('kettle'), shareRow('spoon')];
const EDGES = [edgeRow('tray', 'kettle'), edgeRow('kettle', 'spoon')];

/** Answers of an incident; the halves and the quiet stretch of the baseline are quiet unless said otherwise. */
function scriptOf(rows: Record<string, readonly object[]>, quiet: Record<string, readonly object[]> = {}): Script {
  return (tool, args) => ({ rows: (tool === 'changes' || isAboutIncident(args) ? rows : quiet)[tool] ?? [] });
}

const SLOW = {
  error_share: CALM_LOGS,
  span_analysis: [
    spanRow({ service: 'kettle' }),
    spanRow({ service: 'tray', role: 'outgoing', self_ms: 13, score: 0.8, gain: 1 }),
    quietSpanRow('spoon'),
  ],
  service_graph: EDGES,
  changes: [changeRow('kettle', 4), changeRow('spoon', 9)],
};
const QUIET_SPANS = { span_analysis: [quietSpanRow('kettle')], error_share: CALM_LOGS };

const BUSY = { metric: 'cpu', statistic: null, unit: null, kind: 'saturation' as const };

describe('the analyst over spans', () => {
  it('names the service in which time is lost, and takes the caller that only waits for a symptom', async () => {
    const evidence = await evidenceOf(new ScriptedToolRunner(scriptOf(SLOW, QUIET_SPANS), ALL_TOOLS));
    expect(rolesOf(evidence)).toEqual({ kettle: 'cause', tray: 'symptom', spoon: 'ruled_out' });
  });

  it('binds its claims to medians and shares in declared units, to no rank, and to values that stand in the output', async () => {
    const tools = new ScriptedToolRunner(scriptOf(SLOW, QUIET_SPANS), ALL_TOOLS);
    const { claims } = await evidenceOf(tools);
    expect(claims.every(({ assertion }) => assertion !== undefined)).toBe(true);
    const bindings = claims.flatMap((claim) => claim.bindings);
    for (const { source_invocation_id, raw_path } of bindings)
      expect(['string', 'number']).toContain(typeof valueAt(tools.outputs.get(source_invocation_id), raw_path));
    expect(bindings.some(({ raw_path }) => /\/(score|gain|precision|role)$/.test(raw_path))).toBe(false);
    const harm = claims.filter(({ claim_id }) => claim_id.startsWith('harm-'));
    expect(harm.map(({ assertion }) => [assertion?.op, assertion?.unit])).toEqual([
      ['rose', 'ratio'],
      ['rose', 'ms'],
    ]);
  });

  it('asks between the halves of the baseline whether its traces are slow there as well', async () => {
    const tools = new ScriptedToolRunner(scriptOf(SLOW, QUIET_SPANS), ALL_TOOLS);
    const { claims, assessments } = await evidenceOf(tools);
    const control = claims.find(({ claim_id }) => claim_id.startsWith('control-'));
    const call = tools.calls.find(({ invocation_id }) => invocation_id === control?.bindings[0]?.source_invocation_id);
    expect(call).toMatchObject({ tool_name: 'span_analysis', arguments: { service: 'kettle' } });
    expect(isAboutIncident(call?.arguments ?? {})).toBe(false);
    expect(assessments[0]?.claim_ids).toContain(control?.claim_id);
  });

  it('[B11] names the recorded change of the guilty service, and clears the changed service that is innocent', async () => {
    const { claims, assessments } = await evidenceOf(new ScriptedToolRunner(scriptOf(SLOW, QUIET_SPANS), ALL_TOOLS));
    const trigger = claims.find(({ claim_id }) => claim_id === 'trigger-1');
    expect(trigger).toMatchObject({ subject: 'kettle', assertion: { op: 'equals', value: 4, unit: 'min' } });
    expect(assessments[0]?.claim_ids).toContain('trigger-1');
    const cleared = assessments.find(({ subject }) => subject === 'spoon');
    expect(cleared?.claim_ids).toHaveLength(3);
  });

  it('takes a service that breaks because one below it is slow for its symptom', async () => {
    const broken = {
      ...SLOW,
      log_sequences: [sequenceRow({ service: 'tray' })],
      log_patterns: [patternRow({ service: 'tray', sample: 'no answer in time' })],
    };
    const evidence = await evidenceOf(new ScriptedToolRunner(scriptOf(broken, QUIET_SPANS), ALL_TOOLS));
    expect(rolesOf(evidence)).toMatchObject({ kettle: 'cause', tray: 'symptom' });
  });
});

describe('the analyst over metrics', () => {
  const METRICS = {
    metric_anomalies: [
      metricRow({ service: 'kettle', change: 2.2 }),
      metricRow({ service: 'tray', change: 2.1, median: 2.3 }),
      quietMetricRow({ service: 'spoon' }),
    ],
    service_graph: EDGES,
  };
  const QUIET = { metric_anomalies: [quietMetricRow({ service: 'kettle' })] };

  it('finds the cause without any log or trace, says what it could not look at, and clears what the cause calls', async () => {
    const evidence = await evidenceOf(new ScriptedToolRunner(scriptOf(METRICS, QUIET), ALL_TOOLS));
    expect(rolesOf(evidence)).toEqual({ kettle: 'cause', tray: 'symptom', spoon: 'ruled_out' });
    expect(evidence.limitations).toEqual(expect.arrayContaining(['NO_LOGS', 'NO_SPANS']));
    expect(evidence.limitations).not.toContain('NO_METRICS');
  });

  it('takes a source without logs for one without logs, not for a tool that failed', async () => {
    const script: Script = (tool, args) =>
      ['error_share', 'log_patterns', 'log_sequences', 'span_analysis'].includes(tool)
        ? { fails: 'ERROR', code: 'TELEMETRY_EMPTY' }
        : scriptOf(METRICS, QUIET)(tool, args);
    const evidence = await evidenceOf(new ScriptedToolRunner(script, ALL_TOOLS));
    expect(rolesOf(evidence)).toMatchObject({ kettle: 'cause' });
    expect(evidence.limitations).toEqual(expect.arrayContaining(['NO_LOGS', 'NO_SPANS']));
    expect(evidence.limitations).not.toContain('TOOL_FAILED');
  });

  it('makes no cause, and no symptom of it, of a departure that the baseline has as well', async () => {
    const again = { metric_anomalies: [metricRow({ service: 'kettle', score: 19 })] };
    const evidence = await evidenceOf(new ScriptedToolRunner(scriptOf(METRICS, again), ALL_TOOLS));
    expect(rolesOf(evidence)).toEqual({ kettle: 'ruled_out', spoon: 'ruled_out' });
    expect(evidence.claims.find(({ claim_id }) => claim_id === 'clear-1')?.assertion?.op).toBe('rose');
    expect(evidence.limitations).toContain('BASELINE_UNSTEADY');
  });

  it('takes who has nothing of its own that departs for a symptom of a busy one, where no call is known', async () => {
    const rows = { metric_anomalies: [metricRow({ service: 'kettle', ...BUSY }), metricRow({ service: 'tray' })] };
    const quiet = { metric_anomalies: [quietMetricRow({ service: 'kettle', ...BUSY })] };
    const roles = rolesOf(await evidenceOf(new ScriptedToolRunner(scriptOf(rows, quiet), ALL_TOOLS)));
    expect(roles).toEqual({ kettle: 'cause', tray: 'symptom' });
    const both = { metric_anomalies: rows.metric_anomalies.map((row) => ({ ...row, ...BUSY })) };
    expect(rolesOf(await evidenceOf(new ScriptedToolRunner(scriptOf(both, quiet), ALL_TOOLS)))).toMatchObject({
      tray: 'contributing',
    });
  });

  it('says nothing against a service whose series only comes back to where it was, as memory does after a restart', async () => {
    const filled = metricRow({ service: 'kettle', ...BUSY, metric: 'memory', median: 524, baseline_median: 528, change: 57 });
    const rows = { metric_anomalies: [filled, quietMetricRow({ service: 'tray' })] };
    const { assessments } = await evidenceOf(new ScriptedToolRunner(scriptOf(rows, rows), ALL_TOOLS));
    expect(assessments.filter(({ role }) => role !== 'ruled_out')).toEqual([]);
  });

  it('finds a resource out of its range behind services that lose no time', async () => {
    const rows = {
      error_share: CALM_LOGS,
      span_analysis: ['tray', 'kettle', 'spoon'].map(quietSpanRow),
      metric_anomalies: [metricRow({ service: 'kettle', ...BUSY })],
    };
    const quiet = { metric_anomalies: [quietMetricRow({ service: 'kettle', ...BUSY })] };
    expect(rolesOf(await evidenceOf(new ScriptedToolRunner(scriptOf(rows, quiet), ALL_TOOLS)))).toEqual({ kettle: 'cause' });
  });

  it('compares with the hours before the window when the baseline holds too few values, and says so', async () => {
    const script: Script = (tool, args) => {
      if (tool !== 'metric_anomalies') return { rows: tool === 'service_graph' ? EDGES : [] };
      const { from } = args['baseline'] as { from: string };
      const long = from === '2026-05-04T10:05:00.000Z';
      if (!isAboutIncident(args)) return { rows: [quietMetricRow({ service: 'kettle' })] };
      return { rows: [metricRow({ service: 'kettle', ...(long ? {} : { baseline_rows: 1, score: 0 }) })] };
    };
    const { claims, limitations } = await evidenceOf(new ScriptedToolRunner(script, ALL_TOOLS));
    expect(limitations).toContain('METRIC_BASELINE_PRECEDING');
    expect(claims[0]?.bindings.map(({ raw_path }) => raw_path)).toContain('/summary/baseline_covered_from');
  });

  it('[B12] finds nothing wrong over every family that is there, with a claim for each', async () => {
    const rows = {
      error_share: CALM_LOGS,
      span_analysis: ['tray', 'kettle'].map(quietSpanRow),
      metric_anomalies: ['tray', 'kettle'].map((service) => quietMetricRow({ service })),
      service_graph: EDGES,
    };
    const { claims, assessments, limitations } = await evidenceOf(new ScriptedToolRunner(scriptOf(rows), ALL_TOOLS));
    expect(assessments).toEqual([]);
    const families = new Set(claims.map(({ bindings }) => bindings[0]?.tool_name));
    expect([...families].sort()).toEqual(['error_share', 'metric_anomalies', 'span_analysis']);
    expect(limitations).toEqual([]);
  });

  it('makes no cause of what departs too little, and says that it lies below the threshold', async () => {
    const rows = { error_share: CALM_LOGS, metric_anomalies: [metricRow({ service: 'kettle', score: 2.5 })] };
    const evidence = await evidenceOf(new ScriptedToolRunner(scriptOf(rows), ALL_TOOLS));
    expect(evidence.assessments.filter(({ role }) => role === 'cause')).toEqual([]);
    expect(evidence.limitations).toContain('BELOW_THRESHOLD');
  });
});
