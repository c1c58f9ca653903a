import {
  isDocumentLogs,
  isDocumentSpans,
  type ChangeRecords,
  type GraphRecords,
  type LogsMapping,
  type MetricsMapping,
  type ServiceRule,
  type SpanRecords,
  type TabularLogs,
} from './telemetry-mapping';

/** For a person: which columns of a file were taken for what; null for what was found nowhere. */
export type TakenColumns = Readonly<Record<string, string | null>>;

const FILE_NAME = '(the name of the file)';

function serviceOf(service: ServiceRule | undefined): string {
  if (service === undefined) return FILE_NAME;
  if (typeof service === 'string') return service;
  return 'constant' in service ? `(always ${service.constant})` : service.column;
}

function levelOf(entry: TabularLogs): string | null {
  const level = givenLevel(entry);
  const raising = [entry.status, entry.failure, entry.inner?.status, entry.inner?.failure].filter((name) => name !== undefined);
  return raising.length === 0 ? level : `${level ?? '(none)'}, raised by ${raising.join(', ')}`;
}

function givenLevel({ level, message }: TabularLogs): string | null {
  if (level === undefined || typeof level === 'string') return level ?? null;
  return 'scale' in level ? `${level.column} (numbers of ${level.scale})` : `${message} (pattern ${level.pattern})`;
}

const BY_FORMAT = '(as the format says)';

/** What an entry takes a log file's columns for; of a text file, the shape of its lines says it. */
export function takenForLogs(entry: LogsMapping): TakenColumns {
  if (entry.format === 'text') {
    const shape = `(text_pattern ${entry.text_pattern})`;
    const service = entry.service === undefined ? `${shape}, else ${FILE_NAME}` : `${shape}, else ${entry.service.constant}`;
    return { time: shape, zone: entry.time.zone, message: '(the whole line)', level: shape, service, trace: shape };
  }
  if (isDocumentLogs(entry))
    return { time: BY_FORMAT, zone: 'UTC', message: BY_FORMAT, level: BY_FORMAT, service: BY_FORMAT, trace: BY_FORMAT };
  const { time, message, trace, inner, unwrap } = entry;
  const nested = [unwrap, inner?.message].filter((name) => name !== undefined);
  return {
    time: time.column,
    zone: time.zone,
    message: nested.length === 0 ? message : `${message} (its member ${nested.join(', then ')})`,
    level: levelOf(entry),
    service: serviceOf(entry.service),
    trace: trace ?? null,
  };
}

/** The same of a file of changes. */
export function takenForChanges({ time, service, text }: ChangeRecords): TakenColumns {
  return { time: time.column, zone: time.zone, message: text, level: null, service, trace: null };
}

function named(name: string | { readonly constant: string } | undefined): string | null {
  if (name === undefined) return null;
  return typeof name === 'string' ? name : `(always ${name.constant})`;
}

/** The same of a file of metrics. */
export function takenForMetrics(entry: MetricsMapping): TakenColumns {
  if (entry.layout === undefined)
    return { time: BY_FORMAT, zone: 'UTC', service: BY_FORMAT, metric: BY_FORMAT, statistic: BY_FORMAT, value: BY_FORMAT };
  const { zone } = entry.time;
  if (entry.layout === 'headers') {
    const rows = `(header rows: ${entry.header_rows.join(', ')})`;
    const service = entry.header_rows.includes('service') ? rows : serviceOf(entry.service);
    return { time: '(the first column)', zone, service, metric: rows, value: '(every other column)' };
  }
  const common = { time: entry.time.column, zone, service: serviceOf(entry.service) };
  if (entry.layout === 'wide') return { ...common, metric: '(the names of the other columns)', value: '(every other column)' };
  return { ...common, metric: named(entry.metric), statistic: named(entry.statistic), value: entry.value };
}

/** The same of a file of spans. */
export function takenForSpans(entry: SpanRecords): TakenColumns {
  if (isDocumentSpans(entry))
    return { time: BY_FORMAT, zone: 'UTC', service: BY_FORMAT, operation: BY_FORMAT, trace: BY_FORMAT, parent: BY_FORMAT };
  const { trace, span, parent, service, operation, start, end, duration, status, kind } = entry;
  return {
    time: start.column,
    zone: start.zone,
    end: end?.column ?? null,
    duration: duration === undefined ? null : `${duration.column} (${duration.unit})`,
    service: serviceOf(service),
    operation: operation ?? null,
    trace,
    span,
    parent: parent ?? null,
    status: status ?? null,
    kind: kind ?? null,
  };
}

/** The same of a file that states calls. */
export function takenForGraph(entry: GraphRecords): TakenColumns {
  return entry.layout === 'edges'
    ? { caller: entry.caller, callee: entry.callee }
    : { caller: '(the first column)', callee: '(the first row)' };
}
