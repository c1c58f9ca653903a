import { measureGraphOverhead } from './graph-overhead';
import { measureValidateRun } from './validate-run';

interface BenchRow {
  readonly name: string;
  readonly ratio: number;
  readonly limit: number | null;
}

/** `npm run bench`: ratios measured in this run, each with its limit; exits 1 when one is over. */
async function main(): Promise<void> {
  const rows: BenchRow[] = [...(await measureGraphOverhead()), ...(await measureValidateRun())];
  const width = Math.max(...rows.map((row) => row.name.length));
  let over = 0;
  for (const row of rows) {
    const verdict = row.limit === null ? '' : row.ratio <= row.limit ? `limit ${row.limit}  ok` : `limit ${row.limit}  OVER`;
    if (row.limit !== null && row.ratio > row.limit) over += 1;
    console.log(`${row.name.padEnd(width)}  ${row.ratio.toFixed(3)}  ${verdict}`);
  }
  process.exitCode = over > 0 ? 1 : 0;
}

void main();
