import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatResult } from '../src/chat/chat-request';
import { type AnswerOf, withDiagnosis } from './ask-in-process';
import { type TrainticketCase, unpackTrainticket } from './trainticket-cases';

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

/** Services that an answer names as causes, most likely first; contributing ones stand behind. */
export function rankedServices({ causes }: Pick<ChatResult, 'causes'>): string[] {
  const order = (role: string): number => (role === 'cause' ? 0 : 1);
  return [...causes]
    .filter(({ role }) => role === 'cause' || role === 'contributing')
    .sort((a, b) => order(a.role) - order(b.role) || a.rank - b.rank)
    .map(({ subject }) => subject);
}

/** Asks one case or healthy half through the public chat and places the injected service among the named ones. */
export async function askCase(
  ask: AnswerOf,
  { name, kind, expected, window, baseline }: TrainticketCase,
): Promise<TrainticketRow> {
  const result = await ask({ message: 'What went wrong in this window?', window, baseline });
  const ranked = rankedServices(result);
  const rank = expected === null ? Number(ranked.length === 0) : ranked.indexOf(expected) + 1;
  return { name, kind, expected, rank, result };
}

/** Asks every case and every half of a fault-free minute; the unpacked files are removed again. */
export async function askTrainticket(dataFolder: string): Promise<TrainticketRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-trainticket-'));
  try {
    const cases = unpackTrainticket(dataFolder, folder);
    return await withDiagnosis(join(folder, 'mapping.json'), async (ask) => {
      const rows: TrainticketRow[] = [];
      for (const one of cases) rows.push(await askCase(ask, one));
      return rows;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
