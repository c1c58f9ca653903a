import { randomBytes } from 'node:crypto';
import { DiagnosisRun } from '../../src/runs/diagnosis-run.entity';
import { codeOf, invocationOf, openStore, startRun, success, type Store } from './run-fixture';
import { describeOnEachDatabase, describeOnMariadb } from './test-databases';

describeOnEachDatabase('ToolInvocationStore', (db) => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(db);
  });
  afterEach(() => store.close());

  const finish = (id: string, output: string | null) =>
    store.traces.finish(id, { status: 'OK', output, error_code: null, duration_ms: 3 });

  it('keeps the bytes of an output over several chunks', async () => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    const text = JSON.stringify({ n: 'é😀', noise: randomBytes(200_000).toString('base64') });
    await finish('r1-row-1', text);
    const chunks: { n: number; longest: number }[] = await store.dataSource.query(
      'SELECT count(*) AS n, max(length(bytes)) AS longest FROM diagnosis_tool_output_chunk',
    );
    expect(Number(chunks[0]?.n)).toBeGreaterThan(2);
    expect(Number(chunks[0]?.longest)).toBeLessThanOrEqual(65_535);
    expect(await store.traces.readOutput('r1-row-1')).toBe(text);
  });

  it.each([
    ['a changed hash', `UPDATE diagnosis_tool_invocation SET output_sha256 = '${'0'.repeat(64)}'`],
    ['changed bytes', `UPDATE diagnosis_tool_output_chunk SET bytes = x'1f8b'`],
    ['a missing chunk', 'DELETE FROM diagnosis_tool_output_chunk'],
    ['another length', 'UPDATE diagnosis_tool_invocation SET output_bytes = 3'],
  ])('refuses an output with %s', async (_case, sql) => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    await finish('r1-row-1', '{"a":1}');
    await store.dataSource.query(sql);
    expect(await codeOf(store.traces.readOutput('r1-row-1'))).toBe('OUTPUT_CORRUPT');
  });

  it('refuses an output above the stated maximum, and an output that is not there', async () => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    expect(await codeOf(finish('r1-row-1', 'x'.repeat(16 * 1024 * 1024 + 1)))).toBe('OUTPUT_TOO_LARGE');
    expect(await codeOf(store.traces.readOutput('r1-row-1'))).toBe('NOT_FOUND');
  });

  it('answers the row that exists for a key, finds by both ids, and keeps runs apart [A17]', async () => {
    await startRun(store, 'r1');
    await startRun(store, 'r2');
    const first = await store.traces.begin(invocationOf('r1', 1));
    const again = await store.traces.begin(invocationOf('r1', 2, { call_key: 'key-1' }));
    expect([first.existed, again.existed, again.record.id]).toEqual([false, true, 'r1-row-1']);
    expect((await store.traces.findOfRun('r1', 't1-aaaa'))?.id).toBe('r1-row-1');
    expect((await store.traces.findOfRun('r1', 'r1-row-1'))?.invocation_id).toBe('t1-aaaa');
    expect(await store.traces.findOfRun('r2', 'r1-row-1')).toBeNull();
    expect([
      await store.traces.existsInAnotherRun('r2', 't1-aaaa'),
      await store.traces.existsInAnotherRun('r1', 't1-aaaa'),
    ]).toEqual([true, false]);
  });

  it('drops a result that comes after the run has ended', async () => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    await store.runs.finish('r1', 'me', success());
    await finish('r1-row-1', '{"late":1}');
    expect(await store.traces.listByRun('r1')).toMatchObject([{ status: 'ABANDONED', output_sha256: null }]);
    expect(await codeOf(store.traces.begin(invocationOf('r1', 2)))).toBe('LEASE_LOST');
  });

  it('tells calls apart by the bytes of their ids and keys', async () => {
    await startRun(store, 'r1');
    await startRun(store, 'r2');
    await store.traces.begin(invocationOf('r1', 1));
    await finish('r1-row-1', '{"a":1}');
    for (const id of ['T1-AAAA', 't1-aaaa ', 't1-áaaa', 'R1-row-1', 'r1-row-1 ']) {
      expect([id, await store.traces.findOfRun('r1', id)]).toEqual([id, null]);
      expect([id, await store.traces.existsInAnotherRun('r2', id)]).toEqual([id, false]);
      expect([id, await codeOf(store.traces.readOutput(id))]).toEqual([id, 'NOT_FOUND']);
    }
    for (const run of ['R1', 'r1 ']) {
      expect([await store.traces.findOfRun(run, 't1-aaaa'), await store.traces.listByRun(run)]).toEqual([null, []]);
      expect(await codeOf(store.traces.begin(invocationOf(run, 7)))).toBe('CONFLICT');
    }
    // Some databases refuse such a key beside the other one; none answers the call of the other one.
    const near = await store.traces.begin(invocationOf('r1', 2, { call_key: 'KEY-1' })).catch(() => null);
    expect(near?.existed ?? false).toBe(false);
  });

  it('keeps the longest arguments that every database keeps, and refuses longer ones alike', async () => {
    await startRun(store, 'r1');
    const longest = JSON.stringify('é'.repeat(32_766));
    expect(Buffer.byteLength(longest)).toBe(65_534);
    await store.traces.begin(invocationOf('r1', 1, { arguments: `${longest} ` }));
    expect((await store.traces.findOfRun('r1', 't1-aaaa'))?.arguments).toBe(`${longest} `);
    expect(await codeOf(store.traces.begin(invocationOf('r1', 2, { arguments: `${longest}  ` })))).toBe('TOOL_ARGUMENTS_INVALID');
    expect(await store.traces.listByRun('r1')).toHaveLength(1);
  });

  it('keeps an output of several MB over many statements, byte for byte', async () => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    const text = JSON.stringify({ noise: randomBytes(4_500_000).toString('base64'), end: '🛒' });
    await finish('r1-row-1', text);
    expect((await store.traces.readOutput('r1-row-1')) === text).toBe(true);
    const [record] = await store.traces.listByRun('r1');
    expect(record).toMatchObject({ status: 'OK', output_bytes: Buffer.byteLength(text), duration_ms: 3 });
  });

  it('answers one row to many who begin the same call at once', async () => {
    await startRun(store, 'r1');
    const begun = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => store.traces.begin(invocationOf('r1', n, { call_key: 'the one', invocation_id: `t${n}` }))),
    );
    expect(begun.filter((one) => !one.existed)).toHaveLength(1);
    expect(new Set(begun.map((one) => one.record.id)).size).toBe(1);
    expect(await store.traces.listByRun('r1')).toHaveLength(1);
  });

  it('leaves no open call and no stray output when calls begin and end while the run ends', async () => {
    await startRun(store, 'r1');
    await Promise.all([1, 2, 3, 4].map((n) => store.traces.begin(invocationOf('r1', n))));
    const output = JSON.stringify(randomBytes(3_000_000).toString('base64'));
    const late = [1, 2, 3, 4].map((n) => finish(`r1-row-${n}`, output));
    const more = [5, 6, 7, 8].map((n) => codeOf(store.traces.begin(invocationOf('r1', n))));
    const [ended] = await Promise.all([store.runs.finish('r1', 'me', success()), ...late, ...more]);
    expect(ended).toBe(true);
    const calls = await store.traces.listByRun('r1');
    expect(calls.filter((call) => call.status === 'RUNNING')).toEqual([]);
    for (const call of calls.filter(({ status }) => status === 'OK')) {
      expect(await store.traces.readOutput(call.id)).toBe(output);
    }
    const strays: unknown[] = await store.dataSource.query(
      `SELECT seq FROM diagnosis_tool_output_chunk c JOIN diagnosis_tool_invocation i ON i.id = c.invocation_row_id WHERE i.status <> 'OK'`,
    );
    expect(strays).toEqual([]);
  });

  it('costs one statement at its begin and two at its end, one of them for the output', async () => {
    await startRun(store, 'r1');
    const counted: string[] = [];
    const log = jest.spyOn(store.dataSource.logger, 'logQuery').mockImplementation((sql) => void counted.push(sql));
    await store.traces.begin(invocationOf('r1', 1));
    expect(counted).toHaveLength(1);
    await finish('r1-row-1', '{"a":1}');
    expect(counted.map((sql) => sql.split(' ', 1)[0])).toEqual(['INSERT', 'INSERT', 'UPDATE']);
    log.mockRestore();
  });

  it('refuses a call of a run that is not stored, and keeps one that was denied', async () => {
    expect(await codeOf(store.traces.begin(invocationOf('nowhere', 1)))).toBe('CONFLICT');
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1, { status: 'DENIED', error_code: 'TOOL_BLOCKED' }));
    await finish('r1-row-1', '{"a":1}');
    expect(await store.traces.listByRun('r1')).toEqual([
      {
        ...invocationOf('r1', 1),
        status: 'DENIED',
        error_code: 'TOOL_BLOCKED',
        output_sha256: null,
        output_bytes: null,
        duration_ms: null,
      },
    ]);
    expect(await codeOf(store.traces.begin(invocationOf('r1', 2, { invocation_id: 't1-aaaa' })))).toBe('CONFLICT');
  });
});

