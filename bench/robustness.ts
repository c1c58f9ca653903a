import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { SeededRandom } from '../examples/incident/seeded-random';
import { AnalystExecutorAgent } from '../src/agents/analyst/analyst-executor.agent';
import { AnalystVerifierAgent } from '../src/agents/analyst/analyst-verifier.agent';
import { THRESHOLDS, type Thresholds } from '../src/agents/analyst/thresholds';
import { type AnswerOf, withDiagnosis } from './ask-in-process';
import { askCase, rankedServices } from './trainticket';
import { type Change, type TelemetryFile, type TrainticketCase, unpackTrainticket } from './trainticket-cases';

/** First places that a quarter more or less of any threshold may change. */
const MOST_CHANGED = 2;
const QUARTER = [0.75, 1.25] as const;
const SHIFT_MS = ((37 * 24 + 5) * 60 + 13) * 60_000;
const LOST = 1 / 3;
const SEED = 11;

let moved: Thresholds = THRESHOLDS;

/** The analyst with whatever thresholds are being tried. */
@Injectable()
class MovedExecutor extends AnalystExecutorAgent {
  protected override get thresholds(): Thresholds {
    return moved;
  }
}

@Injectable()
class MovedVerifier extends AnalystVerifierAgent {
  protected override get thresholds(): Thresholds {
    return moved;
  }
}

/** First place of every case: a service, or `nothing`. */
type Firsts = ReadonlyMap<string, string>;

async function firstsOf(ask: AnswerOf, cases: readonly TrainticketCase[]): Promise<Firsts> {
  const firsts = new Map<string, string>();
  for (const one of cases) {
    const { result } = await askCase(ask, one);
    firsts.set(one.name, rankedServices(result)[0] ?? 'nothing');
  }
  return firsts;
}

function differences(before: Firsts, after: Firsts): string[] {
  return [...before].flatMap(([name, first]) => {
    const now = after.get(name) ?? 'nothing';
    return now === first ? [] : [`${name}: ${first} -> ${now}`];
  });
}

function print(what: string, changed: readonly string[], of: number): void {
  console.log(`${what.padEnd(34)} ${String(changed.length).padStart(2)} of ${of} first places changed`);
  for (const change of changed) console.log(`    ${change}`);
}

/** Every threshold by its path, with the table that has it moved by a factor. */
function* movedTables(): Generator<{ readonly name: string; readonly table: Thresholds }> {
  for (const [group, values] of Object.entries(THRESHOLDS)) {
    for (const [name, value] of Object.entries(values as Readonly<Record<string, number>>)) {
      for (const factor of QUARTER) {
        const table = { ...THRESHOLDS, [group]: { ...values, [name]: value * factor } } as Thresholds;
        yield { name: `${group}.${name} x ${factor}`, table };
      }
    }
  }
}

async function moveThresholds(folder: string, cases: readonly TrainticketCase[]): Promise<boolean> {
  const agents = { executor: MovedExecutor, verifier: MovedVerifier };
  return withDiagnosis(
    join(folder, 'mapping.json'),
    async (ask) => {
      const usual = await firstsOf(ask, cases);
      let isHeld = true;
      for (const { name, table } of movedTables()) {
        moved = table;
        const changed = differences(usual, await firstsOf(ask, cases));
        if (changed.length > 0) print(name, changed, cases.length);
        isHeld &&= changed.length <= MOST_CHANGED;
      }
      moved = THRESHOLDS;
      console.log(isHeld ? 'No threshold changes more.' : `A threshold changes more than ${MOST_CHANGED}.`);
      return isHeld;
    },
    { hostAgents: agents, remembersTelemetry: true },
  );
}

/** Rows of a CSV text behind its header, changed. */
function inRows(content: string, change: (rows: string[]) => string[]): string {
  const [header = '', ...rows] = content.split('\n').filter((row) => row !== '');
  return `${[header, ...change(rows)].join('\n')}\n`;
}

function shuffled(random: SeededRandom): Change {
  return (_kind, content) => inRows(content, (rows) => random.shuffled(rows));
}

