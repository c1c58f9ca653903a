import { AnalystExecutorAgent } from '../../src/agents/analyst/analyst-executor.agent';
import { AnalystPlannerAgent } from '../../src/agents/analyst/analyst-planner.agent';
import { THRESHOLDS, type Thresholds } from '../../src/agents/analyst/thresholds';
import type { ExecutorEvidence } from '../../src/protocol/executor-evidence';
import type { SpanServiceRow } from '../../src/ports/telemetry-source.port';
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
} from './scripted-tools';

async function evidenceOf(
  script: Script,
  executor: typeof AnalystExecutorAgent = AnalystExecutorAgent,
  byTrace = true,
): Promise<ExecutorEvidence> {
  const tools = new ScriptedToolRunner(script, ALL_TOOLS, byTrace);
  const input = { diagnosis_query: queryOf(), planner_mode: 'INITIAL', evidence_retry_context: null };
  const diagnosis_plan: unknown = JSON.parse(await new AnalystPlannerAgent(tools).invoke(JSON.stringify(input)));
  const raw = await new executor(tools).invoke(JSON.stringify({ ...input, diagnosis_plan }), CONFIG);
  const parsed = parseExecutorEvidence(raw);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.value;
}

function rolesOf({ assessments }: ExecutorEvidence): Record<string, string> {
  return Object.fromEntries(assessments.map(({ subject, role }) => [subject, role]));
}

function claimsOf({ claims }: ExecutorEvidence, role: string): (string | undefined)[][] {
  return claims
    .filter(({ claim_id }) => claim_id.startsWith(`${role}-`))
    .map(({ subject, assertion }) => [subject, assertion?.op, assertion?.unit]);
}

type Rows = Record<string, readonly object[]>;

/** Answers of an incident, and what the tools say of the baseline alone. */
function scriptOf(rows: Rows, quiet: Rows = {}): Script {
  return (tool, args) => ({ rows: (tool === 'changes' || isAboutIncident(args) ? rows : quiet)[tool] ?? [] });
}

/** Lines of a service in the window and in the baseline, which is twice as long. */
function speaks(service: string, lines: number, before: number): object {
  return { ...shareRow(service, 0, Math.max(1, lines), 0, before), lines, rate_per_min: lines / 15, error_share: 0 };
}

const STEADY = { error_share: ['tray', 'kettle', 'spoon'].map((name) => speaks(name, 1000, 2000)) };
const SILENT = { error_share: [speaks('tray', 1000, 2000), speaks('kettle', 0, 2000), speaks('spoon', 990, 2000)] };
const REFUSED = patternRow({ service: 'tray', sample: 'ECONNREFUSED 10.0.0.7', count: 300, share: 0.3 });

