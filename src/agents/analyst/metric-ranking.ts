import type { MetricAnomalyRow, MetricKind, TimeRange } from '../../ports/telemetry-source.port';
import type { ServicePaths } from './service-paths';
import type { Thresholds } from './thresholds';

/** Most series of one kind that count: they are no independent witnesses. */
const MOST_SERIES = 2;

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

/** Services that spans show, and services that requests are known to reach. */
export interface Requested {
  readonly traced: ReadonlySet<string>;
  readonly serving: ReadonlySet<string>;
}

/** Kinds that pass from a callee to its caller; a processor that is busy makes no other one busy. */
export const PASSED_ON: readonly MetricKind[] = ['latency', 'error', 'availability', 'other'];

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
 * entry cannot reach the service. Latencies of traced services are left to their spans, which tell whose time it was.
 */
export function rankByMetrics(
  rows: readonly MetricAnomalyRow[],
  paths: ServicePaths,
  window: TimeRange,
  known: Requested,
  limits: Thresholds['metrics'],
): MetricSuspect[] {
  const weighed = weighTogether(countedRows(rows, window, known, limits), limits);
  const byService = new Map<string, Weighed[]>();
  for (const series of weighed) byService.set(series.row.service, [...(byService.get(series.row.service) ?? []), series]);
  const raw = new Map([...byService].map(([service, own]) => [service, rawOf(own, seriesByKind(rows))]));
  const seen: Departures = { byService, raw, paths, limits };
  const reach = reachOf(seen);
  return [...byService]
    .map(([service, own]): MetricSuspect => {
      const value = raw.get(service) ?? 0;
      const { by, part } = explanationOf(service, own, seen);
      const score = value * (1 - limits.explainedPart * part) * reach(service);
      return {
        service,
        raw: value / limits.verdict,
        score: score / limits.verdict,
        explainedBy: by,
        explained: part,
        series: own
          .map(({ index, row, weight }) => ({ index, row, weight }))
          .sort((a, b) => b.weight - a.weight || a.index - b.index),
      };
    })
    .sort((a, b) => b.score - a.score || (a.service < b.service ? -1 : 1));
}

function countedRows(
  rows: readonly MetricAnomalyRow[],
  window: TimeRange,
  known: Requested,
  limits: Thresholds['metrics'],
): Counted[] {
  const start = Date.parse(window.from);
  const most = Math.max(1, ...rows.map((row) => row.rows));
  const step = (Date.parse(window.to) - start) / most;
  const placeOf = (instant: string): number => Math.min(most - 1, Math.max(0, Math.floor((Date.parse(instant) - start) / step)));
  return rows.flatMap((row, index) => {
    if (row.score < limits.unusual || !isBesideBaseline(row) || (row.kind === 'latency' && !isTelling(row.service, known)))
      return [];
    const size =
      Math.min(limits.cap, Math.log(row.score)) *
      sizeOf(row, limits) *
      (row.segment_rows === 1 ? limits.singleRow : 1) *
      Math.min(1, row.segment_rows / row.rows / limits.minExtent) ** 2 *
      (row.kind === 'traffic' ? limits.traffic : 1) *
      coverageOf(row, limits) *
      Math.min(1, (row.baseline_rows ?? 0) / limits.fullBaseline);
    return [{ index, row, from: placeOf(row.first_seen), to: placeOf(row.last_seen), size }];
  });
}

/** Whether a segment lies on that side of its baseline on which it stands out from the rows around it: what comes back to where it was is no departure. */
function isBesideBaseline({ median, baseline_median, change }: MetricAnomalyRow): boolean {
  return baseline_median === null || change === null || Math.sign(median - baseline_median) === Math.sign(change);
}

/** How large a departure is beside what the baseline scatters: long but small ones stand out and harm nobody. */
function sizeOf({ change, baseline_iqr }: MetricAnomalyRow, limits: Thresholds['metrics']): number {
  if (change === null || baseline_iqr === null || baseline_iqr === 0) return 1;
  return Math.min(1, Math.abs(change) / (baseline_iqr * limits.fullSpreads));
}

