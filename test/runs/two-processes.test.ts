import type { DataSource } from 'typeorm';
import { ChatSession } from '../../src/runs/chat-session.entity';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import { WriteQueue } from '../../src/runs/write-queue';
import { AT, openStore, type Store } from './run-fixture';

/** A connection of its own is to SQLite what a process of its own is. */
describe('two processes on one SQLite file', () => {
  let store: Store;
  let other: DataSource;
  beforeEach(async () => {
    store = await openStore();
    other = await openDiagnosisDataSource(store.options);
  });
  afterEach(async () => {
    await other.destroy();
    await store.close();
  });

  it('[A9] takes a transaction up again that has read before the other one wrote', async () => {
    let attempts = 0;
    await WriteQueue.of(store.dataSource).transaction(async (manager) => {
      attempts += 1;
      await manager.count(ChatSession);
      if (attempts === 1)
        await WriteQueue.of(other).write((outer) => outer.insert(ChatSession, { id: 'theirs', created_at: AT }));
      await manager.insert(ChatSession, { id: 'mine', created_at: AT });
    });
    expect(attempts).toBe(2);
    expect((await store.dataSource.manager.find(ChatSession)).map(({ id }) => id).sort()).toEqual(['mine', 'theirs']);
  });

  it('[A9] gives up on nothing else: a failing statement fails at once', async () => {
    let attempts = 0;
    const work = WriteQueue.of(store.dataSource).transaction(async (manager) => {
      attempts += 1;
      await manager.insert(ChatSession, { id: 'twice', created_at: AT });
      await manager.insert(ChatSession, { id: 'twice', created_at: AT });
    });
    await expect(work).rejects.toMatchObject({ code: expect.stringMatching(/CONFLICT|STORE/) });
    expect(attempts).toBe(1);
    expect(await store.dataSource.manager.count(ChatSession)).toBe(0);
  });

  it('[A9] migrates a new file for all who open it at once, and prints nothing', async () => {
    const url = `sqlite:${store.folder}/new.sqlite`;
    const log = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    const opened = await Promise.all(
      [1, 2, 3, 4].map(() => openDiagnosisDataSource({ database: { ...store.options.database, url } })),
    );
    for (const dataSource of opened) {
      expect(await dataSource.showMigrations()).toBe(false);
      await dataSource.destroy();
    }
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });
});
