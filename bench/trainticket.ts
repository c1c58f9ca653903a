import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import type { ChatResult } from '../src/chat/chat-request';
import { type AnswerOf, withDiagnosis } from './ask-in-process';

const truthSchema = z.array(
  z.object({ case_id: z.string(), day: z.string(), root_cause_service: z.string(), inject_type: z.string() }),
);
type Truth = z.infer<typeof truthSchema>[number];

interface Window {
  readonly from: string;
  readonly to: string;
}

/** One asked case: where the injected service came out. Rank 0: not at all. `healthy` has no injected service. */
export interface TrainticketRow {
  readonly name: string;
  readonly kind: string;
  readonly expected: string | null;
  readonly rank: number;
  readonly result: ChatResult;
}

/** Fault kinds that show in logs; the others move metrics and spans alone. */
const IN_LOGS: readonly string[] = ['return', 'exception'];
const MIN_FIRST = 9;
const MIN_AMONG_THREE = 12;

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

/** Unpacks logs and traces of a case; answers the sorted seconds of its log lines. */
function unpack(archive: string, folder: string): string[] {
  const seconds: string[] = [];
  const isWanted = (path: string): boolean => path.split('/').some((part) => part === 'log' || part === 'trace');
  for (const { path, content } of filesOf(archive, isWanted)) {
    writeFileSync(join(folder, path.replaceAll('/', '_')), content);
    if (!path.split('/').includes('log')) continue;
    for (const match of content.toString('utf8').matchAll(LINE_TIME)) seconds.push(match[1] as string);
  }
  return seconds.sort();
}

