import type { ChangeRecords, GraphRecords, LogsMapping, MetricsMapping, ServiceRule, SpanRecords } from './telemetry-mapping';

/** For a person: which columns of a file were taken for what; null for what was found nowhere. */
export type TakenColumns = Readonly<Record<string, string | null>>;

const FILE_NAME = '(the name of the file)';

function serviceOf(service: ServiceRule | undefined): string {
  if (service === undefined) return FILE_NAME;
  if (typeof service === 'string') return service;
  return 'constant' in service ? `(always ${service.constant})` : service.column;
}

/** What an entry takes a log file's columns for; of a text file, the shape of its lines says it. */
export function takenForLogs(entry: LogsMapping): TakenColumns {
  if (entry.format === 'text') {
    const shape = `(text_pattern ${entry.text_pattern})`;
    const service = entry.service === undefined ? `${shape}, else ${FILE_NAME}` : `${shape}, else ${entry.service.constant}`;
    return { time: shape, zone: entry.time.zone, message: '(the whole line)', level: shape, service, trace: shape };
  }
  const { time, message, level, trace } = entry;
  return {
    time: time.column,
    zone: time.zone,
    message: entry.unwrap === undefined ? message : `${message} (its member ${entry.unwrap})`,
    level: level === undefined || typeof level === 'string' ? (level ?? null) : `${message} (pattern ${level.pattern})`,
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
  const { trace, span, parent, service, operation, start, end, duration, status } = entry;
  return {
    time: start.column,
    zone: start.zone,
    end: end?.column ?? null,
    duration: duration === undefined ? null : `${duration.column} (${duration.unit})`,
    service: serviceOf(service),
    operation: operation ?? null,
    trace,
    span,
    parent,
    status: status ?? null,
  };
}

/** The same of a file that states calls. */
export function takenForGraph(entry: GraphRecords): TakenColumns {
  return entry.layout === 'edges'
    ? { caller: entry.caller, callee: entry.callee }
    : { caller: '(the first column)', callee: '(the first row)' };
}