function thinned(random: SeededRandom): Change {
  return (_kind, content) => inRows(content, (rows) => rows.filter(() => !random.chance(LOST)));
}

function later(epoch: string, unitsOfMs: bigint): string {
  return String(BigInt(epoch) + BigInt(SHIFT_MS) * unitsOfMs);
}

const SHIFTED: Readonly<Record<TelemetryFile, (row: string) => string>> = {
  log: (row) =>
    row.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)([.\d]*)Z,(\d+)/, (_all, second: string, rest: string, ns: string) => {
      const time = new Date(Date.parse(`${second}Z`) + SHIFT_MS).toISOString().slice(0, 19);
      return `${time}${rest}Z,${later(ns, 1_000_000n)}`;
    }),
  trace: (row) =>
    row.replace(/(\d{19}),(\d{19})/, (_all, a: string, b: string) => `${later(a, 1_000_000n)},${later(b, 1_000_000n)}`),
  metric: (row) =>
    row.replace(/^([^,]*),(\d{10}),/, (_all, text: string, s: string) => `${text},${String(Number(s) + SHIFT_MS / 1000)},`),
};

const shifted: Change = (kind, content) => inRows(content, (rows) => rows.map(SHIFTED[kind]));

const SERVICE = /\bts-[a-z0-9]+(?:-[a-z0-9]+)*?-service\b/g;

/** Every service under a name that says nothing, the same in every file. */
class Renaming {
  private readonly names = new Map<string, string>();

  constructor(private readonly random: SeededRandom) {}

  of(service: string): string {
    const known = this.names.get(service);
    if (known !== undefined) return known;
    const name = `n${this.random.between(100_000, 999_999)}x${this.names.size}`;
    this.names.set(service, name);
    return name;
  }

  readonly change: Change = (_kind, content) => content.replaceAll(SERVICE, (service) => this.of(service));
}

interface Variant {
  readonly name: string;
  readonly change: Change;
  readonly asked?: (one: TrainticketCase) => TrainticketCase;
  readonly named?: (service: string) => string;
}

function moveWindow(one: TrainticketCase): TrainticketCase {
  const at = (instant: string): string => new Date(Date.parse(instant) + SHIFT_MS).toISOString();
  const range = ({ from, to }: TrainticketCase['window']) => ({ from: at(from), to: at(to) });
  return { ...one, window: range(one.window), baseline: range(one.baseline) };
}

function variants(): Variant[] {
  const renaming = new Renaming(new SeededRandom(SEED));
  return [
    { name: 'services renamed at random', change: renaming.change, named: (service) => renaming.of(service) },
    { name: 'rows shuffled', change: shuffled(new SeededRandom(SEED)) },
    { name: 'clock shifted', change: shifted, asked: moveWindow },
    { name: 'a third of the rows missing', change: thinned(new SeededRandom(SEED)) },
  ];
}

/** Asks the cases over changed files; what comes first is compared under the names that the files use. */
async function tryVariant(
  data: string,
  { name, change, asked = (one) => one, named = (text) => text }: Variant,
  usual: Firsts,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-robustness-'));
  try {
    const cases = unpackTrainticket(data, folder, change).filter(({ expected }) => expected !== null);
    const expected = new Map([...usual].map(([key, first]) => [key, first === 'nothing' ? first : named(first)]));
    const firsts = await withDiagnosis(join(folder, 'mapping.json'), (ask) => firstsOf(ask, cases.map(asked)));
    print(name, differences(expected, firsts), cases.length);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prints which first places change; exit code 1 when a threshold changes more than two. What changed files do is only said. */
async function main(): Promise<void> {
  const [data] = process.argv.slice(2);
  if (data === undefined || !existsSync(data)) {
    console.error('usage: robustness <data folder>');
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-robustness-'));
  try {
    const cases = unpackTrainticket(data, folder).filter(({ expected }) => expected !== null);
    const usual = await withDiagnosis(join(folder, 'mapping.json'), (ask) => firstsOf(ask, cases));
    for (const variant of variants()) await tryVariant(data, variant, usual);
    if (!(await moveThresholds(folder, cases))) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (require.main === module) void main();
