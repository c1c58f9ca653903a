import type { ComparisonQuery, QueryAnswer, ServiceEdgeRow, SpanServiceRow } from '../ports/telemetry-source.port';
import {
  answerOf,
  bounds,
  groundOf,
  IN_BASELINE,
  IN_WINDOW,
  minutesOf,
  RATE_DECIMALS,
  rounded,
  SCORE_DECIMALS,
  SHARE_DECIMALS,
  shareOf,
  type Ground,
  type SourceFacts,
} from './query-ground';
import type { Bound, TelemetrySession } from './telemetry-database';
import { instantOf } from './time-expression';

/** Constants of the span analysis, each with what it is for. */
const SPANS = {
  /** Fewest baseline spans of a group whose own limits are used. */
  fewestInGroup: 4,
  /** How many times the distance from median to 90th percentile a high span lies above the median. */
  spreads: 3,
  /** Least excess of a high span, as a share of the median trace: what no user notices is not high. */
  leastShareOfTrace: 0.1,
  /** G from which on a rise of the share of high traces counts in full: about p = .005 with one degree of freedom. */
  certainG: 8,
} as const;

const TIME_DECIMALS = 3;

const GROUP_LIMITS = `median(self) AS middle, quantile_cont(self, 0.9) AS upper`;

/** Limits of each group; one that the baseline does not know takes those of its callee, else of all calls or all own work. */
function setUp(medianTrace: number): readonly string[] {
  return [
    `CREATE OR REPLACE TEMP TABLE span_limits AS
     WITH own AS (SELECT service, operation, callee, ${GROUP_LIMITS} FROM span_sides WHERE NOT now GROUP BY ALL HAVING count(*) >= ${SPANS.fewestInGroup}),
     by_callee AS (SELECT callee, ${GROUP_LIMITS} FROM span_sides WHERE NOT now AND callee <> '' GROUP BY ALL HAVING count(*) >= ${SPANS.fewestInGroup}),
     by_sort AS (SELECT callee <> '' AS is_call, ${GROUP_LIMITS} FROM span_sides WHERE NOT now GROUP BY ALL)
     SELECT g.*, coalesce(own.middle, by_callee.middle, by_sort.middle) AS middle, coalesce(own.upper, by_callee.upper, by_sort.upper) AS upper
     FROM (SELECT DISTINCT service, operation, callee FROM span_sides) g LEFT JOIN own USING (service, operation, callee)
       LEFT JOIN by_callee USING (callee) LEFT JOIN by_sort ON by_sort.is_call = (g.callee <> '')`,
    `CREATE OR REPLACE TEMP TABLE span_marks AS
     SELECT s.now, s.trace, s.service, s.callee, s.ns, s.self, s.is_error, s.is_unanswered, coalesce(self - middle, 0) AS excess,
       coalesce(self - middle > greatest(${SPANS.spreads} * (upper - middle), ${SPANS.leastShareOfTrace} * ${medianTrace}::DOUBLE), false)::INTEGER AS high
     FROM span_sides s JOIN span_limits l USING (service, operation, callee)`,
  ];
}

const SIDES_SQL = `
  CREATE OR REPLACE TEMP TABLE span_sides AS
  SELECT ${IN_WINDOW} AS now, * FROM span_times WHERE ${IN_WINDOW} OR ${IN_BASELINE}`;

const MEDIAN_TRACE_SQL = `
  SELECT median(length)::DOUBLE AS length FROM (SELECT (max(b) - min(ns)) / 1e6 AS length FROM span_sides WHERE NOT now GROUP BY trace)`;

const ROLES_SQL = `
  WITH parts AS (
    SELECT service AS node, CASE WHEN callee = '' THEN 'self' ELSE 'outgoing' END AS role, now, excess, high, is_unanswered FROM span_marks
    UNION ALL SELECT callee, 'incoming', now, excess, high, false FROM span_marks WHERE callee <> '')
  SELECT node, role, now, count(*)::DOUBLE AS n, sum(high)::DOUBLE AS high, coalesce(fsum(excess * high), 0)::DOUBLE AS excess,
    coalesce(fsum(excess * high) FILTER (is_unanswered), 0)::DOUBLE AS unanswered,
    bool_and(is_unanswered IS NOT NULL) FILTER (high = 1) AS has_kinds FROM parts GROUP BY ALL`;

