import { Inject, Injectable } from '@nestjs/common';
import { DataSource, In, type EntityManager, type FindOptionsWhere } from 'typeorm';
import {
  CheckpointStore,
  type ChannelVersion,
  type CheckpointAddress,
  type CheckpointPlace,
  type CheckpointQuery,
  type NewCheckpoint,
  type PendingChannelWrite,
  type StoredCheckpoint,
  type TypedBytes,
} from '../ports/checkpoint-store.port';
import { Clock } from '../ports/clock.port';
import {
  checkpointKey,
  contentOf,
  damaged,
  entriesOf,
  placeKey,
  rowsOf,
  sortKey,
  storable,
  storedCheckpointOf,
  threadKey,
  valueKey,
  writeKey,
} from './checkpoint-entry';
import { CheckpointPart } from './checkpoint-part.entity';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { asStoreCall } from './store-error';
import { WriteQueue } from './write-queue';

/** Rows and bytes of one statement, well below what a server takes for a packet. */
const ROWS_AT_ONCE = 200;
const BYTES_AT_ONCE = 1_000_000;
const KEYS_AT_ONCE = 200;
const THREADS_AT_ONCE = 100;

const PRIMARY_KEY = ['thread_key', 'entry_key', 'seq'];
const REPLACED = ['parts', 'label', 'created_at', 'bytes'];
/** To replace a column of the key by itself leaves the row as it is; unlike IGNORE it hides no other fault. */
const KEPT = ['seq'];

/**
 * Checkpoints in the database. Values are kept by channel and version and cut into pieces that fit a blob column; what one
 * call writes stands together or not at all. It refuses names that the database could not give back unchanged (STATE_INVALID).
 */
@Injectable()
export class CheckpointRepository extends CheckpointStore {
  private readonly queue: WriteQueue;

  constructor(
    @Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async put(checkpoint: NewCheckpoint): Promise<void> {
    const { realm, thread_id, namespace, checkpoint_id, parent_id, document, metadata } = checkpoint;
    const at = this.clock.now();
    const thread_key = threadKey(checkpoint);
    const place = placeKey(checkpoint);
    const head = {
      thread_key,
      entry_key: checkpointKey(checkpoint),
      kind: 'CHECKPOINT',
      realm,
      scope_key: place,
      sort_key: sortKey(checkpoint_id),
    } as const;
    const rows = rowsOf(head, { thread_id, namespace, checkpoint_id, parent_id }, [document, metadata], at);
    for (const { channel, version, value } of checkpoint.values) {
      const entry_key = valueKey(place, channel, version);
      const entry = { thread_key, entry_key, kind: 'VALUE', realm, scope_key: null, sort_key: null } as const;
      rows.push(...rowsOf(entry, { channel, version }, [value], at));
    }
    await this.insert(rows, REPLACED);
  }

  override async putWrites(address: CheckpointAddress, writes: readonly PendingChannelWrite[]): Promise<void> {
    const at = this.clock.now();
    const thread_key = threadKey(address);
    const scope_key = checkpointKey(address);
    const rowsOfWrites = (some: readonly PendingChannelWrite[]): CheckpointPart[] =>
      some.flatMap(({ task_id, task_path, index, channel, value }) => {
        const entry_key = writeKey(scope_key, task_id, index);
        const entry = { thread_key, entry_key, kind: 'WRITE', realm: address.realm, scope_key, sort_key: null } as const;
        return rowsOf(entry, { task_id, task_path: storable(task_path), index, channel: storable(channel) }, [value], at);
      });
    await this.insert(rowsOfWrites(writes.filter(({ index }) => index >= 0)), KEPT);
    await this.insert(rowsOfWrites(writes.filter(({ index }) => index < 0)), REPLACED);
  }

  override async find(place: CheckpointPlace, checkpointId: string | null): Promise<StoredCheckpoint | null> {
    if (checkpointId === null) {
      const [latest] = await this.page(place, null, 1);
      return latest === undefined ? null : this.whole(latest);
    }
    const thread_key = threadKey(place);
    const [rows] = await this.entries({ thread_key, entry_key: checkpointKey({ ...place, checkpoint_id: checkpointId }) });
    return rows === undefined ? null : storedCheckpointOf(rows);
  }

  override async *list(query: CheckpointQuery, pageSize: number): AsyncGenerator<StoredCheckpoint> {
    let after: CheckpointPart | null = null;
    for (;;) {
      const page: CheckpointPart[] = await this.page(query, after, pageSize);
      for (const first of page) {
        // Without a thread there is no digest of the namespace to look for.
        if (query.namespace === undefined || first.label?.namespace === query.namespace) yield await this.whole(first);
      }
      after = page.at(-1) ?? null;
      if (after === null || page.length < pageSize) return;
    }
  }

  override async values(
    place: CheckpointPlace,
    versions: Readonly<Record<string, ChannelVersion>>,
  ): Promise<ReadonlyMap<string, TypedBytes>> {
    const thread_key = threadKey(place);
    const within = placeKey(place);
    const channels = new Map(Object.entries(versions).map(([channel, version]) => [valueKey(within, channel, version), channel]));
    const keys = [...channels.keys()];
    const found = new Map<string, TypedBytes>();
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
      for (const rows of await this.entries({ thread_key, entry_key: In(keys.slice(at, at + KEYS_AT_ONCE)) })) {
        const channel = channels.get(rows[0]?.entry_key ?? '');
        const [value] = contentOf(rows).values;
        if (channel !== undefined && value !== undefined) found.set(channel, value);
      }
    }
    return found;
  }

