import type { TimeRange } from '../../ports/telemetry-source.port';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { JsonObject } from '../../protocol/json-value';

const MINUTE_MS = 60_000;
const SHORTEST_LOOK_BACK_MS = 15 * MINUTE_MS;
const LONGEST_LOOK_BACK_MS = 120 * MINUTE_MS;

/** Words with which deployments and roll-outs are usually logged; each is asked as plain text. */
export const CHANGE_WORDS = ['deploy', 'rollout', 'rolled out'] as const;

/** Rows that are asked for: enough for a ranking, few enough for one view. */
export const ROW_LIMITS = { patterns: 60, services: 100, sequences: 60, changes: 20, follow_up: 25 } as const;

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
