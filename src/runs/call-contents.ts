import { setImmediate } from 'node:timers/promises';
import { In, LessThanOrEqual, MoreThan, type DataSource, type EntityManager } from 'typeorm';
import { RUN_REALM } from '../ports/checkpoint-store.port';
import { threadKey } from './checkpoint-entry';
import { CheckpointPart } from './checkpoint-part.entity';
import { digestOf } from './run-contents';
import { asStoreCall } from './store-error';
import { ToolInvocation } from './tool-invocation.entity';
import { ToolOutputChunk } from './tool-output-chunk.entity';
import type { WriteQueue } from './write-queue';

/** Chunks that one statement deletes: at most about 6 MB. */
const CHUNK_BATCH = 100;
/** Calls that are looked at together. */
export const CALL_BATCH = 100;

/** Deletes the outputs of calls, a few chunks a statement; each statement stands for itself. */
export async function dropOutputs(dataSource: DataSource, queue: WriteQueue, callIds: readonly string[]): Promise<void> {
  for (let more = callIds.length > 0; more;) {
    const chunks = await asStoreCall(() => someChunks(dataSource.manager, callIds));
    if (chunks.length > 0) await queue.write((manager) => deleteChunks(manager, chunks));
    more = chunks.length === CHUNK_BATCH;
    // Embedded SQLite answers without a turn of the event loop in between.
    if (more) await setImmediate();
  }
}

/** Deletes the outputs of all calls of runs. */
export async function dropOutputsOfRuns(dataSource: DataSource, queue: WriteQueue, runIds: readonly string[]): Promise<void> {
  for (let after = ''; ;) {
    const ids = await asStoreCall(() => callsAfter(dataSource.manager, runIds, after));
    await dropOutputs(dataSource, queue, ids);
    if (ids.length < CALL_BATCH) return;
    after = ids.at(-1) ?? '';
  }
}

/** Deletes the checkpoints of runs that work no more. */
export async function dropThreads(queue: WriteQueue, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  const thread_key = In(runIds.map((thread_id) => threadKey({ realm: RUN_REALM, thread_id })));
  await queue.write((manager) => manager.delete(CheckpointPart, { thread_key }));
}

/**
 * Within the transaction of a terminal status: takes out what calls that were open until now left behind, and puts digests in the
 * place of the arguments. What calls that had ended put out has to be dropped before.
 */
export async function eraseCallContents(manager: EntityManager, runIds: readonly string[]): Promise<void> {
  for (let after = ''; ;) {
    const calls = await manager.find(ToolInvocation, {
      select: { id: true, arguments: true },
      where: { run_id: In([...runIds]), id: MoreThan(after) },
      order: { id: 'ASC' },
      take: CALL_BATCH,
    });
    const ids = calls.map(({ id }) => id);
    for (let chunks = await someChunks(manager, ids); chunks.length > 0; chunks = await someChunks(manager, ids)) {
      await deleteChunks(manager, chunks);
    }
    if (calls.length > 0) await replaceArguments(manager, calls);
    if (calls.length < CALL_BATCH) return;
    after = ids.at(-1) ?? '';
  }
}

async function callsAfter(manager: EntityManager, runIds: readonly string[], after: string): Promise<string[]> {
  const calls = await manager.find(ToolInvocation, {
    select: { id: true },
    where: { run_id: In([...runIds]), id: MoreThan(after) },
    order: { id: 'ASC' },
    take: CALL_BATCH,
  });
  return calls.map(({ id }) => id);
}

type ChunkKey = Pick<ToolOutputChunk, 'invocation_row_id' | 'seq'>;

async function someChunks(manager: EntityManager, callIds: readonly string[]): Promise<ChunkKey[]> {
  if (callIds.length === 0) return [];
  return manager.find(ToolOutputChunk, {
    select: { invocation_row_id: true, seq: true },
    where: { invocation_row_id: In([...callIds]) },
    order: { invocation_row_id: 'ASC', seq: 'ASC' },
    take: CHUNK_BATCH,
  });
}

async function deleteChunks(manager: EntityManager, chunks: readonly ChunkKey[]): Promise<void> {
  const last = new Map(chunks.map(({ invocation_row_id, seq }) => [invocation_row_id, seq]));
  const query = manager.createQueryBuilder().delete().from(ToolOutputChunk);
  for (const where of [...last].map(([invocation_row_id, seq]) => ({ invocation_row_id, seq: LessThanOrEqual(seq) }))) {
    query.orWhere(where);
  }
  await query.execute();
}

/** One statement for all of them. */
async function replaceArguments(
  manager: EntityManager,
  calls: readonly Pick<ToolInvocation, 'id' | 'arguments'>[],
): Promise<void> {
  const parameters: Record<string, string> = {};
  const cases = calls.map((call, at) => {
    parameters[`id${at}`] = call.id;
    parameters[`digest${at}`] = JSON.stringify(digestOf(call.arguments));
    return `WHEN :id${at} THEN :digest${at}`;
  });
  await manager
    .createQueryBuilder()
    .update(ToolInvocation)
    .set({ arguments: () => `CASE id ${cases.join(' ')} ELSE arguments END` })
    .where('id IN (:...ids)', { ids: calls.map(({ id }) => id) })
    .setParameters(parameters)
    .execute();
}
