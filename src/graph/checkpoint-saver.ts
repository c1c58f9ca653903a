import type { RunnableConfig } from '@langchain/core/runnables';
import { BaseCheckpointSaver } from '@langchain/langgraph';
import {
  compareWritesSortKeys,
  getCheckpointId,
  maxChannelVersion,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import { DiagnosisError } from '../errors/diagnosis-error';
import type {
  CheckpointAddress,
  CheckpointPlace,
  CheckpointStore,
  StoredCheckpoint,
  TypedBytes,
} from '../ports/checkpoint-store.port';

/** Checkpoints that are read at once while listing. */
const PAGE_SIZE = 20;
/** Since this version of the format pending sends are an ordinary channel. */
const SENDS_ARE_A_CHANNEL = 4;

export interface CheckpointSaverOptions {
  /** Keeps the threads of one saver apart from those of others in the same tables: `[a-z0-9_-]`, at most 32. @default 'host' */
  readonly realm?: string;
  /** @default the serializer of LangGraph */
  readonly serde?: SerializerProtocol;
}

/**
 * A checkpointer of LangGraph over this package's store, for graphs of a host: `new DiagnosisCheckpointSaver(store)` with the
 * `CheckpointStore` that the module exports. It stores changed channels only, and refuses to see what other realms wrote.
 * Threads stay until `deleteThread`, or until the host calls `CheckpointStore.sweep` for its realm.
 * Throws `DiagnosisError` STATE_INVALID for a config without a thread, STORE_UNAVAILABLE.
 */
export class DiagnosisCheckpointSaver extends BaseCheckpointSaver {
  private readonly realm: string;

  constructor(
    private readonly store: CheckpointStore,
    options: CheckpointSaverOptions = {},
  ) {
    super(options.serde);
    this.realm = options.realm ?? 'host';
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const place = this.placeOf(config);
    if (place === null) return undefined;
    const found = await this.store.find(place, getCheckpointId(config) || null);
    return found === null ? undefined : this.tupleOf(found, await this.load<CheckpointMetadata>(found.metadata));
  }

  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { limit = Number.POSITIVE_INFINITY, filter = {} } = options;
    const wanted = Object.entries(filter);
    let left = limit;
    if (left <= 0) return;
    const { thread_id, checkpoint_ns, checkpoint_id } = wordsOf(config);
    const query = { realm: this.realm, thread_id, namespace: checkpoint_ns, checkpoint_id };
    const before = options.before === undefined ? undefined : getCheckpointId(options.before) || undefined;
    for await (const found of this.store.list({ ...query, before }, Math.min(left, PAGE_SIZE))) {
      const metadata = await this.load<CheckpointMetadata>(found.metadata);
      if (!wanted.every(([key, value]) => metadata[key as keyof CheckpointMetadata] === value)) continue;
      yield await this.tupleOf(found, metadata);
      if ((left -= 1) <= 0) return;
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = this.placeOf(config);
    if (place === null) throw missing('thread_id');
    const { channel_values: held } = checkpoint;
    // A channel that has a new version and no value was emptied.
    const changed = Object.entries(newVersions).filter(([channel]) => Object.hasOwn(held, channel));
    const [document, about, values] = await Promise.all([
      this.dump({ ...checkpoint, channel_values: {} }),
      this.dump(metadata),
      Promise.all(changed.map(async ([channel, version]) => ({ channel, version, value: await this.dump(held[channel]) }))),
    ]);
    const parent_id = getCheckpointId(config) || null;
    await this.store.put({ ...place, checkpoint_id: checkpoint.id, parent_id, document, metadata: about, values });
    return configOf({ ...place, checkpoint_id: checkpoint.id });
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ''): Promise<void> {
    const place = this.placeOf(config);
    if (place === null) throw missing('thread_id');
    const checkpoint_id = getCheckpointId(config);
    if (checkpoint_id === '') throw missing('checkpoint_id');
    const stored = await Promise.all(
      writes.map(async ([channel, value], place) => ({
        task_id: taskId,
        task_path: taskPath,
        index: WRITES_IDX_MAP[channel] ?? place,
        channel,
        value: await this.dump(value),
      })),
    );
    await this.store.putWrites({ ...place, checkpoint_id }, stored);
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.store.deleteThreads(this.realm, [threadId]);
  }

  /**
   * A version that no fork of the thread gets a second time: values are kept by version, and two forks of a checkpoint count on
   * from the same number.
   */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + Math.random();
  }

  private async tupleOf(found: StoredCheckpoint, metadata: CheckpointMetadata): Promise<CheckpointTuple> {
    const document = await this.load<Checkpoint>(found.document);
    const [values, pendingWrites] = await Promise.all([this.valuesOf(found, document.channel_versions), this.writesOf(found)]);
    const checkpoint: Checkpoint = { ...document, channel_values: values };
    if (document.v < SENDS_ARE_A_CHANNEL && found.parent_id !== null) {
      await this.addPendingSends(checkpoint, { ...found, checkpoint_id: found.parent_id });
    }
    const parentConfig = found.parent_id === null ? {} : { parentConfig: configOf({ ...found, checkpoint_id: found.parent_id }) };
    return { config: configOf(found), checkpoint, metadata, pendingWrites, ...parentConfig };
  }

  private async valuesOf(place: CheckpointPlace, versions: ChannelVersions): Promise<Record<string, unknown>> {
    if (Object.keys(versions).length === 0) return {};
    const stored = await this.store.values(place, versions);
    return Object.fromEntries(
      await Promise.all([...stored].map(async ([channel, value]) => [channel, await this.load(value)] as const)),
    );
  }

  private async writesOf(address: CheckpointAddress): Promise<CheckpointPendingWrite[]> {
    const stored = await this.store.writes(address);
    const keyed = stored.map((write) => ({ write, key: writesSortKey(write.task_path, write.task_id, write.index) }));
    keyed.sort((a, b) => compareWritesSortKeys(a.key, b.key));
    return Promise.all(
      keyed.map(async ({ write }): Promise<CheckpointPendingWrite> => [
        write.task_id,
        write.channel,
        await this.load(write.value),
      ]),
    );
  }

  /** Older formats kept what was sent with the parent's writes. */
  private async addPendingSends(checkpoint: Checkpoint, parent: CheckpointAddress): Promise<void> {
    const sends = (await this.writesOf(parent)).filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = sends;
    checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  private placeOf(config: RunnableConfig): CheckpointPlace | null {
    const { thread_id, checkpoint_ns = '' } = wordsOf(config);
    return thread_id === undefined ? null : { realm: this.realm, thread_id, namespace: checkpoint_ns };
  }

  private async dump(value: unknown): Promise<TypedBytes> {
    const [type, bytes] = await this.serde.dumpsTyped(value);
    return { type, bytes };
  }

  private async load<T>({ type, bytes }: TypedBytes): Promise<T> {
    return (await this.serde.loadsTyped(type, bytes)) as T;
  }
}

type ConfigWord = 'thread_id' | 'checkpoint_ns' | 'checkpoint_id';

function wordsOf(config: RunnableConfig): { readonly [word in ConfigWord]: string | undefined } {
  return {
    thread_id: textOf(config, 'thread_id') || undefined,
    checkpoint_ns: textOf(config, 'checkpoint_ns'),
    checkpoint_id: getCheckpointId(config) || undefined,
  };
}

function textOf(config: RunnableConfig, word: ConfigWord): string | undefined {
  const value: unknown = config.configurable?.[word];
  if (value === undefined || typeof value === 'string') return value;
  throw new DiagnosisError('STATE_INVALID', `configurable.${word} of a config has to be a text.`, { word });
}

function configOf({ thread_id, namespace, checkpoint_id }: CheckpointAddress): RunnableConfig {
  return { configurable: { thread_id, checkpoint_ns: namespace, checkpoint_id } };
}

function missing(word: ConfigWord): DiagnosisError {
  return new DiagnosisError('STATE_INVALID', `A checkpoint cannot be stored: configurable.${word} is missing.`, { word });
}
