import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisOptions } from '../options/diagnosis-options';
import type { ImportProgress, SkippedFile } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import { LogImport } from './log-import';
import { TelemetryReader, type ImportedFile } from './telemetry-reader';
import { effectiveMapping } from './effective-mapping';
import { nameProblem } from './file-names';
import {
  asUnreadable,
  commonZone,
  inferredPlan,
  isTelemetryDocument,
  leftOut,
  mappedPlan,
  type ImportPlan,
  type Planned,
} from './import-plan';
import { MetricImport } from './metric-import';
import { SpanImport } from './span-import';
import { TelemetryDatabase, type loadDuckdb, type QueryGate } from './telemetry-database';
import {
  givenMapping,
  listFolder,
  openPlace,
  type FolderListing,
  type TelemetryFile,
  type TelemetryPlace,
} from './telemetry-files';

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
  /** The mapping that the import amounts to. */
  readonly effective: JsonObject;
  readonly text_zone: string | null;
  close(): Promise<void>;
}

/** A packed file is taken to unpack to this many times its size. */
const PACKED_FACTOR = 10;

function unpackedFactor({ name }: TelemetryFile): number {
  return /\.(?:gz|parquet)$/i.test(name) ? PACKED_FACTOR : 1;
}

/** @param mapping a mapping file in place of the folder's own */
export async function takeSnapshot(given: string, mapping: string | null): Promise<TelemetrySnapshot> {
  const opened = await openPlace(given);
  // A `.json` by itself is a mapping, unless it is plainly telemetry.
  const isDocument = opened.isNamed && opened.mapping !== null && (await isTelemetryDocument(opened.mapping));
  const found = isDocument ? { ...opened, mapping: null, only: opened.mapping } : opened;
  const place = mapping === null ? found : { ...found, mapping: await givenMapping(mapping) };
  if (place.only !== null) return { place, listing: { files: [place.only], folders: [], links: [], others: [], passed: [] } };
  return { place, listing: await listFolder(place.root, given) };
}

/** Equal for equal files: name, size and time of each. */
export function fingerprintOf({ place, listing }: TelemetrySnapshot, path: string): string {
  const facts = [place.mapping, ...listing.files].map((file) => (file === null ? null : [file.name, file.size, file.mtime]));
  return JSON.stringify([path, facts, listing.links, listing.others]);
}

function requirePlan(plan: ImportPlan, listing: FolderListing, given: string): void {
  if (plan.planned.length > 0) return;
  if (plan.failure !== null) throw plan.failure;
  throw empty(given, listing.files.length === 0 ? 'no file' : `${listing.files.length} file(s), none of which is recognised`);
}

function empty(given: string, why: string): DiagnosisError {
  return new DiagnosisError(
    'TELEMETRY_EMPTY',
    `The telemetry at ${given} holds ${why}. Recognised are logs as JSON lines (.jsonl, .ndjson, .log), CSV, logfmt, syslog, exports of the journal, ` +
      `access and error logs of web servers and text whose lines begin with a time (.log, .txt, .out, .err); metrics and spans as CSV, Parquet, and JSON of ` +
      `OpenTelemetry, Jaeger and Prometheus (.json); each also as .gz; other layouts need a mapping file.`,
  );
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

function progressOf(
  planned: readonly Planned[],
  report: (progress: ImportProgress) => void,
): { readonly part: (item: Planned) => (part: number) => void; readonly done: (item: Planned) => void } {
  const total = planned.reduce((sum, { file }) => sum + file.size, 0);
  let files = 0;
  let bytes = 0;
  const part = (item: Planned) => (share: number) =>
    report({
      file: item.file.name,
      files_done: files,
      files_total: planned.length,
      share: total === 0 ? 1 : (bytes + item.file.size * share) / total,
    });
  const done = (item: Planned): void => {
    bytes += item.file.size;
    files += 1;
    const next = planned[files];
    if (next !== undefined) part(next)(0);
  };
  return { part, done };
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
  report: (progress: ImportProgress) => void,
): Promise<OpenedTelemetry> {
  const candidates = listing.files.filter((file) => place.mapping !== null || nameProblem(file.name) === null);
  const bytes = candidates.reduce((sum, file) => sum + file.size * unpackedFactor(file), 0);
  const database = await TelemetryDatabase.create(load, options, gate, bytes);
  try {
    const reader = new TelemetryReader(database, signal);
    const plan =
      place.mapping === null
        ? await inferredPlan(listing, (file) => reader.parquetSample(file))
        : await mappedPlan(place.mapping, listing);
    requirePlan(plan, listing, given);
    const imports = importsInto(reader);
    const tell = progressOf(plan.planned, report);
    const files: ImportedFile[] = [];
    const skipped = [...plan.skipped];
    let { failure } = plan;
    const together = await imports.together(plan.planned);
    for (const item of plan.planned) {
      const read = together.get(item.file.name);
      if (read !== undefined) {
        files.push(read);
        tell.done(item);
        continue;
      }
      reader.onPart = tell.part(item);
      const working = imports.take(item);
      // A file that a mapping names must be readable; one that merely lies in the folder may be left out.
      const file = await (place.mapping === null ? working.catch(asUnreadable) : working);
      if (DiagnosisError.is(file)) {
        failure ??= file;
        skipped.push(leftOut(item.file, file));
      } else files.push(file);
      tell.done(item);
    }
    if (files.every((file) => file.rows === 0)) {
      if (failure !== null) throw failure;
      const rejected = files.reduce((sum, file) => sum + rejectedRows(file), 0);
      throw empty(given, rejected === 0 ? 'no row' : `no row that can be read; ${rejected} row(s) were rejected`);
    }
    await imports.finish();
    await database.seal();
    const read = new Set(files.map(({ family, name }) => `${family} ${name}`));
    return {
      database,
      files,
      skipped,
      mapping: place.mapping?.name ?? null,
      effective: effectiveMapping(
        plan.planned.filter(({ file, family }) => read.has(`${family} ${file.name}`)),
        listing,
        place.mapping === null,
      ),
      text_zone: commonZone(plan),
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
