import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAULT_KINDS, type FaultKind } from '../examples/incident/faults';
import { generateIncident, questionOf, type IncidentTruth } from '../examples/incident/incident-generator';
import { writeIncident } from '../examples/incident/write-incident';
import type { ChatRequest, ChatResult } from '../src/chat/chat-request';
import { type AnswerOf, withDiagnosis } from './ask-in-process';
import { rankedServices } from './trainticket';

/** One asked incident with what its public answers amount to. */
interface IncidentRow {
  readonly truth: IncidentTruth;
  /** Whether the question named neither window nor baseline. */
  readonly isOpen: boolean;
  readonly answer: ChatResult;
  readonly first: string | null;
  /** Place of the true cause among causes and contributing services, 0 for not at all. */
  readonly rank: number;
  readonly blamesInnocent: boolean;
  /** Whether the guilty deploy is named as the trigger; null where none is guilty. */
  readonly namesTrigger: boolean | null;
  readonly isHealthyCleared: boolean;
  readonly seconds: number;
}

const FIRST_SEED = 1001;
const SEEDS = 36;
/** One question in so many names no time. */
const OPEN_EVERY = 3;
const MIN_RIGHT = 30 / 36;
const MIN_CLEARED = 0.95;

function requestOf(truth: IncidentTruth, isOpen: boolean): ChatRequest {
  const message = questionOf(truth, !isOpen);
  return isOpen ? { message } : { message, window: truth.window, baseline: truth.baseline };
}

/** Services that an answer blames in any way: a symptom and what is ruled out are no blame. */
function blamedServices({ causes }: ChatResult): string[] {
  return causes.filter(({ role }) => ['cause', 'contributing', 'trigger'].includes(role)).map(({ subject }) => subject);
}

/** Whether the answer names the deploy that set the fault off, by its own text, as something of the cause. */
function namesDeploy({ answer, causes }: ChatResult, { service, text }: NonNullable<IncidentTruth['trigger']>): boolean {
  const accused = causes.filter(({ role }) => role === 'cause' || role === 'trigger').map(({ subject }) => subject);
  return accused.includes(service) && answer.includes(text);
}

async function askIncident(ask: AnswerOf, truth: IncidentTruth, isOpen: boolean): Promise<IncidentRow> {
  const start = Date.now();
  const answer = await ask(requestOf(truth, isOpen));
  const healthy = await ask({
    message: 'Was anything wrong in this window?',
    window: truth.healthy,
    baseline: { from: truth.baseline.from, to: truth.healthy.from },
  });
  const ranked = rankedServices(answer);
  return {
    truth,
    isOpen,
    answer,
    first: ranked[0] ?? null,
    rank: ranked.indexOf(truth.cause) + 1,
    blamesInnocent: blamedServices(answer).includes(truth.innocent_deploy),
    namesTrigger: truth.trigger === null ? null : namesDeploy(answer, truth.trigger),
    // An answer that was rejected clears nobody.
    isHealthyCleared: ['PASS', 'LOW_CONFID'].includes(healthy.verdict ?? '') && blamedServices(healthy).length === 0,
    seconds: (Date.now() - start) / 1_000,
  };
}

/** Generates and asks one incident; its truth is read here and never shown to the product. */
async function judgeSeed(seed: number, kind: FaultKind, isOpen: boolean): Promise<IncidentRow> {
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-incidents-'));
  try {
    const incident = generateIncident(seed, kind);
    writeIncident(incident, folder);
    return await withDiagnosis(folder, (ask) => askIncident(ask, incident.truth, isOpen));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function line(cells: readonly string[]): string {
  const widths = [5, 16, 16, 14, 5, 18, 18, 5, 9, 8, 8, 11];
  return cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' ');
}

function shown(row: IncidentRow): string {
  const { truth, isOpen, answer, first, rank, blamesInnocent, namesTrigger, isHealthyCleared, seconds } = row;
  return line([
    String(truth.seed),
    truth.kind,
    truth.variant,
    truth.tracing,
    isOpen ? 'none' : 'given',
    truth.cause,
    first ?? 'nothing wrong',
    rank === 0 ? 'none' : String(rank),
    blamesInnocent ? 'BLAMED' : '-',
    namesTrigger === null ? '-' : namesTrigger ? 'named' : 'MISSED',
    isHealthyCleared ? 'cleared' : 'NOT',
    answer.verdict ?? 'none',
    seconds.toFixed(1),
  ]);
}

function isGood(rows: readonly IncidentRow[]): boolean {
  const right = rows.filter(({ rank }) => rank === 1).length;
  const innocent = rows.filter(({ blamesInnocent }) => blamesInnocent).length;
  const guilty = rows.filter(({ namesTrigger }) => namesTrigger !== null);
  const named = guilty.filter(({ namesTrigger }) => namesTrigger).length;
  const cleared = rows.filter(({ isHealthyCleared }) => isHealthyCleared).length;
  for (const kind of FAULT_KINDS) {
    const some = rows.filter(({ truth }) => truth.kind === kind);
    if (some.length > 0) console.log(`${kind}: ${some.filter(({ rank }) => rank === 1).length}/${some.length} right`);
  }
  console.log(`right: ${right}/${rows.length}; among three: ${rows.filter(({ rank }) => rank >= 1 && rank <= 3).length}`);
  console.log(`innocent deploy blamed: ${innocent}/${rows.length}; guilty deploy named: ${named}/${guilty.length}`);
  console.log(`healthy stretches with nothing wrong: ${cleared}/${rows.length}`);
  return right >= rows.length * MIN_RIGHT && innocent === 0 && named === guilty.length && cleared >= rows.length * MIN_CLEARED;
}

/** `incidents [first seed] [number of seeds] [kind]`: exits 1 below the marks, 2 for wrong arguments. */
async function main(): Promise<void> {
  const [firstText = String(FIRST_SEED), countText = String(SEEDS), onlyKind] = process.argv.slice(2);
  const [firstSeed, count] = [Number(firstText), Number(countText)];
  const kinds = onlyKind === undefined ? FAULT_KINDS : FAULT_KINDS.filter((kind) => kind === onlyKind);
  if (!Number.isSafeInteger(firstSeed) || !Number.isSafeInteger(count) || count < 1 || kinds.length === 0) {
    console.error(`usage: incidents [first seed] [number of seeds] [${FAULT_KINDS.join(' | ')}]`);
    process.exitCode = 2;
    return;
  }
  console.log(line('seed,kind,variant,traced,time,cause,first,rank,innocent,trigger,healthy,verdict,seconds'.split(',')));
  const rows: IncidentRow[] = [];
  for (let index = 0; index < count; index += 1) {
    const kind = kinds[index % kinds.length] as FaultKind;
    // Each kind gets its turn without times.
    const isOpen = (index + Math.floor(index / kinds.length)) % OPEN_EVERY === OPEN_EVERY - 1;
    const row = await judgeSeed(firstSeed + index, kind, isOpen);
    rows.push(row);
    console.log(shown(row));
  }
  if (!isGood(rows)) {
    console.error(
      'below the mark: 5 of 6 right, no innocent deploy blamed, each guilty one named, 95% of healthy stretches cleared',
    );
    process.exitCode = 1;
  }
}

if (require.main === module) void main();
