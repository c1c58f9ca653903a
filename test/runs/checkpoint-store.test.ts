import { randomBytes } from 'node:crypto';
import type { CheckpointAddress, CheckpointPlace, NewCheckpoint, StoredCheckpoint } from '../../src/ports/checkpoint-store.port';
import { codeOf, openStore, type Store } from './run-fixture';
import { describeOnEachDatabase } from './test-databases';

const PLACE: CheckpointPlace = { realm: 'host', thread_id: 'thread', namespace: '' };
const typed = (text: string) => ({ type: 'json', bytes: Buffer.from(text) });

function checkpointOf(address: Partial<CheckpointAddress>, change: Partial<NewCheckpoint> = {}): NewCheckpoint {
  return {
    ...PLACE,
    checkpoint_id: '1',
    ...address,
    parent_id: null,
    document: typed('{"v":4}'),
    metadata: typed('{"step":0}'),
    values: [],
    ...change,
  };
}

describeOnEachDatabase('CheckpointStore', (db) => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(db);
  });
  afterEach(() => store.close());

  const listed = async (query: Partial<CheckpointAddress> & { before?: string }, pageSize = 2): Promise<StoredCheckpoint[]> => {
    const all: StoredCheckpoint[] = [];
    for await (const found of store.checkpoints.list({ realm: 'host', ...query }, pageSize)) all.push(found);
    return all;
  };
  const rowCount = async (): Promise<number> =>
    Number((await store.dataSource.query<{ n: string }[]>('SELECT COUNT(*) AS n FROM diagnosis_checkpoint_part'))[0]?.n);

  it('gives back a value, a document and a write that no blob column holds, byte by byte', async () => {
    const [value, document, write] = [randomBytes(2_500_000), randomBytes(60_000), randomBytes(180_001)];
    const large = { type: 'bytes', bytes: value };
    await store.checkpoints.put(
      checkpointOf({}, { document: { type: 'x', bytes: document }, values: [{ channel: 'c', version: 1, value: large }] }),
    );
    await store.checkpoints.putWrites({ ...PLACE, checkpoint_id: '1' }, [
      { task_id: 't', task_path: '', index: 0, channel: 'c', value: { type: 'bytes', bytes: write } },
    ]);
    const found = await store.checkpoints.find(PLACE, null);
    expect(found?.document.type).toBe('x');
    expect(Buffer.compare(found?.document.bytes ?? Buffer.alloc(0), document)).toBe(0);
    expect(found?.metadata).toEqual(typed('{"step":0}'));
    const read = (await store.checkpoints.values(PLACE, { c: 1 })).get('c');
    expect([read?.type, Buffer.compare(read?.bytes ?? Buffer.alloc(0), value)]).toEqual(['bytes', 0]);
    const [written] = await store.checkpoints.writes({ ...PLACE, checkpoint_id: '1' });
    expect(Buffer.compare(written?.value.bytes ?? Buffer.alloc(0), write)).toBe(0);
  });

  it('keeps a value once, by channel and version, and tells 1 from "1"', async () => {
    const values = [{ channel: 'c', version: 1, value: typed('"one"') }];
    await store.checkpoints.put(checkpointOf({}, { values }));
    const before = await rowCount();
    await store.checkpoints.put(checkpointOf({ checkpoint_id: '2' }, { values }));
    expect(await rowCount()).toBe(before + 1);
    await store.checkpoints.put(
      checkpointOf({ checkpoint_id: '3' }, { values: [{ channel: 'c', version: '1', value: typed('"text"') }] }),
    );
    const read = await store.checkpoints.values(PLACE, { c: 1, other: 1 });
    expect([...read]).toEqual([['c', typed('"one"')]]);
    expect((await store.checkpoints.values(PLACE, { c: '1' })).get('c')).toEqual(typed('"text"'));
    expect((await store.checkpoints.values({ ...PLACE, namespace: 'n' }, { c: 1 })).size).toBe(0);
  });

  it('replaces a checkpoint with the same id, a longer one by a shorter one too', async () => {
    await store.checkpoints.put(checkpointOf({}, { document: { type: 'bytes', bytes: randomBytes(150_000) } }));
    await store.checkpoints.put(checkpointOf({}, { document: typed('short'), parent_id: '0' }));
    expect(await store.checkpoints.find(PLACE, '1')).toMatchObject({ document: typed('short'), parent_id: '0' });
    expect(await store.checkpoints.find(PLACE, null)).toMatchObject({ document: typed('short') });
    expect(await listed({})).toHaveLength(1);
  });

  it('leaves a write that is stored as it is, and replaces one below zero', async () => {
    const address = { ...PLACE, checkpoint_id: '1' };
    const write = (index: number, text: string) => ({ task_id: 't', task_path: 'p', index, channel: 'c', value: typed(text) });
    await store.checkpoints.putWrites(address, [write(0, 'first'), write(-1, 'first')]);
    await store.checkpoints.putWrites(address, [write(0, 'x'.repeat(130_000)), write(-1, 'second'), write(1, 'new')]);
    const stored = await store.checkpoints.writes(address);
    expect(stored.sort((a, b) => a.index - b.index)).toEqual([write(-1, 'second'), write(0, 'first'), write(1, 'new')]);
  });

  it('tells names apart by their bytes, whatever the collation', async () => {
    const names = ['run', 'RUN', 'rün', 'run ', 'run\0', ' run', 'ｒun', '😀', '', "'; --"];
    for (const name of names.slice(0, -2))
      await store.checkpoints.put(checkpointOf({ thread_id: name }, { metadata: typed(name) }));
    for (const name of names) await store.checkpoints.put(checkpointOf({ namespace: name }, { metadata: typed(name) }));
    for (const name of names.slice(0, -2)) {
      expect((await store.checkpoints.find({ ...PLACE, thread_id: name }, null))?.metadata).toEqual(typed(name));
    }
    for (const name of names) {
      expect(await store.checkpoints.find({ ...PLACE, namespace: name }, null)).toMatchObject({
        namespace: name,
        metadata: typed(name),
      });
      expect((await listed({ thread_id: 'thread', namespace: name })).map(({ namespace }) => namespace)).toEqual([name]);
    }
    expect(await store.checkpoints.find({ ...PLACE, realm: 'runs' }, null)).toBeNull();
  });

  it('orders ids by their bytes', async () => {
    const ids = ['a', 'B', 'ä', 'b', 'A', '10', '9', '😀', 'z', '｡'];
    for (const checkpoint_id of ids) await store.checkpoints.put(checkpointOf({ checkpoint_id }));
    const sorted = [...ids].sort((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
    expect((await listed({ thread_id: 'thread' }, 3)).map(({ checkpoint_id }) => checkpoint_id)).toEqual(sorted);
    expect((await store.checkpoints.find(PLACE, null))?.checkpoint_id).toBe('😀');
    expect((await listed({ before: 'a' })).map(({ checkpoint_id }) => checkpoint_id)).toEqual(['B', 'A', '9', '10']);
  });

  it('lists over threads without losing or repeating one at a page end', async () => {
    for (const thread_id of ['a', 'b', 'c']) {
      for (const checkpoint_id of ['1', '2', '3']) await store.checkpoints.put(checkpointOf({ thread_id, checkpoint_id }));
    }
    for (const pageSize of [1, 2, 3, 9, 20]) {
      const seen = (await listed({}, pageSize)).map(({ thread_id, checkpoint_id }) => `${checkpoint_id}${thread_id}`);
      expect(seen).toHaveLength(9);
      expect(new Set(seen).size).toBe(9);
      expect(seen.map((id) => id[0]).join('')).toBe('333222111');
    }
  });

  it('deletes threads with everything of them and nothing else', async () => {
    const values = [{ channel: 'c', version: 1, value: typed('v') }];
    const write = { task_id: 't', task_path: '', index: 0, channel: 'c', value: typed('w') };
    for (const thread_id of ['a', 'A', 'b']) {
      await store.checkpoints.put(checkpointOf({ thread_id, namespace: 'inner' }, { values }));
      await store.checkpoints.putWrites({ ...PLACE, thread_id, checkpoint_id: '1' }, [write]);
    }
    await store.checkpoints.put(checkpointOf({ thread_id: 'a', realm: 'runs' }));
    await store.checkpoints.deleteThreads('host', ['a', 'b', 'unknown', ...Array.from({ length: 150 }, (_, i) => `x${i}`)]);
    expect((await listed({})).map(({ thread_id }) => thread_id)).toEqual(['A']);
    expect(await rowCount()).toBe(3 + 1);
    await store.checkpoints.deleteThreads('host', []);
  });

  it('sweeps threads that nothing was written to since, of one realm', async () => {
    await store.checkpoints.put(checkpointOf({ thread_id: 'old' }));
    await store.checkpoints.put(checkpointOf({ thread_id: 'alive' }));
    await store.checkpoints.put(checkpointOf({ thread_id: 'old', realm: 'runs' }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const since = new Date();
    await store.checkpoints.putWrites({ ...PLACE, thread_id: 'alive', checkpoint_id: '1' }, [
      { task_id: 't', task_path: '', index: 0, channel: 'c', value: typed('w') },
    ]);
    expect(await store.checkpoints.sweep('host', since)).toBe(1);
    expect((await listed({})).map(({ thread_id }) => thread_id)).toEqual(['alive']);
    expect(await store.checkpoints.find({ ...PLACE, realm: 'runs', thread_id: 'old' }, null)).not.toBeNull();
    expect(await store.checkpoints.sweep('host', since)).toBe(0);
  });

  it('sweeps more threads than one statement takes', async () => {
    for (let i = 0; i < 205; i += 1) await store.checkpoints.put(checkpointOf({ thread_id: `t${i}` }));
    expect(await store.checkpoints.sweep('host', new Date(Date.now() + 60_000))).toBe(205);
    expect(await rowCount()).toBe(0);
  });

  it('writes a checkpoint of many statements wholly or not at all', async () => {
    const values = Array.from({ length: 40 }, (_, i) => ({
      channel: `c${i}`,
      version: 1,
      value: { type: 'bytes', bytes: randomBytes(60_000) },
    }));
    await store.checkpoints.put(checkpointOf({}, { values }));
    expect(await rowCount()).toBe(41);
    // Its key is taken before the first statement, its label written with the last one.
    let asked = 0;
    const version = {
      toJSON() {
        asked += 1;
        if (asked > 1) throw new Error('unwritable');
        return 1;
      },
    };
    const last = { channel: 'last', version: version as unknown as number, value: typed('v') };
    expect(await codeOf(store.checkpoints.put(checkpointOf({ thread_id: 'b' }, { values: [...values, last] })))).toBe(
      'STORE_UNAVAILABLE',
    );
    expect([asked, await rowCount()]).toEqual([2, 41]);
  });

  it('refuses what it could not give back', async () => {
    const { checkpoints } = store;
    expect(await codeOf(checkpoints.put(checkpointOf({ thread_id: 'half \ud83d' })))).toBe('STATE_INVALID');
    expect(await codeOf(checkpoints.put(checkpointOf({ checkpoint_id: '' })))).toBe('STATE_INVALID');
    expect(await codeOf(checkpoints.put(checkpointOf({ checkpoint_id: 'ä'.repeat(64) })))).toBe('STATE_INVALID');
    expect(await codeOf(checkpoints.put(checkpointOf({ realm: 'My realm' })))).toBe('STATE_INVALID');
    expect(await codeOf(checkpoints.put(checkpointOf({ checkpoint_id: 'x'.repeat(127), thread_id: 't'.repeat(70_000) })))).toBe(
      'resolved',
    );
    expect(await rowCount()).toBe(1);
  });

  it('refuses a checkpoint of which a piece is missing', async () => {
    await store.checkpoints.put(checkpointOf({}, { document: { type: 'bytes', bytes: randomBytes(150_000) } }));
    await store.dataSource.query('DELETE FROM diagnosis_checkpoint_part WHERE seq = 1');
    expect(await codeOf(store.checkpoints.find(PLACE, '1'))).toBe('STATE_INVALID');
    expect(await codeOf(store.checkpoints.find(PLACE, null))).toBe('STATE_INVALID');
  });
});
