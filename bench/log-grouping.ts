import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { parseDiagnosisOptions } from '../src/options/diagnosis-options';
import { DuckdbTelemetrySource } from '../src/telemetry/duckdb-telemetry-source';
import { SeededRandom } from '../examples/incident/seeded-random';

const USAGE = 'usage: log-grouping [lines, default 1000000]';
const LIMITS = { scans: 8, memoryMb: 600, loopMs: 100 } as const;
const START = Date.parse('2026-05-04T10:00:00Z');
const SERVICES = ['cart', 'checkout', 'payment', 'catalog', 'shipping', 'auth'] as const;
const SCANS = 3;
const MEBIBYTE = 1024 * 1024;

interface Grouping {
  readonly seconds: number;
  readonly lines: number;
  readonly patterns: number;
  readonly memoryMb: number;
  readonly loopMs: number;
}

function messageOf(random: SeededRandom): string {
  const number = (most: number): string => String(random.between(1, most));
  const hex = (digits: number): string => Array.from({ length: digits }, () => random.between(0, 15).toString(16)).join('');
  switch (random.between(0, 5)) {
    case 0:
      return `GET /api/orders/${number(99_999)} completed in ${number(900)}ms status=200`;
    case 1:
      return `user ${hex(16)} logged in from 10.0.${number(255)}.${number(255)}`;
    case 2:
      return `cache miss for key session:${hex(32)}`;
    case 3:
      return `order ${number(999_999_999)} placed, total=${number(999)}.${number(99)} EUR, items=${number(9)}`;
    case 4:
      return `retrying call to inventory, attempt ${number(5)} of 5`;
    default:
      return `connection pool size ${number(50)} in use ${number(50)}`;
  }
}

type Form = 'JSON lines' | 'plain text';

async function writeLines(path: string, form: Form, lines: number): Promise<void> {
  const random = new SeededRandom(lines);
  const out = createWriteStream(path, { highWaterMark: MEBIBYTE });
  let time = START;
  for (let written = 0; written < lines;) {
    let batch = '';
    for (const end = Math.min(lines, written + 5_000); written < end; written += 1) {
      time += random.between(0, 9);
      const isError = random.between(0, 99) < 3;
      const name = SERVICES[random.between(0, SERVICES.length - 1)] as string;
      const msg = messageOf(random);
      batch +=
        form === 'JSON lines'
          ? `${JSON.stringify({ level: isError ? 50 : 30, time, name, msg })}\n`
          : `${new Date(time).toISOString()} ${isError ? 'ERROR' : 'INFO'} [${name}] ${msg}\n`;
    }
    if (!out.write(batch)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

/** One scan: every line of the file is read once and nothing is done with it. The median of a few. */
async function scanSeconds(path: string): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < SCANS; at += 1) {
    const started = performance.now();
    let lines = 0;
    for await (const line of createInterface({ input: createReadStream(path) })) lines += line === '' ? 0 : 1;
    if (lines === 0) throw new Error('The file to scan is empty.');
    times.push((performance.now() - started) / 1000);
  }
  return times.sort((a, b) => a - b)[Math.floor(SCANS / 2)] as number;
}

/** Groups a file in this process, which does nothing else, and tells what it took. */
async function group(path: string): Promise<Grouping> {
  const source = new DuckdbTelemetrySource(parseDiagnosisOptions({ telemetry: { path } }).telemetry);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  let memory = process.memoryUsage.rss();
  const watch = setInterval(() => (memory = Math.max(memory, process.memoryUsage.rss())), 20);
  delay.enable();
  const started = performance.now();
  const answer = await source.logPatterns({
    window: { from: new Date(START).toISOString(), to: new Date(START + 365 * 86_400_000).toISOString() },
    baseline: null,
    service: null,
    contains: null,
    limit: 1000,
  });
  const seconds = (performance.now() - started) / 1000;
  delay.disable();
  clearInterval(watch);
  await source.close();
  return {
    seconds,
    lines: answer.matched_count,
    patterns: answer.rows_total ?? 0,
    memoryMb: memory / MEBIBYTE,
    loopMs: delay.max / 1e6,
  };
}

async function groupApart(path: string): Promise<Grouping> {
  const child = fork(__filename, ['--group', path]);
  const [grouping] = (await once(child, 'message')) as [Grouping];
  return grouping;
}

/**
 * `npm run bench:grouping`: groups a million generated log lines, in a process of its own for each form, and prints time as a
 * multiple of one scan of the same file, memory and event loop delay beside their limits; exits 1 when one is over. The limits
 * are for a million lines; any other number is measured without them.
 */
async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] === '--group' && argv[1] !== undefined) {
    process.send?.(await group(argv[1]));
    return;
  }
  const lines = Number(argv[0] ?? '1000000');
  if (!Number.isSafeInteger(lines) || lines < 1 || argv.length > 1) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'log-grouping-'));
  try {
    for (const form of ['JSON lines', 'plain text'] as const) {
      const path = join(folder, form === 'JSON lines' ? 'lines.jsonl' : 'lines.log');
      await writeLines(path, form, lines);
      const scan = await scanSeconds(path);
      const grouping = await groupApart(path);
      rmSync(path);
      const scans = grouping.seconds / scan;
      const over =
        lines === 1_000_000 && (scans > LIMITS.scans || grouping.memoryMb > LIMITS.memoryMb || grouping.loopMs > LIMITS.loopMs);
      if (over || grouping.lines !== lines) process.exitCode = 1;
      console.log(
        `${form}: ${grouping.lines} lines, ${grouping.patterns} patterns; ${scans.toFixed(1)} scans of ${scan.toFixed(2)} s (limit ${LIMITS.scans}), ` +
          `${grouping.memoryMb.toFixed(0)} MiB (limit ${LIMITS.memoryMb}), event loop delay ${grouping.loopMs.toFixed(0)} ms (limit ${LIMITS.loopMs})${over ? '  OVER' : ''}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

void main(process.argv.slice(2));
