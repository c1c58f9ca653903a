import { csvHeaderRows, csvValues } from './file-layout';
import { serviceRule } from './log-inference';
import { kindOfMetric } from './metric-kind';
import { cellsOf, isNumberText, isTimeText, mostCells, timeColumn, type TableSample } from './table-sample';
import type { DURATION_UNITS, GraphRecords, HEADER_ROWS, MetricsMapping, SpanRecords } from './telemetry-mapping';
import { callColumns, columnFor, columnsFor, plainName, unitOfName, USUAL } from './usual-names';

type HeaderRow = (typeof HEADER_ROWS)[number];
type DurationUnit = (typeof DURATION_UNITS)[number];

/** Header rows that are looked for at most. */
const MAX_HEADER_ROWS = 6;
/** Names of columns that number rows. */
const ROW_NUMBERS = /^(?:unnamed\d*|index|rownum|rownumber|id)$/;
/** Names of columns that hold the kind of a span. */
const SPAN_KIND = ['spankind', 'kind'];
const STATISTIC = /^(?:avg|average|mean|min|max|minimum|maximum|sum|count|samplecount|median|std\w*|p\d{2}\w*|q\d+|rate|value)$/i;
const UNIT =
  /^(?:%|percent|ratio|s|ms|us|ns|seconds?|milliseconds?|bytes?|[kmg]i?b|count(?:\/s(?:ec(?:ond)?)?)?|ops|requests?(?:\/s)?|1)$/i;
const HEADER_LABELS: readonly (readonly [HeaderRow, RegExp])[] = [
  ['service', /^(?:micro)?services?(?:name)?$|^(?:app|application|component|pod|podname|node|container|instance|host)$/],
  ['metric', /^(?:metrics?(?:name)?|kpi(?:name)?|measurement|indicator|name)$/],
  ['statistic', /^(?:statistics?|stats?|agg(?:regation)?|quantile)$/],
  ['unit', /^units?$/],
];

/** Without a unit in its name, a duration is of its start's unit, or what most calls last: less than a second and more than a microsecond. */
function durationUnit(sample: TableSample, column: string, start: string): DurationUnit {
  const named = unitOfName(column);
  if (named !== undefined) return named;
  const digits = cellsOf(sample, start)[0] ?? '';
  if (/^\d{15,17}$/.test(digits)) return 'us';
  if (/^\d{18,19}$/.test(digits)) return 'ns';
  const values = cellsOf(sample, column)
    .map(Number)
    .filter((value) => value > 0)
    .sort((a, b) => a - b);
  const median = values[Math.floor(values.length / 2)] ?? 0;
  if (median >= 500_000) return 'ns';
  if (median >= 2_000) return 'us';
  return median >= 1 || /^\d{12,14}$/.test(digits) ? 'ms' : 's';
}

/** Takes a table for spans: ids of trace and span, a start, and an end or a duration. Null when one of them is missing. */
export function inferSpans(sample: TableSample): SpanRecords | null {
  const { names, format, delimiter } = sample;
  const trace = columnFor(names, USUAL.trace);
  const span = columnFor(names, USUAL.span) ?? (format === 'csv' ? undefined : columnFor(names, ['id']));
  const start = timeColumn(sample, USUAL.start);
  const service = serviceRule(sample);
  if (trace === undefined || span === undefined || start === undefined || service === undefined) return null;
  const end = columnsFor(names, USUAL.end).find((name) => mostCells(sample, name, isTimeText));
  const duration = names.find((name) => durationName(name) && mostCells(sample, name, isNumberText));
  const parent = columnFor(names, USUAL.parent);
  const operation = columnFor(
    names.filter((name) => name !== service),
    USUAL.operation,
  );
  // Log lines have ids of trace and span too, and may say how long something took.
  const isLine =
    columnFor(names, USUAL.message) !== undefined && (parent === undefined || columnFor(names, USUAL.level) !== undefined);
  if ((end === undefined && duration === undefined) || isLine) return null;
  const status = columnFor(names, USUAL.spanStatus);
  const kind = columnFor(names, SPAN_KIND);
  const length = duration === undefined ? undefined : { column: duration, unit: durationUnit(sample, duration, start.column) };
  return {
    files: ['inferred'],
    format,
    ...(delimiter === undefined ? {} : { delimiter }),
    trace,
    span,
    ...(parent === undefined ? {} : { parent }),
    service,
    ...(operation === undefined ? {} : { operation }),
    start,
    ...(end !== undefined ? { end: { column: end, zone: 'UTC' } } : length === undefined ? {} : { duration: length }),
    ...(status === undefined ? {} : { status }),
    ...(kind === undefined ? {} : { kind }),
  };
}