function unpackMetrics(archive: string, folder: string): void {
  for (const { path, content } of filesOf(archive, (name) => name.endsWith('_metric.csv')))
    writeFileSync(join(folder, path.replaceAll('/', '_')), content);
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

/** Services that an answer names as causes, most likely first; contributing ones stand behind. */
export function rankedServices({ causes }: Pick<ChatResult, 'causes'>): string[] {
  const order = (role: string): number => (role === 'cause' ? 0 : 1);
  return [...causes]
    .filter(({ role }) => role === 'cause' || role === 'contributing')
    .sort((a, b) => order(a.role) - order(b.role) || a.rank - b.rank)
    .map(({ subject }) => subject);
}

async function askCase(ask: AnswerOf, truth: Truth, window: Window, baseline: Window): Promise<TrainticketRow> {
  const result = await ask({ message: 'What went wrong in this window?', window, baseline });
  const rank = rankedServices(result).indexOf(truth.root_cause_service) + 1;
  return { name: truth.case_id, kind: truth.inject_type, expected: truth.root_cause_service, rank, result };
}

/**
 * Asks every case and every half of a fault-free minute through the public chat. It refuses to show the truth to the product:
 * logs, traces and pod metrics alone are unpacked, into a temporary folder that is removed. The baseline of a case is the
 * fault-free minute of its day; metrics, which come by the minute, are compared with the hours before the case.
 */
export async function askTrainticket(dataFolder: string): Promise<TrainticketRow[]> {
  const source = existsSync(join(dataFolder, 'trainticket')) ? join(dataFolder, 'trainticket') : dataFolder;
  const truths = truthSchema.parse(JSON.parse(readFileSync(join(source, 'ground_truth.json'), 'utf8')));
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-trainticket-'));
  try {
    const logs = join(folder, 'logs');
    mkdirSync(logs);
    writeFileSync(join(logs, 'mapping.json'), JSON.stringify(MAPPING));
    const seconds = new Map<string, string[]>();
    const archives = [
      ...readdirSync(source)
        .filter((name) => /^normal-.*\.tar\.gz$/.test(name))
        .map((name) => join(source, name)),
      ...readdirSync(join(source, 'cases')).map((name) => join(source, 'cases', name)),
    ].filter((path) => path.endsWith('.tar.gz'));
    for (const archive of archives) {
      seconds.set((archive.split('/').at(-1) ?? '').replace(/\.tar\.gz$/, ''), unpack(archive, logs));
    }
    for (const name of readdirSync(source)) if (/^metrics-.*\.tar\.gz$/.test(name)) unpackMetrics(join(source, name), logs);
    const of = (name: string): readonly string[] => seconds.get(name) ?? [];
    return await withDiagnosis(join(logs, 'mapping.json'), async (ask) => {
      const rows: TrainticketRow[] = [];
      for (const truth of truths) {
        rows.push(await askCase(ask, truth, caseWindowOf(of(truth.case_id)), windowOf(of(`normal-${truth.day}`))));
      }
      for (const day of [...new Set(truths.map((truth) => truth.day))])
        rows.push(...(await askHalves(ask, day, of(`normal-${day}`))));
      return rows;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function askHalves(ask: AnswerOf, day: string, seconds: readonly string[]): Promise<TrainticketRow[]> {
  const whole = windowOf(seconds);
  const middle = windowOf([seconds[Math.floor(seconds.length / 2)] ?? '']).from;
  const halves = [
    { from: whole.from, to: middle },
    { from: middle, to: whole.to },
  ] as const;
  const rows: TrainticketRow[] = [];
  for (const [window, baseline, name] of [
    [halves[1], halves[0], 'second'],
    [halves[0], halves[1], 'first'],
  ] as const) {
    const result = await ask({ message: 'What went wrong in this window?', window, baseline });
    rows.push({
      name: `normal-${day} ${name} half`,
      kind: 'healthy',
      expected: null,
      rank: rankedServices(result).length === 0 ? 1 : 0,
      result,
    });
  }
  return rows;
}

function line(cells: readonly string[]): string {
  const widths = [30, 15, 22, 5, 11];
  return cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' ');
}

function report(rows: readonly TrainticketRow[]): boolean {
  console.log(line(['case', 'type', 'injected', 'rank', 'verdict', 'first three']));
  for (const { name, kind, expected, rank, result } of rows) {
    const shown = expected === null ? '-' : rank === 0 ? 'none' : String(rank);
    const three = rankedServices(result).slice(0, 3).join(', ') || 'nothing wrong';
    console.log(line([name, kind, expected ?? '-', shown, result.verdict ?? 'none', three]));
  }
  const among = (some: readonly TrainticketRow[], k: number): number => some.filter(({ rank }) => rank >= 1 && rank <= k).length;
  const inLogs = rows.filter(({ kind }) => IN_LOGS.includes(kind));
  const healthy = rows.filter(({ kind }) => kind === 'healthy');
  const rest = rows.filter((row) => !inLogs.includes(row) && !healthy.includes(row));
  console.log(`return and exception: AS@1 ${among(inLogs, 1)}/${inLogs.length}, AS@3 ${among(inLogs, 3)}/${inLogs.length}`);
  console.log(`other faults: AS@1 ${among(rest, 1)}/${rest.length}, AS@3 ${among(rest, 3)}/${rest.length}`);
  const cases = [...inLogs, ...rest];
  const quiet = cases.filter(({ result }) => rankedServices(result).length === 0).length;
  console.log(`all cases: AS@1 ${among(cases, 1)}/${cases.length}, AS@3 ${among(cases, 3)}/${cases.length}`);
  console.log(`cases answered without a cause: ${quiet}/${cases.length}`);
  console.log(`healthy halves with nothing wrong: ${among(healthy, 1)}/${healthy.length}`);
  return among(cases, 1) >= MIN_FIRST && among(cases, 3) >= MIN_AMONG_THREE && among(healthy, 1) === healthy.length;
}

async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined || !existsSync(folder)) {
    console.error('usage: trainticket <data folder>');
    process.exitCode = 2;
    return;
  }
  if (!report(await askTrainticket(folder))) {
    console.error(
      `below the mark: first in at least ${MIN_FIRST}, among the first three in at least ${MIN_AMONG_THREE}, nothing wrong in every healthy half`,
    );
    process.exitCode = 1;
  }
}

if (require.main === module) void main();
