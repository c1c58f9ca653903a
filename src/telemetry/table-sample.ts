import { csvColumns, csvValues, jsonColumns, jsonObjectOf } from './file-layout';
import type { TableFormat } from './table-format';
import { columnsFor, USUAL } from './usual-names';

/** Names and the first rows of a table, cells as text. */
export interface TableSample {
  readonly format: TableFormat;
  readonly delimiter?: string;
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const ISO_LIKE = /^\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?$/;
const EPOCH_LIKE = /^(?:\d{9,14}(?:\.\d*)?|\d{15,19})$/;
const CLOCK = /^\W{0,2}(?:\d{4}-\d{2}-\d{2}[T ])?(\d{2}):(\d{2}):\d{2}\b/;
const QUARTER_MS = 15 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

/** Whether a text is a time by itself: ISO 8601 with or without a zone, or an epoch. */
export function isTimeText(text: string): boolean {
  return ISO_LIKE.test(text) || EPOCH_LIKE.test(text);
}

/** Whether a text is a number, or says that there is none. */
export function isNumberText(text: string): boolean {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) || /^(?:nan|null|none|-)$/i.test(text);
}

/** Times that are written in neither way, by a pattern and the strptime form that reads them. */
const OTHER_TIMES = [
  [/^\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4}$/, '%d/%b/%Y:%H:%M:%S %z'],
  [/^\d{2}-[A-Z][a-z]{2}-\d{4} \d{2}:\d{2}:\d{2}$/, '%d-%b-%Y %H:%M:%S'],
  [/^\d{2}-[A-Z][a-z]{2}-\d{4} \d{2}:\d{2}:\d{2}\.\d+$/, '%d-%b-%Y %H:%M:%S.%f'],
  [/^\d{8}T\d{6}$/, '%Y%m%dT%H%M%S'],
  [/^(?:1[3-9]|2\d|3[01])\/\d{1,2}\/\d{4} \d{1,2}:\d{2}:\d{2}$/, '%d/%m/%Y %H:%M:%S'],
  [/^\d{1,2}\/(?:1[3-9]|2\d|3[01])\/\d{4} \d{1,2}:\d{2}:\d{2}$/, '%m/%d/%Y %H:%M:%S'],
  [/^\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d{2}:\d{2}$/, '%d.%m.%Y %H:%M:%S'],
] as const;

/** Cells of one column that hold anything. */
export function cellsOf(sample: TableSample, name: string | undefined): string[] {
  const at = name === undefined ? -1 : sample.names.indexOf(name);
  return at < 0 ? [] : sample.rows.map((row) => (row[at] ?? '').trim()).filter((cell) => cell !== '');
}

/** Whether at least four in five cells of a column, and one at all, pass. */
export function mostCells(sample: TableSample, name: string | undefined, holds: (cell: string) => boolean): boolean {
  const cells = cellsOf(sample, name);
  return cells.length > 0 && cells.filter(holds).length * 5 >= cells.length * 4;
}

/** The column of time by its usual name, one whose cells are times before others, and the form that they need. */
export function timeColumn(
  sample: TableSample,
  usual: readonly string[] = USUAL.time,
): { readonly column: string; readonly format?: string; readonly zone: string } | undefined {
  const named = columnsFor(sample.names, usual);
  for (const column of named) if (mostCells(sample, column, isTimeText)) return { column, zone: 'UTC' };
  for (const column of named) {
    for (const [pattern, format] of OTHER_TIMES) {
      // One cell that can be read in one way only tells how all are to be read.
      const cells = cellsOf(sample, column);
      if (cells.some((cell) => pattern.test(cell)) && cells.every((cell) => /^[\d/.:T +A-Za-z-]+$/.test(cell)))
        return { column, format, zone: 'UTC' };
    }
  }
  const [first] = named;
  return first === undefined ? undefined : { column: first, zone: 'UTC' };
}

/** A CSV's sample by its first lines. */
export function csvSample(lines: readonly string[]): TableSample {
  const { names, delimiter } = csvColumns(lines, undefined);
  return { format: 'csv', delimiter, names, rows: lines.slice(1).map((line) => csvValues(line, delimiter)) };
}

function memberText(value: Record<string, unknown>, pointer: string): string {
  let member: unknown = value;
  for (const part of pointer.slice(1).split('/')) {
    if (typeof member !== 'object' || member === null) return '';
    member = (member as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (typeof member === 'object' && member !== null) return JSON.stringify(member);
  return typeof member === 'string' || typeof member === 'number' || typeof member === 'boolean' ? String(member) : '';
}

/** A sample of JSON lines; names are pointers. */
export function jsonSample(lines: readonly string[]): TableSample {
  const { names: all } = jsonColumns(lines);
  const objects = lines.map(jsonObjectOf).filter((value) => value !== null);
  // A member with members of its own is no value.
  const names = all.filter((name) => !all.some((other) => other.startsWith(`${name}/`)));
  return { format: 'jsonl', names, rows: objects.map((value) => names.map((name) => memberText(value, name))) };
}

/** Milliseconds of an ISO time; without a zone it counts as UTC. */
function instantOfText(time: string): number {
  if (!ISO_LIKE.test(time)) return NaN;
  const iso = time
    .replace(' ', 'T')
    .replaceAll('/', '-')
    .replace(/[.,](\d{1,3})\d*/, '.$1');
  return Date.parse(/(?:Z|[+-]\d{2}(?::?\d{2})?)$/i.test(iso) ? iso : `${iso}Z`);
}

/**
 * The offset of clock times that texts begin with, when nearly all of them stand apart from their records' times by the same
 * quarters of an hour: `+08:00`. Undefined where there are too few clocks, or where they agree with the records' times.
 */
export function clockOffset(pairs: readonly { readonly time: string; readonly text: string }[]): string | undefined {
  const offsets = new Map<number, number>();
  let clocks = 0;
  for (const { time, text } of pairs) {
    const clock = CLOCK.exec(text);
    const at = instantOfText(time);
    if (clock === null || Number.isNaN(at)) continue;
    clocks += 1;
    const seen = (Number(clock[1]) * 60 + Number(clock[2])) * 60_000;
    const apart = Math.round((seen - (at % DAY_MS)) / QUARTER_MS) * QUARTER_MS;
    const offset = apart > DAY_MS / 2 ? apart - DAY_MS : apart < -DAY_MS / 2 ? apart + DAY_MS : apart;
    offsets.set(offset, (offsets.get(offset) ?? 0) + 1);
  }
  const [most] = [...offsets].sort((a, b) => b[1] - a[1]);
  if (most === undefined || clocks < 10 || clocks * 2 < pairs.length || most[0] === 0 || most[1] < clocks * 0.95)
    return undefined;
  const minutes = Math.abs(most[0]) / 60_000;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${most[0] < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
