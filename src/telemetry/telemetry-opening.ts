import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisOptions } from '../options/diagnosis-options';
import type { SkippedFile } from '../ports/telemetry-source.port';
import { LogImport } from './log-import';
import { TelemetryReader, type ImportedFile } from './telemetry-reader';
import { inferFile } from './mapping-inference';
import { MetricImport } from './metric-import';
import { SpanImport } from './span-import';
import { TelemetryDatabase, type loadDuckdb, type QueryGate } from './telemetry-database';
import {
  hasTelemetryEnding,
  listFolder,
  matchFiles,
  NO_FILE,
  openPlace,
  readHead,
  readMappingFile,
  TELEMETRY_ENDINGS,
  type FolderListing,
  type TelemetryFile,
  type TelemetryPlace,
} from './telemetry-files';
import {
  parseTelemetryMapping,
  type ChangeRecords,
  type GraphRecords,
  type LogsMapping,
  type MetricsMapping,
  type SpanRecords,
} from './telemetry-mapping';

/** What stands at a path at one moment. */
export interface TelemetrySnapshot {
  readonly place: TelemetryPlace;
  readonly listing: FolderListing;
}

/** Telemetry after its import. */
export interface OpenedTelemetry {
  readonly database: TelemetryDatabase;
  readonly files: readonly ImportedFile[];
  readonly skipped: readonly SkippedFile[];
  readonly mapping: string | null;
  readonly text_zone: string | null;
  close(): Promise<void>;
}

type Planned =
  | { readonly file: TelemetryFile; readonly family: 'logs'; readonly entry: LogsMapping }
  | { readonly file: TelemetryFile; readonly family: 'metrics'; readonly entry: MetricsMapping }
  | { readonly file: TelemetryFile; readonly family: 'spans'; readonly entry: SpanRecords }
  | { readonly file: TelemetryFile; readonly family: 'graph'; readonly entry: GraphRecords }
  | { readonly file: TelemetryFile; readonly family: 'changes'; readonly entry: ChangeRecords };

interface ImportPlan {
  readonly planned: readonly Planned[];
  readonly skipped: readonly SkippedFile[];
  /** The first file that could not be read at all, though its ending is one of telemetry. */
  readonly failure: DiagnosisError | null;
}

/** A gzipped file is taken to unpack to this many times its size. */
const GZIP_FACTOR = 10;

export async function takeSnapshot(given: string): Promise<TelemetrySnapshot> {
  const place = await openPlace(given);
  if (place.only !== null) return { place, listing: { files: [place.only], folders: [], links: [], others: [] } };
  return { place, listing: await listFolder(place.root, given) };
}

/** Equal for equal files: name, size and time of each. */
export function fingerprintOf({ place, listing }: TelemetrySnapshot, path: string): string {
  const facts = [place.mapping, ...listing.files].map((file) => (file === null ? null : [file.name, file.size, file.mtime]));
  return JSON.stringify([path, facts, listing.links, listing.others]);
}

async function mappedPlan(mapping: TelemetryFile, listing: FolderListing): Promise<ImportPlan> {
  const parsed = parseTelemetryMapping(await readMappingFile(mapping), mapping.name);
  const seen = new Set<string>();
  // The first entry that names a file has it.
  const filesOf = (entry: { readonly files: readonly string[] }): TelemetryFile[] =>
    matchFiles(entry.files, listing).filter((file) => !seen.has(file.name) && seen.add(file.name) !== undefined);
  const planned: Planned[] = [];
  for (const entry of parsed.logs) for (const file of filesOf(entry)) planned.push({ file, family: 'logs', entry });
  for (const entry of parsed.metrics) for (const file of filesOf(entry)) planned.push({ file, family: 'metrics', entry });
  for (const entry of parsed.spans) for (const file of filesOf(entry)) planned.push({ file, family: 'spans', entry });
  for (const entry of parsed.graph) for (const file of filesOf(entry)) planned.push({ file, family: 'graph', entry });
  for (const entry of parsed.changes) for (const file of filesOf(entry)) planned.push({ file, family: 'changes', entry });
  return { planned, skipped: [], failure: null };
}

async function inferredPlan(listing: FolderListing): Promise<ImportPlan> {
  const link = listing.links[0];
  if (link !== undefined) {
    throw new DiagnosisError(
      'TELEMETRY_UNREADABLE',
      `Telemetry at ${link} cannot be read: it is a symbolic link, and links are not followed; give the real file or name the files in a mapping.`,
    );
  }
  const planned: Planned[] = [];
  const skipped: SkippedFile[] = listing.others.map((name) => ({ name, reason: NO_FILE }));
  let failure: DiagnosisError | null = null;
  for (const file of listing.files) {
    if (!hasTelemetryEnding(file.name)) {
      skipped.push({ name: file.name, reason: `its ending is none of ${TELEMETRY_ENDINGS.join(', ')}` });
      continue;
    }
    const head = await readHead(file).catch(asUnreadable);
    if (DiagnosisError.is(head)) {
      failure ??= head;
      skipped.push(leftOut(file, head));
      continue;
    }
    const inferred = inferFile(file.name, head);
    if (inferred.family === null) skipped.push({ name: file.name, reason: inferred.reason });
    else if (inferred.family === 'logs') planned.push({ file, family: 'logs', entry: inferred.entry });
    else planned.push({ file, family: 'changes', entry: inferred.entry });
  }
  return { planned, skipped, failure };
}