  override async writes(address: CheckpointAddress): Promise<PendingChannelWrite[]> {
    const entries = await this.entries({ scope_key: checkpointKey(address) });
    return entries.map((rows) => {
      const { label, values } = contentOf(rows);
      const { task_id, task_path, index, channel } = label;
      const [value] = values;
      if (task_id === undefined || task_path === undefined || index === undefined || channel === undefined || !value) {
        throw damaged();
      }
      return { task_id, task_path, index, channel, value };
    });
  }

  override async deleteThreads(realm: string, threadIds: readonly string[]): Promise<void> {
    await this.deleteKeys(threadIds.map((thread_id) => threadKey({ realm, thread_id })));
  }

  override async sweep(realm: string, untouchedSince: Date): Promise<number> {
    for (let swept = 0; ;) {
      const keys = await this.untouchedThreads(realm, untouchedSince);
      await this.deleteKeys(keys);
      swept += keys.length;
      if (keys.length < THREADS_AT_ONCE) return swept;
    }
  }

  private untouchedThreads(realm: string, since: Date): Promise<string[]> {
    return asStoreCall(async () => {
      const rows = await this.dataSource.manager
        .createQueryBuilder(CheckpointPart, 'part')
        .select('part.thread_key', 'thread_key')
        .distinct(true)
        .where('part.realm = :realm AND part.created_at < :since')
        .andWhere((query) => {
          const later = query.subQuery().select('later.seq').from(CheckpointPart, 'later');
          return `NOT EXISTS ${later.where('later.thread_key = part.thread_key AND later.created_at >= :since').getQuery()}`;
        })
        .setParameters({ realm, since })
        .limit(THREADS_AT_ONCE)
        .getRawMany<{ thread_key: string }>();
      return rows.map((row) => row.thread_key);
    });
  }

  private async deleteKeys(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += THREADS_AT_ONCE) {
      const some = In(keys.slice(at, at + THREADS_AT_ONCE));
      await this.queue.write((manager) => manager.delete(CheckpointPart, { thread_key: some }));
    }
  }

  /** First pieces of checkpoints, newest id first. */
  private page(query: CheckpointQuery, after: CheckpointPart | null, take: number): Promise<CheckpointPart[]> {
    const { realm, thread_id, namespace, checkpoint_id, before } = query;
    const found = this.dataSource.manager.createQueryBuilder(CheckpointPart, 'part').where('part.sort_key IS NOT NULL');
    if (checkpoint_id !== undefined) found.andWhere('part.sort_key = :id', { id: sortKey(checkpoint_id) });
    if (before !== undefined) found.andWhere('part.sort_key < :before', { before: sortKey(before) });
    found.orderBy('part.sort_key', 'DESC').limit(take);
    if (thread_id !== undefined && namespace !== undefined) {
      // Nothing beside its index, so that the newest of a long thread is found without reading the thread.
      found.andWhere('part.scope_key = :place', { place: placeKey({ realm, thread_id, namespace }) });
      if (after !== null) found.andWhere('part.sort_key < :sort', { sort: after.sort_key });
    } else {
      found.andWhere('part.realm = :realm', { realm }).addOrderBy('part.entry_key', 'DESC');
      if (thread_id !== undefined) found.andWhere('part.thread_key = :thread', { thread: threadKey({ realm, thread_id }) });
      if (after !== null) {
        found.andWhere('(part.sort_key < :sort OR (part.sort_key = :sort AND part.entry_key < :entry))', {
          sort: after.sort_key,
          entry: after.entry_key,
        });
      }
    }
    return asStoreCall(() => found.getMany());
  }

  private async whole(first: CheckpointPart): Promise<StoredCheckpoint> {
    if (first.parts === 1) return storedCheckpointOf([first]);
    const { thread_key, entry_key } = first;
    const [rows] = await this.entries({ thread_key, entry_key });
    return storedCheckpointOf(rows ?? []);
  }

  private entries(where: FindOptionsWhere<CheckpointPart>): Promise<CheckpointPart[][]> {
    return asStoreCall(async () => {
      const order = { entry_key: 'ASC', seq: 'ASC' } as const;
      return entriesOf(await this.dataSource.manager.find(CheckpointPart, { where, order }));
    });
  }

  /** Writes rows by as few statements as the server's packets allow; more than one hold together. */
  private async insert(rows: readonly CheckpointPart[], onConflict: string[]): Promise<void> {
    const [first, ...rest] = batchesOf(rows);
    if (first === undefined) return;
    if (rest.length === 0) return this.queue.write((manager) => insertInto(manager, first, onConflict));
    await this.queue.transaction(async (manager) => {
      for (const batch of [first, ...rest]) await insertInto(manager, batch, onConflict);
    });
  }
}

async function insertInto(manager: EntityManager, rows: CheckpointPart[], onConflict: string[]): Promise<void> {
  const insert = manager.createQueryBuilder().insert().into(CheckpointPart).values(rows);
  await insert.orUpdate(onConflict, PRIMARY_KEY).updateEntity(false).execute();
}

function batchesOf(rows: readonly CheckpointPart[]): CheckpointPart[][] {
  const batches: CheckpointPart[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const batch = batches.at(-1);
    bytes += row.bytes.length;
    if (batch === undefined || batch.length === ROWS_AT_ONCE || bytes > BYTES_AT_ONCE) {
      batches.push([row]);
      bytes = row.bytes.length;
    } else {
      batch.push(row);
    }
  }
  return batches;
}
