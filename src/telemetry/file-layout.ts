import { DiagnosisError } from '../errors/diagnosis-error';
import type { TableLogs, TabularLogs } from './telemetry-mapping';
import type { TelemetryFile } from './telemetry-files';

/** Names that a file's records really have: header names of a CSV, JSON pointers of JSON lines. */
export interface FileColumns {
  readonly names: readonly string[];
  readonly delimiter: string;
}

const DELIMITERS = [',', ';', '\t', '|'] as const;

function csvRecord(line: string, delimiter: string): string[] {
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] as string;
    if (quoted && char === '"' && line[at + 1] === '"') {
      field += '"';
      at += 1;
    } else if (char === '"') quoted = !quoted;
    else if (char === delimiter && !quoted) {
      fields.push(field);
      field = '';
    } else field += char;
  }
  return [...fields, field];
}

/** Header of a CSV; without a given delimiter, the one that splits it into the most columns. */
export function csvColumns(head: readonly string[], given: string | undefined): FileColumns {
  const line = head.find((text) => text.trim() !== '') ?? '';
  const splits = (given === undefined ? DELIMITERS : [given]).map((delimiter) => ({
    delimiter,
    names: csvRecord(line, delimiter),
  }));
  const [first, ...others] = splits as [(typeof splits)[number], ...typeof splits];
  const most = others.reduce((best, split) => (split.names.length > best.names.length ? split : best), first);
  return { delimiter: most.delimiter, names: line === '' ? [] : most.names.map((name) => name.trim()) };
}

/** The first rows of a CSV as they stand, as wide as the widest of them. */
export function csvHeaderRows(
  head: readonly string[],
  count: number,
  given: string | undefined,
): { rows: string[][]; delimiter: string } {
  const { delimiter } = csvColumns(head, given);
  const rows = head.slice(0, count).map((line) => csvRecord(line, delimiter).map((cell) => cell.trim()));
  const width = Math.max(0, ...rows.map((row) => row.length));
  return { delimiter, rows: rows.map((row) => [...row, ...Array<string>(width - row.length).fill('')]) };
}

/** The values of one CSV line, for looking at a sample. */
export function csvValues(line: string, delimiter: string): string[] {
  return csvRecord(line, delimiter);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One line as a JSON object, or null. */
export function jsonObjectOf(line: string): Record<string, unknown> | null {
  if (!/^\s*\{/.test(line)) return null;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function memberPointer(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** RFC 6901 pointer of a member: a name that starts with `/` already is one. */
export function pointerOf(name: string): string {
  return name.startsWith('/') ? name : memberPointer(name);
}

function collect(value: Record<string, unknown>, prefix: string, depth: number, into: Set<string>): void {
  for (const [name, member] of Object.entries(value)) {
    const pointer = prefix + memberPointer(name);
    into.add(pointer);
    if (depth > 0 && isObject(member)) collect(member, pointer, depth - 1, into);
  }
}

/** Pointers of all members, three levels deep, that the JSON objects among some lines have. */
export function jsonColumns(lines: readonly string[]): FileColumns {
  const names = new Set<string>();
  for (const line of lines) {
    const value = jsonObjectOf(line);
    if (value !== null) collect(value, '', 2, names);
  }
  return { delimiter: '', names: [...names] };
}

function namedColumns(entry: TabularLogs): string[] {
  const { time, message, level, status, failure, service, trace, span, instance } = entry;
  const levelColumn = typeof level === 'string' ? level : level !== undefined && 'column' in level ? level.column : undefined;
  const serviceColumn =
    typeof service === 'string' ? service : service !== undefined && 'column' in service ? service.column : undefined;
  const optional = [levelColumn, status, failure, serviceColumn, trace, span, instance];
  return [time.column, message, ...optional.filter((name) => name !== undefined)];
}

/** Index of a CSV column by its header name, or the pointer of a JSON member. MAPPING_INVALID names what there is instead. */
export function requireColumns(names: readonly string[], file: TelemetryFile, columns: FileColumns, isJson: boolean): void {
  const present = new Set(columns.names);
  const absent = names.filter((name) => !present.has(isJson ? pointerOf(name) : name));
  if (absent.length === 0 || columns.names.length === 0) return;
  const shown = isJson ? columns.names.map((name) => (name.lastIndexOf('/') === 0 ? unescaped(name) : name)) : columns.names;
  throw new DiagnosisError(
    'MAPPING_INVALID',
    `The mapping names ${absent.map((name) => `"${name}"`).join(', ')}, which ${file.name} does not have; its columns are ${shown.map((name) => `"${name}"`).join(', ')}.`,
  );
}

function unescaped(pointer: string): string {
  return pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Checks a mapping entry's columns against one file. */
export function requireMappedColumns(entry: TableLogs, file: TelemetryFile, columns: FileColumns): void {
  if (entry.format !== 'text') requireColumns(namedColumns(entry), file, columns, entry.format === 'jsonl');
}
