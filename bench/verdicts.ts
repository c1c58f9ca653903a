import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAULT_KINDS, type FaultKind } from '../examples/incident/faults';
import { generateIncident } from '../examples/incident/incident-generator';
import { writeIncident } from '../examples/incident/write-incident';
import type { ChatResult } from '../src/chat/chat-request';
import type { Verdict } from '../src/vocabulary/verdicts';
import { withDiagnosis } from './ask-in-process';
import { askTrainticket, rankedServices } from './trainticket';

/** One judged run: what was asked, the verdict, whether the answer was right, and why the verdict is what it is. */
export interface VerdictRow {
  readonly name: string;
  readonly verdict: Verdict | null;
  /** Right cause first, or nothing where nothing is wrong; null where there is no right answer to give. */
  readonly right: boolean | null;
  readonly reasons: readonly string[];
}

const MINUTE = 60_000;

function shifted(instant: string, minutes: number): string {
  return new Date(Date.parse(instant) + minutes * MINUTE).toISOString();
}

/** The reasons that an answer itself gives for its verdict. */
function reasonsOf({ answer, verdict }: ChatResult): string[] {
  if (verdict === 'PASS') return ['harm shown and its disproof failed, or nothing found in a complete look'];
  const listed = /## Missing information\n\n((?:- .*\n?)+)/.exec(answer)?.[1]?.trim().split('\n') ?? [];
  const reasons = listed.map((item) => item.replace(/^- /, ''));
  return verdict === 'REJECT' ? ['the leading cause is contradicted by its own check', ...reasons] : reasons;
}

/**
 * Judges one generated incident four ways: with a clean baseline, in its healthy stretch, without a baseline, and against a
 * baseline that already holds half of the fault, which the control query must notice.
 */
async function judgeIncident(seed: number, kind: FaultKind): Promise<VerdictRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-verdicts-'));
  try {
    const { truth, ...incident } = generateIncident(seed, kind);
    writeIncident({ truth, ...incident }, folder);
    return await withDiagnosis(folder, async (ask) => {
      const message = 'What went wrong?';
      const onset = truth.window.from;
      const row = (name: string, result: ChatResult, right: boolean | null): VerdictRow => ({
        name: `${kind} ${seed}: ${name}`,
        verdict: result.verdict,
        right,
        reasons: reasonsOf(result),
      });
      const clean = await ask({ message, window: truth.window, baseline: truth.baseline });
      const healthy = await ask({
        message,
        window: truth.healthy,
        baseline: { from: truth.baseline.from, to: truth.healthy.from },
      });
      const without = await ask({ message, window: truth.window });
      const troubled = await ask({
        message,
        window: { from: shifted(onset, 5), to: truth.window.to },
        baseline: { from: shifted(onset, -10), to: shifted(onset, 5) },
      });
      return [
        row('clean baseline', clean, rankedServices(clean)[0] === truth.cause),
        row('healthy stretch', healthy, rankedServices(healthy).length === 0),
        row('no baseline given', without, rankedServices(without)[0] === truth.cause),
        row('baseline holds the fault', troubled, null),
      ];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Verdicts over generated incidents of every kind and, with a data folder, over the trainticket cases and healthy halves. */
export async function collectVerdicts(seeds: readonly number[], dataFolder: string | null): Promise<VerdictRow[]> {
  const rows: VerdictRow[] = [];
  for (const kind of FAULT_KINDS) for (const seed of seeds) rows.push(...(await judgeIncident(seed, kind)));
  if (dataFolder === null) return rows;
  for (const { name, kind, rank, result } of await askTrainticket(dataFolder)) {
    rows.push({ name: `${name} (${kind})`, verdict: result.verdict, right: rank === 1, reasons: reasonsOf(result) });
  }
  return rows;
}

async function main(): Promise<void> {
  const [dataFolder = null] = process.argv.slice(2);
  const rows = await collectVerdicts([1, 2], dataFolder);
  for (const { name, verdict, right, reasons } of rows) {
    const judged = right === null ? '' : right ? 'right' : 'wrong';
    console.log(`${name.padEnd(48)} ${(verdict ?? 'none').padEnd(11)} ${judged.padEnd(6)} ${reasons.join(' | ')}`);
  }
  for (const verdict of ['PASS', 'LOW_CONFID', 'REJECT'] as const) {
    const some = rows.filter((row) => row.verdict === verdict);
    const judged = some.filter(({ right }) => right !== null);
    console.log(`${verdict}: ${some.length} runs, right ${judged.filter(({ right }) => right).length}/${judged.length}`);
    if (some.length === 0) process.exitCode = 1;
  }
}

if (require.main === module) void main();
