import { createHash } from 'node:crypto';
import { Test } from '@nestjs/testing';
import type { DataSource } from 'typeorm';
import { generateIncident } from '../../examples/incident/incident-generator';
import { writeIncident } from '../../examples/incident/write-incident';
import { ChatService } from '../../src/chat/chat.service';
import { DiagnosisModule } from '../../src/diagnosis.module';
import type { DiagnosisOptionsInput } from '../../src/options/diagnosis-options';
import { ExpectedLabelEvaluator } from '../../src/evaluation/expected-label.evaluator';
import { SystemClock } from '../../src/runs/system-clock.service';
import { UuidV7Source } from '../../src/runs/uuid-v7-source.service';
import { DIAGNOSIS_DATA_SOURCE } from '../../src/runs/diagnosis-data-source';
import { RUN_REALM } from '../../src/ports/checkpoint-store.port';
import { ToolInvocationStore } from '../../src/ports/tool-invocation-store.port';
import { QUERY } from '../protocol/protocol-fixtures';
import { ChatHost, REQUEST, failureOf } from '../chat/chat-host';
import { MARKER, resetScript, script, temporaryFolder } from '../chat/scripted-diagnosis';
import { AT, after, codeOf, invocationOf, openStore, success, type Store } from './run-fixture';
import { placesOf } from './stored-text';
import { describeOnEachDatabase, type FreshDatabase } from './test-databases';