function durationName(name: string): boolean {
  const plain = plainName(name).replace(/(?:ns|nanos?|us|micros?|ms|millis?|s|sec|seconds|milliseconds|microseconds)$/, '');
  return [plain, plainName(name)].some((one) => (USUAL.duration as readonly string[]).includes(one));
}

function isMatrix({ names, rows }: TableSample): boolean {
  const callees = names.slice(1).filter((name) => name !== '');
  const callers = rows.map((row) => (row[0] ?? '').trim()).filter((name) => name !== '');
  const shared = callers.filter((name) => callees.includes(name));
  const cells = rows.flatMap((row) => row.slice(1)).map((cell) => cell.trim());
  return (
    callees.length > 1 &&
    callers.length > 1 &&
    shared.length * 2 >= callers.length &&
    cells.every((cell) => cell === '' || isNumberText(cell))
  );
}

/** Takes a table without times for calls between services: a matrix of names, or a column of callers and one of callees. */
export function inferGraph(sample: TableSample): GraphRecords | null {
  const { names, format, delimiter } = sample;
  const common = { files: ['inferred'], ...(delimiter === undefined ? {} : { delimiter }) };
  if (format === 'csv' && isMatrix(sample)) return { ...common, format, layout: 'matrix' };
  const pair = callColumns(names);
  if (pair === undefined || columnsFor(names, USUAL.time).some((name) => mostCells(sample, name, isTimeText))) return null;
  return { ...common, format, layout: 'edges', ...pair };
}

/** A time with all its digits, where no name says that a number is one. */
function isFullTime(cell: string): boolean {
  return isTimeText(cell) && (!/^\d+$/.test(cell) || [10, 13, 16, 19].includes(cell.length));
}

/** The pattern of columns that are each named after a service and one of the metrics that several services have, as `cart_cpu`. */
function namePattern(names: readonly string[]): string | undefined {
  for (const sign of ['_', '.', ':', '/']) {
    const parts = names.map((name) => ({
      service: name.slice(0, name.lastIndexOf(sign)),
      metric: name.slice(name.lastIndexOf(sign) + 1),
    }));
    const isShared = (part: (typeof parts)[number]): boolean =>
      part.service !== '' &&
      kindOfMetric(part.service) === 'other' &&
      parts.some((other) => other.metric === part.metric && other.service !== part.service);
    const services = new Set(parts.filter(isShared).map(({ service }) => service));
    const owned = parts.filter(({ service }) => services.has(service));
    const known = owned.filter(({ metric }) => kindOfMetric(metric) !== 'other');
    if (services.size > 1 && owned.length * 4 >= parts.length * 3 && known.length * 2 >= owned.length) {
      const literal = sign === '_' || sign === ':' || sign === '/' ? sign : `\\${sign}`;
      return `^(?<service>.+)${literal}(?<metric>[^${sign}]+)$`;
    }
  }
  return undefined;
}

