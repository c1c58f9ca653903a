import type { EntityManager } from 'typeorm';
import { ChatSession } from '../../src/runs/chat-session.entity';
import { WriteQueue } from '../../src/runs/write-queue';
import { AT, after, codeOf, openStore, type Store } from './run-fixture';
import { describeOnEachDatabase, describeOnMariadb } from './test-databases';

const move = (manager: EntityManager, id: string, ms: number) => manager.update(ChatSession, { id }, { created_at: after(ms) });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until so many have come, at most once each. */
function meeting(of: number): () => Promise<void> {
  let come = 0;
  let open = (): void => undefined;
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    come += 1;
    if (come === of) open();
    return all;
  };
}

describeOnEachDatabase('WriteQueue', (db) => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(db);
  });
  afterEach(() => store.close());

  const kept = async (): Promise<string[]> =>
    (await store.dataSource.manager.find(ChatSession, { order: { id: 'ASC' } })).map((row) => row.id);

  it("lets a failing transaction take nobody else's row with it", async () => {
    const queue = WriteQueue.of(store.dataSource);
    const failing = queue.transaction(async (manager) => {
      await manager.insert(ChatSession, { id: 'lost', created_at: AT });
      await pause(20);
      throw new Error('INSERT INTO secret');
    });
    const others = Array.from({ length: 5 }, (_, i) => store.sessions.ensure(`kept-${i}`, AT));
    const theirs = queue.transaction(async (manager) => {
      await manager.insert(ChatSession, { id: 'kept-5', created_at: AT });
      await pause(5);
      await manager.insert(ChatSession, { id: 'kept-6', created_at: AT });
    });
    expect(await codeOf(failing)).toBe('STORE_UNAVAILABLE');
    await expect(failing).rejects.not.toThrow(/secret/);
    await Promise.all([...others, theirs]);
    expect(await kept()).toEqual(['kept-0', 'kept-1', 'kept-2', 'kept-3', 'kept-4', 'kept-5', 'kept-6']);
    expect(WriteQueue.of(store.dataSource)).toBe(queue);
  });

  it('tells a row twice as CONFLICT at once, and keeps nothing of that transaction', async () => {
    let attempts = 0;
    const work = WriteQueue.of(store.dataSource).transaction(async (manager) => {
      attempts += 1;
      await manager.insert(ChatSession, { id: 'twice', created_at: AT });
      await manager.insert(ChatSession, { id: 'twice', created_at: AT });
    });
    expect([await codeOf(work), attempts, await kept()]).toEqual(['CONFLICT', 1, []]);
  });
});

describeOnMariadb('WriteQueue on a server', (db) => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(db);
    for (const id of ['a', 'b']) await store.sessions.ensure(id, AT);
  });
  afterEach(() => store.close());

  it('takes the victim of a deadlock up again, and the callers do not notice', async () => {
    const queue = WriteQueue.of(store.dataSource);
    const bothHoldOne = meeting(2);
    const attempts: string[] = [];
    const crossing = (own: string, other: string, ms: number) =>
      queue.transaction(async (manager) => {
        attempts.push(own);
        await move(manager, own, ms);
        if (attempts.length <= 2) await bothHoldOne();
        await move(manager, other, ms);
        return own;
      });
    expect(await Promise.all([crossing('a', 'b', 1), crossing('b', 'a', 2)])).toEqual(['a', 'b']);
    expect(attempts).toHaveLength(3);
    const rows = await store.dataSource.manager.find(ChatSession);
    // Both rows are those of the one that came last: neither transaction was torn.
    expect(new Set(rows.map((row) => row.created_at.getTime())).size).toBe(1);
  });

  it('takes up work again that waited too long for a lock, single statements too, and gives up in the end', async () => {
    const queue = WriteQueue.of(store.dataSource);
    const holder = store.dataSource.createQueryRunner();
    await holder.startTransaction();
    await move(holder.manager, 'a', 1);
    let attempts = 0;
    const impatient = (until: number) =>
      queue.transaction(async (manager) => {
        attempts += 1;
        await manager.query('SET SESSION innodb_lock_wait_timeout = 1');
        if (attempts === until) await holder.commitTransaction();
        await move(manager, 'a', 5);
      });
    expect(await codeOf(impatient(99))).toBe('STORE_UNAVAILABLE');
    expect(attempts).toBe(3);
    attempts = 0;
    await impatient(2);
    expect(attempts).toBe(2);
    expect((await store.dataSource.manager.findOneByOrFail(ChatSession, { id: 'a' })).created_at).toEqual(after(5));
    await holder.release();
  });
});
