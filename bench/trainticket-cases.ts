import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

const truthSchema = z.array(
  z.object({ case_id: z.string(), day: z.string(), root_cause_service: z.string(), inject_type: z.string() }),
);

interface Window {
  readonly from: string;
  readonly to: string;
}

/** A question with its truth: an injected service, or null where nothing is wrong. */
export interface TrainticketCase {
  readonly name: string;
  readonly kind: string;
  readonly expected: string | null;
  readonly window: Window;
  readonly baseline: Window;
}

/** Kinds of files that hold telemetry. */
export type TelemetryFile = 'log' | 'trace' | 'metric';

/** Another text of a file than the one that was unpacked. */
export type Change = (kind: TelemetryFile, content: string) => string;

const BLOCK = 512;
const CASE_MS = 180_000;

/** Files of a gzipped tar archive that are wanted by their path; plain ustar entries with short names. */
function filesOf(archive: string, isWanted: (path: string) => boolean): { readonly path: string; readonly content: Buffer }[] {
  const tar = gunzipSync(readFileSync(archive));
  const files: { path: string; content: Buffer }[] = [];
  for (let at = 0; at + BLOCK <= tar.length;) {
    const header = tar.subarray(at, at + BLOCK);
    const text = (from: number, length: number): string =>
      header
        .toString('utf8', from, from + length)
        .replace(/\0.*$/s, '')
        .trim();
    const path = text(0, 100);
    if (path === '') break;
    const size = parseInt(text(124, 12) || '0', 8);
    const isFile = ['', '0'].includes(text(156, 1));
    at += BLOCK;
    if (isFile && isWanted(path)) files.push({ path, content: tar.subarray(at, at + size) });
    at += Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

const LINE_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[.\d]*Z,/gm;

const AS_IT_IS: Change = (_kind, content) => content;

/** Unpacks logs and traces of a case; answers the sorted seconds of its log lines, as they were before a change. */
function unpack(archive: string, folder: string, change: Change): string[] {
  const seconds: string[] = [];
  for (const { path, content } of filesOf(archive, (name) => kindOf(name) !== null)) {
    const kind = kindOf(path);
    if (kind === null) continue;
    const text = content.toString('utf8');
    writeFileSync(join(folder, path.replaceAll('/', '_')), change(kind, text));
    if (kind === 'log') for (const match of text.matchAll(LINE_TIME)) seconds.push(match[1] as string);
  }
  return seconds.sort();
}

function kindOf(path: string): TelemetryFile | null {
  const parts = path.split('/');
  if (path.endsWith('_metric.csv')) return 'metric';
  return parts.includes('log') ? 'log' : parts.includes('trace') ? 'trace' : null;
}

function windowOf(seconds: readonly string[]): Window {
  const at = (second: string | undefined): number => Date.parse(`${second ?? ''}Z`);
  return { from: new Date(at(seconds[0])).toISOString(), to: new Date(at(seconds.at(-1)) + 1_000).toISOString() };
}

/** A case is three minutes long: its last metric value is stamped at their end, after the last line. */
function caseWindowOf(seconds: readonly string[]): Window {
  const { from, to } = windowOf(seconds);
  const end = Math.max(Date.parse(to), Date.parse(from) + CASE_MS + 1_000);
  return { from, to: new Date(end).toISOString() };
}

const MAPPING = {
  schema: 'telemetry_mapping_v1',
  logs: [
    {
      files: ['*_log.csv'],
      format: 'csv',
      delimiter: ',',
      time: { column: 'Timestamp' },
      message: 'Log',
      unwrap: 'log',
      service: { column: 'PodName', strip_suffix_parts: 2 },
      trace: 'TraceID',
      span: 'SpanID',
      instance: 'PodName',
      text_zone: '+08:00',
    },
  ],
  spans: [
    {
      files: ['*_trace.csv'],
      format: 'csv',
      delimiter: ',',
      trace: 'TraceID',
      span: 'SpanID',
      parent: 'ParentID',
      service: { column: 'PodName', strip_suffix_parts: 2 },
      operation: 'OperationName',
      start: { column: 'StartTimeUnixNano', format: 'epoch_ns' },
      duration: { column: 'Duration', unit: 'us' },
    },
  ],
  metrics: [
    {
      files: ['*_metric.csv'],
      format: 'csv',
      delimiter: ',',
      layout: 'wide',
      time: { column: 'TimeStamp', format: 'epoch_s' },
      service: { column: 'PodName', strip_suffix_parts: 2 },
      ignore: ['Time'],
    },
  ],
};

function halvesOf(day: string, seconds: readonly string[]): TrainticketCase[] {
  const whole = windowOf(seconds);
  const middle = windowOf([seconds[Math.floor(seconds.length / 2)] ?? '']).from;
  const [first, second] = [
    { from: whole.from, to: middle },
    { from: middle, to: whole.to },
  ];
  const healthy = { kind: 'healthy', expected: null };
  return [
    { name: `normal-${day} second half`, ...healthy, window: second, baseline: first },
    { name: `normal-${day} first half`, ...healthy, window: first, baseline: second },
  ];
}

/**
 * Unpacks logs, traces and pod metrics of every case into a folder, with a mapping, and answers the questions: each case against
 * the fault-free minute of its day, and the halves of those minutes against each other. It refuses to unpack the truth.
 */
export function unpackTrainticket(dataFolder: string, folder: string, change: Change = AS_IT_IS): TrainticketCase[] {
  const source = existsSync(join(dataFolder, 'trainticket')) ? join(dataFolder, 'trainticket') : dataFolder;
  const truths = truthSchema.parse(JSON.parse(readFileSync(join(source, 'ground_truth.json'), 'utf8')));
  writeFileSync(join(folder, 'mapping.json'), JSON.stringify(MAPPING));
  const archives = [source, join(source, 'cases')].flatMap((place) =>
    readdirSync(place)
      .filter((name) => name.endsWith('.tar.gz'))
      .map((name) => [name.replace(/\.tar\.gz$/, ''), join(place, name)] as const),
  );
  const seconds = new Map(archives.map(([name, path]) => [name, unpack(path, folder, change)]));
  const of = (name: string): readonly string[] => seconds.get(name) ?? [];
  const cases = truths.map(({ case_id, day, inject_type, root_cause_service }): TrainticketCase => ({
    name: case_id,
    kind: inject_type,
    expected: root_cause_service,
    window: caseWindowOf(of(case_id)),
    baseline: windowOf(of(`normal-${day}`)),
  }));
  const days = [...new Set(truths.map(({ day }) => day))];
  return [...cases, ...days.flatMap((day) => halvesOf(day, of(`normal-${day}`)))];
}