const OFF = { content: { store: false } } as const satisfies DiagnosisOptionsInput;
const QUESTION = 'Which unit of quagga-9 fails?';
/** In the question, in a tool's arguments, in its output, and in the answer and its causes. */
const CONTENTS = ['quagga', 'zorilla-arg', MARKER, 'alder'];

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describeOnEachDatabase('a run without contents', (db) => {
  let database: FreshDatabase;
  let host: ChatHost;
  beforeEach(async () => {
    resetScript();
    database = await db.migrated();
    host = await ChatHost.open(database.url, { ...OFF, checkpoints: { keep: true, durability: 'sync' } });
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  const dataSource = (): DataSource => host.module.get<DataSource>(DIAGNOSIS_DATA_SOURCE, { strict: false });
  const found = async (): Promise<string[][]> => Promise.all(CONTENTS.map((text) => placesOf(dataSource(), text)));

  it('answers as ever from outputs that are there, and leaves hashes, sizes, times and codes alone', async () => {
    const [executor, composer] = [script.executor, script.composer];
    let whileWorking: string[][] = [];
    script.executor = async (input, config, tools) => {
      await tools.run({ tool_name: 'unit_counts', arguments: { note: 'zorilla-arg' } }, config);
      return executor(input, config, tools);
    };
    script.composer = async (...given) => {
      whileWorking = await found();
      return composer(...given);
    };
    const result = await host.chat.chat({ ...REQUEST, message: QUESTION });
    expect(result).toMatchObject({ verdict: 'PASS', causes: [{ subject: 'alder' }] });
    expect(whileWorking[0]).toEqual(['checkpoint_part']);
    expect(whileWorking[1]).toContain('tool_invocation');
    expect(whileWorking[2]).toContain('output');
    expect(whileWorking[3]).toContain('output');
    expect(await found()).toEqual([[], [], [], []]);

    const view = await host.reader.run(result.runId);
    expect(view).toMatchObject({
      status: 'SUCCESS',
      verdict: 'PASS',
      message: null,
      answer: null,
      causes: [],
      keepsContent: false,
    });
    expect(view.query).toMatchObject({ time_zone: 'UTC', window: { source: 'request' } });
    expect([view.selfEvaluation?.claims_shown, view.metrics?.tool_calls, view.orchestrationTrace?.path.length]).toEqual([
      1, 2, 6,
    ]);
    const [row] = await host.query<Record<string, unknown>[]>('SELECT * FROM diagnosis_run');
    expect(row).toMatchObject({
      title: null,
      message_sha256: sha256(QUESTION),
      message_bytes: QUESTION.length,
      answer_sha256: sha256(result.answer),
      answer_bytes: Buffer.byteLength(result.answer),
    });
    const calls = await host.module.get(ToolInvocationStore).listByRun(result.runId);
    expect(calls.map(({ status }) => status)).toEqual(['ERROR', 'OK']);
    for (const { arguments: kept, output_sha256, output_bytes } of calls) {
      expect(JSON.parse(kept)).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: expect.any(Number) });
      expect([output_sha256?.length, Number(output_bytes) > 0]).toEqual([64, true]);
    }
    expect(JSON.parse(calls[1]?.arguments ?? '')).toEqual({ sha256: sha256('{}'), bytes: 2 });
    expect((await host.reader.evidence(result.runId)).emptyReason).toMatch(/no contents of this run are kept/);
    const opened = host.reader.invocation(result.runId, calls[1]?.id ?? '');
    await expect(opened).rejects.toMatchObject({ code: 'NOT_FOUND', message: expect.stringMatching(/no contents of this run/) });
  });

  it('keeps the window for a follow-up, and quotes nothing', async () => {
    const { sessionId } = await host.chat.chat({ ...REQUEST, message: QUESTION });
    const again = await host.chat.chat({ message: 'say that again', sessionId });
    const view = await host.reader.run(again.runId);
    expect(view).toMatchObject({
      agent_flow: 'DIAGNOSIS_GRAPH',
      query: { window: { source: 'session', from: '2026-05-04T14:00:00.000Z' } },
    });
    expect(await found()).toEqual([[], [], [], []]);
  });

  it('leaves no contents of a run that is cancelled or fails', async () => {
    const controller = new AbortController();
    script.verifier = async () => {
      controller.abort();
      return new Promise<string>(() => undefined);
    };
    expect((await failureOf(host.chat.chat({ ...REQUEST, message: QUESTION }, { signal: controller.signal }))).code).toBe(
      'CANCELLED',
    );
    expect([await host.statuses(), await found()]).toEqual([['CANCELLED'], [[], [], [], []]]);
  });

  it('drops what a call puts out after its run has ended', async () => {
    const late: Promise<unknown>[] = [];
    const { tool } = script;
    let release = (): void => undefined;
    script.tool = async (...given) => {
      await new Promise<void>((resolve) => (release = resolve));
      return tool(...given);
    };
    const executor = script.executor;
    script.executor = async (input, config, tools) => {
      late.push(executor(input, config, tools).catch(() => undefined));
      await new Promise((resolve) => setTimeout(resolve, 100));
      return 'no document';
    };
    await host.chat.chat({ ...REQUEST, message: QUESTION });
    release();
    await Promise.all(late);
    expect(await found()).toEqual([[], [], [], []]);
  });
});

describeOnEachDatabase('the analyst without contents', (db) => {
  it('answers over generated telemetry with PASS, and leaves nothing of it', async () => {
    const folder = temporaryFolder();
    const database = await db.migrated();
    const incident = generateIncident(1, 'error_burst');
    const { cause, noisy_service, window, baseline } = incident.truth;
    writeIncident(incident, folder.path);
    const options = { ...OFF, database: { url: database.url }, telemetry: { path: folder.path }, controllers: false };
    const module = await Test.createTestingModule({ imports: [DiagnosisModule.forRoot(options)] }).compile();
    try {
      await module.init();
      const message = `What went wrong? Is it ${noisy_service}?`;
      const result = await module.get(ChatService).chat({ message, window, baseline });
      expect(result).toMatchObject({ verdict: 'PASS', degraded: false });
      expect(result.causes.find(({ role }) => role === 'cause')?.subject).toBe(cause);
      const source = module.get<DataSource>(DIAGNOSIS_DATA_SOURCE, { strict: false });
      expect([await placesOf(source, cause), await placesOf(source, noisy_service)]).toEqual([[], []]);
    } finally {
      await module.close();
      await database.drop();
      folder.remove();
    }
  });
});