describe('a service that falls silent', () => {
  it('is the cause where nothing else departs, shown by its rate and put to the test in the halves of the baseline', async () => {
    const evidence = await evidenceOf(scriptOf(SILENT, STEADY));
    expect(rolesOf(evidence)).toEqual({ kettle: 'cause' });
    expect(claimsOf(evidence, 'harm')).toEqual([['kettle', 'fell', 'per_minute']]);
    expect(claimsOf(evidence, 'control').map(([subject]) => subject)).toEqual(['kettle']);
  });

  it('has no cause when all services say as little, and is nothing when it always comes and goes', async () => {
    const night = { error_share: [speaks('tray', 8, 2000), speaks('kettle', 0, 2000), speaks('spoon', 6, 2000)] };
    const all = { tray: 'symptom', kettle: 'symptom', spoon: 'symptom' };
    expect(rolesOf(await evidenceOf(scriptOf(night, STEADY)))).toEqual(all);
    const comesAndGoes = { error_share: [...STEADY.error_share.slice(0, 1), speaks('kettle', 20, 2000)] };
    expect(rolesOf(await evidenceOf(scriptOf(SILENT, comesAndGoes)))).toEqual({});
  });

  it('is never called normal for having no errors', async () => {
    const night = { error_share: [speaks('tray', 1000, 2000), speaks('kettle', 0, 6)] };
    expect(claimsOf(await evidenceOf(scriptOf(night, STEADY)), 'range').map(([subject]) => subject)).toEqual(['tray']);
  });

  it('makes a symptom of the caller whose failures tell of calls, though they name nobody', async () => {
    const rows = {
      error_share: [shareRow('tray', 300), ...SILENT.error_share.slice(1)],
      log_patterns: [REFUSED],
      service_graph: [edgeRow('tray', 'kettle')],
    };
    expect(rolesOf(await evidenceOf(scriptOf(rows, STEADY)))).toEqual({ kettle: 'cause', tray: 'symptom' });
  });

  it('is a symptom itself below a caller that breaks by its own', async () => {
    const rows = {
      error_share: [shareRow('tray', 300), ...SILENT.error_share.slice(1)],
      log_patterns: [{ ...REFUSED, sample: 'division by zero' }],
      service_graph: [edgeRow('tray', 'kettle')],
    };
    expect(rolesOf(await evidenceOf(scriptOf(rows, STEADY)))).toEqual({ tray: 'cause', kettle: 'symptom' });
  });

  it('is a symptom of one that breaks by its own though no call between them is known, unless a failure names it', async () => {
    const rows = {
      error_share: [shareRow('tray', 300), ...SILENT.error_share.slice(1)],
      log_patterns: [{ ...REFUSED, sample: 'division by zero' }],
      service_graph: [edgeRow('tray', 'spoon'), edgeRow('spoon', 'kettle')],
    };
    const unplaced = { ...rows, service_graph: [edgeRow('spoon', 'kettle')] };
    expect(rolesOf(await evidenceOf(scriptOf(unplaced, STEADY)))).toMatchObject({ tray: 'cause', kettle: 'symptom' });
    const complaint = patternRow({ service: 'tray', sample: 'no answer from kettle', count: 20, share: 0.02 });
    const named = { ...unplaced, log_patterns: [...rows.log_patterns, complaint] };
    expect(rolesOf(await evidenceOf(scriptOf(named, STEADY)))).toMatchObject({ tray: 'cause', kettle: 'contributing' });
  });
});