/** Takes a table for metrics: a row a value, or a column a metric. Null without a time or without numbers. */
export function inferMetrics(sample: TableSample): MetricsMapping | null {
  const { names, format, delimiter } = sample;
  const [firstName] = names;
  const time =
    timeColumn(sample) ??
    (firstName !== undefined && mostCells(sample, firstName, isFullTime) ? { column: firstName, zone: 'UTC' } : undefined);
  if (time === undefined) return null;
  const common = { files: ['inferred'], ...(delimiter === undefined ? {} : { delimiter }), time };
  const value = columnFor(names, USUAL.value);
  const metric = columnFor(names, USUAL.metric);
  const rule = serviceRule(sample);
  const isMetric = typeof rule === 'string' && rule === metric;
  const service = isMetric ? undefined : rule;
  const owned = service === undefined ? {} : { service };
  if (value !== undefined && metric !== undefined && mostCells(sample, value, isNumberText)) {
    const statistic = columnFor(names, USUAL.statistic);
    const unit = columnFor(names, USUAL.unit);
    const more = { ...(statistic === undefined ? {} : { statistic }), ...(unit === undefined ? {} : { unit }) };
    return { ...common, format, layout: 'long', ...owned, metric, ...more, value };
  }
  if (format === 'jsonl') return null;
  const serviceColumn = typeof service === 'object' && 'column' in service ? service.column : service;
  const isOther = (name: string): boolean => ROW_NUMBERS.test(plainName(name)) || columnsFor([name], USUAL.time).length > 0;
  const rest = names.filter((name) => name !== '' && name !== time.column && name !== serviceColumn);
  const ignore = rest.filter(isOther);
  const metrics = rest.filter((name) => !ignore.includes(name) && mostCells(sample, name, isNumberText));
  if (metrics.length === 0) return null;
  const pattern = service === undefined ? namePattern(metrics) : undefined;
  return { ...common, format, layout: 'wide', ...owned, ...(pattern === undefined ? {} : { column_pattern: pattern }), ignore };
}

/** What header rows without a label say: statistics and units by their words, metrics by theirs, services have the most names. */
function roleByContent(cells: readonly string[]): HeaderRow | null {
  const filled = cells.filter((cell) => cell !== '');
  if (filled.length === 0) return 'ignore';
  const all = (pattern: RegExp): boolean => filled.every((cell) => pattern.test(cell));
  if (all(STATISTIC)) return 'statistic';
  if (all(UNIT)) return 'unit';
  return null;
}

function rolesOf(rows: readonly (readonly string[])[]): HeaderRow[] | null {
  const roles = rows.map((row): HeaderRow | null => {
    const label = plainName(row[0] ?? '');
    const cells = row.slice(1);
    return (
      HEADER_LABELS.find(([, pattern]) => label !== '' && pattern.test(label))?.[0] ??
      (cells.every((cell) => cell === '') ? 'ignore' : roleByContent(cells))
    );
  });
  const distinct = (at: number): number => new Set((rows[at] ?? []).slice(1)).size;
  const telling = (at: number): number => {
    const cells = (rows[at] ?? []).slice(1).filter((cell) => cell !== '');
    return cells.filter((cell) => kindOfMetric(cell) !== 'other').length / Math.max(1, cells.length);
  };
  const open = (): number[] => roles.flatMap((role, at) => (role === null ? [at] : []));
  if (!roles.includes('metric')) {
    const [best] = open().sort((a, b) => telling(b) - telling(a) || distinct(a) - distinct(b));
    if (best === undefined) return null;
    roles[best] = 'metric';
  }
  if (!roles.includes('service')) {
    const [best] = open().sort((a, b) => distinct(b) - distinct(a));
    if (best !== undefined) roles[best] = 'service';
  }
  return roles.map((role) => role ?? 'ignore');
}

/**
 * Takes a CSV for metrics with several header rows: the rows above the first that begins with a time. Null when there are
 * fewer than two of them, or when what stands below is no numbers.
 */
export function inferHeadedMetrics(lines: readonly string[], delimiter: string): MetricsMapping | null {
  const rows = lines.slice(0, MAX_HEADER_ROWS + 2).map((line) => csvValues(line, delimiter).map((cell) => cell.trim()));
  const count = rows.findIndex((row) => isTimeText(row[0] ?? ''));
  if (count < 2 || count > MAX_HEADER_ROWS) return null;
  const values = (rows[count] ?? []).slice(1);
  if (values.length === 0 || !values.every((cell) => cell === '' || isNumberText(cell))) return null;
  const header = csvHeaderRows(lines, count, delimiter).rows;
  const roles = rolesOf(header);
  if (roles === null) return null;
  return { files: ['inferred'], format: 'csv', delimiter, layout: 'headers', header_rows: roles, time: { zone: 'UTC' } };
}
