import type {
  ErrorShareQuery,
  ErrorShareRow,
  LogPatternQuery,
  LogPatternRow,
  PartOfSystem,
  QueryAnswer,
  TimeRange,
} from '../ports/telemetry-source.port';
import type { Bound, TelemetrySession } from './telemetry-database';
import {
  answerOf,
  bounds,
  groundOf,
  IN_BASELINE,
  IN_WINDOW,
  minutesOf,
  RATE_DECIMALS,
  rangeOf,
  rounded,
  SCORE_DECIMALS,
  shareOf,
  timeRange,
  type Range,
  type SourceFacts,
} from './query-ground';
import { instantOf } from './time-expression';

function scopeOf(service: string | null): string {
  return service === null ? 'TRUE' : 'kind_id IN (SELECT kind_id FROM log_kinds WHERE service = $service)';
}

/**
 * Whole words of the name of the service or the instance, else, where no name in all the logs holds them, of the line. The
 * text is escaped, so that it is no pattern.
 */
function partOf(part: PartOfSystem | undefined): string {
  if (part === undefined || part === null) return 'TRUE';
  const held = (name: string): string =>
    `regexp_matches(lower(${name}), '(^|[^\\p{L}\\p{N}])' || regexp_escape(lower($part)) || '([^\\p{L}\\p{N}]|$)')`;
  const named = `(kind_id IN (SELECT kind_id FROM log_kinds WHERE ${held('service')}) OR ${held(`coalesce(instance, '')`)})`;
  return `(${named} OR (NOT EXISTS (SELECT 1 FROM logs WHERE ${named}) AND ${held('message')}))`;
}

function partValue(part: PartOfSystem | undefined): Bound {
  return part === undefined || part === null ? {} : { part };
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
  const inPart = partOf(query.part);
  const matches = query.contains === null ? 'TRUE' : 'contains(lower(message), lower($contains))';
  const values: Bound = {
    ...bounds(query),
    ...(query.service === null ? {} : { service: query.service }),
    ...(query.contains === null ? {} : { contains: query.contains }),
    ...partValue(query.part),
  };
  // What was looked through is more than what belongs to the part.
  const ground = await groundOf(session, 'logs', query, inScope, `${matches} AND ${inPart}`, values);
  const compared = ground.baselineCovered !== null;
  const minutes = minutesOf(ground.covered);
  const baselineMinutes = minutesOf(ground.baselineCovered);
  const score = compared
    ? 'change_score(n, lines, $minutes::DOUBLE, b_n, b_lines, $baseline_minutes::DOUBLE)'
    : '(CASE WHEN is_error THEN 1 ELSE 0 END) + n / greatest(lines, 1)';
  const rows = await session.rows<PatternRow>(
    `WITH marked AS (
       SELECT kind_id, seq, ns, ${IN_WINDOW} AS now, ${matches} AS hit FROM logs WHERE (${IN_WINDOW} OR ${IN_BASELINE}) AND ${inScope} AND ${inPart}),
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
  const inPart = partOf(query.part);
  const values: Bound = {
    ...bounds(query),
    ...(query.service === null ? {} : { service: query.service }),
    ...partValue(query.part),
  };
  const ground = await groundOf(session, 'logs', query, inScope, `${isError} AND ${inPart}`, values);
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
       FROM logs WHERE (${IN_WINDOW} OR ${IN_BASELINE}) AND ${inScope} AND ${inPart} GROUP BY kind_id),
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
  const ground = await groundOf(session, 'logs', query, scopeOf(query.service), 'TRUE', values);
  return {
    covered: timeRange(ground.covered),
    baselineCovered: timeRange(ground.baselineCovered),
    scanned: ground.scanned,
    baselineScanned: ground.baselineScanned,
    window: rangeOf(query.window),
    baseline: rangeOf(query.baseline),
  };
}
