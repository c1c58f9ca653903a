import { measureCheckpoints } from './checkpoints';
import { measureGraphOverhead } from './graph-overhead';
import { measureStorage } from './storage';
import { measureValidateRun } from './validate-run';

interface BenchRow {
  readonly name: string;
  readonly ratio: number;
  /** Most that it may be; null where it is only printed. */
  readonly limit: number | null;
  /** Least that it may be. */
  readonly atLeast?: number;
}

function verdictOf({ ratio, limit, atLeast }: BenchRow): string {
  if (atLeast !== undefined) return `at least ${atLeast}  ${ratio >= atLeast ? 'ok' : 'UNDER'}`;
  return limit === null ? '' : `limit ${limit}  ${ratio <= limit ? 'ok' : 'OVER'}`;
}

/** `npm run bench`: what was measured in this run, each with its limit; exits 1 when one is not kept. */
async function main(): Promise<void> {
  const rows: BenchRow[] = [
    ...(await measureGraphOverhead()),
    ...(await measureValidateRun()),
    ...(await measureCheckpoints()),
    ...(await measureStorage()),
  ];
  const width = Math.max(...rows.map((row) => row.name.length));
  let over = 0;
  for (const row of rows) {
    const verdict = verdictOf(row);
    if (/OVER$|UNDER$/.test(verdict)) over += 1;
    console.log(`${row.name.padEnd(width)}  ${row.ratio.toFixed(3)}  ${verdict}`);
  }
  process.exitCode = over > 0 ? 1 : 0;
}

void main();