describe('who only follows', () => {
  it('counts failures once, so that a line without a name beside each failed call does not hide who is called', async () => {
    const lines = [
      patternRow({ service: 'tray', sample: 'request failed', count: 300, share: 0.15 }),
      patternRow({ service: 'tray', sample: 'call to kettle failed with 500', count: 295, share: 0.15 }),
      patternRow({ service: 'kettle', sample: 'no water', count: 290, share: 0.2 }),
    ];
    const rows = {
      error_share: [shareRow('tray', 595, 2000), shareRow('kettle', 290)],
      log_patterns: lines,
      log_sequences: [sequenceRow({ service: 'tray' })],
    };
    expect(rolesOf(await evidenceOf(scriptOf(rows, STEADY)))).toMatchObject({ kettle: 'cause', tray: 'symptom' });
  });

  it('takes a caller whose time goes into slow calls for a symptom of the one that is slow for everybody', async () => {
    const rows = {
      ...STEADY,
      span_analysis: [
        spanRow({ service: 'tray', role: 'outgoing', score: 5.4, gain: 5.4, precision: 1 }),
        spanRow({ service: 'kettle', role: 'incoming', score: 5.3, gain: 5.3, precision: 1 }),
        quietSpanRow('spoon'),
      ],
      service_graph: [edgeRow('tray', 'kettle')],
    };
    const quiet = { ...STEADY, span_analysis: ['tray', 'kettle'].map(quietSpanRow) };
    expect(rolesOf(await evidenceOf(scriptOf(rows, quiet)))).toMatchObject({ kettle: 'cause', tray: 'symptom' });
    const own = rows.span_analysis.map((row) => (row.service === 'tray' ? { ...row, score: 10.8, gain: 10.8 } : row));
    expect(rolesOf(await evidenceOf(scriptOf({ ...rows, span_analysis: own }, quiet)))).toMatchObject({ tray: 'cause' });
  });

  it('blames the slow service that no span shows, not the traced caller whose time it becomes', async () => {
    const rows = {
      ...STEADY,
      span_analysis: [spanRow({ service: 'tray' }), quietSpanRow('spoon')],
      metric_anomalies: [metricRow({ service: 'kettle' })],
    };
    const quiet = { ...STEADY, span_analysis: [quietSpanRow('tray')], metric_anomalies: [quietMetricRow({ service: 'kettle' })] };
    expect(rolesOf(await evidenceOf(scriptOf(rows, quiet)))).toMatchObject({ kettle: 'cause', tray: 'symptom' });
  });

  const hiddenBeside = async (
    seen: Partial<SpanServiceRow>,
    busy: boolean,
    others: readonly SpanServiceRow[] = [],
  ): Promise<Record<string, string>> => {
    const late = metricRow({ service: 'kettle' });
    const series = busy
      ? [late, metricRow({ service: 'kettle', metric: 'cpu', statistic: null, unit: null, kind: 'saturation' })]
      : [late];
    const rows = { ...STEADY, span_analysis: [spanRow({ service: 'tray', ...seen }), ...others], metric_anomalies: series };
    const calm = series.map((row) =>
      quietMetricRow({ service: 'kettle', metric: row.metric, kind: row.kind, statistic: row.statistic }),
    );
    return rolesOf(
      await evidenceOf(scriptOf(rows, { ...STEADY, span_analysis: [quietSpanRow('tray')], metric_anomalies: calm })),
    );
  };

  it('leaves the time that a traced service loses outside of calls with it, however late a hidden one is', async () => {
    expect(await hiddenBeside({ unanswered_share: 0.1 }, false)).toMatchObject({ tray: 'cause', kettle: 'symptom' });
    expect(await hiddenBeside({ unanswered_share: 0.9 }, false)).toMatchObject({ kettle: 'cause', tray: 'symptom' });
  });

  it('blames a hidden service for the slow way into the one behind it only if a resource of the hidden one departs', async () => {
    expect(await hiddenBeside({ role: 'incoming' }, true)).toMatchObject({ kettle: 'cause', tray: 'symptom' });
    expect(await hiddenBeside({ role: 'incoming' }, false)).toMatchObject({ tray: 'cause', kettle: 'symptom' });
  });

  it('blames a hidden service for a slow way that always was longer than others, as with somebody between', async () => {
    const others = ['spoon', 'bowl'].map((service) => ({ ...quietSpanRow(service), gap_ms: 1, baseline_gap_ms: 1 }));
    const way = (baseline_gap_ms: number) => hiddenBeside({ role: 'incoming', gap_ms: 90, baseline_gap_ms }, false, others);
    expect(await way(12)).toMatchObject({ kettle: 'cause', tray: 'symptom' });
    expect(await way(2)).toMatchObject({ tray: 'cause', kettle: 'symptom' });
  });
});

describe('a candidate that its control disproves', () => {
  const BUSY = { metric: 'cpu', statistic: null, unit: null, kind: 'saturation' as const };
  const rows = {
    ...STEADY,
    metric_anomalies: [metricRow({ service: 'kettle', score: 40, ...BUSY }), metricRow({ service: 'tray', ...BUSY })],
  };

  it('gives way to the next one when its series is restless, and is listed as ruled out by that', async () => {
    const restless = {
      ...STEADY,
      metric_anomalies: [metricRow({ service: 'kettle', score: 38, ...BUSY }), quietMetricRow({ service: 'tray', ...BUSY })],
    };
    const evidence = await evidenceOf(scriptOf(rows, restless));
    expect(rolesOf(evidence)).toMatchObject({ tray: 'cause', kettle: 'ruled_out' });
    expect(claimsOf(evidence, 'clear')).toContainEqual(['kettle', 'rose', 'none']);
  });

  it('leaves nobody to blame when there is no other', async () => {
    const alone = { ...rows, metric_anomalies: rows.metric_anomalies.slice(0, 1) };
    const evidence = await evidenceOf(scriptOf(alone, alone));
    expect(rolesOf(evidence)).toEqual({ kettle: 'ruled_out' });
    expect(evidence.limitations).toContain('BASELINE_UNSTEADY');
  });

  it('gives way to the one that was put down to it, where that one loses time by its own spans', async () => {
    const hidden = [metricRow({ service: 'kettle' })];
    const slow = { ...STEADY, span_analysis: [spanRow({ service: 'tray' })], metric_anomalies: hidden };
    const restless = { ...STEADY, span_analysis: [quietSpanRow('tray')], metric_anomalies: hidden };
    expect(rolesOf(await evidenceOf(scriptOf(slow, restless)))).toMatchObject({ tray: 'cause', kettle: 'ruled_out' });
  });

  it('stays the cause, disproved, where spans accuse it', async () => {
    const slow = { ...STEADY, span_analysis: [spanRow({ service: 'kettle' })] };
    const evidence = await evidenceOf(scriptOf(slow, slow));
    expect(rolesOf(evidence)).toMatchObject({ kettle: 'cause' });
    expect(claimsOf(evidence, 'control')).toContainEqual(['kettle', 'rose', 'ratio']);
  });
});

