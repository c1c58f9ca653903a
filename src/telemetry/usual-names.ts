/** Usual names of columns and members, most telling first; compared without case and punctuation. */
export const USUAL = {
  time: [
    'time',
    'timestamp',
    'ts',
    'attimestamp',
    'datetime',
    'eventtime',
    'timeunixnano',
    'timestampms',
    'timestampns',
    'unixtimestamp',
    'realtimetimestamp',
    'timemillis',
    'asctime',
    'att',
    'timelocal',
    'timeiso8601',
    'timedate',
    'tdate',
    'date',
    'epoch',
    'unixtime',
  ],
  message: ['message', 'msg', 'log', 'body', 'line', 'text', 'event', 'shortmessage', 'textpayload', 'atm', 'atmt', 'request'],
  level: [
    'level',
    'severity',
    'loglevel',
    'lvl',
    'levelname',
    'severitytext',
    'loglevelname',
    'priority',
    'severitynumber',
    'atl',
  ],
  status: [
    'status',
    'statuscode',
    'httpstatus',
    'httpstatuscode',
    'responsestatus',
    'responsestatuscode',
    'responsecode',
    'resstatuscode',
    'resstatus',
    'httpresponsestatuscode',
    'httprequeststatus',
  ],
  stack: [
    'stack',
    'stacktrace',
    'errstack',
    'errorstack',
    'errorstacktrace',
    'exceptionstack',
    'exceptionstacktrace',
    'errstacktrace',
    'excinfo',
  ],
  service: [
    'service',
    'servicename',
    'svc',
    'app',
    'application',
    'appname',
    'component',
    'microservice',
    'resourceservicename',
    'resourceattributesservicename',
    'processservicename',
    'kuberneteslabelsapp',
    'labelsservicename',
    'labelsapp',
    'cmdbid',
  ],
  pod: ['pod', 'podname', 'kubernetespodname', 'kubernetespod', 'k8spodname', 'resourcelabelspodname'],
  host: [
    'container',
    'containername',
    'kubernetescontainername',
    'resourcelabelscontainername',
    'syslogidentifier',
    'systemdunit',
    'name',
    'instance',
    'host',
    'hostname',
  ],
  trace: ['traceid', 'trace', 'dttraceid', 'otelnaturaltraceid'],
  span: ['spanid', 'span', 'ddspanid'],
  parent: ['parentspanid', 'parentid', 'parent', 'parentspan', 'refspanid'],
  operation: ['operationname', 'operation', 'spanname', 'name', 'endpoint', 'method', 'uri', 'url'],
  start: [
    'starttimeunixnano',
    'starttime',
    'start',
    'starttimemillis',
    'starttimens',
    'starttimeus',
    'starttimems',
    'startts',
    'startunixnano',
    'begintime',
    'begin',
    'timestamp',
    'time',
    'ts',
  ],
  end: ['endtimeunixnano', 'endtime', 'end', 'endtimemillis', 'endts', 'endunixnano', 'finishtime', 'stoptime'],
  duration: ['duration', 'elapsed', 'elapsedtime', 'latency', 'responsetime', 'took'],
  spanStatus: ['statuscode', 'status', 'error', 'iserror', 'otelstatuscode', 'success', 'httpstatuscode', 'responsecode'],
  metric: ['metric', 'metricname', 'kpi', 'kpiname', 'measurement', 'field', 'series', 'indicator', 'name'],
  value: ['value', 'val', 'metricvalue', 'samplevalue', 'datavalue'],
  statistic: ['statistic', 'stat', 'aggregation', 'agg', 'quantile'],
  unit: ['unit', 'units'],
  kind: ['kind', 'type', 'change', 'category'],
  changeText: ['text', 'message', 'description', 'summary', 'msg', 'detail'],
} as const;

/** Pairs of columns that name who calls and who is called. */
const CALL_PAIRS = [
  ['caller', 'callee'],
  ['source', 'target'],
  ['source', 'destination'],
  ['src', 'dst'],
  ['from', 'to'],
  ['parent', 'child'],
  ['client', 'server'],
  ['sourceservice', 'targetservice'],
  ['sourceservice', 'destinationservice'],
  ['parentservice', 'childservice'],
] as const;

/** A name without case and punctuation, and without the wrapping of a search engine's hit; a leading `@` counts. */
export function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\/_source\//, '/')
    .replace(/^\/?@/, 'at')
    .replaceAll(/[^a-z0-9]/g, '');
}

/**
 * Every name that is a usual one, in the order of the usual ones; a name that is just that goes before one that is it only
 * without its punctuation.
 */
export function columnsFor(names: readonly string[], usual: readonly string[]): string[] {
  return usual.flatMap((wanted) => {
    const isExact = (name: string): boolean => name.toLowerCase().replace(/^\//, '') === wanted;
    return [...names.filter(isExact), ...names.filter((name) => !isExact(name) && plainName(name) === wanted)];
  });
}

/** The first of those. */
export function columnFor(names: readonly string[], usual: readonly string[]): string | undefined {
  return columnsFor(names, usual)[0];
}

/** The columns of caller and callee, when a table has both. */
export function callColumns(names: readonly string[]): { readonly caller: string; readonly callee: string } | undefined {
  for (const [from, to] of CALL_PAIRS) {
    const caller = columnFor(names, [from]);
    const callee = columnFor(names, [to]);
    if (caller !== undefined && callee !== undefined) return { caller, callee };
  }
  return undefined;
}

const UNIT_WORDS = [
  ['ns', /(?:ns|nanos?|nanoseconds?)$/],
  ['us', /(?:us|µs|micros?|microseconds?)$/],
  ['ms', /(?:ms|millis?|milliseconds?)$/],
  ['s', /(?:\(s\)|_s|secs?|seconds?)$/],
] as const;

/** Unit of a duration that its column's name states. */
export function unitOfName(name: string): 'ns' | 'us' | 'ms' | 's' | undefined {
  const text = name
    .trim()
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
  return UNIT_WORDS.find(([, ending]) => ending.test(text) || ending.test(text.replace(/[)\]]$/, '')))?.[0];
}
