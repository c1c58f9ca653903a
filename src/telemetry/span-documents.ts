import type { PiecePath } from './json-pieces';
import { scaledLevel } from './log-level';

/** How the records of a document are cut out, and the SQL that turns the pieces into rows of text columns. */
export interface DocumentRows {
  readonly paths: readonly PiecePath[];
  /** Values that own pieces; pieces of one owner are joined. */
  readonly owners: readonly (readonly string[])[];
  /** Names of the columns that `select` answers, in its order. */
  readonly columns: readonly string[];
  /** A query over `pieces (kind, owner, piece)`, which hold valid JSON only. */
  readonly select: string;
}

/** SQL for a member of JSON text by its path, as text. */
export function member(json: string, path: string): string {
  return `json_extract_string(${json}, '$.${path}')`;
}

/** SQL for a value of OpenTelemetry (`stringValue`, `intValue`, …) as text; arrays and maps as JSON. */
export function anyValue(value: string): string {
  const simple = ['stringValue', 'intValue', 'doubleValue', 'boolValue'].map((name) => member(value, name));
  return `coalesce(${simple.join(', ')}, json_extract(${value}, '$.kvlistValue.values')::VARCHAR, json_extract(${value}, '$.arrayValue.values')::VARCHAR)`;
}

/** SQL for an attribute of OpenTelemetry by its key, as text. */
export function attribute(json: string, key: string): string {
  const found = `list_filter(json_extract(${json}, '$.attributes[*]'), lambda a: json_extract_string(a, '$.key') = '${key}')[1]`;
  return anyValue(`json_extract(${found}, '$.value')`);
}

/** SQL for the service of a resource, and for the instance of it. */
export const OTLP_RESOURCES = `
  SELECT owner, coalesce(${['service.name', 'k8s.deployment.name', 'k8s.container.name', 'k8s.pod.name', 'host.name'].map((key) => attribute('piece', key)).join(', ')}) AS service,
    coalesce(${['service.instance.id', 'k8s.pod.name', 'host.name'].map((key) => attribute('piece', key)).join(', ')}) AS instance
  FROM pieces WHERE kind = 'resource'`;

/** Paths of OpenTelemetry's records of one signal, older names of the scope included. */
export function otlpPaths(signal: 'Logs' | 'Metrics' | 'Spans', records: string): Pick<DocumentRows, 'paths' | 'owners'> {
  const root = [`resource${signal}`, '*'];
  const scopes = [`scope${signal}`, `instrumentationLibrary${signal}`];
  return {
    paths: [
      { kind: 'resource', path: [...root, 'resource'] },
      ...scopes.map((scope) => ({ kind: 'record', path: [...root, scope, '*', records, '*'] })),
    ],
    owners: [root],
  };
}

const SEVERITY = `CASE WHEN ${scaledLevel(member('piece', 'severityNumber'), 'otlp')} <> '' THEN ${scaledLevel(member('piece', 'severityNumber'), 'otlp')} ELSE ${member('piece', 'severityText')} END`;

/** Log records of OpenTelemetry; the stack trace among the attributes goes on with the body. */
export const OTLP_LOGS: DocumentRows = {
  ...otlpPaths('Logs', 'logRecords'),
  columns: ['time', 'message', 'level', 'service', 'trace', 'span', 'instance'],
  select: `SELECT coalesce(nullif(${member('piece', 'timeUnixNano')}, '0'), ${member('piece', 'observedTimeUnixNano')}),
      concat_ws(chr(10), ${anyValue(`json_extract(piece, '$.body')`)}, ${attribute('piece', 'exception.stacktrace')}),
      ${SEVERITY}, service, ${member('piece', 'traceId')}, ${member('piece', 'spanId')}, instance
    FROM pieces LEFT JOIN (${OTLP_RESOURCES}) USING (owner) WHERE kind = 'record' ORDER BY pieces.rowid`,
};

const SPAN_COLUMNS = ['trace', 'span', 'parent', 'service', 'operation', 'start', 'end', 'duration', 'status', 'kind'] as const;

/** Kinds by their numbers, as JSON of the protocol writes them. */
const KIND = `CASE ${member('piece', 'kind')} WHEN '1' THEN 'INTERNAL' WHEN '2' THEN 'SERVER' WHEN '3' THEN 'CLIENT' WHEN '4' THEN 'PRODUCER' WHEN '5' THEN 'CONSUMER' ELSE ${member('piece', 'kind')} END`;

/** Spans of OpenTelemetry. */
export const OTLP_SPANS: DocumentRows = {
  ...otlpPaths('Spans', 'spans'),
  columns: SPAN_COLUMNS,
  select: `SELECT ${member('piece', 'traceId')}, ${member('piece', 'spanId')}, ${member('piece', 'parentSpanId')}, service, ${member('piece', 'name')},
      ${member('piece', 'startTimeUnixNano')}, ${member('piece', 'endTimeUnixNano')}, NULL, ${member('piece', 'status.code')}, ${KIND}
    FROM pieces LEFT JOIN (${OTLP_RESOURCES}) USING (owner) WHERE kind = 'record' ORDER BY pieces.rowid`,
};

const tag = (key: string): string =>
  `json_extract_string(list_filter(json_extract(piece, '$.tags[*]'), lambda t: json_extract_string(t, '$.key') = '${key}')[1], '$.value')`;
const reference = (kind: string): string =>
  `json_extract_string(list_filter(json_extract(piece, '$.references[*]'), lambda r: json_extract_string(r, '$.refType') = '${kind}')[1], '$.spanID')`;

/** Spans as Jaeger's query API answers them: times and durations in microseconds, services in the trace's processes. */
export const JAEGER_SPANS: DocumentRows = {
  paths: [
    { kind: 'processes', path: ['data', '*', 'processes'] },
    { kind: 'record', path: ['data', '*', 'spans', '*'] },
    { kind: 'processes', path: ['processes'] },
    { kind: 'record', path: ['spans', '*'] },
  ],
  owners: [['data', '*']],
  columns: SPAN_COLUMNS,
  select: `SELECT ${member('p.piece', 'traceID')}, ${member('p.piece', 'spanID')},
      coalesce(${reference('CHILD_OF')}, ${reference('FOLLOWS_FROM')}, ${member('p.piece', 'parentSpanID')}),
      coalesce(${member('p.piece', 'process.serviceName')}, json_extract_string(processes, '/' || ${member('p.piece', 'processID')} || '/serviceName')),
      ${member('p.piece', 'operationName')}, ${member('p.piece', 'startTime')}, NULL, ${member('p.piece', 'duration')},
      CASE WHEN lower(${tag('error')}) = 'true' THEN 'ERROR' ELSE coalesce(${tag('otel.status_code')}, ${tag('status.code')}) END,
      ${tag('span.kind')}
    FROM (SELECT rowid AS position, owner, piece FROM pieces WHERE kind = 'record') p
      LEFT JOIN (SELECT owner, piece AS processes FROM pieces WHERE kind = 'processes') USING (owner) ORDER BY position`,
};
