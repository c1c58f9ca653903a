import { jsonObjectOf } from './file-layout';
import type { LevelScaleName } from './log-level';
import { cellsOf, clockOffset, isNumberText, jsonSample, mostCells, timeColumn, type TableSample } from './table-sample';
import type { LogsMapping, ServiceRule, TabularLogs } from './telemetry-mapping';
import { columnFor, columnsFor, plainName, USUAL } from './usual-names';

const POD_SUFFIX = /-[a-z0-9]{5,10}-[a-z0-9]{5}$/;
/** Names that only loggers of Python and the JVM use beside `name`, which is then the logger's and not the service's. */
const LOGGER_NAMES = ['levelname', 'loggername', 'lineno', 'funcname', 'asctime'];

/** The rule for the service of a table's rows, or undefined when no column names it. */
export function serviceRule(sample: TableSample): ServiceRule | undefined {
  const { names } = sample;
  const service = columnFor(names, USUAL.service);
  if (service !== undefined) return service;
  const pod = columnFor(names, USUAL.pod);
  if (pod !== undefined) {
    const isDeployed = mostCells(sample, pod, (cell) => POD_SUFFIX.test(cell));
    return { column: pod, strip_suffix_parts: isDeployed ? 2 : 0 };
  }
  const isLogger = names.some((name) => LOGGER_NAMES.includes(plainName(name)));
  const hosts: readonly string[] = isLogger ? USUAL.host.filter((name) => name !== 'name') : USUAL.host;
  // A member that is there in every record names the service better than one that most lack.
  const named = columnsFor(names, hosts);
  return named.find((name) => cellsOf(sample, name).length * 2 >= sample.rows.length) ?? named[0];
}

/** A column of a status' usual name whose cells are HTTP statuses. */
function statusColumn(sample: TableSample): string | undefined {
  return columnsFor(sample.names, USUAL.status).find((name) => mostCells(sample, name, (cell) => /^[1-5]\d\d$/.test(cell)));
}

/** What raises the level of a table's lines; a status that already is their level does not. */
function raisingColumns(sample: TableSample, hasLevel: boolean): Pick<TabularLogs, 'status' | 'failure'> {
  const isTrace = (cell: string): boolean => /\n|\\n|\bat \S|^Traceback /.test(cell);
  return {
    status: hasLevel ? statusColumn(sample) : undefined,
    failure: columnsFor(sample.names, USUAL.stack).find((name) => cellsOf(sample, name).some(isTrace)),
  };
}

function levelRule(sample: TableSample): TabularLogs['level'] {
  const { names } = sample;
  const named = columnsFor(names, USUAL.level);
  const column = named.find((name) => cellsOf(sample, name).length > 0) ?? named[0];
  const scaled = (name: string, scale: LevelScaleName): TabularLogs['level'] => ({ column: name, scale });
  if (column === undefined) {
    const status = statusColumn(sample);
    return status === undefined ? undefined : scaled(status, 'http_status');
  }
  if (plainName(column) === 'severitynumber') return scaled(column, 'otlp');
  return mostCells(sample, column, (cell) => /^[0-7]$/.test(cell)) ? scaled(column, 'syslog') : column;
}

/** Members of a JSON line that stands inside a message, when one in five messages is one: stack traces stand between them. */
function innerRule(messages: readonly string[]): TabularLogs['inner'] {
  const lines = messages.filter((text) => jsonObjectOf(text) !== null);
  if (lines.length * 5 < messages.length || lines.length === 0) return undefined;
  const sample = jsonSample(lines);
  const { names } = sample;
  const message = columnFor(names, USUAL.message);
  if (message === undefined) return undefined;
  return {
    message,
    level: columnFor(names, USUAL.level),
    ...withoutUndefined(raisingColumns(sample, true)),
    service: columnFor(names, USUAL.service),
    trace: columnFor(names, USUAL.trace),
    span: columnFor(names, USUAL.span),
  };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** A column of a message's usual name whose cells are words; a count of requests is no message. */
function messageColumn(sample: TableSample): string | undefined {
  return columnsFor(sample.names, USUAL.message).find((name) => !mostCells(sample, name, isNumberText));
}

/** What a table lacks to be one of log lines, in words; null when it has a time and a message. */
export function logsLack(sample: TableSample): string | null {
  const shown = (usual: readonly string[]): string => usual.slice(0, 3).join(', ');
  if (timeColumn(sample) === undefined) return `time (${shown(USUAL.time)}, …)`;
  return messageColumn(sample) === undefined ? `message (${shown(USUAL.message)}, …)` : null;
}

/**
 * Takes a table for log lines: a time and a message by their usual names, and what else is there. A line of a container
 * (`log` beside `stream`) may hold a JSON line of its own or one line of a stack trace. Null without time or message.
 */
export function inferLogs(sample: TableSample): LogsMapping | null {
  const { names, format, delimiter } = sample;
  const time = timeColumn(sample);
  const message = messageColumn(sample);
  if (time === undefined || message === undefined) return null;
  const at = names.indexOf(message);
  const timeAt = names.indexOf(time.column);
  const lines = sample.rows
    .map((row) => ({ time: row[timeAt] ?? '', text: (row[at] ?? '').trim() }))
    .filter(({ text }) => text !== '')
    .map((line) => ({ ...line, log: jsonObjectOf(line.text)?.['log'] }));
  const isWrapped = lines.length > 0 && lines.filter(({ log }) => typeof log === 'string').length * 2 >= lines.length;
  const pairs = lines.map(({ time: when, text, log }) => ({
    time: when,
    text: isWrapped && typeof log === 'string' ? log : text,
  }));
  const isContainer = format === 'jsonl' && plainName(message) === 'log' && columnFor(names, ['stream']) !== undefined;
  const level = levelRule(sample);
  return withoutUndefined({
    files: ['inferred'],
    format,
    delimiter,
    time,
    message,
    level,
    ...raisingColumns(
      sample,
      typeof level === 'string' || (level !== undefined && 'scale' in level && level.scale !== 'http_status'),
    ),
    service: serviceRule(sample),
    trace: columnFor(names, USUAL.trace),
    span: columnFor(names, USUAL.span),
    instance: columnFor(names, USUAL.pod),
    unwrap: isWrapped ? 'log' : undefined,
    inner: innerRule(pairs.map(({ text }) => text)),
    join_lines: isContainer ? true : undefined,
    text_zone: clockOffset(pairs),
  });
}