describe('a change', () => {
  const slow = (first_seen: string, service = 'kettle'): Rows => ({
    ...STEADY,
    span_analysis: [
      spanRow({ service: 'kettle', first_seen, baseline_high_traces: 0, baseline_high_share: 0 }),
      quietSpanRow('spoon'),
    ],
    changes: [changeRow(service, -3)],
  });
  const quiet = { ...STEADY, span_analysis: [quietSpanRow('kettle')] };

  it('is a trigger when the cause departs after it', async () => {
    const evidence = await evidenceOf(scriptOf(slow('2026-05-04T14:08:30.000Z'), quiet));
    expect(claimsOf(evidence, 'trigger').map(([subject]) => subject)).toEqual(['kettle']);
  });

  it('is none when the cause departed before it, and none on another service', async () => {
    expect(claimsOf(await evidenceOf(scriptOf(slow('2026-05-04T14:06:00.000Z'), quiet)), 'trigger')).toEqual([]);
    const innocent = await evidenceOf(scriptOf(slow('2026-05-04T14:08:30.000Z', 'spoon'), quiet));
    expect(claimsOf(innocent, 'trigger')).toEqual([]);
    expect(rolesOf(innocent)).toEqual({ kettle: 'cause', spoon: 'ruled_out' });
  });
});

describe('the table of thresholds', () => {
  it('decides through a subclass too, so that each can be moved', async () => {
    class Strict extends AnalystExecutorAgent {
      protected override get thresholds(): Thresholds {
        return { ...THRESHOLDS, metrics: { ...THRESHOLDS.metrics, verdict: 100 } };
      }
    }
    const rows = { ...STEADY, metric_anomalies: [metricRow({ service: 'kettle' })] };
    const quiet = { ...STEADY, metric_anomalies: [quietMetricRow({ service: 'kettle' })] };
    expect(rolesOf(await evidenceOf(scriptOf(rows, quiet)))).toEqual({ kettle: 'cause' });
    expect(rolesOf(await evidenceOf(scriptOf(rows, quiet), Strict))).toEqual({});
  });

  it('counts what is over at once for less than what lasts', async () => {
    const of = (part: object): Script =>
      scriptOf({ ...STEADY, metric_anomalies: [metricRow({ service: 'kettle', rows: 60, ...part })] }, STEADY);
    expect(rolesOf(await evidenceOf(of({ segment_rows: 30 })))).toMatchObject({ kettle: 'cause' });
    expect(rolesOf(await evidenceOf(of({ segment_rows: 3 })))).toEqual({});
  });

  it('holds a baseline for unsteady in which requests became slow', async () => {
    const slower = { ...STEADY, span_analysis: [spanRow({ service: 'tray' })] };
    const evidence = await evidenceOf(scriptOf({ ...STEADY, span_analysis: [quietSpanRow('tray')] }, slower));
    expect(evidence.limitations).toContain('BASELINE_UNSTEADY');
  });
});
