import { createHash } from 'node:crypto';
import { DiagnosisError } from '../errors/diagnosis-error';
import type {
  ChannelVersion,
  CheckpointAddress,
  CheckpointPlace,
  CheckpointThread,
  StoredCheckpoint,
  TypedBytes,
} from '../ports/checkpoint-store.port';
import type { CheckpointLabel, CheckpointPart } from './checkpoint-part.entity';
import { CHUNK_BYTES } from './output-bytes';

/** Twice as many hex digits are what a sort key holds. */
const MAX_ID_BYTES = 127;

/** What all pieces of an entry share. */
export type CheckpointEntry = Pick<CheckpointPart, 'thread_key' | 'entry_key' | 'kind' | 'realm' | 'scope_key' | 'sort_key'>;

export function threadKey({ realm, thread_id }: CheckpointThread): string {
  if (!/^[a-z0-9_-]{1,32}$/.test(realm)) {
    throw new DiagnosisError('STATE_INVALID', 'A realm of checkpoints is named by at most 32 of a to z, 0 to 9, _ and -.');
  }
  return digest('thread', realm, storable(thread_id));
}

export function placeKey(place: CheckpointPlace): string {
  return digest('place', threadKey(place), storable(place.namespace));
}

export function checkpointKey(address: CheckpointAddress): string {
  return digest('checkpoint', placeKey(address), storable(address.checkpoint_id));
}

export function valueKey(place: string, channel: string, version: ChannelVersion): string {
  return digest('value', place, storable(channel), version);
}

export function writeKey(checkpoint: string, taskId: string, index: number): string {
  return digest('write', checkpoint, storable(taskId), index);
}

/** Text whose order is the one of the id's bytes, under every collation. */
export function sortKey(checkpointId: string): string {
  const bytes = Buffer.from(storable(checkpointId), 'utf8');
  if (bytes.length === 0 || bytes.length > MAX_ID_BYTES) {
    throw new DiagnosisError('STATE_INVALID', `The id of a checkpoint has 1 to ${MAX_ID_BYTES} bytes.`);
  }
  return bytes.toString('hex');
}

/** A text that comes back as it was stored; half of a surrogate pair would not, and is refused with STATE_INVALID. */
export function storable(text: string): string {
  if (/\p{Surrogate}/u.test(text)) {
    throw new DiagnosisError('STATE_INVALID', 'A name of a checkpoint holds half of a character, which cannot be stored.');
  }
  return text;
}

/** The rows of an entry: its values end to end, cut where a blob column ends. */
export function rowsOf(
  entry: CheckpointEntry,
  label: Omit<CheckpointLabel, 'pieces'>,
  values: readonly TypedBytes[],
  created_at: Date,
): CheckpointPart[] {
  const bytes = values.length === 1 && values[0] ? viewOf(values[0].bytes) : Buffer.concat(values.map((value) => value.bytes));
  const parts = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  const pieces = values.map(({ type, bytes: { length } }): [string, number] => [type, length]);
  return Array.from({ length: parts }, (_, seq) => ({
    ...entry,
    sort_key: seq === 0 ? entry.sort_key : null,
    seq,
    parts,
    label: seq === 0 ? { ...label, pieces } : null,
    created_at,
    bytes: bytes.subarray(seq * CHUNK_BYTES, (seq + 1) * CHUNK_BYTES),
  }));
}

/** Rows by entry, each in the order of its pieces; the first piece holds the label. Rows come sorted by entry and piece. */
export function entriesOf(rows: readonly CheckpointPart[]): CheckpointPart[][] {
  const entries: CheckpointPart[][] = [];
  for (const row of rows) {
    const current = entries.at(-1);
    if (current === undefined || current[0]?.entry_key !== row.entry_key) entries.push([row]);
    else if (row.seq < (current[0]?.parts ?? 0)) current.push(row);
  }
  return entries;
}

/** Label and values of an entry; pieces that are missing make it STATE_INVALID, because half a value must not be used. */
export function contentOf(rows: readonly CheckpointPart[]): { readonly label: CheckpointLabel; readonly values: TypedBytes[] } {
  const [first] = rows;
  const bytes = rows.length === 1 && first ? first.bytes : Buffer.concat(rows.map((row) => row.bytes));
  const { label } = first ?? {};
  if (!first || !label || rows.length !== first.parts) throw damaged();
  let at = 0;
  const values = label.pieces.map(([type, length]) => ({ type, bytes: bytes.subarray(at, (at += length)) }));
  if (at !== bytes.length) throw damaged();
  return { label, values };
}

export function storedCheckpointOf(rows: readonly CheckpointPart[]): StoredCheckpoint {
  const { label, values } = contentOf(rows);
  const { thread_id, namespace, checkpoint_id, parent_id = null } = label;
  const [document, metadata] = values;
  const realm = rows[0]?.realm;
  if (
    realm === undefined ||
    thread_id === undefined ||
    namespace === undefined ||
    checkpoint_id === undefined ||
    !document ||
    !metadata
  ) {
    throw damaged();
  }
  return { realm, thread_id, namespace, checkpoint_id, parent_id, document, metadata };
}

export function damaged(): DiagnosisError {
  return new DiagnosisError('STATE_INVALID', 'A stored checkpoint is not whole.');
}

function digest(...words: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex');
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
