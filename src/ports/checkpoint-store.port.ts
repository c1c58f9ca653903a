/** Whose threads the runs' own are; a host keeps its threads in a realm of another name. */
export const RUN_REALM = 'runs';

/** A serialized value: its bytes, and the word of the serializer for how to read them. */
export interface TypedBytes {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** A thread. Every text here is compared by its bytes, whatever the database's collation says. */
export interface CheckpointThread {
  /** Keeps threads of one owner apart from those of another: `[a-z0-9_-]`, at most 32. */
  readonly realm: string;
  readonly thread_id: string;
}

/** A namespace of a thread; the root has the empty one. */
export interface CheckpointPlace extends CheckpointThread {
  readonly namespace: string;
}

export interface CheckpointAddress extends CheckpointPlace {
  /** Ids of a namespace grow with time: the greatest by bytes is the latest. At most 127 bytes. */
  readonly checkpoint_id: string;
}

export type ChannelVersion = string | number;

export interface StoredCheckpoint extends CheckpointAddress {
  readonly parent_id: string | null;
  /** The checkpoint without the values of its channels. */
  readonly document: TypedBytes;
  readonly metadata: TypedBytes;
}

/** A checkpoint to be stored, with the values of those channels alone that changed. */
export interface NewCheckpoint extends StoredCheckpoint {
  readonly values: readonly { readonly channel: string; readonly version: ChannelVersion; readonly value: TypedBytes }[];
}

/** What a task wrote after a checkpoint, before the next one. */
export interface PendingChannelWrite {
  readonly task_id: string;
  readonly task_path: string;
  /** Place within the task's writes. One that is stored already stays as it is; below zero the later one replaces it. */
  readonly index: number;
  readonly channel: string;
  readonly value: TypedBytes;
}

/** Checkpoints of one realm, newest id first; each further field narrows them. */
export interface CheckpointQuery {
  readonly realm: string;
  readonly thread_id?: string;
  readonly namespace?: string;
  readonly checkpoint_id?: string;
  /** Only ids smaller than this one. */
  readonly before?: string;
}

/**
 * Checkpoints of an engine as bytes, ids and versions. It refuses to understand them, and to hold a value twice: a value
 * belongs to its channel and version within a namespace, and checkpoints refer to it. It is bound to no run.
 * Throws `DiagnosisError` STATE_INVALID for an id that cannot be stored, STORE_UNAVAILABLE.
 */
export abstract class CheckpointStore {
  /** Stores a checkpoint and its values together or not at all; one with the same id is replaced. */
  abstract put(checkpoint: NewCheckpoint): Promise<void>;
  abstract putWrites(address: CheckpointAddress, writes: readonly PendingChannelWrite[]): Promise<void>;
  /** One checkpoint by its id, or the latest of the place with null; null when there is none. */
  abstract find(place: CheckpointPlace, checkpointId: string | null): Promise<StoredCheckpoint | null>;
  /** Read in pages of `pageSize` while the caller goes on. A query without a thread reads the whole realm. */
  abstract list(query: CheckpointQuery, pageSize: number): AsyncIterable<StoredCheckpoint>;
  /** The stored values of these channels at these versions; a channel without one is left out. */
  abstract values(
    place: CheckpointPlace,
    versions: Readonly<Record<string, ChannelVersion>>,
  ): Promise<ReadonlyMap<string, TypedBytes>>;
  /** In no particular order. */
  abstract writes(address: CheckpointAddress): Promise<PendingChannelWrite[]>;
  /** Removes everything of these threads; unknown ones are none's loss. */
  abstract deleteThreads(realm: string, threadIds: readonly string[]): Promise<void>;
  /** Removes the threads of a realm to which nothing was written since; answers how many. */
  abstract sweep(realm: string, untouchedSince: Date): Promise<number>;
}
