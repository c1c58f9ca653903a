import { CONTINUATION, LINE_SHAPE_NAMES, lineShape } from './line-shapes';
import { csvColumns, csvValues, jsonColumns, jsonObjectOf } from './file-layout';
import type { ChangeRecords, LogsMapping } from './telemetry-mapping';

/** What a file was taken for by its first lines, or why it was left out. */
export type InferredFile =
  | { readonly family: 'logs'; readonly entry: LogsMapping }
  | { readonly family: 'changes'; readonly entry: ChangeRecords }
  | { readonly family: null; readonly reason: string };

/** Why a file without a line is left out: nothing is missed by it. */
export const EMPTY_FILE = 'it is empty';

/** Usual names, most telling first; compared without case and punctuation. */
const USUAL = {
  time: ['time', 'timestamp', 'ts', 'attimestamp', 'datetime', 'eventtime', 'timeunixnano', 'date'],
  message: ['message', 'msg', 'log', 'body', 'line', 'text'],
  level: ['level', 'severity', 'loglevel', 'lvl', 'levelname', 'severitytext', 'loglevelname'],
  service: ['service', 'servicename', 'svc', 'app', 'application', 'appname', 'component'],
  pod: ['pod', 'podname', 'kubernetespodname', 'kubernetespod'],
  host: ['container', 'containername', 'kubernetescontainername', 'name', 'host', 'hostname'],
  trace: ['traceid', 'trace'],
  span: ['spanid', 'span'],
  kind: ['kind', 'type', 'change', 'category'],
  changeText: ['text', 'message', 'description', 'summary', 'msg', 'detail'],
} as const;

const CHANGE_FILE =
  /(?:^|\/)(?:changes?|deploys?|deployments?|releases?|flags?|migrations?|config-?changes?)[^/]*\.(?:jsonl|ndjson)(?:\.gz)?$/i;
const POD_SUFFIX = /-[a-z0-9]{5,10}-[a-z0-9]{5}$/;
const SAMPLE_LINES = 200;

function plain(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/^@/g, 'at')
    .replaceAll(/[^a-z0-9]/g, '');
}

function columnFor(names: readonly string[], usual: readonly string[]): string | undefined {
  for (const wanted of usual) {
    // A name that is just the usual one goes before names that are it only without their punctuation.
    const found =
      names.find((name) => name.toLowerCase().replace(/^\//, '') === wanted) ?? names.find((name) => plain(name) === wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Reader = (line: string, column: string) => string;

function mostly(lines: readonly string[], holds: (line: string) => boolean): boolean {
  return lines.length > 0 && lines.filter(holds).length * 2 >= lines.length;
}

function tabular(
  format: 'csv' | 'jsonl',
  names: readonly string[],
  sample: readonly string[],
  read: Reader,
  delimiter?: string,
): InferredFile {
  const time = columnFor(names, USUAL.time);
  const message = columnFor(names, USUAL.message);
  if (time === undefined || message === undefined) {
    const lacking =
      time === undefined
        ? `time (${USUAL.time.slice(0, 3).join(', ')}, …)`
        : `message (${USUAL.message.slice(0, 3).join(', ')}, …)`;
    return { family: null, reason: `no column with a usual name for ${lacking}` };
  }
  const service = columnFor(names, USUAL.service);
  const pod = columnFor(names, USUAL.pod);
  const isDeployed = pod !== undefined && mostly(sample, (line) => POD_SUFFIX.test(read(line, pod)));
  const wrapped = mostly(sample, (line) => typeof jsonObjectOf(read(line, message))?.['log'] === 'string');
  return {
    family: 'logs',
    entry: {
      files: ['inferred'],
      format,
      delimiter,
      time: { column: time, zone: 'UTC' },
      message,
      level: columnFor(names, USUAL.level),
      service:
        service ?? (pod !== undefined ? { column: pod, strip_suffix_parts: isDeployed ? 2 : 0 } : columnFor(names, USUAL.host)),
      trace: columnFor(names, USUAL.trace),
      span: columnFor(names, USUAL.span),
      instance: pod,
      unwrap: wrapped ? 'log' : undefined,
    },
  };
}

function ofJsonLines(name: string, lines: readonly string[]): InferredFile {
  const { names } = jsonColumns(lines);
  const read: Reader = (line, column) => {
    const value = jsonObjectOf(line)?.[column.slice(1)];
    return typeof value === 'string' ? value : '';
  };
  if (!CHANGE_FILE.test(name)) return tabular('jsonl', names, lines, read);
  const time = columnFor(names, USUAL.time);
  const service = columnFor(names, [...USUAL.service, ...USUAL.host]);
  const kind = columnFor(names, USUAL.kind);
  const text = columnFor(names, USUAL.changeText);
  if (time === undefined || service === undefined || kind === undefined || text === undefined) {
    return { family: null, reason: 'a file of changes needs time, service, kind and text' };
  }
  return {
    family: 'changes',
    entry: { files: ['inferred'], format: 'jsonl', time: { column: time, zone: 'UTC' }, service, kind, text },
  };
}

function ofText(lines: readonly string[]): InferredFile {
  const firsts = lines.filter((line) => !new RegExp(CONTINUATION).test(line));
  for (const shape of LINE_SHAPE_NAMES) {
    const head = new RegExp(lineShape(shape).head);
    if (mostly(firsts, (line) => head.test(line))) {
      return { family: 'logs', entry: { files: ['inferred'], format: 'text', text_pattern: shape, time: { zone: 'UTC' } } };
    }
  }
  return {
    family: null,
    reason: `its lines are neither JSON objects nor begin with a time (known shapes: ${LINE_SHAPE_NAMES.join(', ')})`,
  };
}

/** Takes a file for what its name and first lines look like. It guesses no zone: a time without one counts as UTC. */
export function inferFile(name: string, head: readonly string[]): InferredFile {
  const lines = head.filter((line) => line.trim() !== '').slice(0, SAMPLE_LINES);
  if (lines.length === 0) return { family: null, reason: EMPTY_FILE };
  if (/\.(?:csv|tsv)(?:\.gz)?$/i.test(name)) {
    const { names, delimiter } = csvColumns(lines, undefined);
    return tabular(
      'csv',
      names,
      lines.slice(1),
      (line, column) => csvValues(line, delimiter)[names.indexOf(column)] ?? '',
      delimiter,
    );
  }
  return mostly(lines, (line) => jsonObjectOf(line) !== null) ? ofJsonLines(name, lines) : ofText(lines);
}