/** A latency says something of a service that no span shows, unless spans show others and nothing else shows that requests reach it. */
function isTelling(service: string, { traced, serving }: Requested): boolean {
  return !traced.has(service) && (traced.size === 0 || serving.has(service));
}

function coverageOf({ coverage }: MetricAnomalyRow, limits: Thresholds['metrics']): number {
  return Math.min(1, coverage / limits.minCoverage);
}

/** A departure counts in full when it comes at the rows of the window where most services depart. */
function weighTogether(counted: readonly Counted[], limits: Thresholds['metrics']): Weighed[] {
  const rows = 1 + Math.max(0, ...counted.map(({ to }) => to));
  const services = [...new Set(counted.map(({ row }) => row.service))];
  const mass = Array.from({ length: rows }, (_, place) =>
    services.reduce((sum, service) => {
      const here = counted.filter(
        ({ row, from, to }) => row.service === service && row.kind !== 'traffic' && from <= place && place <= to,
      );
      return sum + Math.max(0, ...here.map(({ size }) => size));
    }, 0),
  );
  const most = Math.max(...mass, 1e-9);
  return counted.map((series) => {
    const own = mass.slice(series.from, series.to + 1);
    const together = own.reduce((sum, value) => sum + value, 0) / own.length / most;
    return { ...series, weight: series.size * (limits.alone + (1 - limits.alone) * together) };
  });
}

/** How many series of a kind a service usually has, as far as they can count. */
function seriesByKind(rows: readonly MetricAnomalyRow[]): ReadonlyMap<MetricKind, number> {
  const names = new Map<MetricKind, Set<string>>();
  for (const { kind, metric, statistic } of rows)
    names.set(kind, (names.get(kind) ?? new Set()).add(JSON.stringify([metric, statistic])));
  return new Map([...names].map(([kind, some]) => [kind, Math.min(MOST_SERIES, some.size)]));
}

function rawOf(own: readonly Weighed[], usual: ReadonlyMap<MetricKind, number>): number {
  const kinds = [...new Set(own.map(({ row }) => row.kind))];
  return kinds.reduce((sum, kind) => {
    const weights = own.filter(({ row }) => row.kind === kind).map(({ weight }) => weight);
    const top = weights.sort((a, b) => b - a).slice(0, MOST_SERIES);
    return sum + top.reduce((all, weight) => all + weight, 0) / (usual.get(kind) ?? 1);
  }, 0);
}

interface Departures {
  readonly byService: ReadonlyMap<string, readonly Weighed[]>;
  readonly raw: ReadonlyMap<string, number>;
  readonly paths: ServicePaths;
  readonly limits: Thresholds['metrics'];
}

function departs({ raw, limits }: Departures, service: string): boolean {
  return (raw.get(service) ?? 0) >= limits.departs;
}

/** How likely the departure of a service is the one that requests meet: those come in at the entries. */
function reachOf(seen: Departures): (service: string) => number {
  const { byService, paths, limits } = seen;
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
    return linked.has(service) ? limits.behindGap : limits.detached;
  };
}

/** The service that accounts for most of a departure: one below it, or one that its callers call as well. */
function explanationOf(service: string, own: readonly Weighed[], seen: Departures): { by: string | null; part: number } {
  const { paths, raw, limits } = seen;
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
    consider(twin, (size * limits.twinPart) / limits.explainedPart);
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

function accountedFor(own: readonly Weighed[], lower: string, { byService, raw, limits }: Departures): number {
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
    accounted += weight * Math.min(1, Math.abs(same.row.change / row.change)) * coverageOf(same.row, limits) ** 2;
  }
  return all === 0 ? 0 : (accounted / all) * Math.min(1, (raw.get(lower) ?? 0) / limits.sure);
}
