import type { MetricKind, TimeRange } from '../ports/telemetry-source.port';
import { directionOfKind } from './metric-kind';
import { departingStretch, type BucketSeries } from './onset-search';
import { quantile, type Sign } from './segment-contrast';
import type { TelemetrySession } from './telemetry-database';
import { instantOf } from './time-expression';

const LIMITS = {
  /** Most buckets, and fewest that tell anything. */
  mostBuckets: 240,
  fewestBuckets: 24,
  /** Buckets that are put together where nothing shows in small ones: few records an hour need long ones. */
  together: 4,
  /** Records of logs or spans that a bucket should hold. */
  recordsInBucket: 10,
  /** Shortest bucket, in ns. */
  leastBucketNs: 1_000_000_000,
  /** Services of logs and spans, and metric series, that are looked at; the ones with the most records. */
  mostServices: 200,
  mostSeries: 2000,
  /** Least noise of a square root of a count (half, by Poisson), of a logarithm of durations, of a metric beside its median. */
  countNoise: 0.5,
  durationNoise: 0.05,
  metricNoise: 0.02,
  /** Part of a metric's steps that go up, from which on it is a counter. */
  counterShare: 0.98,
} as const;

const SIGNS: Readonly<Record<ReturnType<typeof directionOfKind>, Sign>> = { rises: 1, falls: -1, either: 0 };
/** How much a measure says: errors are trouble, slowness mostly, more or fewer lines sometimes. */
const WEIGHTS = { errors: 2, durations: 1.5, volume: 1 } as const;

interface Extent {
  readonly first: bigint | null;
  readonly last: bigint | null;
  readonly lines: number;
  readonly spans: number;
  readonly times: number;
}

const EXTENT_SQL = `
  SELECT min(first) AS first, max(last) AS last, sum(lines)::DOUBLE AS lines, sum(spans)::DOUBLE AS spans, sum(times)::DOUBLE AS times FROM (
    SELECT min(ns) AS first, max(ns) AS last, count(*) AS lines, 0 AS spans, 0 AS times FROM logs
    UNION ALL SELECT min(ns), max(ns), 0, count(*), 0 FROM span_times
    UNION ALL SELECT min(ns), max(ns), 0, 0, count(DISTINCT ns) FROM metrics)`;

/** Buckets of equal length in ns from `first`. */
interface Grid {
  readonly first: bigint;
  readonly width: bigint;
  readonly buckets: number;
}

interface CountRow {
  readonly name: string;
  readonly bucket: number;
  readonly records: number;
  readonly errors: number;
  readonly duration: number | null;
}

interface MetricRow {
  readonly name: string;
  readonly kind: MetricKind;
  readonly bucket: number;
  readonly value: number;
}

function gridOf({ first, last, lines, spans, times }: Extent): Grid | null {
  if (first === null || last === null) return null;
  const span = last - first + 1n;
  const wanted = Math.max(lines / LIMITS.recordsInBucket, spans / LIMITS.recordsInBucket, times);
  const fitting = Number(span / BigInt(LIMITS.leastBucketNs));
  const buckets = Math.floor(Math.min(LIMITS.mostBuckets, wanted, fitting));
  if (buckets < LIMITS.fewestBuckets) return null;
  const width = (span + BigInt(buckets) - 1n) / BigInt(buckets);
  return { first, width, buckets: Number((span + width - 1n) / width) };
}

function bucketOf({ first, width }: Grid): string {
  return `((ns - ${first}) // ${width})::INTEGER`;
}

function countsSql(grid: Grid, table: string, duration: string): string {
  return `
    WITH records AS (SELECT service, is_error, ${duration} AS duration, ${bucketOf(grid)} AS bucket FROM ${table}),
    loudest AS (SELECT service FROM records GROUP BY service ORDER BY count(*) DESC, service LIMIT ${LIMITS.mostServices})
    SELECT service AS name, bucket, count(*)::DOUBLE AS records, (count(*) FILTER (is_error))::DOUBLE AS errors, median(duration) AS duration
    FROM records WHERE service IN (FROM loudest) GROUP BY service, bucket ORDER BY service, bucket`;
}

const LOG_RECORDS = '(SELECT service, is_error, ns FROM logs JOIN log_kinds USING (kind_id))';

/** Instances of one service in one bucket are one value, as of `metricAnomalies`. */
function metricsSql(grid: Grid): string {
  return `
    WITH fullest AS (SELECT series_id FROM metrics GROUP BY series_id ORDER BY count(*) DESC, series_id LIMIT ${LIMITS.mostSeries}),
    points AS (
      SELECT series_id, ns, CASE any_value(kind) WHEN 'traffic' THEN fsum(value) WHEN 'availability' THEN min(value) ELSE max(value) END AS value
      FROM metrics JOIN metric_series USING (series_id) WHERE series_id IN (FROM fullest) AND isfinite(value) GROUP BY series_id, ns)
    SELECT series_id::VARCHAR AS name, any_value(kind) AS kind, ${bucketOf(grid)} AS bucket, median(value) AS value
    FROM points JOIN metric_series USING (series_id) GROUP BY series_id, bucket ORDER BY series_id, bucket`;
}

