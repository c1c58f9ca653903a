import type { TelemetryFile } from './telemetry-files';

/** Files up to this size are read together; fewer than `MIN_FILES` are not worth it. */
const SMALL_BYTES = 256 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_FILES = 500;
const MIN_FILES = 8;

/** Files of one reading pass, which share an entry of the mapping. */
export interface Batch<Entry> {
  readonly entry: Entry;
  readonly files: readonly TelemetryFile[];
}

/** The small files among some, by equal entries and packing, in the order given; files that stay alone are left out. */
export function smallFileBatches<Entry>(
  items: readonly { readonly file: TelemetryFile; readonly entry: Entry }[],
): Batch<Entry>[] {
  const open = new Map<string, { entry: Entry; files: TelemetryFile[]; bytes: number }>();
  const batches: { entry: Entry; files: TelemetryFile[]; bytes: number }[] = [];
  const keys = new Map<Entry, string>();
  for (const { file, entry } of items) {
    if (file.size > SMALL_BYTES) continue;
    const known = keys.get(entry) ?? JSON.stringify(entry);
    keys.set(entry, known);
    const key = `${file.name.endsWith('.gz')}${known}`;
    let batch = open.get(key);
    if (batch === undefined || batch.files.length >= BATCH_FILES || batch.bytes + file.size > BATCH_BYTES) {
      batch = { entry, files: [], bytes: 0 };
      batches.push(batch);
      open.set(key, batch);
    }
    batch.files.push(file);
    batch.bytes += file.size;
  }
  return batches.filter((batch) => batch.files.length >= MIN_FILES);
}
