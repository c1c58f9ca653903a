import type { TimeRange } from '../../ports/telemetry-source.port';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { JsonObject } from '../../protocol/json-value';

const MINUTE_MS = 60_000;
const SHORTEST_LOOK_BACK_MS = 15 * MINUTE_MS;
const LONGEST_LOOK_BACK_MS = 120 * MINUTE_MS;

/** Words with which deployments and roll-outs are usually logged; each is asked as plain text. */
export const CHANGE_WORDS = ['deploy', 'rollout', 'rolled out'] as const;

/** Rows that are asked for: enough for a ranking, few enough for one view. */
export const ROW_LIMITS = {
  patterns: 60,
  services: 100,
  sequences: 60,
  changes: 20,
  follow_up: 25,
  metrics: 110,
  edges: 400,
} as const;
/** Values that a metric needs in the baseline before anything can be compared. */
export const MIN_METRIC_ROWS = 8;
const METRIC_LOOK_BACK_MS = 240 * MINUTE_MS;

function range({ from, to }: TimeRange): JsonObject {
  return { from, to };
}

/** Arguments of `log_patterns`. */
export function patternsQuestion(
  window: TimeRange,
  baseline: TimeRange | null,
  { service = null, contains = null, limit = ROW_LIMITS.patterns }: Partial<PatternsFilter> = {},
): JsonObject {
  return { window: range(window), baseline: baseline && range(baseline), service, contains, limit };
}

interface PatternsFilter {
  readonly service: string | null;
  readonly contains: string | null;
  readonly limit: number;
}

/** Arguments of `error_share`. */
export function errorShareQuestion(window: TimeRange, baseline: TimeRange | null, service: string | null = null): JsonObject {
  return { window: range(window), baseline: baseline && range(baseline), service, limit: ROW_LIMITS.services };
}

/** Arguments of `log_sequences`. */
export function sequencesQuestion(window: TimeRange, baseline: TimeRange, service: string | null = null): JsonObject {
  return { window: range(window), baseline: range(baseline), service, limit: ROW_LIMITS.sequences };
}

/** Arguments of `metric_anomalies`. */
export function metricsQuestion(window: TimeRange, baseline: TimeRange | null, service: string | null = null): JsonObject {
  return { window: range(window), baseline: baseline && range(baseline), service, limit: ROW_LIMITS.metrics };
}

/** Arguments of `span_analysis`. */
export function spansQuestion(window: TimeRange, baseline: TimeRange | null, service: string | null = null): JsonObject {
  return { window: range(window), baseline: baseline && range(baseline), service, limit: ROW_LIMITS.services };
}

/** Arguments of `service_graph`. */
export function graphQuestion(window: TimeRange, baseline: TimeRange | null): JsonObject {
  return { window: range(window), baseline: baseline && range(baseline), service: null, limit: ROW_LIMITS.edges };
}

/** Arguments of `changes`. */
export function changesQuestion(query: DiagnosisQuery): JsonObject {
  const { from } = changeWindow(query);
  const lookback_minutes = (Date.parse(query.window.from) - Date.parse(from)) / MINUTE_MS;
  return { window: range(query.window), lookback_minutes, service: null, limit: ROW_LIMITS.changes };
}

/** Hours directly before the window: metrics come by the minute, so that a short baseline holds too few of them. */
export function metricLookBack({ from }: TimeRange): TimeRange {
  return { from: new Date(Date.parse(from) - METRIC_LOOK_BACK_MS).toISOString(), to: from };
}

/**
 * The last stretch of a baseline, as long as the window (at most half), and what is before it: what departs there departs
 * without an incident.
 */
export function quietStretchOf(
  baseline: TimeRange,
  window: TimeRange,
): { readonly window: TimeRange; readonly before: TimeRange } {
  const [from, to] = [Date.parse(baseline.from), Date.parse(baseline.to)];
  const length = Math.min(Date.parse(window.to) - Date.parse(window.from), Math.floor((to - from) / 2));
  const cut = new Date(to - length).toISOString();
  return { window: { from: cut, to: baseline.to }, before: { from: baseline.from, to: cut } };
}

/** Where changes before an incident are looked for: the window and as much before it again, within limits. */
export function changeWindow({ window }: DiagnosisQuery): TimeRange {
  const length = Date.parse(window.to) - Date.parse(window.from);
  const lookBack = Math.min(LONGEST_LOOK_BACK_MS, Math.max(SHORTEST_LOOK_BACK_MS, length));
  return { from: new Date(Date.parse(window.from) - lookBack).toISOString(), to: window.to };
}

/** The halves of a range: what differs between them is what differs by itself. */
export function halvesOf({ from, to }: TimeRange): { readonly first: TimeRange; readonly second: TimeRange } {
  const middle = new Date(Math.floor((Date.parse(from) + Date.parse(to)) / 2)).toISOString();
  return { first: { from, to: middle }, second: { from: middle, to } };
}
