import type { TableSpans, TabularLogs } from './telemetry-mapping';

/** What the columns of documents mean, once their records are rows. */
type Columns<Entry> = Omit<Entry, 'files' | 'format'>;

/** Log records of OpenTelemetry. */
export const OTLP_LOG_LINES: Columns<TabularLogs> = {
  time: { column: 'time', format: 'epoch_ns', zone: 'UTC' },
  message: 'message',
  level: 'level',
  service: 'service',
  trace: 'trace',
  span: 'span',
  instance: 'instance',
};

/** Entries of the journal. */
export const JOURNAL_LOGS: Columns<TabularLogs> = {
  time: { column: '__REALTIME_TIMESTAMP', format: 'epoch_us', zone: 'UTC' },
  message: 'MESSAGE',
  level: { column: 'PRIORITY', scale: 'syslog' },
  service: 'SYSLOG_IDENTIFIER',
  instance: '_HOSTNAME',
};

const SPANS = {
  trace: 'trace',
  span: 'span',
  parent: 'parent',
  service: 'service',
  operation: 'operation',
  status: 'status',
  kind: 'kind',
};

/** Spans of OpenTelemetry. */
export const OTLP_SPAN_ROWS: Columns<TableSpans> = {
  ...SPANS,
  start: { column: 'start', format: 'epoch_ns', zone: 'UTC' },
  end: { column: 'end', format: 'epoch_ns', zone: 'UTC' },
};

/** Spans of Jaeger. */
export const JAEGER_SPAN_ROWS: Columns<TableSpans> = {
  ...SPANS,
  start: { column: 'start', format: 'epoch_us', zone: 'UTC' },
  duration: { column: 'duration', unit: 'us' },
};