describeOnEachDatabase('RunRepository without contents', (db) => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(db, { ...OFF, checkpoints: { keep: true } });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await store.close();
  });

  async function begun(id: string): Promise<void> {
    await store.sessions.ensure('s', AT);
    await store.runs.create({ id, session_id: 's', message: QUESTION, agent_flow: 'DIAGNOSIS_GRAPH', created_at: AT });
    const scope = { text: 'quagga', service: 'quagga' };
    const query = { ...QUERY, question: QUESTION, scope, focus: { ask: 'why_not' as const, subject: 'quagga' } };
    await store.runs.markRunning(id, query, { owner: 'me', until: after(60_000) }, after(5));
    for (const ordinal of [1, 2]) await store.traces.begin(invocationOf(id, ordinal, { arguments: '{"q":"zorilla-arg"}' }));
    const output = JSON.stringify({ note: MARKER });
    await store.traces.finish(`${id}-row-1`, { status: 'OK', output, error_code: null, duration_ms: 3 });
    const typed = (text: string) => ({ type: 'json', bytes: Buffer.from(text) });
    const place = { realm: RUN_REALM, thread_id: id, namespace: '', checkpoint_id: '1', parent_id: null };
    await store.checkpoints.put({ ...place, document: typed('"quagga"'), metadata: typed('{}'), values: [] });
  }
  const found = async (): Promise<string[][]> => Promise.all(CONTENTS.map((text) => placesOf(store.dataSource, text)));

  it('takes the contents of a run that is found dead with the status that it gives it', async () => {
    await begun('r1');
    expect(await found()).toEqual([['checkpoint_part'], ['tool_invocation'], ['output'], []]);
    expect([await store.runs.failExpired(after(59_000)), await store.runs.failExpired(after(61_000))]).toEqual([0, 1]);
    expect(await found()).toEqual([[], [], [], []]);
    expect(await store.runs.find('r1')).toMatchObject({
      status: 'FAILED',
      failure_code: 'INTERRUPTED',
      query: { locale: QUERY.locale },
    });
    expect((await store.traces.listByRun('r1')).map(({ status }) => status)).toEqual(['OK', 'ABANDONED']);
    const [row] = await store.dataSource.query<{ tool_failed: number }[]>('SELECT tool_failed FROM diagnosis_run');
    expect(Number(row?.tool_failed)).toBe(1);
  });

  it('gives no terminal status as long as the outputs are there, whoever dies', async () => {
    await begun('r1');
    const broken = jest.spyOn(store.dataSource, 'transaction').mockRejectedValue(new Error('killed'));
    await expect(store.runs.finish('r1', 'me', success())).rejects.toThrow();
    expect([(await store.runs.find('r1'))?.status, (await found())[2]]).toEqual(['RUNNING', []]);
    await expect(store.runs.failExpired(after(61_000))).rejects.toThrow();
    broken.mockRestore();
    expect(await store.runs.finish('r1', 'me', success())).toBe(false);
    expect(await store.runs.failExpired(after(62_000))).toBe(0);
    expect(await store.runs.failExpired(after(700_000))).toBe(1);
    expect(await found()).toEqual([[], [], [], []]);
  });

  it('refuses somebody who does not hold the run, and leaves its outputs to who does', async () => {
    await begun('r1');
    expect(await store.runs.finish('r1', 'other', success())).toBe(false);
    expect((await found())[2]).toEqual(['output']);
    expect(await codeOf(store.traces.readOutput('r1-row-1'))).toBe('resolved');
    expect(await store.runs.finish('r1', 'me', success({ answer: 'alder' }))).toBe(true);
    expect(await found()).toEqual([[], [], [], []]);
  });

  it('gives no score to a run whose causes are not kept', async () => {
    await begun('r1');
    const causes = [{ rank: 1, subject: 'alder', role: 'cause' as const, claimIds: ['c1'] }];
    await store.runs.finish('r1', 'me', success({ causes }));
    const ids = new UuidV7Source();
    await new ExpectedLabelEvaluator(store.runs, store.evaluations, new SystemClock(), ids, () => 'alder').evaluate('r1');
    expect(await store.evaluations.listByRun('r1')).toMatchObject([{ score: null, detail: { labelled: false } }]);
  });
});
