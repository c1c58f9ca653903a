import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisOptions } from '../options/diagnosis-options';
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

interface SkippedFile {
  readonly name: string;
  readonly reason: string;
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
}

/** A gzipped file is taken to unpack to this many times its size. */
const GZIP_FACTOR = 10;

export async function takeSnapshot(given: string): Promise<TelemetrySnapshot> {
  const place = await openPlace(given);
  if (place.only !== null) return { place, listing: { files: [place.only], folders: [], links: [] } };
  return { place, listing: await listFolder(place.root, given) };
}

/** Equal for equal files: name, size and time of each. */
export function fingerprintOf({ place, listing }: TelemetrySnapshot, path: string): string {
  const facts = [place.mapping, ...listing.files].map((file) => (file === null ? null : [file.name, file.size, file.mtime]));
  return JSON.stringify([path, facts, listing.links]);
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
  return { planned, skipped: [] };
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
  const skipped: SkippedFile[] = [];
  for (const file of listing.files) {
    if (!hasTelemetryEnding(file.name)) {
      skipped.push({ name: file.name, reason: `its ending is none of ${TELEMETRY_ENDINGS.join(', ')}` });
      continue;
    }
    const inferred = inferFile(file.name, await readHead(file));
    if (inferred.family === null) skipped.push({ name: file.name, reason: inferred.reason });
    else if (inferred.family === 'logs') planned.push({ file, family: 'logs', entry: inferred.entry });
    else planned.push({ file, family: 'changes', entry: inferred.entry });
  }
  return { planned, skipped };
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
  take(item: Planned): Promise<ImportedFile>;
  finish(): Promise<void>;
}

function importsInto(reader: TelemetryReader): Imports {
  const logs = new LogImport(reader);
  const metrics = new MetricImport(reader);
  const spans = new SpanImport(reader);
  return {
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

/** Imports a snapshot into a sealed database. Throws TELEMETRY_EMPTY when no file is recognised or no row can be read. */
export async function openTelemetry(
  { place, listing }: TelemetrySnapshot,
  given: string,
  options: DiagnosisOptions['telemetry'],
  load: typeof loadDuckdb,
  gate: QueryGate,
  signal: AbortSignal,
): Promise<OpenedTelemetry> {
  const plan = place.mapping === null ? await inferredPlan(listing) : await mappedPlan(place.mapping, listing);
  if (plan.planned.length === 0) {
    throw empty(given, listing.files.length === 0 ? 'no file' : `${listing.files.length} file(s), none of which is recognised`);
  }
  const bytes = plan.planned.reduce((sum, { file }) => sum + file.size * (file.name.endsWith('.gz') ? GZIP_FACTOR : 1), 0);
  const database = await TelemetryDatabase.create(load, options, gate, bytes);
  try {
    const imports = importsInto(new TelemetryReader(database, signal));
    const files: ImportedFile[] = [];
    for (const item of plan.planned) files.push(await imports.take(item));
    if (files.every((file) => file.rows === 0)) {
      const rejected = files.reduce((sum, file) => sum + rejectedRows(file), 0);
      throw empty(given, rejected === 0 ? 'no row' : `no row that can be read; ${rejected} row(s) were rejected`);
    }
    await imports.finish();
    await database.seal();
    return {
      database,
      files,
      skipped: plan.skipped,
      mapping: place.mapping?.name ?? null,
      text_zone: commonZone(plan),
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
