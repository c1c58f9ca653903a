import { ActiveRuns } from '../../src/chat/active-runs.service';
import type { ChatRequest } from '../../src/chat/chat-request';
import type { DiagnosisOptionsInput } from '../../src/options/diagnosis-options';
import { SessionStore } from '../../src/ports/session-store.port';
import { describeOnEachDatabase, type FreshDatabase } from '../runs/test-databases';
import { ChatHost, REQUEST, failureOf } from './chat-host';
import { gate, resetScript, script, temporaryFolder } from './scripted-diagnosis';

describeOnEachDatabase('the life of a run', (db) => {
  const folder = temporaryFolder();
  let host: ChatHost;
  let database: FreshDatabase;

  function open(options: DiagnosisOptionsInput = {}): Promise<ChatHost> {
    return ChatHost.open(database.url, options);
  }

  beforeEach(async () => {
    resetScript();
    database = await db.migrated();
    host = await open();
  });

  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  afterAll(() => folder.remove());

  it('a caller that hangs up gets CANCELLED, and so does its run', async () => {
    const working = gate();
    script.executor = async () => {
      working.open();
      return new Promise<string>(() => undefined);
    };
    const controller = new AbortController();
    const asked = failureOf(host.chat.chat(REQUEST, { signal: controller.signal }));
    await working.opened;
    controller.abort();
    const error = await asked;
    expect(error.code).toBe('CANCELLED');
    const run = await host.runs.find(String(error.detail['runId']));
    expect(run).toMatchObject({ status: 'CANCELLED', failure_code: 'CANCELLED' });
    expect(run?.trace?.path).toEqual(['planner']);
    expect(host.evaluated).toEqual([]);
    expect(host.module.get(ActiveRuns).size).toBe(0);
  });

  it('a run whose lease was taken ends without a word of its own', async () => {
    script.composer = async () => {
      await host.query(`UPDATE diagnosis_run SET lease_owner = 'somebody else'`);
      return 'no document at all';
    };
    const error = await failureOf(host.chat.chat(REQUEST));
    expect(error).toMatchObject({ code: 'RUN_FAILED', detail: { failure: 'LEASE_LOST' } });
    expect(await host.runs.find(String(error.detail['runId']))).toMatchObject({ status: 'RUNNING', answer: null });
    expect(host.evaluated).toEqual([]);
  });

  it('a shutdown ends working runs as FAILED/DRAIN and takes no new ones', async () => {
    const working = gate();
    script.executor = async () => {
      working.open();
      return new Promise<string>(() => undefined);
    };
    const asked = failureOf(host.chat.chat(REQUEST));
    await working.opened;
    await host.module.get(ActiveRuns).beforeApplicationShutdown();
    const error = await asked;
    expect(error).toMatchObject({ code: 'RUN_FAILED', detail: { failure: 'DRAIN' } });
    expect(await host.runs.find(String(error.detail['runId']))).toMatchObject({ status: 'FAILED', failure_code: 'DRAIN' });
    expect((await failureOf(host.chat.chat(REQUEST))).code).toBe('OVERLOADED');
  });

  it('[A17] a run that a dead process left behind is ended at start-up; a living one stays', async () => {
    await host.module.get(SessionStore).ensure('s', new Date());
    const at = new Date();
    for (const [id, until] of [
      ['dead', new Date(at.getTime() - 1)],
      ['living', new Date(at.getTime() + 60_000)],
    ] as const) {
      await host.runs.create({ id, session_id: 's', message: 'm', agent_flow: 'DIAGNOSIS_GRAPH', created_at: at });
      await host.runs.markRunning(id, null, { owner: 'another process', until }, at);
    }
    await host.module.get(ActiveRuns).onApplicationBootstrap();
    expect(await host.runs.find('dead')).toMatchObject({ status: 'FAILED', failure_code: 'INTERRUPTED' });
    expect(await host.runs.find('living')).toMatchObject({ status: 'RUNNING' });
  });

  it('a run beyond the limit is refused before anything is stored', async () => {
    await host.close();
    host = await open({ run: { maxConcurrent: 1 } });
    const working = gate();
    const goOn = gate();
    const executor = script.executor;
    script.executor = async (...given) => {
      working.open();
      await goOn.opened;
      return executor(...given);
    };
    const first = host.chat.chat(REQUEST);
    await working.opened;
    expect(await failureOf(host.chat.chat(REQUEST))).toMatchObject({ code: 'OVERLOADED', detail: { maxConcurrent: 1 } });
    goOn.open();
    expect((await first).verdict).toBe('PASS');
    expect(await host.statuses()).toEqual(['SUCCESS']);
  });

  it('[C2] telemetry that is not there fails the run with a message that says so, and leaves nothing RUNNING', async () => {
    await host.close();
    host = await open({ telemetry: { path: folder.file('nowhere') } });
    const error = await failureOf(host.chat.chat(REQUEST));
    expect(error.code).toBe('TELEMETRY_MISSING');
    expect(await host.runs.find(String(error.detail['runId']))).toMatchObject({
      status: 'FAILED',
      failure_code: 'TELEMETRY_UNAVAILABLE',
      message: REQUEST.message,
    });
    expect(await host.statuses()).toEqual(['FAILED']);
  });

  it.each([
    ['empty', { message: '' }, 'REQUEST_INVALID', /message/],
    ['not a text', { message: 7 }, 'REQUEST_INVALID', /message/],
    ['1 MB long', { message: 'x'.repeat(1_000_000) }, 'REQUEST_TOO_LARGE', /8192 bytes/],
    ['of an unknown session', { message: 'why?', sessionId: '0190a1b2-0000-7000-8000-000000000000' }, 'NOT_FOUND', /sessionId/],
  ])('[C2] a message that is %s leaves no run', async (_name, request, code, words) => {
    const error = await failureOf(host.chat.chat(request as ChatRequest));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(words);
    expect(await host.statuses()).toEqual([]);
  });

  it('a watcher that throws harms nobody', async () => {
    const result = await host.chat.chat(REQUEST, {
      onProgress: () => {
        throw new Error('watcher');
      },
    });
    expect(result.verdict).toBe('PASS');
  });

  it('[A17] a credential in the question is stored nowhere and reaches no agent', async () => {
    const secret = 'postgres://admin:hunter2hunter2@db.internal/shop';
    let asked = '';
    const planner = script.planner;
    script.planner = async (input, ...rest) => {
      asked = JSON.stringify(input);
      return planner(input, ...rest);
    };
    const { runId } = await host.chat.chat({ ...REQUEST, message: `Why does ${secret} fail?` });
    expect(asked).toContain('Why does');
    expect(asked).not.toContain('hunter2');
    expect(JSON.stringify(await host.runs.find(runId))).not.toContain('hunter2');
  });
});
