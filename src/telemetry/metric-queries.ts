import { DiagnosisError } from '../errors/diagnosis-error';
import type { ComparisonQuery, MetricAnomalyRow, MetricKind, QueryAnswer } from '../ports/telemetry-source.port';
import { directionOfKind } from './metric-kind';
import {
  answerOf,
  bounds,
  groundOf,
  IN_BASELINE,
  IN_WINDOW,
  rounded,
  SCORE_DECIMALS,
  SHARE_DECIMALS,
  type SourceFacts,
} from './query-ground';
import {
  bucketSize,
  pooledReference,
  quantile,
  reduced,
  segmentContrast,
  type Distance,
  type SegmentContrast,
  type Sign,
} from './segment-contrast';
import type { Bound, TelemetrySession } from './telemetry-database';
import { instantOf } from './time-expression';

const LIMITS = {
  /** Rows of a series' baseline that a contrast looks at, the ones nearest to the window: more add nothing but memory. */
  baselineRows: 2000,
  /** Share of the rows that other series of the metric have in the window, under which a series is not judged. */
  leastWindowShare: 0.3,
  /** Steps between rows that may lie between a baseline and a window that follow on each other. */
  adjacentSteps: 2.5,
  /** Longest that code works before it lets others in, in ms. */
  sliceMs: 20,
  /** Digits of values: more than a sensor has. */
  digits: 6,
} as const;

const SIGNS: Readonly<Record<ReturnType<typeof directionOfKind>, Sign>> = { rises: 1, falls: -1, either: 0 };

interface SeriesRow {
  readonly service: string;
  readonly metric: string;
  readonly statistic: string;
  readonly unit: string;
  readonly kind: MetricKind;
  readonly statistics: number;
  readonly w: readonly number[] | null;
  readonly w_ns: readonly bigint[] | null;
  readonly b: readonly number[] | null;
  readonly b_rows: number;
  readonly b_median: number | null;
  readonly b_iqr: number | null;
  readonly b_first: bigint | null;
  readonly b_last: bigint | null;
}

/** Instances of one service at one time are one value: what they serve together, the worst of what they suffer. */
const SERIES_SQL = `
  WITH points AS (
    SELECT series_id, ns, ${IN_WINDOW} AS now,
      CASE any_value(kind) WHEN 'traffic' THEN fsum(value) WHEN 'availability' THEN min(value) ELSE max(value) END AS value
    FROM metrics JOIN metric_series USING (series_id) WHERE ${IN_WINDOW} OR ${IN_BASELINE} GROUP BY series_id, ns),
  series AS (
    SELECT series_id, list(value ORDER BY ns) FILTER (now) AS w, list(ns ORDER BY ns) FILTER (now) AS w_ns,
      list(value ORDER BY ns) FILTER (NOT now) AS b, count(*) FILTER (NOT now)::DOUBLE AS b_rows,
      median(value) FILTER (NOT now) AS b_median,
      quantile_cont(value, 0.75) FILTER (NOT now) - quantile_cont(value, 0.25) FILTER (NOT now) AS b_iqr,
      min(ns) FILTER (NOT now) AS b_first, max(ns) FILTER (NOT now) AS b_last FROM points GROUP BY series_id)
  SELECT m.service, m.metric, m.statistic, m.unit, m.kind, (count(*) OVER (PARTITION BY m.service, m.metric))::DOUBLE AS statistics,
    w, w_ns, b[-${LIMITS.baselineRows}:] AS b, b_rows, b_median, b_iqr, b_first, b_last
  FROM series JOIN metric_series m USING (series_id) WHERE len(w) > 0 ORDER BY m.service, m.metric, m.statistic`;

interface Judged {
  readonly row: SeriesRow;
  readonly window: readonly number[];
  readonly times: readonly bigint[];
  readonly size: number;
  readonly contrast: SegmentContrast | null;
}

function distanceOf({ b_first: first, b_last: last, b_rows: rows }: SeriesRow, start: bigint, end: bigint): Distance {
  if (first === null || last === null || rows < 2) return 'far';
  const length = Number(last - first);
  if (last < start && Number(start - last) <= (LIMITS.adjacentSteps * length) / (rows - 1)) return 'adjacent';
  return Number(last < start ? start - last : first - end) <= length ? 'near' : 'far';
}

function judge(row: SeriesRow, mostWindowRows: number): Judged {
  const window = row.w ?? [];
  const times = row.w_ns ?? [];
  const size = bucketSize(window.length);
  const known = window.length >= mostWindowRows * LIMITS.leastWindowShare;
  const contrast = known
    ? segmentContrast(
        reduced(row.b ?? [], size),
        reduced(window, size),
        SIGNS[directionOfKind(row.kind)],
        distanceOf(row, times[0] as bigint, times.at(-1) as bigint),
      )
    : null;
  return { row, window, times, size, contrast };
}

interface Rows {
  readonly from: number;
  readonly to: number;
}

/** A median holds with some quiet rows among its own: the segment is from its first to its last row that is nearer to its level than to the rows around. */
function loudPart(rows: readonly number[], segment: Rows, { change, around }: SegmentContrast): Rows {
  const isLoud = (at: number): boolean => ((rows[at] as number) - around) / change > 1 / 2;
  let { from, to } = segment;
  while (from <= to && !isLoud(from)) from += 1;
  while (to > from && !isLoud(to)) to -= 1;
  return from > to ? segment : { from, to };
}

