import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import type { ChatResult } from '../src/chat/chat-request';
import { type AnswerOf, withDiagnosis } from './ask-in-process';
import { rankedServices } from './trainticket';

const targetSchema = z.object({ root_cause: z.object({ node: z.string() }), target: z.object({ metric: z.string() }) });

interface Window {
  readonly from: string;
  readonly to: string;
}

/** One asked window: where the truth came out, 0 for not at all. A quiet window has none and is right when no cause is named. */
interface PetshopRow {
  readonly name: string;
  readonly kind: string;
  readonly expected: string | null;
  readonly rank: number;
  readonly result: ChatResult;
}

const STEP_S = 300;
const HEADER_ROWS = 4;
/** Quiet windows: this many rows, this many windows a scenario, the first after this many rows of baseline. */
const QUIET = { rows: 5, windows: 20, before: 100 } as const;
const MIN_AMONG_THREE = 14 / 16;
const MIN_QUIET = 0.95;

const MAPPING = {
  schema: 'telemetry_mapping_v1',
  metrics: [
    {
      files: ['*.metrics.csv', '*.metrics.csv.gz'],
      layout: 'headers',
      header_rows: ['service', 'metric', 'statistic', 'ignore'],
      time: { format: 'epoch_s' },
    },
  ],
  graph: [{ files: ['graph.csv'], layout: 'matrix' }],
};

/** Unix seconds of the rows of a metrics file. */
function rowTimes(path: string): number[] {
  const content = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(content) : content).toString('utf8');
  const lines = text.trim().split(/\r?\n/).slice(HEADER_ROWS);
  return lines.map((line) => Number(line.split(',', 1)[0]));
}

function windowOf(from: number, to: number): Window {
  return { from: new Date(from * 1000).toISOString(), to: new Date(to * 1000).toISOString() };
}

async function askIncident(ask: AnswerOf, folder: string, name: string, baseline: Window): Promise<PetshopRow> {
  const truth = targetSchema.parse(JSON.parse(readFileSync(join(folder, 'target.json'), 'utf8')));
  const times = rowTimes(join(folder, 'metrics.csv'));
  const window = windowOf(times[0] ?? 0, (times.at(-1) ?? 0) + STEP_S);
  const result = await ask({ message: 'What went wrong in this window?', window, baseline });
  const rank = rankedServices(result).indexOf(truth.root_cause.node) + 1;
  return { name, kind: truth.target.metric, expected: truth.root_cause.node, rank, result };
}

async function askQuiet(ask: AnswerOf, scenario: string, times: readonly number[]): Promise<PetshopRow[]> {
  const rows: PetshopRow[] = [];
  for (let index = 0; index < QUIET.windows; index += 1) {
    const room = times.length - QUIET.before - QUIET.rows;
    const at = QUIET.before + Math.floor((index * room) / QUIET.windows);
    const [start, end] = [times[at] ?? 0, times[at + QUIET.rows] ?? 0];
    const baseline = windowOf(times[0] ?? 0, start);
    const result = await ask({ message: 'What went wrong in this window?', window: windowOf(start, end), baseline });
    const rank = rankedServices(result).length === 0 ? 1 : 0;
    rows.push({ name: `${scenario} row ${at}`, kind: 'quiet', expected: null, rank, result });
  }
  return rows;
}

/** Asks every incident and the quiet windows of one scenario. The truth is read here and never shown to the product. */
async function askScenario(source: string, scenario: string): Promise<PetshopRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-petshop-'));
  try {
    const telemetry = join(folder, 'telemetry');
    mkdirSync(telemetry);
    writeFileSync(join(telemetry, 'mapping.json'), JSON.stringify(MAPPING));
    const normal = join(source, 'noissue', 'metrics.csv.gz');
    copyFileSync(normal, join(telemetry, 'noissue.metrics.csv.gz'));
    copyFileSync(join(source, 'graph.csv'), join(telemetry, 'graph.csv'));
    const incidents = readdirSync(join(source, 'train')).sort();
    for (const name of incidents)
      copyFileSync(join(source, 'train', name, 'metrics.csv'), join(telemetry, `${name}.metrics.csv`));
    const times = rowTimes(normal);
    const baseline = windowOf(times[0] ?? 0, (times.at(-1) ?? 0) + STEP_S);
    return await withDiagnosis(join(telemetry, 'mapping.json'), async (ask) => {
      const rows: PetshopRow[] = [];
      for (const name of incidents)
        rows.push(await askIncident(ask, join(source, 'train', name), `${scenario} ${name}`, baseline));
      return [...rows, ...(await askQuiet(ask, scenario, times))];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function line(cells: readonly string[]): string {
  const widths = [22, 13, 5, 11];
  return cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' ');
}

function report(rows: readonly PetshopRow[]): boolean {
  console.log(line(['window', 'metric', 'rank', 'verdict', 'first three']));
  for (const { name, kind, expected, rank, result } of rows) {
    const shown = expected === null ? '-' : rank === 0 ? 'none' : String(rank);
    const three = rankedServices(result).slice(0, 3).join(', ') || 'nothing wrong';
    console.log(line([name, kind, shown, result.verdict ?? 'none', three]));
  }
  const incidents = rows.filter(({ expected }) => expected !== null);
  const quiet = rows.filter(({ expected }) => expected === null);
  const among = (some: readonly PetshopRow[], k: number): number => some.filter(({ rank }) => rank >= 1 && rank <= k).length;
  console.log(
    `incidents: first ${among(incidents, 1)}/${incidents.length}, among three ${among(incidents, 3)}/${incidents.length}`,
  );
  console.log(`quiet windows with nothing wrong: ${among(quiet, 1)}/${quiet.length}`);
  return among(incidents, 3) >= incidents.length * MIN_AMONG_THREE && among(quiet, 1) >= quiet.length * MIN_QUIET;
}

async function main(): Promise<void> {
  const [folder] = process.argv.slice(2);
  if (folder === undefined || !existsSync(folder)) {
    console.error('usage: petshop <data folder>');
    process.exitCode = 2;
    return;
  }
  const source = existsSync(join(folder, 'petshop')) ? join(folder, 'petshop') : folder;
  const rows: PetshopRow[] = [];
  for (const scenario of readdirSync(source).sort())
    if (existsSync(join(source, scenario, 'graph.csv'))) rows.push(...(await askScenario(join(source, scenario), scenario)));
  if (!report(rows)) {
    console.error('below the mark: among the first three in at least 14 of 16, nothing wrong in at least 95% of quiet windows');
    process.exitCode = 1;
  }
}

if (require.main === module) void main();