function grouped<Row extends { readonly name: string }>(rows: readonly Row[]): Row[][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.name);
    if (group === undefined) groups.set(row.name, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

function filled(buckets: number, value: number | null): (number | null)[] {
  return Array.from({ length: buckets }, () => value);
}

/** The root of a count, whose noise is the same for few and many (Anscombe, Biometrika 35, 1948). */
function steadied(count: number): number {
  return Math.sqrt(count + 3 / 8);
}

/** Volume, errors and durations of one service; `from` and `to` are the buckets in which its family has records. */
function seriesOfService(rows: readonly CountRow[], { buckets }: Grid, from: number, to: number): BucketSeries[] {
  const volume = filled(buckets, null).fill(steadied(0), from, to);
  const errors = filled(buckets, null);
  const durations = filled(buckets, null);
  const usual = quantile(
    rows.map(({ records }) => records),
    0.5,
  );
  for (const { bucket, records, errors: failed, duration } of rows) {
    volume[bucket] = steadied(records);
    // Errors beside the usual load, so that more requests are no more errors.
    errors[bucket] = steadied((failed * usual) / records);
    if (duration !== null) durations[bucket] = Math.log(Math.max(duration, Number.MIN_VALUE));
  }
  const { countNoise, durationNoise } = LIMITS;
  return [
    { values: volume, sign: 0, leastNoise: countNoise, weight: WEIGHTS.volume },
    { values: errors, sign: 1, leastNoise: countNoise, weight: WEIGHTS.errors },
    { values: durations, sign: 1, leastNoise: durationNoise, weight: WEIGHTS.durations },
  ];
}

/** A counter that only grows is told by its growth. */
function growth(values: readonly number[]): readonly number[] {
  const steps = values.slice(1).map((value, at) => value - (values[at] as number));
  const rising = steps.filter((step) => step >= 0).length;
  const grows = steps.filter((step) => step > 0).length > steps.length / 2;
  if (!grows || rising < steps.length * LIMITS.counterShare) return values;
  // A counter that starts anew has grown from nothing.
  return [steps[0] ?? 0, ...steps].map((step, at) => (step < 0 ? (values[at] as number) : step));
}

function seriesOfMetric(rows: readonly MetricRow[], { buckets }: Grid): BucketSeries {
  const told = growth(rows.map(({ value }) => value));
  const values = filled(buckets, null);
  rows.forEach(({ bucket }, at) => (values[bucket] = told[at] as number));
  const level = Math.abs(quantile(told, 0.5));
  const kind = rows[0]?.kind ?? 'other';
  const spread = Math.max(...told.map(Math.abs));
  return {
    values,
    sign: SIGNS[directionOfKind(kind)],
    leastNoise: LIMITS.metricNoise * (level > 0 ? level : spread),
    weight:
      kind === 'error' || kind === 'availability' ? WEIGHTS.errors : kind === 'latency' ? WEIGHTS.durations : WEIGHTS.volume,
  };
}

function seriesOfCounts(rows: readonly CountRow[], grid: Grid): BucketSeries[] {
  const held = rows.map(({ bucket }) => bucket);
  const from = held.reduce((least, bucket) => Math.min(least, bucket), grid.buckets);
  const to = held.reduce((most, bucket) => Math.max(most, bucket + 1), 0);
  return grouped(rows).flatMap((group) => seriesOfService(group, grid, from, to));
}

/**
 * The stretch of all telemetry that departs most from the rest: error lines beside the load, lines, failed spans, durations
 * and calls of each service, and each metric, over at most 240 equal buckets, then over a quarter as many. Null when nothing departs, or when there is too
 * little to tell.
 */
export async function onsetOf(session: TelemetrySession, signal?: AbortSignal): Promise<TimeRange | null> {
  const [extent] = await session.rows<Extent>(EXTENT_SQL);
  const grid = extent === undefined ? null : gridOf(extent);
  if (extent === undefined || grid === null) return null;
  return (await onsetIn(session, extent, grid, signal)) ?? (await onsetIn(session, extent, coarser(grid), signal));
}

function coarser({ first, width, buckets }: Grid): Grid {
  return { first, width: width * BigInt(LIMITS.together), buckets: Math.ceil(buckets / LIMITS.together) };
}

async function onsetIn(session: TelemetrySession, { last }: Extent, grid: Grid, signal?: AbortSignal): Promise<TimeRange | null> {
  if (grid.buckets < LIMITS.fewestBuckets) return null;
  const series = [
    ...seriesOfCounts(await session.rows<CountRow>(countsSql(grid, LOG_RECORDS, 'NULL::DOUBLE')), grid),
    ...seriesOfCounts(await session.rows<CountRow>(countsSql(grid, 'span_times', '((b - ns) / 1e6)')), grid),
    ...grouped(await session.rows<MetricRow>(metricsSql(grid))).map((rows) => seriesOfMetric(rows, grid)),
  ];
  const stretch = await departingStretch(series, signal);
  if (stretch === null) return null;
  const at = (bucket: number): bigint => grid.first + BigInt(bucket) * grid.width;
  const end = last ?? at(grid.buckets);
  // The last record's own instant is covered.
  return {
    from: instantOf(at(stretch.from)),
    to: stretch.to === grid.buckets ? instantOf(end + 1_000_000n) : instantOf(at(stretch.to)),
  };
}