const SERVICES_SQL = `
  WITH touched AS (
    SELECT service AS node, now, trace, max(high) AS high, min(ns) FILTER (high = 1) AS first_high FROM (
      SELECT service, now, trace, high, ns FROM span_marks UNION ALL SELECT callee, now, trace, high, ns FROM span_marks WHERE callee <> '')
    GROUP BY ALL),
  traces AS (
    SELECT node, count(*) FILTER (now)::DOUBLE AS n, count(*) FILTER (NOT now)::DOUBLE AS b_n, coalesce(sum(high) FILTER (now), 0)::DOUBLE AS high,
      coalesce(sum(high) FILTER (NOT now), 0)::DOUBLE AS b_high, min(first_high) FILTER (now) AS first_high FROM touched GROUP BY node),
  own AS (
    SELECT service AS node, median(self) FILTER (now AND callee = '') AS self, median(self) FILTER (NOT now AND callee = '') AS b_self,
      count(*) FILTER (now)::DOUBLE AS spans, count(*) FILTER (NOT now)::DOUBLE AS b_spans,
      count(*) FILTER (now AND is_error)::DOUBLE AS errors, count(*) FILTER (NOT now AND is_error)::DOUBLE AS b_errors FROM span_marks GROUP BY service),
  gaps AS (
    SELECT callee AS node, median(self) FILTER (now) AS gap, median(self) FILTER (NOT now) AS b_gap FROM span_marks WHERE callee <> '' GROUP BY callee)
  SELECT * FROM traces LEFT JOIN own USING (node) LEFT JOIN gaps USING (node) ORDER BY node`;

interface RoleRow {
  readonly node: string;
  readonly role: 'self' | 'incoming' | 'outgoing';
  readonly now: boolean;
  readonly n: number;
  readonly high: number;
  readonly excess: number;
  readonly unanswered: number;
  /** Null without a high span. */
  readonly has_kinds: boolean | null;
}

interface ServiceRow {
  readonly node: string;
  readonly n: number;
  readonly b_n: number;
  readonly high: number;
  readonly b_high: number;
  readonly first_high: bigint | null;
  readonly self: number | null;
  readonly b_self: number | null;
  readonly spans: number | null;
  readonly b_spans: number | null;
  readonly errors: number | null;
  readonly b_errors: number | null;
  readonly gap: number | null;
  readonly b_gap: number | null;
}

/** Log-likelihood ratio of a 2x2 table with half a count added to each cell (Dunning 1993); 0 unless the share rose. */
function riseOfShare(before: number, ofBefore: number, after: number, ofAfter: number): number {
  if (ofAfter === 0 || after / ofAfter <= (ofBefore === 0 ? 0 : before / ofBefore)) return 0;
  const cells = [
    [before + 0.5, ofBefore - before + 0.5],
    [after + 0.5, ofAfter - after + 0.5],
  ] as const;
  const all = ofBefore + ofAfter + 2;
  let sum = 0;
  for (const row of cells) {
    for (const at of [0, 1] as const) {
      const expected = ((row[0] + row[1]) * (cells[0][at] + cells[1][at])) / all;
      sum += 2 * row[at] * Math.log(row[at] / expected);
    }
  }
  return Math.max(0, sum);
}

type RoleSums = Omit<RoleRow, 'node' | 'role' | 'now'>;

const NO_ROLE: RoleSums = { n: 0, high: 0, excess: 0, unanswered: 0, has_kinds: null };

/** The role in which most of what touches a service is high. In its own work that is the share of high traces that its work explains. */
function tellingRole(service: ServiceRow, part: (role: RoleRow['role']) => RoleSums): Pick<SpanServiceRow, 'role' | 'precision'> {
  const self = part('self');
  const incoming = part('incoming');
  const outgoing = part('outgoing');
  const excess = self.excess + incoming.excess + outgoing.excess;
  const shares = [
    ['self', service.n > 0 && self.excess > 0 ? (service.high / service.n) * (self.excess / excess) : 0],
    ['incoming', shareOfCalls(incoming)],
    ['outgoing', shareOfCalls(outgoing)],
  ] as const;
  let best: Pick<SpanServiceRow, 'role' | 'precision'> = { role: null, precision: 0 };
  for (const [role, precision] of shares) if (precision > best.precision) best = { role, precision };
  return best;
}

function shareOfCalls({ n, high }: RoleSums): number {
  return n === 0 ? 0 : high / n;
}

function orNull(value: number | null): number | null {
  return value === null ? null : rounded(value, TIME_DECIMALS);
}

