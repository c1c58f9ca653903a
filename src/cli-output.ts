import type { ChatProgress } from './chat/chat.service';
import type { SweepReport } from './chat/retention.service';
import type { ImportProgress } from './ports/telemetry-source.port';
import type { JsonObject, JsonValue } from './protocol/json-value';

/** Least time between two lines about one long work, in ms. */
const NOTE_INTERVAL_MS = 500;
/** Most services that are named of one file. */
const MOST_SERVICES = 12;

/** Prints to stdout, which holds the answer alone. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Control and direction characters, which could move a terminal's cursor or forge what stands there. */
const UNSAFE = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** Text from outside as one inert line: control characters are shown by their code. */
export function inert(text: string): string {
  return text.replaceAll(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Prints to stderr: progress, summaries and errors. What comes from outside has to be made inert before. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** One line for each node that starts and each tool call that ends. */
export function noteRun(event: ChatProgress): void {
  if (event.type === 'node_started') note(`  ${event.node}`);
  if (event.type === 'tool_finished') note(`    ${inert(event.tool_name)}: ${event.status}`);
}

/** Tells of an import that lasts: a line when half a second went by since the one before. Short imports stay silent. */
export function importNotes(now: () => number = () => performance.now()): (progress: ImportProgress) => void {
  let last = now();
  return ({ file, files_done, files_total, share }) => {
    if (now() - last < NOTE_INTERVAL_MS) return;
    last = now();
    note(`  reading ${inert(file)} (${files_done + 1} of ${files_total} files, ${Math.floor(share * 100)} % of all)`);
  };
}

/** Tells of a sweep that lasts, at most twice a second. */
export function sweepNotes(now: () => number = () => performance.now()): (erased: number) => void {
  let last = now();
  return (erased) => {
    if (now() - last < NOTE_INTERVAL_MS) return;
    last = now();
    note(`  ${erased} runs erased`);
  };
}

/** What a sweep did, or would do, a line each, for a person. */
export function sweepLines({ dryRun, complete, deadRuns, erased, sessions, checkpoints }: SweepReport): string[] {
  return [
    `${dryRun ? 'Runs that would be erased' : 'Runs erased'}: ${erased.byRequest + erased.byAge + erased.byCount}`,
    `  on request: ${erased.byRequest}`,
    `  by age: ${erased.byAge}`,
    `  by count: ${erased.byCount}`,
    `${dryRun ? 'Dead runs that would be ended' : 'Dead runs ended'}: ${deadRuns}`,
    `${dryRun ? 'Sessions without a run that would be erased' : 'Sessions without a run erased'}: ${sessions}`,
    ...(checkpoints === null ? [] : [`Runs whose checkpoints were left behind: ${checkpoints}`]),
    ...(complete ? [] : ['The sweep was stopped; the next one goes on with the rest.']),
  ];
}

function isRow(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rowsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isRow) : [];
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? inert(String(value)) : '';
}

function servicesOf(value: JsonValue | undefined): string {
  const names = Array.isArray(value) ? value.map(text) : [];
  if (names.length === 0) return '';
  const shown = names.slice(0, MOST_SERVICES).join(', ');
  return `${shown}${names.length > MOST_SERVICES ? ` and ${names.length - MOST_SERVICES} more` : ''}`;
}

function rejectedOf(value: JsonValue | undefined): string {
  const counts = isRow(value) ? Object.entries(value).filter(([, count]) => typeof count === 'number' && count > 0) : [];
  return counts.length === 0
    ? ''
    : `; rejected: ${counts.map(([kind, count]) => `${text(count)} ${kind.replaceAll('_', ' ')}`).join(', ')}`;
}

/** What `inspect` found, a line a file, for a person. */
export function inspectionNotes(facts: JsonObject): string[] {
  const files = rowsOf(facts['files']).map((file) => {
    const range = text(file['from']) === '' ? '' : `; ${text(file['from'])} to ${text(file['to'])}`;
    const zone = isRow(file['taken']) && text(file['taken']['zone']) !== '' ? `; clock zone ${text(file['taken']['zone'])}` : '';
    const hint = text(file['note']) === '' ? '' : `; ${text(file['note'])}`;
    const what = `${text(file['family'])} (${text(file['format'])}), ${text(file['rows'])} records`;
    return `  ${text(file['name'])}: ${what}${range}${zone}${rejectedOf(file['rejected'])}${hint}`;
  });
  const skipped = rowsOf(facts['skipped']).map((file) => `  ${text(file['name'])}: left out, ${text(file['reason'])}`);
  const services = rowsOf(facts['families']).flatMap((family) => {
    const names = servicesOf(family['services']);
    return names === '' ? [] : [`  services of ${text(family['family'])}: ${names}`];
  });
  return [...files, ...skipped, ...services];
}