/** The failure of one file, which must not cost the others; anything else goes on up. */
function asUnreadable(error: unknown): DiagnosisError {
  if (DiagnosisError.is(error, 'TELEMETRY_UNREADABLE') && typeof error.detail['reason'] === 'string') return error;
  throw error;
}

function leftOut(file: TelemetryFile, error: DiagnosisError): SkippedFile {
  return { name: file.name, reason: String(error.detail['reason']) };
}

function empty(given: string, why: string): DiagnosisError {
  return new DiagnosisError(
    'TELEMETRY_EMPTY',
    `The telemetry at ${given} holds ${why}. Recognised are CSV (.csv, .tsv) with a time and a message column, JSON lines (.jsonl, .ndjson, .log) ` +
      `with time and message, and plain text (.log, .txt) whose lines begin with a time, each also as .gz; other layouts need a mapping file.`,
  );
}

function zoneOf(entry: LogsMapping): string | null {
  return entry.text_zone ?? (entry.format === 'text' ? entry.time.zone : null);
}

function commonZone(plan: ImportPlan): string | null {
  const zones = new Set(plan.planned.flatMap((item) => (item.family === 'logs' ? [zoneOf(item.entry)] : [])));
  const [zone] = zones;
  return zones.size === 1 ? (zone ?? null) : null;
}

function rejectedRows({ rejected }: ImportedFile): number {
  return rejected.malformed + rejected.unrecognised + rejected.bad_time;
}

interface Imports {
  /** Reads the small log files together, by name; the others are for `take`. */
  together(items: readonly Planned[]): Promise<Map<string, ImportedFile>>;
  take(item: Planned): Promise<ImportedFile>;
  finish(): Promise<void>;
}

function importsInto(reader: TelemetryReader): Imports {
  const logs = new LogImport(reader);
  const metrics = new MetricImport(reader);
  const spans = new SpanImport(reader);
  return {
    together: (items) => logs.together(items.flatMap((item) => (item.family === 'logs' ? [item] : []))),
    take: (item) => {
      switch (item.family) {
        case 'logs':
          return logs.logs(item.file, item.entry);
        case 'metrics':
          return metrics.metrics(item.file, item.entry);
        case 'spans':
          return spans.spans(item.file, item.entry);
        case 'graph':
          return spans.graph(item.file, item.entry);
        case 'changes':
          return logs.changes(item.file, item.entry);
      }
    },
    finish: async () => {
      for (const one of [logs, metrics, spans]) await one.finish();
    },
  };
}

/**
 * Imports a snapshot into a sealed database. Throws TELEMETRY_EMPTY when no file is recognised or no row can be read, and
 * TELEMETRY_UNREADABLE when that is because files cannot be read, or when a mapping names a file that cannot.
 */
export async function openTelemetry(
  { place, listing }: TelemetrySnapshot,
  given: string,
  options: DiagnosisOptions['telemetry'],
  load: typeof loadDuckdb,
  gate: QueryGate,
  signal: AbortSignal,
): Promise<OpenedTelemetry> {
  const plan = place.mapping === null ? await inferredPlan(listing) : await mappedPlan(place.mapping, listing);
  if (plan.planned.length === 0 && plan.failure !== null) throw plan.failure;
  if (plan.planned.length === 0) {
    throw empty(given, listing.files.length === 0 ? 'no file' : `${listing.files.length} file(s), none of which is recognised`);
  }
  const bytes = plan.planned.reduce((sum, { file }) => sum + file.size * (file.name.endsWith('.gz') ? GZIP_FACTOR : 1), 0);
  const database = await TelemetryDatabase.create(load, options, gate, bytes);
  try {
    const imports = importsInto(new TelemetryReader(database, signal));
    const files: ImportedFile[] = [];
    const skipped = [...plan.skipped];
    let { failure } = plan;
    const together = await imports.together(plan.planned);
    for (const item of plan.planned) {
      const read = together.get(item.file.name);
      if (read !== undefined) {
        files.push(read);
        continue;
      }
      const working = imports.take(item);
      // A file that a mapping names must be readable; one that merely lies in the folder may be left out.
      const file = await (place.mapping === null ? working.catch(asUnreadable) : working);
      if (DiagnosisError.is(file)) {
        failure ??= file;
        skipped.push(leftOut(item.file, file));
      } else files.push(file);
    }
    if (files.every((file) => file.rows === 0)) {
      if (failure !== null) throw failure;
      const rejected = files.reduce((sum, file) => sum + rejectedRows(file), 0);
      throw empty(given, rejected === 0 ? 'no row' : `no row that can be read; ${rejected} row(s) were rejected`);
    }
    await imports.finish();
    await database.seal();
    return {
      database,
      files,
      skipped,
      mapping: place.mapping?.name ?? null,
      text_zone: commonZone(plan),
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
