import type { QueryAnswer, TimeRange } from '../ports/telemetry-source.port';
import type { Bound, TelemetrySession } from './telemetry-database';
import { instantOf, nanosecondsOf } from './time-expression';

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;
const MINUTE = 60n * SECOND;

/** Decimals that shares, rates and scores are rounded to. */
export const SHARE_DECIMALS = 4;
export const RATE_DECIMALS = 3;
export const SCORE_DECIMALS = 3;

/** Nanoseconds since 1970: `from` inclusive, `to` exclusive. */
export interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

export function rangeOf(range: TimeRange): Range {
  return { from: nanosecondsOf(range.from), to: nanosecondsOf(range.to) };
}

function orNever(range: Range | null): Range {
  return range ?? { from: 0n, to: 0n };
}

export function timeRange(range: Range | null): TimeRange | null {
  return range === null ? null : { from: instantOf(range.from), to: instantOf(range.to) };
}

/** Length of a covered range in minutes, at least a second's worth. */
export function minutesOf(covered: Range | null): number {
  const length = covered === null ? SECOND : covered.to - covered.from;
  return Number(length < SECOND ? SECOND : length) / Number(MINUTE);
}

export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

interface Neighbours {
  readonly before: bigint | null;
  readonly first: bigint | null;
  readonly last: bigint | null;
  readonly after: bigint | null;
}

/**
 * What the source holds of an asked range. It reaches to an edge of the range when lines go on beyond that edge and the
 * silence across it is no longer than the range itself or a minute; otherwise it ends with the first or last line.
 */
function coveredRange(asked: Range, { before, first, last, after }: Neighbours): Range | null {
  if (first === null || last === null) return null;
  const length = asked.to - asked.from;
  const reach = length > MINUTE ? length : MINUTE;
  const from = before !== null && first - before <= reach ? asked.from : first - (first % MILLISECOND);
  const end = last - (last % MILLISECOND) + MILLISECOND;
  const to = (after !== null && after - last <= reach) || end > asked.to ? asked.to : end;
  return { from: from < asked.from ? asked.from : from, to };
}

/** The ranges of a question as they are covered, with what was looked through and what matched in each. */
export interface Ground {
  readonly window: Range;
  readonly baseline: Range | null;
  readonly covered: Range | null;
  readonly baselineCovered: Range | null;
  readonly scanned: number;
  readonly matched: number;
  readonly baselineScanned: number;
  readonly baselineMatched: number;
}

interface GroundRow {
  readonly w_before: bigint | null;
  readonly w_first: bigint | null;
  readonly w_last: bigint | null;
  readonly w_after: bigint | null;
  readonly b_before: bigint | null;
  readonly b_first: bigint | null;
  readonly b_last: bigint | null;
  readonly b_after: bigint | null;
  readonly scanned: number;
  readonly matched: number;
  readonly b_scanned: number;
  readonly b_matched: number;
}

/** SQL for whether a record's `ns` is in a range of the question; values as of `bounds`. */
export const IN_WINDOW = '(ns >= $window_from AND ns < $window_to)';
export const IN_BASELINE = '(ns >= $baseline_from AND ns < $baseline_to)';

/** Both ranges as bound values; an absent baseline holds no instant. */
export function bounds(query: { readonly window: TimeRange; readonly baseline: TimeRange | null }): Bound {
  const window = rangeOf(query.window);
  const baseline = orNever(query.baseline === null ? null : rangeOf(query.baseline));
  return { window_from: window.from, window_to: window.to, baseline_from: baseline.from, baseline_to: baseline.to };
}

/** Looks what a table with a column `ns` holds of a question's ranges. */
export async function groundOf(
  session: TelemetrySession,
  table: 'logs' | 'metrics' | 'span_times' | 'span_calls',
  query: { readonly window: TimeRange; readonly baseline: TimeRange | null },
  inScope: string,
  matches: string,
  values: Bound,
): Promise<Ground> {
  const edge = (side: string, range: string, from: string, to: string): string =>
    `max(ns) FILTER (ns < ${from}) AS ${side}_before, min(ns) FILTER ${range} AS ${side}_first, max(ns) FILTER ${range} AS ${side}_last,
     min(ns) FILTER (ns >= ${to}) AS ${side}_after`;
  const [row] = await session.rows<GroundRow>(
    `SELECT ${edge('w', IN_WINDOW, '$window_from', '$window_to')}, ${edge('b', IN_BASELINE, '$baseline_from', '$baseline_to')},
       (count(*) FILTER (${IN_WINDOW} AND ${inScope}))::DOUBLE AS scanned,
       (count(*) FILTER (${IN_WINDOW} AND ${inScope} AND ${matches}))::DOUBLE AS matched,
       (count(*) FILTER (${IN_BASELINE} AND ${inScope}))::DOUBLE AS b_scanned,
       (count(*) FILTER (${IN_BASELINE} AND ${inScope} AND ${matches}))::DOUBLE AS b_matched
     FROM ${table}`,
    values,
  );
  const found = row as GroundRow;
  const window = rangeOf(query.window);
  const baseline = query.baseline === null ? null : rangeOf(query.baseline);
  return {
    window,
    baseline,
    covered: coveredRange(window, { before: found.w_before, first: found.w_first, last: found.w_last, after: found.w_after }),
    baselineCovered:
      baseline === null
        ? null
        : coveredRange(baseline, { before: found.b_before, first: found.b_first, last: found.b_last, after: found.b_after }),
    scanned: found.scanned,
    matched: found.matched,
    baselineScanned: found.b_scanned,
    baselineMatched: found.b_matched,
  };
}

/** What every answer says beside its rows. */
export interface SourceFacts {
  readonly rejected: number;
  readonly files_skipped: number;
  readonly text_zone: string | null;
}

/** The answer over a ground; it is complete when no row was left out. */
export function answerOf<Row>(ground: Ground, facts: SourceFacts, rows: readonly Row[], total: number): QueryAnswer<Row> {
  return {
    rows,
    rows_total: total,
    records_scanned: ground.scanned,
    records_rejected: facts.rejected,
    matched_count: ground.matched,
    complete: rows.length === total,
    covered: timeRange(ground.covered),
    files_skipped: facts.files_skipped,
    text_zone: facts.text_zone,
    ...(ground.baseline === null
      ? {}
      : {
          baseline: {
            covered: timeRange(ground.baselineCovered),
            records_scanned: ground.baselineScanned,
            matched_count: ground.baselineMatched,
          },
        }),
  };
}

/** Part of a whole, 0 of an empty one. */
export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : rounded(part / whole, SHARE_DECIMALS);
}
