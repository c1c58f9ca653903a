/**
 * The tables that an opened telemetry folder becomes. They are filled once per import and never written again; every query
 * of this folder goes over them through `TelemetryDatabase.query` with bound values.
 *
 * - `log_kinds`: one row for each distinct (service, level, call site, exception, masked text); `template` is set when all
 *   files are in. Empty text stands for "none" in level, site and exception.
 * - `logs`: one row a record, `seq` ascending in file order and unique, `ns` nanoseconds since 1970 in UTC, `message` the
 *   line as it stands in the telemetry. `trace`, `span`, `instance` are null where the source has none.
 * - `log_events`: both joined, one row a line; `step` names what the line says: level, call site (else template), exception.
 * - `changes`: deploys, flags, configuration, migrations.
 * - `metric_series`: one row for each (service, metric, statistic); empty text for no statistic and no unit. `kind` is set when all
 *   files are in. `metrics`: its values, several at one time where there are several instances.
 * - `spans`: rows as they are read, empty once all files are in; `span_times`: one row a span with its time outside of children in ms
 *   and the other service that it calls, empty text for none; `span_calls`: a row for each span that another service called.
 * - `edges`: calls between services that a file states.
 * - `change_score`: how telling it is that `k1` of `n1` lines in `m1` minutes stand against `k2` of `n2` in `m2`: the
 *   likelihood ratio statistic G of the 2x2 table (Dunning: "Accurate Methods for the Statistics of Surprise and
 *   Coincidence", Computational Linguistics 19(1), 1993) times the absolute log2 of the smoothed ratio of shares. Where one
 *   side has no lines at all, shares mean nothing and rates a minute are compared instead.
 */
export const TELEMETRY_TABLES: readonly string[] = [
  `CREATE TABLE log_kinds (kind_id INTEGER, service VARCHAR, level VARCHAR, is_error BOOLEAN, site VARCHAR,
     exception VARCHAR, masked VARCHAR, template VARCHAR)`,
  `CREATE TABLE logs (seq BIGINT, ns BIGINT, kind_id INTEGER, trace VARCHAR, span VARCHAR, instance VARCHAR, message VARCHAR)`,
  `CREATE TABLE changes (seq BIGINT, ns BIGINT, service VARCHAR, kind VARCHAR, text VARCHAR)`,
  `CREATE TABLE metric_series (series_id INTEGER, service VARCHAR, metric VARCHAR, statistic VARCHAR, unit VARCHAR, kind VARCHAR)`,
  `CREATE TABLE metrics (series_id INTEGER, ns BIGINT, value DOUBLE)`,
  `CREATE TABLE spans (trace VARCHAR, span VARCHAR, parent VARCHAR, service VARCHAR, operation VARCHAR, a BIGINT, b BIGINT, is_error BOOLEAN,
     is_served BOOLEAN, is_call BOOLEAN)`,
  `CREATE TABLE span_times (trace VARCHAR, service VARCHAR, operation VARCHAR, callee VARCHAR, ns BIGINT, b BIGINT, self DOUBLE, is_error BOOLEAN, is_unanswered BOOLEAN)`,
  `CREATE TABLE span_calls (ns BIGINT, caller VARCHAR, callee VARCHAR)`,
  `CREATE TABLE edges (caller VARCHAR, callee VARCHAR)`,
  `CREATE VIEW log_events AS SELECT l.seq AS id, l.ns AS ts, k.service, l.instance, l.trace, l.span, k.is_error, l.message,
     concat_ws(' ', nullif(k.level, ''), CASE WHEN k.site <> '' THEN k.site ELSE k.template END, nullif(k.exception, '')) AS step
     FROM logs l JOIN log_kinds k USING (kind_id)`,
  `CREATE MACRO g_term(k, expected) AS CASE WHEN k = 0 THEN 0.0::DOUBLE ELSE k * ln(k / expected) END`,
  `CREATE MACRO g_pair(k1, k2, share1) AS g_term(k1, (k1 + k2) * share1) + g_term(k2, (k1 + k2) * (1 - share1))`,
  `CREATE MACRO change_score(k1, n1, m1, k2, n2, m2) AS CASE
     WHEN k1 + k2 = 0 THEN 0.0::DOUBLE
     WHEN n1 = 0 OR n2 = 0 THEN 2 * g_pair(k1, k2, m1 / (m1 + m2)) * abs(log2(((k1 + 0.5) / m1) / ((k2 + 0.5) / m2)))
     ELSE 2 * greatest(0.0::DOUBLE, g_pair(k1, k2, n1 / (n1 + n2)) + g_pair(n1 - k1, n2 - k2, n1 / (n1 + n2)))
       * abs(log2(((k1 + 0.5) / (n1 + 1)) / ((k2 + 0.5) / (n2 + 1)))) END`,
];

/** An SQL string literal. DuckDB's plain strings know no escape but the doubled quote. */
export function sqlText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
