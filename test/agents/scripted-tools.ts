import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChangeRow,
  ErrorShareRow,
  LogPatternRow,
  LogSequenceRow,
  MetricAnomalyRow,
  ServiceEdgeRow,
  SpanServiceRow,
} from '../../src/ports/telemetry-source.port';
import { ToolRunner, type ToolCall, type ToolDescription, type ToolResult } from '../../src/ports/tool-runner.port';
import type { DiagnosisQuery } from '../../src/protocol/diagnosis-query';
import type { JsonObject, JsonValue } from '../../src/protocol/json-value';

export const WINDOW = { from: '2026-05-04T14:05:00.000Z', to: '2026-05-04T14:20:00.000Z' };
export const BASELINE = { from: '2026-05-04T13:25:00.000Z', to: '2026-05-04T13:55:00.000Z' };

export function queryOf(part: Partial<DiagnosisQuery> = {}): DiagnosisQuery {
  return {
    schema: 'diagnosis_query_v1',
    question: 'What went wrong?',
    now: '2026-05-04T15:00:00.000Z',
    window: { ...WINDOW, source: 'request' },
    baseline: { ...BASELINE, source: 'request' },
    time_zone: 'UTC',
    locale: 'en',
    ...part,
  };
}

export const CONFIG: RunnableConfig = { configurable: { thread_id: 'run-1' }, metadata: { runId: 'run-1' } };

export function sequenceRow(part: Partial<LogSequenceRow> & Pick<LogSequenceRow, 'service'>): LogSequenceRow {
  return {
    kind: 'cut',
    step: 'request accepted',
    step_service: part.service,
    sample: 'request accepted from the front',
    count: 60,
    total: 100,
    share: 0.6,
    baseline_count: 0,
    baseline_total: 200,
    baseline_share: 0,
    votes: 60,
    score: 90,
    first_seen: '2026-05-04T14:05:03.000Z',
    ...part,
  };
}

export function shareRow(service: string, errors = 0, lines = 1000, baselineErrors = 0, baselineLines = 2000): ErrorShareRow {
  return {
    service,
    lines,
    error_lines: errors,
    error_share: errors / lines,
    baseline_lines: baselineLines,
    baseline_error_lines: baselineErrors,
    baseline_error_share: baselineErrors / baselineLines,
    rate_per_min: lines / 15,
    baseline_rate_per_min: baselineLines / 30,
  };
}

export function patternRow(part: Partial<LogPatternRow> & Pick<LogPatternRow, 'service' | 'sample'>): LogPatternRow {
  return {
    level: 'ERROR',
    template: part.sample,
    count: 60,
    baseline_count: 0,
    share: 0.06,
    baseline_share: 0,
    rate_per_min: 4,
    baseline_rate_per_min: 0,
    first_seen: '2026-05-04T14:05:04.000Z',
    last_seen: '2026-05-04T14:19:00.000Z',
    score: 50,
    ...part,
  };
}

export function metricRow(part: Partial<MetricAnomalyRow> & Pick<MetricAnomalyRow, 'service'>): MetricAnomalyRow {
  return {
    metric: 'latency',
    statistic: 'p90',
    unit: 's',
    kind: 'latency',
    direction: 'rises',
    rows: 15,
    segment_rows: 10,
    baseline_rows: 120,
    coverage: 1,
    statistics: 1,
    median: 2.4,
    baseline_median: 0.2,
    baseline_iqr: 0.05,
    change: 2.2,
    first_seen: '2026-05-04T14:08:00.000Z',
    last_seen: '2026-05-04T14:17:00.000Z',
    score: 20,
    ...part,
  };
}

/** A series that does what it always does. */
export function quietMetricRow(part: Partial<MetricAnomalyRow> & Pick<MetricAnomalyRow, 'service'>): MetricAnomalyRow {
  return metricRow({ median: 0.21, change: 0.01, score: 0.6, ...part });
}

export function spanRow(part: Partial<SpanServiceRow> & Pick<SpanServiceRow, 'service'>): SpanServiceRow {
  return {
    traces: 100,
    baseline_traces: 200,
    high_traces: 80,
    baseline_high_traces: 4,
    high_share: 0.8,
    baseline_high_share: 0.02,
    self_ms: 900,
    baseline_self_ms: 12,
    gap_ms: null,
    baseline_gap_ms: null,
    unanswered_share: null,
    excess_ms: 850,
    baseline_excess_ms: 1,
    error_share: 0,
    baseline_error_share: 0,
    rate_per_min: 6,
    baseline_rate_per_min: 6,
    first_seen: '2026-05-04T14:06:00.000Z',
    role: 'self',
    gain: 9,
    precision: 0.8,
    score: 7,
    ...part,
  };
}

