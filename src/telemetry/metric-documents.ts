import { sqlText } from './log-tables';
import { anyValue, member, OTLP_RESOURCES, otlpPaths, type DocumentRows } from './span-documents';

/** Columns of metric values from documents; `time` in nanoseconds since 1970. */
const COLUMNS = ['time', 'service', 'metric', 'statistic', 'unit', 'value'] as const;
/** Sets of labels of one metric and service up to which each is a series of its own; more are read as instances of one. */
const MAX_LABEL_SETS = 20;

/**
 * SQL that turns `points (identity, service, metric, labels, unit, t, start, mode, statistic, x, y)` into rows. `level` values
 * stand as they are. A counter that only grows (`cumulative`) becomes its increase a second since the point before, counted
 * from zero where it was reset, as of Prometheus' `rate`; its first point has none. A count that is new each time (`delta`) is divided by
 * the time that it covers, where that is known. With a sum (`y`) beside a count (`x`), the mean of what was counted comes as well.
 */
function rowsOfPoints(points: string): string {
  return `
    WITH points AS (${points}),
    label_sets AS (SELECT service AS owner, metric AS owned, count(DISTINCT labels) AS sets FROM points GROUP BY ALL),
    folded AS (
      SELECT *, CASE WHEN labels = '' OR sets > ${MAX_LABEL_SETS} THEN metric ELSE metric || '{' || labels || '}' END AS named
      FROM points LEFT JOIN label_sets l ON points.service IS NOT DISTINCT FROM l.owner AND points.metric = l.owned),
    steps AS (
      SELECT *, lag(x) OVER series AS x0, lag(y) OVER series AS y0, lag(t) OVER series AS t0 FROM folded
      WINDOW series AS (PARTITION BY identity, named, mode, statistic ORDER BY t)),
    grown AS (
      SELECT *, CASE mode WHEN 'cumulative' THEN CASE WHEN x >= x0 THEN x - x0 ELSE x END WHEN 'delta' THEN x END AS more,
        CASE mode WHEN 'cumulative' THEN CASE WHEN x >= x0 THEN y - y0 ELSE y END WHEN 'delta' THEN y END AS sum,
        CASE mode WHEN 'cumulative' THEN (t - t0) / 1e9 WHEN 'delta' THEN CASE WHEN start > 0 AND start < t THEN (t - start) / 1e9 END END AS seconds
      FROM steps WHERE mode = 'level' OR mode = 'delta' OR t > t0)
    SELECT t::VARCHAR, service, named, statistic, unit, x::VARCHAR FROM grown WHERE mode = 'level'
    UNION ALL SELECT t::VARCHAR, service, named || counted, 'rate', CASE WHEN seconds IS NULL THEN unit ELSE concat(nullif(unit, ''), '/s') END,
      (more / coalesce(seconds, 1))::VARCHAR FROM (SELECT *, CASE WHEN has_sum THEN '_count' ELSE '' END AS counted FROM grown) WHERE mode <> 'level'
    UNION ALL SELECT t::VARCHAR, service, named, 'avg', sum_unit, (sum / nullif(more, 0))::VARCHAR FROM grown WHERE mode <> 'level' AND has_sum`;
}

const LABELS = (json: string): string =>
  `array_to_string(list_sort(list_transform(json_extract(${json}, '$.attributes[*]'), lambda a: json_extract_string(a, '$.key') || '=' || coalesce(${anyValue(`json_extract(a, '$.value')`)}, ''))), ',')`;
const NUMBER = (json: string): string =>
  `coalesce(try_cast(${member(json, 'asDouble')} AS DOUBLE), try_cast(${member(json, 'asInt')} AS DOUBLE))`;
const IS_DELTA = (data: string): string =>
  `coalesce(${member('piece', `${data}.aggregationTemporality`)} IN ('1', 'AGGREGATION_TEMPORALITY_DELTA'), false)`;

/** One kind of OpenTelemetry's data points as a part of `points`. */
function otlpPoints(data: string, mode: string, x: string, y: string | null): string {
  return `
    SELECT owner, ${member('piece', 'name')} AS metric, coalesce(${member('piece', 'unit')}, '') AS metric_unit, p,
      ${mode} AS mode, '' AS statistic, ${x} AS x, ${y ?? 'NULL::DOUBLE'} AS y, ${y !== null} AS has_sum
    FROM (SELECT owner, piece, unnest(json_extract(piece, '$.${data}.dataPoints[*]')) AS p FROM pieces WHERE kind = 'record')`;
}

const COUNTED = (data: string, mode: string): string =>
  otlpPoints(data, mode, `try_cast(${member('p', 'count')} AS DOUBLE)`, `try_cast(${member('p', 'sum')} AS DOUBLE)`);
const GROWING = (data: string): string => `CASE WHEN ${IS_DELTA(data)} THEN 'delta' ELSE 'cumulative' END`;

