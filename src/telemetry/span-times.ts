/** A span whose parent is in no file hangs under one that encloses it up to this much: clocks of hosts differ by about 1 ms. */
const CLOCK_SLACK_NS = 1_000_000;
/** Children of one span from which on overlaps among them are not looked at: pairs of a fan-out this wide cost more than they tell. */
const MAX_SIBLINGS = 500;

/** Pairs of spans of one trace up to which what a file lost is looked for: a trace that is mostly lost would take for ever. */
const MAX_PAIRS = 4_000_000;

/**
 * SQL that makes exclusive times of `spans`.
 * `resolved`: one row for each trace and span id, its parent found again where the file lost it: the
 * enclosing span that starts last.
 * `times`, over `resolved_spans`: the time of a span outside of its children and of later siblings that overlap it, since those
 * run on behalf of what started before them (asynchronous fan-out, filters that do not nest); and the other service that it calls.
 * A span that is known to serve (kind SERVER or CONSUMER) is its service's own work, whoever its children belong to; one that is known to
 * call (kind CLIENT or PRODUCER) without a span of another service below it is unanswered.
 */
export const SPAN_TIMES_SQL = {
  resolved: `
    WITH unique_spans AS (
      SELECT trace, span, min(parent) AS parent, min(service) AS service, min(operation) AS operation, min(a) AS a,
        min(a) + max(b - a) AS b, bool_or(is_error) AS is_error,
        bool_and(is_served) AS is_served, bool_and(is_call) AS is_call FROM spans GROUP BY trace, span),
    orphans AS (
      SELECT c.trace, c.span, c.a, c.b FROM unique_spans c ANTI JOIN unique_spans p ON p.trace = c.trace AND p.span = c.parent),
    sizes AS (SELECT trace, count(*) AS spans FROM unique_spans GROUP BY trace),
    sought AS (
      SELECT o.trace FROM orphans o JOIN sizes USING (trace) GROUP BY o.trace, spans HAVING count(*) * spans <= ${MAX_PAIRS}),
    enclosed AS (
      SELECT o.trace, o.span, arg_max(p.span, (p.a, p.span)) AS parent FROM orphans o SEMI JOIN sought USING (trace) JOIN unique_spans p
        ON p.trace = o.trace AND p.span <> o.span AND p.a <= o.a + ${CLOCK_SLACK_NS} AND p.b >= o.b - ${CLOCK_SLACK_NS} AND p.b - p.a > o.b - o.a
      GROUP BY o.trace, o.span)
    SELECT u.* EXCLUDE (parent), coalesce(e.parent, u.parent) AS parent FROM unique_spans u LEFT JOIN enclosed e USING (trace, span)`,
  times: `
    WITH children AS (
      SELECT c.trace, p.span, greatest(c.a, p.a) AS a, least(c.b, p.b) AS b, CASE WHEN c.service <> p.service THEN c.service END AS callee
      FROM resolved_spans c JOIN resolved_spans p ON p.trace = c.trace AND p.span = c.parent),
    families AS (
      SELECT trace, span, parent, a, b FROM resolved_spans WHERE parent IS NOT NULL
      QUALIFY count(*) OVER (PARTITION BY trace, parent) <= ${MAX_SIBLINGS}),
    covers AS (
      FROM children UNION ALL
      SELECT p.trace, p.span, c.a, least(c.b, p.b), NULL FROM families c JOIN families p
        ON p.trace = c.trace AND p.parent = c.parent AND p.span <> c.span AND c.a > p.a AND c.a < p.b),
    in_order AS (
      SELECT *, max(b) OVER (PARTITION BY trace, span ORDER BY a, b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached FROM covers),
    covered AS (
      SELECT trace, span, sum(greatest(0, b - greatest(a, coalesce(reached, a)))) AS covered, min(callee) AS callee
      FROM in_order WHERE b > a OR callee IS NOT NULL GROUP BY trace, span)
    SELECT s.trace, s.service, s.operation, CASE WHEN s.is_served THEN '' ELSE coalesce(c.callee, '') END, s.a, s.b, greatest(0, (s.b - s.a) - coalesce(c.covered, 0))::DOUBLE / 1e6, s.is_error, s.is_call AND c.callee IS NULL
    FROM resolved_spans s LEFT JOIN covered c USING (trace, span) ORDER BY s.a, s.trace, s.span`,
} as const;

/** SQL for the calls from one service to another, over `resolved_spans`. */
export const CALLS_SQL = `
  SELECT c.a, p.service, c.service FROM resolved_spans c JOIN resolved_spans p ON p.trace = c.trace AND p.span = c.parent
  WHERE c.service <> p.service ORDER BY c.a, p.service, c.service`;