/** The segment that stands out most may begin amid the trouble: rows before it that are nearer to it than to the baseline belong to it. */
function firstLoud(rows: readonly number[], from: number, middle: number, change: number, baseline: number | null): number {
  // A segment that is on the other side of the baseline than of the rows around says nothing of the rows before it.
  if (baseline === null || Math.sign(middle - baseline) !== Math.sign(change)) return from;
  const isLoud = (value: number): boolean => Math.abs(value - middle) < Math.abs(value - baseline);
  let at = from;
  while (at > 0 && isLoud(rows[at - 1] as number)) at -= 1;
  return at;
}

function significant(value: number): number {
  return Number(value.toPrecision(LIMITS.digits));
}

function rowOf({ row, window, times, size, contrast }: Judged, pooled: number, mostBaselineRows: number): MetricAnomalyRow {
  const stands = contrast !== null && contrast.to >= contrast.from ? contrast : null;
  const all = { from: 0, to: window.length - 1 };
  const { from, to } =
    stands === null
      ? all
      : loudPart(window, { from: stands.from * size, to: Math.min(window.length, (stands.to + 1) * size) - 1 }, stands);
  const middle = quantile(window.slice(from, to + 1), 0.5);
  const change = stands?.change ?? (row.b_median === null ? null : middle - row.b_median);
  const first = stands === null ? from : firstLoud(window, from, middle, stands.change, row.b_median);
  return {
    service: row.service,
    metric: row.metric,
    statistic: row.statistic === '' ? null : row.statistic,
    unit: row.unit === '' ? null : row.unit,
    kind: row.kind,
    direction: directionOfKind(row.kind),
    rows: window.length,
    segment_rows: to - from + 1,
    baseline_rows: row.b_median === null ? null : row.b_rows,
    coverage: mostBaselineRows === 0 ? 0 : rounded(row.b_rows / mostBaselineRows, SHARE_DECIMALS),
    statistics: row.statistics,
    median: significant(middle),
    baseline_median: row.b_median === null ? null : significant(row.b_median),
    baseline_iqr: row.b_iqr === null ? null : significant(row.b_iqr),
    change: change === null ? null : significant(change),
    first_seen: instantOf(times[first] as bigint),
    last_seen: instantOf(times[to] as bigint),
    score: stands === null ? 0 : rounded(stands.ratio / pooled, SCORE_DECIMALS),
  };
}

function groupKey({ metric, statistic }: SeriesRow): string {
  return JSON.stringify([metric, statistic]);
}

function letOthersIn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Calibrates every series, so that a question about one service gives the scores that one about all of them gives. */
async function judgeAll(rows: readonly SeriesRow[], signal: AbortSignal | undefined): Promise<Judged[]> {
  const mostRows = new Map<string, number>();
  for (const row of rows) mostRows.set(groupKey(row), Math.max(mostRows.get(groupKey(row)) ?? 0, row.w?.length ?? 0));
  const judged: Judged[] = [];
  let started = performance.now();
  for (const row of rows) {
    judged.push(judge(row, mostRows.get(groupKey(row)) ?? 0));
    if (performance.now() - started < LIMITS.sliceMs) continue;
    await letOthersIn();
    if (signal?.aborted === true) throw new DiagnosisError('CANCELLED', 'The question to the telemetry was cancelled.');
    started = performance.now();
  }
  return judged;
}

/**
 * Series of a window beside a baseline, the highest score first. Work over rows happens in SQL; code sees one list for each series,
 * bounded by a contrast's limits.
 */
export async function metricAnomalies(
  session: TelemetrySession,
  query: ComparisonQuery,
  facts: SourceFacts,
  signal: AbortSignal | undefined,
): Promise<QueryAnswer<MetricAnomalyRow>> {
  const inScope = query.service === null ? 'TRUE' : 'series_id IN (SELECT series_id FROM metric_series WHERE service = $service)';
  const values: Bound = bounds(query);
  const ground = await groundOf(
    session,
    'metrics',
    query,
    inScope,
    'TRUE',
    query.service === null ? values : { ...values, service: query.service },
  );
  const judged = await judgeAll(await session.rows<SeriesRow>(SERIES_SQL, values), signal);
  const groups = new Map<string, { ratios: number[]; rows: number }>();
  for (const { row, contrast } of judged) {
    const group = groups.get(groupKey(row)) ?? { ratios: [], rows: 0 };
    group.ratios.push(...(contrast?.ownRatios ?? []));
    group.rows = Math.max(group.rows, row.b_rows);
    groups.set(groupKey(row), group);
  }
  const pooled = new Map([...groups].map(([key, group]) => [key, pooledReference(group.ratios)]));
  const rows = judged
    .filter(({ row }) => query.service === null || row.service === query.service)
    .map((one) => rowOf(one, pooled.get(groupKey(one.row)) ?? 1, groups.get(groupKey(one.row))?.rows ?? 0))
    // A stable sort keeps the order by service, metric, statistic.
    .sort((a, b) => b.score - a.score);
  return answerOf(ground, facts, rows.slice(0, query.limit), rows.length);
}