/** Data points of OpenTelemetry: gauges, sums, histograms as a rate and a mean, quantiles of summaries. */
export const OTLP_METRICS: DocumentRows = {
  ...otlpPaths('Metrics', 'metrics'),
  columns: COLUMNS,
  select: rowsOfPoints(`
    SELECT concat_ws('|', service, instance, ${LABELS('p')}) AS identity, service, metric, ${LABELS('p')} AS labels,
      CASE WHEN has_sum THEN '' ELSE metric_unit END AS unit, metric_unit AS sum_unit, has_sum, try_cast(${member('p', 'timeUnixNano')} AS BIGINT) AS t,
      try_cast(${member('p', 'startTimeUnixNano')} AS BIGINT) AS start, mode, statistic, x, y
    FROM (${[
      otlpPoints('gauge', `'level'`, NUMBER('p'), null),
      otlpPoints(
        'sum',
        `CASE WHEN coalesce(${member('piece', 'sum.isMonotonic')}, '') <> 'true' THEN 'level' ELSE ${GROWING('sum')} END`,
        NUMBER('p'),
        null,
      ),
      COUNTED('histogram', GROWING('histogram')),
      COUNTED('exponentialHistogram', GROWING('exponentialHistogram')),
      COUNTED('summary', `'cumulative'`),
      `SELECT owner, metric, metric_unit, p, 'level', concat('p', regexp_replace(round(try_cast(${member('q', 'quantile')} AS DOUBLE) * 100, 1)::VARCHAR, '\\.0$', '')),
         try_cast(${member('q', 'value')} AS DOUBLE), NULL::DOUBLE, false
       FROM (SELECT *, unnest(json_extract(p, '$.quantileValues[*]')) AS q FROM (${COUNTED('summary', `'level'`)}))`,
    ].join(' UNION ALL ')}) LEFT JOIN (${OTLP_RESOURCES}) USING (owner)`),
};

const RESULT = ['data', 'result', '*'];
/** Labels of Prometheus that name the service, most telling first; `pod` without the parts that a deployment adds. */
const SERVICE_LABELS = [
  'service',
  'service_name',
  'app',
  'app_kubernetes_io_name',
  'application',
  'pod',
  'deployment',
  'job',
  'container',
  'instance',
];
/** Labels that say where a value was measured, not what: series apart in these alone are instances of one. */
const PLACE_LABELS = [
  ...SERVICE_LABELS,
  '__name__',
  'namespace',
  'node',
  'host',
  'hostname',
  'endpoint',
  'cluster',
  'image',
  'id',
  'name',
  'uid',
  'prometheus',
  'prometheus_replica',
  'pod_template_hash',
];
/** Values of those labels that name who measured, not whom. */
const MEASURERS = '(?i)(?:kubelet|cadvisor|kube-state-metrics|node-exporter|blackbox|^kubernetes-)';

function serviceOfLabels(): string {
  const names = SERVICE_LABELS.map((label) => {
    const text = `nullif(json_extract_string(metric_json, '/${label}'), '')`;
    const named = label === 'pod' ? `regexp_replace(${text}, '-[a-z0-9]{5,10}-[a-z0-9]{5}$', '')` : text;
    return `CASE WHEN NOT regexp_matches(${text}, ${sqlText(MEASURERS)}) THEN ${named} END`;
  });
  return `coalesce(${names.join(', ')}, '')`;
}

/**
 * Series of Prometheus' query API, range or instant. Counters (`_total`; `_count` and `_sum` where both are there) become
 * rates, buckets of histograms are left out. A series without a name, as a query makes it, has the given one.
 */
export function prometheusRows(fallbackName: string): DocumentRows {
  return {
    paths: [
      { kind: 'metric', path: [...RESULT, 'metric'] },
      { kind: 'record', path: [...RESULT, 'values', '*'] },
      { kind: 'record', path: [...RESULT, 'value'] },
    ],
    owners: [RESULT],
    columns: COLUMNS,
    select: rowsOfPoints(`
      WITH labelled AS (
        SELECT owner, piece AS metric_json, coalesce(nullif(${member('piece', '__name__')}, ''), ${sqlText(fallbackName)}) AS name FROM pieces WHERE kind = 'metric'),
      series AS (
        SELECT owner, name, metric_json AS identity, ${serviceOfLabels()} AS service, regexp_replace(name, '_(?:count|sum)$', '') AS base,
          array_to_string(list_sort(list_transform(list_filter(json_keys(metric_json), lambda k: k NOT IN (${PLACE_LABELS.map(sqlText).join(', ')})),
            lambda k: k || '=' || json_extract_string(metric_json, '/' || k))), ',') AS labels FROM labelled WHERE NOT ends_with(name, '_bucket')),
      named AS (
        SELECT series.* EXCLUDE (identity, owner), json_merge_patch(identity, '{"__name__":null}')::VARCHAR AS identity,
          try_cast(round(try_cast(json_extract_string(piece, '$[0]') AS DOUBLE) * 1000) AS BIGINT) * 1000000 AS t, try_cast(json_extract_string(piece, '$[1]') AS DOUBLE) AS value
        FROM pieces JOIN series USING (owner) WHERE kind = 'record'),
      bases AS (SELECT base FROM named GROUP BY base HAVING bool_or(name = base || '_count') AND bool_or(name = base || '_sum')),
      finite AS (SELECT named.*, bases.base IS NOT NULL AND name <> named.base AS is_part FROM named LEFT JOIN bases USING (base) WHERE isfinite(value))
      SELECT identity, service, name AS metric, labels, '' AS unit, '' AS sum_unit, false AS has_sum, t, NULL::BIGINT AS start,
        CASE WHEN ends_with(name, '_total') THEN 'cumulative' ELSE 'level' END AS mode, '' AS statistic, value AS x, NULL::DOUBLE AS y FROM finite WHERE NOT is_part
      UNION ALL SELECT identity, service, base, labels, '', '', true, t, NULL, 'cumulative', '', max(value) FILTER (name = base || '_count'),
        max(value) FILTER (name = base || '_sum') FROM finite WHERE is_part GROUP BY identity, service, base, labels, t`),
  };
}

/** SQL for how many values of Prometheus' series are no finite numbers. */
export const PROMETHEUS_GAPS = `
  SELECT count(*)::DOUBLE AS n FROM pieces WHERE kind = 'record' AND NOT coalesce(isfinite(try_cast(json_extract_string(piece, '$[1]') AS DOUBLE)), false)`;