describeOnMariadb('ToolInvocationStore on a server', (db) => {
  it('waits for a run that is about to end, and then takes no call of it', async () => {
    const store = await openStore(db);
    await startRun(store, 'r1');
    const ending = store.dataSource.createQueryRunner();
    await ending.startTransaction();
    await ending.manager.update(DiagnosisRun, { id: 'r1' }, { status: 'CANCELLED' });
    const begun = codeOf(store.traces.begin(invocationOf('r1', 1)));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await ending.commitTransaction();
    await ending.release();
    expect([await begun, await store.traces.listByRun('r1')]).toEqual(['LEASE_LOST', []]);
    await store.close();
  });

  it('does with a single connection what it does with many', async () => {
    const store = await openStore(db, { database: { poolSize: 1 } });
    await Promise.all(['r1', 'r2', 'r3'].map((id) => startRun(store, id)));
    const calls = ['r1', 'r2', 'r3'].flatMap((id) => [1, 2, 3].map((n) => invocationOf(id, n)));
    await Promise.all(calls.map((call) => store.traces.begin(call)));
    const end = { status: 'OK', output: '{"a":1}', error_code: null, duration_ms: 3 } as const;
    await Promise.all(calls.map((call) => store.traces.finish(call.id, end)));
    const ended = await Promise.all(['r1', 'r2', 'r3'].map((id) => store.runs.finish(id, 'me', success())));
    expect(ended).toEqual([true, true, true]);
    expect(await Promise.all(calls.map((call) => store.traces.readOutput(call.id)))).toEqual(calls.map(() => '{"a":1}'));
    await store.close();
  });
});