/** A service whose traces take as long as ever. */
export function quietSpanRow(service: string): SpanServiceRow {
  return spanRow({ service, high_traces: 3, high_share: 0.03, self_ms: 12, excess_ms: 1, role: 'self', gain: 0, score: 0 });
}

export function edgeRow(caller: string, callee: string): ServiceEdgeRow {
  return { caller, callee, count: 100, baseline_count: 200 };
}

export function changeRow(service: string, minutes_before: number): ChangeRow {
  const time = new Date(Date.parse(WINDOW.from) - minutes_before * 60_000).toISOString();
  return { service, kind: 'deploy', text: `${service} went to another version`, time, minutes_before };
}

type Answer =
  | { readonly rows: readonly object[]; readonly complete?: boolean }
  | { readonly fails: 'ERROR' | 'DENIED'; readonly code?: string };

/** Rows by tool and arguments; what is not scripted has none. */
export type Script = (tool: string, args: JsonObject) => Answer | undefined;

const ROWS_AT: Readonly<Record<string, string>> = {
  log_patterns: 'patterns',
  error_share: 'services',
  log_sequences: 'sequences',
  metric_anomalies: 'metrics',
  span_analysis: 'services',
  service_graph: 'edges',
  changes: 'changes',
};
const LOG_TOOLS = ['log_sequences', 'error_share', 'log_patterns'];
/** Every tool that the analyst can read. */
export const ALL_TOOLS = [...LOG_TOOLS, 'metric_anomalies', 'span_analysis', 'service_graph', 'changes'];

/** A recorder that answers from a script and keeps what it answered. */
export class ScriptedToolRunner extends ToolRunner {
  readonly calls: (ToolCall & { readonly invocation_id: string })[] = [];
  readonly outputs = new Map<string, JsonValue>();

  constructor(
    private readonly script: Script,
    private readonly names: readonly string[] = LOG_TOOLS,
    private readonly byTrace = true,
  ) {
    super();
  }

  override describe(): ToolDescription[] {
    return this.names.map((name) => ({ name, description: name, arguments: {} }));
  }

  override async run(call: ToolCall): Promise<ToolResult> {
    const invocation_id = `t${this.calls.length + 1}-test`;
    this.calls.push({ ...call, invocation_id });
    const answer = this.script(call.tool_name, call.arguments) ?? { rows: [] };
    const none = { coverage: null, matched_count: null, records_scanned: null, records_rejected: null, view_truncated: false };
    if ('fails' in answer) {
      return {
        ...none,
        invocation_id,
        status: answer.fails,
        complete: false,
        data: { error: { code: answer.code ?? 'TOOL_FAILED', message: 'no' } },
      };
    }
    const asked = call.arguments['service'];
    const rows = answer.rows.filter((row) => typeof asked !== 'string' || (row as { service?: string }).service === asked);
    const window = call.arguments['window'] as { from: string; to: string };
    const baseline = (call.arguments['baseline'] ?? null) as { from: string; to: string } | null;
    const summary = {
      matched_count: rows.length,
      by_trace: this.byTrace,
      covered_from: window.from,
      covered_to: window.to,
      baseline_covered_from: baseline?.from ?? null,
      baseline_covered_to: baseline?.to ?? null,
    };
    const data = JSON.parse(JSON.stringify({ summary, [ROWS_AT[call.tool_name] ?? 'rows']: rows })) as JsonValue;
    this.outputs.set(invocation_id, data);
    return {
      invocation_id,
      status: answer.complete === false ? 'TRUNCATED' : 'OK',
      coverage: { from: window.from, to: window.to, filter: null },
      matched_count: rows.length,
      records_scanned: 5000,
      records_rejected: 0,
      complete: answer.complete !== false,
      data,
      view_truncated: false,
    };
  }
}

/** Whether a question compares the incident window with its baseline, rather than the halves of the baseline. */
export function isAboutIncident(args: JsonObject): boolean {
  return (args['window'] as { to: string }).to === WINDOW.to;
}

/** The value at an RFC 6901 pointer, undefined where there is none. */
export function valueAt(data: JsonValue | undefined, pointer: string): JsonValue | undefined {
  return pointer
    .split('/')
    .slice(1)
    .reduce<JsonValue | undefined>((value, token) => (value as Record<string, JsonValue> | undefined)?.[token], data);
}
