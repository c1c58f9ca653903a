import type { MetricAnomalyRow, MetricKind, TimeRange } from '../../ports/telemetry-source.port';
import type { ServicePaths } from './service-paths';

/** A series that departs, with its place in the stored output and how much it counts. */
export interface PlacedMetric {
  readonly index: number;
  readonly row: MetricAnomalyRow;
  readonly weight: number;
}

/** What the metrics of a service amount to; a `raw` or a `score` of 1 is a departure to act on. */
export interface MetricSuspect {
  readonly service: string;
  readonly raw: number;
  /** `raw` less what another service accounts for. */
  readonly score: number;
  /** Service whose own departure accounts for most of this one's, and for how much of it, 0 to 1. */
  readonly explainedBy: string | null;
  readonly explained: number;
  /** Heaviest first. */
  readonly series: readonly PlacedMetric[];
}

/** Each was varied by a quarter either way on incidents and on quiet windows without a change of more than two answers. */
const LIMITS = {
  minScore: 1.5,
  /** Weight of a departure of one row only. */
  singleRow: 0.5,
  /** Load moves without anything being wrong. */
  traffic: 0.2,
  /** Most series of one kind that count: they are no independent witnesses. */
  series: 2,
  cap: 4,
  coCap: 3,
  fullBaseline: 30,
  minCoverage: 0.8,
  /** Part of the weight that does not hang on departing together with others. */
  alone: 0.3,
  anomalous: 0.3,
  sure: 0.6,
  explainedPart: 0.9,
  twinPart: 0.7,
  /** Behind a service that shows nothing, seen from a departing entry; and unreachable from one. */
  behindGap: 0.7,
  detached: 0.4,
  verdict: 1.15,
} as const;

/** Kinds that pass from a callee to its caller; a processor that is busy makes no other one busy. */
const PASSED_ON: readonly MetricKind[] = ['latency', 'error', 'availability', 'other'];

interface Counted {
  readonly index: number;
  readonly row: MetricAnomalyRow;
  /** First and last row of the segment within the window, from 0. */
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

type Weighed = Counted & { readonly weight: number };

/**
 * Ranks services by their departing series: the logarithm of each score, more where the departures of many coincide, less what
 * the departures of callees account for (absolute change of the same metric and statistic), and less where a departing
 * entry cannot reach the service. `latencyFromSpans` leaves latencies to the spans, which tell whose time it was.
 */
export function rankByMetrics(
  rows: readonly MetricAnomalyRow[],
  paths: ServicePaths,
  window: TimeRange,
  latencyFromSpans: boolean,
): MetricSuspect[] {
  const weighed = weighTogether(countedRows(rows, window, latencyFromSpans));
  const byService = new Map<string, Weighed[]>();
  for (const series of weighed) byService.set(series.row.service, [...(byService.get(series.row.service) ?? []), series]);
  const raw = new Map([...byService].map(([service, own]) => [service, rawOf(own, seriesByKind(rows))]));
  const seen: Departures = { byService, raw, paths };
  const reach = reachOf(seen);
  return [...byService]
    .map(([service, own]): MetricSuspect => {
      const value = raw.get(service) ?? 0;
      const { by, part } = explanationOf(service, own, seen);
      const score = value * (1 - LIMITS.explainedPart * part) * reach(service);
      return {
        service,
        raw: value / LIMITS.verdict,
        score: score / LIMITS.verdict,
        explainedBy: by,
        explained: part,
        series: own
          .map(({ index, row, weight }) => ({ index, row, weight }))
          .sort((a, b) => b.weight - a.weight || a.index - b.index),
      };
    })
    .sort((a, b) => b.score - a.score || (a.service < b.service ? -1 : 1));
}

function countedRows(rows: readonly MetricAnomalyRow[], window: TimeRange, latencyFromSpans: boolean): Counted[] {
  const start = Date.parse(window.from);
  const most = Math.max(1, ...rows.map((row) => row.rows));
  const step = (Date.parse(window.to) - start) / most;
  const placeOf = (instant: string): number => Math.min(most - 1, Math.max(0, Math.floor((Date.parse(instant) - start) / step)));
  return rows.flatMap((row, index) => {
    if (row.score < LIMITS.minScore || (latencyFromSpans && row.kind === 'latency')) return [];
    const size =
      Math.min(LIMITS.cap, Math.log(row.score)) *
      (row.segment_rows === 1 ? LIMITS.singleRow : 1) *
      (row.kind === 'traffic' ? LIMITS.traffic : 1) *
      coverageOf(row) *
      Math.min(1, (row.baseline_rows ?? 0) / LIMITS.fullBaseline);
    return [{ index, row, from: placeOf(row.first_seen), to: placeOf(row.last_seen), size }];
  });
}

function coverageOf({ coverage }: MetricAnomalyRow): number {
  return Math.min(1, coverage / LIMITS.minCoverage);
}

/** A departure counts in full when it comes at the rows of the window where most services depart. */
function weighTogether(counted: readonly Counted[]): Weighed[] {
  const rows = 1 + Math.max(0, ...counted.map(({ to }) => to));
  const services = [...new Set(counted.map(({ row }) => row.service))];
  const mass = Array.from({ length: rows }, (_, place) =>
    services.reduce((sum, service) => {
      const here = counted.filter(
        ({ row, from, to }) => row.service === service && row.kind !== 'traffic' && from <= place && place <= to,
      );
      return sum + Math.max(0, ...here.map(({ size }) => Math.min(LIMITS.coCap, size)));
    }, 0),
  );
  const most = Math.max(...mass, 1e-9);
  return counted.map((series) => {
    const own = mass.slice(series.from, series.to + 1);
    const together = own.reduce((sum, value) => sum + value, 0) / own.length / most;
    return { ...series, weight: series.size * (LIMITS.alone + (1 - LIMITS.alone) * together) };
  });
}

/** How many series of a kind a service usually has, as far as they can count. */
function seriesByKind(rows: readonly MetricAnomalyRow[]): ReadonlyMap<MetricKind, number> {
  const names = new Map<MetricKind, Set<string>>();
  for (const { kind, metric, statistic } of rows)
    names.set(kind, (names.get(kind) ?? new Set()).add(JSON.stringify([metric, statistic])));
  return new Map([...names].map(([kind, some]) => [kind, Math.min(LIMITS.series, some.size)]));
}

function rawOf(own: readonly Weighed[], usual: ReadonlyMap<MetricKind, number>): number {
  const kinds = [...new Set(own.map(({ row }) => row.kind))];
  return kinds.reduce((sum, kind) => {
    const weights = own.filter(({ row }) => row.kind === kind).map(({ weight }) => weight);
    const top = weights.sort((a, b) => b - a).slice(0, LIMITS.series);
    return sum + top.reduce((all, weight) => all + weight, 0) / (usual.get(kind) ?? 1);
  }, 0);
}

interface Departures {
  readonly byService: ReadonlyMap<string, readonly Weighed[]>;
  readonly raw: ReadonlyMap<string, number>;
  readonly paths: ServicePaths;
}

function departs({ raw }: Departures, service: string): boolean {
  return (raw.get(service) ?? 0) >= LIMITS.anomalous;
}

/** How likely the departure of a service is the one that requests meet: those come in at the entries. */
function reachOf(seen: Departures): (service: string) => number {
  const { byService, paths } = seen;
  const hot = paths
    .entries()
    .filter(
      (service) => departs(seen, service) && (byService.get(service) ?? []).some(({ row }) => PASSED_ON.includes(row.kind)),
    );
  const reached = new Set(hot);
  const open = [...hot];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const callee of paths.calleesOf(next)) {
      if (reached.has(callee) || !departs(seen, callee)) continue;
      reached.add(callee);
      open.push(callee);
    }
  }
  const linked = new Set(hot.flatMap((service) => [service, ...paths.belowOf(service)]));
  return (service) => {
    // What is not passed on to callers says nothing of who would have to see it.
    const passedOn = (byService.get(service) ?? []).every(({ row }) => PASSED_ON.includes(row.kind) || row.kind === 'traffic');
    if (hot.length === 0 || reached.has(service) || !passedOn) return 1;
    return linked.has(service) ? LIMITS.behindGap : LIMITS.detached;
  };
}