function serviceRow(service: ServiceRow, roles: readonly RoleRow[], medianTrace: number | null, ground: Ground): SpanServiceRow {
  const compared = ground.baselineCovered !== null;
  const part = (now: boolean, role: RoleRow['role']): RoleSums =>
    roles.find((one) => one.now === now && one.role === role) ?? NO_ROLE;
  const excessOf = (now: boolean, traces: number): number =>
    traces === 0 ? 0 : roles.reduce((sum, one) => sum + (one.now === now ? one.excess : 0), 0) / traces;
  const excess = excessOf(true, service.n);
  const baselineExcess = excessOf(false, service.b_n);
  const gain = medianTrace === null || medianTrace === 0 ? 0 : Math.max(0, (excess - baselineExcess) / medianTrace);
  const { role, precision } = tellingRole(service, (name) => part(true, name));
  const certainty = Math.min(1, riseOfShare(service.b_high, service.b_n, service.high, service.n) / SPANS.certainG);
  const self = part(true, 'self');
  const beside = <T>(value: T): T | null => (compared ? value : null);
  return {
    service: service.node,
    traces: service.n,
    baseline_traces: beside(service.b_n),
    high_traces: service.high,
    baseline_high_traces: beside(service.b_high),
    high_share: shareOf(service.high, service.n),
    baseline_high_share: beside(shareOf(service.b_high, service.b_n)),
    self_ms: orNull(service.self),
    baseline_self_ms: orNull(service.b_self),
    gap_ms: orNull(service.gap),
    baseline_gap_ms: orNull(service.b_gap),
    excess_ms: rounded(excess, TIME_DECIMALS),
    baseline_excess_ms: beside(rounded(baselineExcess, TIME_DECIMALS)),
    error_share: shareOf(service.errors ?? 0, service.spans ?? 0),
    baseline_error_share: beside(shareOf(service.b_errors ?? 0, service.b_spans ?? 0)),
    rate_per_min: rounded(service.n / minutesOf(ground.covered), RATE_DECIMALS),
    baseline_rate_per_min: beside(rounded(service.b_n / minutesOf(ground.baselineCovered), RATE_DECIMALS)),
    first_seen: service.first_high === null ? null : instantOf(service.first_high),
    unanswered_share: self.excess > 0 && self.has_kinds === true ? rounded(self.unanswered / self.excess, SHARE_DECIMALS) : null,
    role,
    gain: rounded(gain, SCORE_DECIMALS),
    precision: rounded(precision, SCORE_DECIMALS),
    score: rounded(gain * precision * certainty, SCORE_DECIMALS),
  };
}

/**
 * Services of the traces of a window beside a baseline, the highest score first, then the largest rise of errors. A span belongs
 * to the range that it starts in.
 */
export async function spanAnalysis(
  session: TelemetrySession,
  query: ComparisonQuery,
  facts: SourceFacts,
): Promise<QueryAnswer<SpanServiceRow>> {
  const values: Bound = bounds(query);
  const inScope = query.service === null ? 'TRUE' : '(service = $service OR callee = $service)';
  const scoped = query.service === null ? values : { ...values, service: query.service };
  const ground = await groundOf(session, 'span_times', query, inScope, 'TRUE', scoped);
  await session.run(SIDES_SQL, values);
  const [median] = await session.rows<{ length: number | null }>(MEDIAN_TRACE_SQL);
  const medianTrace = median?.length ?? null;
  for (const statement of setUp(medianTrace ?? 0)) await session.run(statement);
  const roles = new Map<string, RoleRow[]>();
  for (const role of await session.rows<RoleRow>(ROLES_SQL)) roles.set(role.node, [...(roles.get(role.node) ?? []), role]);
  const rise = (row: SpanServiceRow): number => row.error_share - (row.baseline_error_share ?? 0);
  const rows = (await session.rows<ServiceRow>(SERVICES_SQL))
    .filter(({ node }) => query.service === null || node === query.service)
    .map((service) => serviceRow(service, roles.get(service.node) ?? [], medianTrace, ground))
    // A stable sort keeps the order by name.
    .sort((a, b) => b.score - a.score || rise(b) - rise(a) || b.traces - a.traces);
  return answerOf(ground, facts, rows.slice(0, query.limit), rows.length);
}

interface EdgeRow {
  readonly caller: string;
  readonly callee: string;
  readonly n: number | null;
  readonly b_n: number | null;
  readonly total: number;
}

/** Calls between services in spans of window and baseline, the most frequent first, then the edges that only a file states. */
export async function serviceGraph(
  session: TelemetrySession,
  query: ComparisonQuery,
  facts: SourceFacts,
): Promise<QueryAnswer<ServiceEdgeRow>> {
  const inScope = query.service === null ? 'TRUE' : '(caller = $service OR callee = $service)';
  const values: Bound = query.service === null ? bounds(query) : { ...bounds(query), service: query.service };
  const ground = await groundOf(session, 'span_calls', query, inScope, 'TRUE', values);
  const rows = await session.rows<EdgeRow>(
    `WITH seen AS (
       SELECT caller, callee, count(*) FILTER (${IN_WINDOW})::DOUBLE AS n, count(*) FILTER (NOT ${IN_WINDOW})::DOUBLE AS b_n
       FROM span_calls WHERE (${IN_WINDOW} OR ${IN_BASELINE}) GROUP BY ALL),
     every AS (FROM seen UNION ALL SELECT caller, callee, NULL, NULL FROM edges ANTI JOIN seen USING (caller, callee))
     SELECT *, (count(*) OVER ())::DOUBLE AS total FROM every WHERE ${inScope}
     ORDER BY n DESC NULLS LAST, b_n DESC NULLS LAST, caller, callee LIMIT ${Math.trunc(query.limit)}`,
    values,
  );
  const compared = ground.baselineCovered !== null;
  const edges = rows.map(({ caller, callee, n, b_n }): ServiceEdgeRow => ({
    caller,
    callee,
    count: n,
    baseline_count: compared ? b_n : null,
  }));
  return answerOf(ground, facts, edges, rows[0]?.total ?? 0);
}
