import type {
  ErrorShareQuery,
  ErrorShareRow,
  LogPatternQuery,
  LogPatternRow,
  QueryAnswer,
  TimeRange,
} from '../ports/telemetry-source.port';
import type { Bound, TelemetrySession } from './telemetry-database';
import { instantOf, nanosecondsOf } from './time-expression';

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;
const MINUTE = 60n * SECOND;

/** Decimals that shares, rates and scores are rounded to. */
const SHARE_DECIMALS = 4;
const RATE_DECIMALS = 3;
const SCORE_DECIMALS = 3;

interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

function rangeOf(range: TimeRange): Range {
  return { from: nanosecondsOf(range.from), to: nanosecondsOf(range.to) };
}

function orNever(range: Range | null): Range {
  return range ?? { from: 0n, to: 0n };
}

function timeRange(range: Range | null): TimeRange | null {
  return range === null ? null : { from: instantOf(range.from), to: instantOf(range.to) };
}

function minutesOf(covered: Range | null): number {
  const length = covered === null ? SECOND : covered.to - covered.from;
  return Number(length < SECOND ? SECOND : length) / Number(MINUTE);
}

function rounded(value: number, decimals: number): number {
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
interface Ground {
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

const IN_WINDOW = '(ns >= $window_from AND ns < $window_to)';
const IN_BASELINE = '(ns >= $baseline_from AND ns < $baseline_to)';

function bounds(query: { readonly window: TimeRange; readonly baseline: TimeRange | null }): Bound {
  const window = rangeOf(query.window);
  const baseline = orNever(query.baseline === null ? null : rangeOf(query.baseline));
  return { window_from: window.from, window_to: window.to, baseline_from: baseline.from, baseline_to: baseline.to };
}

async function groundOf(
  session: TelemetrySession,
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
     FROM logs`,
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

function answerOf<Row>(ground: Ground, facts: SourceFacts, rows: readonly Row[], total: number): QueryAnswer<Row> {
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

function scopeOf(service: string | null): string {
  return service === null ? 'TRUE' : 'kind_id IN (SELECT kind_id FROM log_kinds WHERE service = $service)';
}

interface CountedRow {
  readonly service: string;
  readonly n: number;
  readonly lines: number;
  readonly b_n: number;
  readonly b_lines: number;
  readonly total: number;
}

interface PatternRow extends CountedRow {
  readonly level: string;
  readonly template: string;
  readonly sample: string;
  readonly first_seen: bigint | null;
  readonly last_seen: bigint | null;
  readonly score: number;
}

/**
 * Lines of window and baseline grouped by service, level and template, the most telling change first. Templates that only
 * the baseline has are rows with count 0. Without a covered baseline error lines come first, then larger shares.
 */
export async function logPatterns(
  session: TelemetrySession,
  query: LogPatternQuery,
  facts: SourceFacts,
): Promise<QueryAnswer<LogPatternRow>> {
  const inScope = scopeOf(query.service);
  const matches = query.contains === null ? 'TRUE' : 'contains(lower(message), lower($contains))';
  const values: Bound = {
    ...bounds(query),
    ...(query.service === null ? {} : { service: query.service }),
    ...(query.contains === null ? {} : { contains: query.contains }),
  };
  const ground = await groundOf(session, query, inScope, matches, values);
  const compared = ground.baselineCovered !== null;
  const minutes = minutesOf(ground.covered);
  const baselineMinutes = minutesOf(ground.baselineCovered);
  const score = compared
    ? 'change_score(n, lines, $minutes::DOUBLE, b_n, b_lines, $baseline_minutes::DOUBLE)'
    : '(CASE WHEN is_error THEN 1 ELSE 0 END) + n / greatest(lines, 1)';
  const rows = await session.rows<PatternRow>(
    `WITH marked AS (
       SELECT kind_id, seq, ns, ${IN_WINDOW} AS now, ${matches} AS hit FROM logs WHERE (${IN_WINDOW} OR ${IN_BASELINE}) AND ${inScope}),
     by_kind AS (
       SELECT kind_id, count(*) FILTER (now) AS lines, count(*) FILTER (NOT now) AS b_lines,
         count(*) FILTER (now AND hit) AS n, count(*) FILTER (NOT now AND hit) AS b_n,
         min(ns) FILTER (now AND hit) AS first_seen, max(ns) FILTER (now AND hit) AS last_seen,
         min(seq) FILTER (now AND hit) AS seq, min(seq) FILTER (NOT now AND hit) AS b_seq FROM marked GROUP BY kind_id),
     totals AS (
       SELECT service, sum(lines)::DOUBLE AS lines, sum(b_lines)::DOUBLE AS b_lines FROM by_kind JOIN log_kinds USING (kind_id) GROUP BY service),
     patterns AS (
       SELECT service, level, template, bool_or(is_error) AS is_error, sum(n)::DOUBLE AS n, sum(b_n)::DOUBLE AS b_n,
         min(first_seen) AS first_seen, max(last_seen) AS last_seen, coalesce(min(seq), min(b_seq)) AS seq
       FROM by_kind JOIN log_kinds USING (kind_id) GROUP BY service, level, template HAVING sum(n) + sum(b_n) > 0),
     ranked AS (
       SELECT *, round(${score}, ${SCORE_DECIMALS}) AS score, (count(*) OVER ())::DOUBLE AS total FROM patterns JOIN totals USING (service)
       ORDER BY score DESC, n DESC, b_n DESC, service, level, template LIMIT ${Math.trunc(query.limit)})
     SELECT r.*, logs.message AS sample FROM ranked r JOIN logs USING (seq) ORDER BY r.score DESC, r.n DESC, r.b_n DESC, r.service, r.level, r.template`,
    compared ? { ...values, minutes, baseline_minutes: baselineMinutes } : values,
  );
  const patterns = rows.map((row): LogPatternRow => ({
    service: row.service,
    level: row.level === '' ? null : row.level,
    template: row.template,
    sample: row.sample,
    count: row.n,
    baseline_count: compared ? row.b_n : null,
    share: shareOf(row.n, row.lines),
    baseline_share: compared ? shareOf(row.b_n, row.b_lines) : null,
    rate_per_min: rounded(row.n / minutes, RATE_DECIMALS),
    baseline_rate_per_min: compared ? rounded(row.b_n / baselineMinutes, RATE_DECIMALS) : null,
    first_seen: row.first_seen === null ? null : instantOf(row.first_seen),
    last_seen: row.last_seen === null ? null : instantOf(row.last_seen),
    score: row.score,
  }));
  return answerOf(ground, facts, patterns, rows[0]?.total ?? 0);
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : rounded(part / whole, SHARE_DECIMALS);
}

/**
 * Lines and error lines of each service, the largest rise of the share first. `matched_count` counts error lines; the rates
 * are of all lines, so that a service that fell silent shows too.
 */
export async function errorShare(
  session: TelemetrySession,
  query: ErrorShareQuery,
  facts: SourceFacts,
): Promise<QueryAnswer<ErrorShareRow>> {
  const inScope = scopeOf(query.service);
  const isError = 'kind_id IN (SELECT kind_id FROM log_kinds WHERE is_error)';
  const values: Bound = { ...bounds(query), ...(query.service === null ? {} : { service: query.service }) };
  const ground = await groundOf(session, query, inScope, isError, values);
  const compared = ground.baselineCovered !== null;
  const minutes = minutesOf(ground.covered);
  const baselineMinutes = minutesOf(ground.baselineCovered);
  const score = compared
    ? `change_score(n, lines, $minutes::DOUBLE, b_n, b_lines, $baseline_minutes::DOUBLE)
         * (CASE WHEN n * greatest(b_lines, 1) < b_n * greatest(lines, 1) THEN -1 ELSE 1 END)`
    : 'n / greatest(lines, 1)';
  const rows = await session.rows<CountedRow>(
    `WITH by_kind AS (
       SELECT kind_id, count(*) FILTER ${IN_WINDOW} AS lines, count(*) FILTER (NOT ${IN_WINDOW}) AS b_lines
       FROM logs WHERE (${IN_WINDOW} OR ${IN_BASELINE}) AND ${inScope} GROUP BY kind_id),
     services AS (
       SELECT service, sum(lines)::DOUBLE AS lines, sum(b_lines)::DOUBLE AS b_lines,
         coalesce(sum(lines) FILTER (is_error), 0)::DOUBLE AS n, coalesce(sum(b_lines) FILTER (is_error), 0)::DOUBLE AS b_n
       FROM by_kind JOIN log_kinds USING (kind_id) GROUP BY service)
     SELECT *, (count(*) OVER ())::DOUBLE AS total FROM services
     ORDER BY round(${score}, ${SCORE_DECIMALS}) DESC, n DESC, lines DESC, service LIMIT ${Math.trunc(query.limit)}`,
    compared ? { ...values, minutes, baseline_minutes: baselineMinutes } : values,
  );
  const services = rows.map((row): ErrorShareRow => ({
    service: row.service,
    lines: row.lines,
    error_lines: row.n,
    error_share: shareOf(row.n, row.lines),
    baseline_lines: compared ? row.b_lines : null,
    baseline_error_lines: compared ? row.b_n : null,
    baseline_error_share: compared ? shareOf(row.b_n, row.b_lines) : null,
    rate_per_min: rounded(row.lines / minutes, RATE_DECIMALS),
    baseline_rate_per_min: compared ? rounded(row.b_lines / baselineMinutes, RATE_DECIMALS) : null,
  }));
  return answerOf(ground, facts, services, rows[0]?.total ?? 0);
}

/** Covered range and counts of lines for a question over whole flows; both ranges must be there to compare. */
export async function coverageOf(
  session: TelemetrySession,
  query: { readonly window: TimeRange; readonly baseline: TimeRange; readonly service: string | null },
): Promise<{
  covered: TimeRange | null;
  baselineCovered: TimeRange | null;
  scanned: number;
  baselineScanned: number;
  window: Range;
  baseline: Range;
}> {
  const values: Bound = { ...bounds(query), ...(query.service === null ? {} : { service: query.service }) };
  const ground = await groundOf(session, query, scopeOf(query.service), 'TRUE', values);
  return {
    covered: timeRange(ground.covered),
    baselineCovered: timeRange(ground.baselineCovered),
    scanned: ground.scanned,
    baselineScanned: ground.baselineScanned,
    window: rangeOf(query.window),
    baseline: rangeOf(query.baseline),
  };
}