/** The service that accounts for most of a departure: one below it, or one that its callers call as well. */
function explanationOf(service: string, own: readonly Weighed[], seen: Departures): { by: string | null; part: number } {
  const { paths, raw } = seen;
  let by: string | null = null;
  let part = 0;
  const consider = (other: string, value: number): void => {
    if (value <= part) return;
    by = other;
    part = value;
  };
  for (const lower of paths.belowOf(service))
    if (departs(seen, lower) && paths.isAbove(service, lower)) consider(lower, accountedFor(own, lower, seen));
  for (const twin of twinsOf(service, seen)) {
    const size = Math.min(1, (raw.get(twin) ?? 0) / (raw.get(service) ?? 1));
    consider(twin, (size ** 2 * LIMITS.twinPart) / LIMITS.explainedPart);
  }
  return { by, part: Math.min(1, part) };
}

/** Departing services that stand between the same callers: a leaf that only its callers report on may be their view of those. */
function twinsOf(service: string, seen: Departures): string[] {
  const { paths } = seen;
  const callers = [...paths.callersOf(service)];
  if (callers.length === 0 || paths.calleesOf(service).size > 0) return [];
  return [...new Set(callers.flatMap((caller) => [...paths.calleesOf(caller)]))].filter(
    (other) =>
      other !== service &&
      departs(seen, other) &&
      paths.calleesOf(other).size > 0 &&
      callers.every((caller) => paths.callersOf(other).has(caller)),
  );
}

function accountedFor(own: readonly Weighed[], lower: string, { byService, raw }: Departures): number {
  let accounted = 0;
  let all = 0;
  for (const { row, weight } of own) {
    if (row.kind === 'traffic') continue;
    all += weight;
    if (!PASSED_ON.includes(row.kind)) continue;
    const same = (byService.get(lower) ?? []).find(
      (other) => other.row.metric === row.metric && other.row.statistic === row.statistic,
    );
    if (same === undefined || row.change === null || row.change === 0 || same.row.change === null) continue;
    accounted += weight * Math.min(1, Math.abs(same.row.change / row.change)) * coverageOf(same.row) ** 2;
  }
  return all === 0 ? 0 : (accounted / all) * Math.min(1, (raw.get(lower) ?? 0) / LIMITS.sure);
}
