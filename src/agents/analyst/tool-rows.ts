import { z } from 'zod';
import {
  type ChangeRow,
  type ErrorShareRow,
  type LogPatternRow,
  type LogSequenceRow,
  METRIC_DIRECTIONS,
  METRIC_KINDS,
  type MetricAnomalyRow,
  type ServiceEdgeRow,
  type SpanServiceRow,
} from '../../ports/telemetry-source.port';
import type { LimitationCode } from '../../vocabulary/limitation-codes';

const nullableNumber = z.number().nullable();

const patternRowSchema: z.ZodType<LogPatternRow> = z.object({
  service: z.string(),
  level: z.string().nullable(),
  template: z.string(),
  sample: z.string(),
  count: z.number(),
  baseline_count: nullableNumber,
  share: z.number(),
  baseline_share: nullableNumber,
  rate_per_min: z.number(),
  baseline_rate_per_min: nullableNumber,
  first_seen: z.string().nullable(),
  last_seen: z.string().nullable(),
  score: z.number(),
});

const errorShareRowSchema: z.ZodType<ErrorShareRow> = z.object({
  service: z.string(),
  lines: z.number(),
  error_lines: z.number(),
  error_share: z.number(),
  baseline_lines: nullableNumber,
  baseline_error_lines: nullableNumber,
  baseline_error_share: nullableNumber,
  rate_per_min: z.number(),
  baseline_rate_per_min: nullableNumber,
});

const sequenceRowSchema: z.ZodType<LogSequenceRow> = z.object({
  service: z.string(),
  kind: z.enum(['cut', 'missing', 'error_line', 'reroute']),
  step: z.string(),
  step_service: z.string(),
  sample: z.string(),
  count: z.number(),
  total: z.number(),
  share: z.number(),
  baseline_count: z.number(),
  baseline_total: z.number(),
  baseline_share: z.number(),
  votes: z.number(),
  score: z.number(),
  first_seen: z.string(),
});

const metricRowSchema: z.ZodType<MetricAnomalyRow> = z.object({
  service: z.string(),
  metric: z.string(),
  statistic: z.string().nullable(),
  unit: z.string().nullable(),
  kind: z.enum(METRIC_KINDS),
  direction: z.enum(METRIC_DIRECTIONS),
  rows: z.number(),
  segment_rows: z.number(),
  baseline_rows: nullableNumber,
  coverage: z.number(),
  statistics: z.number(),
  median: z.number(),
  baseline_median: nullableNumber,
  baseline_iqr: nullableNumber,
  change: nullableNumber,
  first_seen: z.string(),
  last_seen: z.string(),
  score: z.number(),
});

const spanRowSchema: z.ZodType<SpanServiceRow> = z.object({
  service: z.string(),
  traces: z.number(),
  baseline_traces: nullableNumber,
  high_traces: z.number(),
  baseline_high_traces: nullableNumber,
  high_share: z.number(),
  baseline_high_share: nullableNumber,
  self_ms: nullableNumber,
  baseline_self_ms: nullableNumber,
  gap_ms: nullableNumber,
  baseline_gap_ms: nullableNumber,
  unanswered_share: nullableNumber,
  excess_ms: z.number(),
  baseline_excess_ms: nullableNumber,
  error_share: z.number(),
  baseline_error_share: nullableNumber,
  rate_per_min: z.number(),
  baseline_rate_per_min: nullableNumber,
  first_seen: z.string().nullable(),
  role: z.enum(['self', 'incoming', 'outgoing']).nullable(),
  gain: z.number(),
  precision: z.number(),
  score: z.number(),
});

const edgeRowSchema: z.ZodType<ServiceEdgeRow> = z.object({
  caller: z.string(),
  callee: z.string(),
  count: nullableNumber,
  baseline_count: nullableNumber,
});

const changeRowSchema: z.ZodType<ChangeRow> = z.object({
  service: z.string(),
  kind: z.string(),
  text: z.string(),
  time: z.string(),
  minutes_before: z.number(),
});

/**
 * A tool that the analyst can read: its name, where its rows stand in `data`, how a row looks, what is missing when the
 * telemetry holds no such records (null where nothing is), and whether rows that its limit leaves out are a loss.
 */
export interface ReadableTool<Row> {
  readonly name: string;
  readonly rowsAt: 'patterns' | 'services' | 'sequences' | 'metrics' | 'edges' | 'changes';
  readonly row: z.ZodType<Row>;
  readonly absent: LimitationCode | null;
  readonly tailMatters: boolean;
}

export const LOG_PATTERNS: ReadableTool<LogPatternRow> = {
  name: 'log_patterns',
  rowsAt: 'patterns',
  row: patternRowSchema,
  absent: 'NO_LOGS',
  tailMatters: false,
};
export const ERROR_SHARE: ReadableTool<ErrorShareRow> = {
  name: 'error_share',
  rowsAt: 'services',
  row: errorShareRowSchema,
  absent: 'NO_LOGS',
  tailMatters: true,
};
export const LOG_SEQUENCES: ReadableTool<LogSequenceRow> = {
  name: 'log_sequences',
  rowsAt: 'sequences',
  row: sequenceRowSchema,
  absent: 'NO_LOGS',
  tailMatters: true,
};
export const METRIC_ANOMALIES: ReadableTool<MetricAnomalyRow> = {
  name: 'metric_anomalies',
  rowsAt: 'metrics',
  row: metricRowSchema,
  absent: 'NO_METRICS',
  tailMatters: false,
};
export const SPAN_ANALYSIS: ReadableTool<SpanServiceRow> = {
  name: 'span_analysis',
  rowsAt: 'services',
  row: spanRowSchema,
  absent: 'NO_SPANS',
  tailMatters: true,
};
export const SERVICE_GRAPH: ReadableTool<ServiceEdgeRow> = {
  name: 'service_graph',
  rowsAt: 'edges',
  row: edgeRowSchema,
  absent: null,
  tailMatters: false,
};
export const CHANGES: ReadableTool<ChangeRow> = {
  name: 'changes',
  rowsAt: 'changes',
  row: changeRowSchema,
  absent: null,
  tailMatters: false,
};

const SEVERE_LEVEL = /^(error|severe|fatal|crit(ical)?|panic|alert|emerg(ency)?)$/i;
const WARNING_LEVEL = /^warn(ing)?$/i;

/** Whether a line's level says that something failed. */
export function isSevere(level: string | null): boolean {
  return level !== null && SEVERE_LEVEL.test(level);
}

/** Whether a line's level says that something may be wrong, or is. */
export function isAlarming(level: string | null): boolean {
  return level !== null && (SEVERE_LEVEL.test(level) || WARNING_LEVEL.test(level));
}
