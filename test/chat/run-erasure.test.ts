import { RunErasure } from '../../src/chat/run-erasure.service';
import { RunEraser } from '../../src/ports/run-eraser.port';
import { describeOnEachDatabase, type FreshDatabase } from '../runs/test-databases';
import { ChatHost, REQUEST, failureOf } from './chat-host';
import { gate, resetScript, script } from './scripted-diagnosis';

describeOnEachDatabase('the erasure of a run that works', (db) => {
  let database: FreshDatabase;
  let host: ChatHost;
  beforeEach(async () => {
    resetScript();
    database = await db.migrated();
    host = await ChatHost.open(database.url, { run: { leaseMs: 1_000 } });
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  it('cancels it in another process with the next renewal of its lease, and takes it out', async () => {
    const begun = gate();
    script.executor = async () => {
      begun.open();
      return new Promise<string>(() => undefined);
    };
    const asked = failureOf(host.chat.chat(REQUEST));
    await begun.opened;
    const [run] = await host.query<{ id: string }[]>('SELECT id FROM diagnosis_run');
    // The mark is all that another process can leave.
    expect(await host.module.get(RunEraser).request(run?.id ?? '', new Date())).toBe('RUNNING');
    expect((await asked).code).toBe('CANCELLED');
    expect(await host.statuses()).toEqual([]);
  });

  it('answers whoever asked with the answer, and evaluates nothing, when the run ends before it can be cancelled', async () => {
    const { composer } = script;
    script.composer = async (...given) => {
      const [run] = await host.query<{ id: string }[]>('SELECT id FROM diagnosis_run');
      await host.module.get(RunEraser).request(run?.id ?? '', new Date());
      return composer(...given);
    };
    const result = await host.chat.chat(REQUEST);
    expect([result.verdict, await host.statuses(), host.evaluated]).toEqual(['PASS', [], []]);
    await expect(host.reader.run(result.runId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    // The session went with it; whoever holds its id goes on with a new one.
    const again = failureOf(host.chat.chat({ ...REQUEST, sessionId: result.sessionId }));
    expect((await again).code).toBe('NOT_FOUND');
  });

  it('is carried on by the sweep where its end could not', async () => {
    const result = await host.chat.chat(REQUEST);
    const eraser = host.module.get(RunEraser);
    jest.spyOn(eraser, 'erase').mockRejectedValueOnce(new Error('killed'));
    await expect(host.module.get(RunErasure).erase(result.runId)).rejects.toThrow('killed');
    expect(await host.statuses()).toEqual(['SUCCESS']);
    expect(await host.reader.run(result.runId)).toMatchObject({ eraseRequestedAt: expect.stringMatching(/^20/) });
    for (let tries = 0; tries < 100 && (await host.statuses()).length > 0; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await host.statuses()).toEqual([]);
  });
});
