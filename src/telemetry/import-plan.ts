import { DiagnosisError } from '../errors/diagnosis-error';
import type { SkippedFile } from '../ports/telemetry-source.port';
import { isNamed, nameProblem } from './file-names';
import { inferFile, inferTable, type FamilyEntry, type InferredFile } from './mapping-inference';
import type { TableSample } from './table-sample';
import {
  LINK,
  matchFiles,
  NO_FILE,
  readHead,
  readMappingFile,
  VANISHED,
  type FolderListing,
  type TelemetryFile,
} from './telemetry-files';
import { parseTelemetryMapping, type LogsMapping } from './telemetry-mapping';

/** One file for one family: a document that holds several stands once for each. */
export type Planned = FamilyEntry & { readonly file: TelemetryFile };

/** What is read of a folder. */
export interface ImportPlan {
  readonly planned: readonly Planned[];
  readonly skipped: readonly SkippedFile[];
  /** The first file that could not be read at all, though its ending is one of telemetry. */
  readonly failure: DiagnosisError | null;
}

/** Names and first rows of a Parquet file, which stand at its end and packed. TELEMETRY_UNREADABLE when it is none. */
export type ParquetSampler = (file: TelemetryFile) => Promise<TableSample>;

/** The plan of a mapping file: the first entry of a family that names a file has it. */
export async function mappedPlan(mapping: TelemetryFile, listing: FolderListing): Promise<ImportPlan> {
  const parsed = parseTelemetryMapping(await readMappingFile(mapping), mapping.name);
  const seen = new Set<string>();
  // One document holds several families; of a table, the first entry has it.
  const filesOf = (family: FamilyEntry['family'], entry: FamilyEntry['entry']): TelemetryFile[] => {
    const keyOf = (file: TelemetryFile): string => (entry.format === 'otlp' ? `${family} ${file.name}` : file.name);
    return matchFiles(entry.files, listing).filter((file) => !seen.has(keyOf(file)) && seen.add(keyOf(file)) !== undefined);
  };
  const planned: Planned[] = [];
  for (const entry of parsed.logs) for (const file of filesOf('logs', entry)) planned.push({ file, family: 'logs', entry });
  for (const entry of parsed.metrics)
    for (const file of filesOf('metrics', entry)) planned.push({ file, family: 'metrics', entry });
  for (const entry of parsed.spans) for (const file of filesOf('spans', entry)) planned.push({ file, family: 'spans', entry });
  for (const entry of parsed.graph) for (const file of filesOf('graph', entry)) planned.push({ file, family: 'graph', entry });
  for (const entry of parsed.changes)
    for (const file of filesOf('changes', entry)) planned.push({ file, family: 'changes', entry });
  return { planned, skipped: [], failure: null };
}

/** The plan of a folder without a mapping: each file is taken for what it looks like. It refuses a folder of links alone. */
export async function inferredPlan(listing: FolderListing, parquet: ParquetSampler): Promise<ImportPlan> {
  const link = listing.links[0];
  if (link !== undefined && listing.files.length === 0) {
    throw new DiagnosisError(
      'TELEMETRY_UNREADABLE',
      `Telemetry at ${link} cannot be read: it is a symbolic link, and links are not followed; give the real file or name the files in a mapping.`,
    );
  }
  const planned: Planned[] = [];
  const skipped: SkippedFile[] = [
    ...listing.others.map((name) => ({ name, reason: NO_FILE })),
    ...listing.links.map((name) => ({ name, reason: LINK })),
    ...listing.passed,
  ];
  let failure: DiagnosisError | null = null;
  for (const file of listing.files) {
    const reason = nameProblem(file.name);
    const inferred: InferredFile | DiagnosisError =
      reason === null ? await inferredOf(file, parquet).catch(asUnreadable) : { reason };
    if (DiagnosisError.is(inferred)) {
      failure ??= inferred;
      skipped.push(leftOut(file, inferred));
    } else if ('reason' in inferred) skipped.push({ name: file.name, reason: inferred.reason });
    else for (const entry of inferred.entries) planned.push({ file, ...entry });
  }
  return { planned, skipped, failure };
}

async function inferredOf(file: TelemetryFile, parquet: ParquetSampler): Promise<InferredFile> {
  if (!isNamed(file.name, '.parquet')) return inferText(file.name, await readHead(file));
  if (file.name.endsWith('.gz')) return { reason: 'Parquet is packed already; unpack it' };
  return file.size === 0 ? inferFile(file.name, []) : inferTable(file.name, await parquet(file));
}

/** Nesting that is too deep to be looked at costs one file, not the folder. */
function inferText(name: string, head: readonly string[]): InferredFile {
  try {
    return inferFile(name, head);
  } catch (error) {
    if (error instanceof Error && error.name === 'RangeError') return { reason: 'its JSON is nested too deep' };
    throw error;
  }
}

/** Whether a file that is named by itself and ends in `.json` is telemetry and no mapping. */
export async function isTelemetryDocument(file: TelemetryFile): Promise<boolean> {
  return 'entries' in inferText(file.name, await readHead(file));
}

/** The failure of one file, which must not cost the others; anything else goes on up. */
export function asUnreadable(error: unknown): DiagnosisError {
  if (DiagnosisError.is(error, 'TELEMETRY_UNREADABLE') && typeof error.detail['reason'] === 'string') return error;
  if (DiagnosisError.is(error, 'TELEMETRY_MISSING')) {
    return new DiagnosisError('TELEMETRY_UNREADABLE', error.message, { reason: VANISHED });
  }
  throw error;
}

/** A file that could not be read among those that were left out. */
export function leftOut(file: TelemetryFile, error: DiagnosisError): SkippedFile {
  return { name: file.name, reason: String(error.detail['reason']) };
}

/** Zone of the clock times that stand in an entry's log lines; null when nothing tells. */
export function zoneOfText(entry: LogsMapping): string | null {
  return entry.text_zone ?? (entry.format === 'text' ? entry.time.zone : null);
}

/** The zone that all log files of a plan share. */
export function commonZone(plan: ImportPlan): string | null {
  const zones = new Set(plan.planned.flatMap((item) => (item.family === 'logs' ? [zoneOfText(item.entry)] : [])));
  const [zone] = zones;
  return zones.size === 1 ? (zone ?? null) : null;
}
