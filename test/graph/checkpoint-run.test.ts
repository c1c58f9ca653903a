import type { RunnableConfig } from '@langchain/core/runnables';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { setTimeout } from 'node:timers/promises';
import { ChatService } from '../../src/chat/chat.service';
import { DiagnosisModule } from '../../src/diagnosis.module';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { DiagnosisCheckpointSaver } from '../../src/graph/checkpoint-saver';
import { DiagnosisGraphService, type GraphRunResult } from '../../src/graph/diagnosis-graph.service';
import { parseDiagnosisState } from '../../src/graph/diagnosis-state';
import { parseDiagnosisOptions, type DiagnosisOptionsInput } from '../../src/options/diagnosis-options';
import { CheckpointStore, RUN_REALM } from '../../src/ports/checkpoint-store.port';
import { runIdOf } from '../../src/ports/run-context';
import { REQUEST } from '../chat/chat-host';
import { resetScript, script, SCRIPTED_HOST } from '../chat/scripted-diagnosis';
import { openStore, type Store } from '../runs/run-fixture';
import { describeOnEachDatabase } from '../runs/test-databases';
import { intake } from './documents';
import { acts, Stage, type Act } from './scripted-nodes';

const SECRET = 'sk-live-7d1f';
const BEFORE_COMPOSER = acts(
  'planner COMPLETED',
  'executor COMPLETED',
  'gatekeeper PASS',
  'verified_input COMPLETED',
  'verifier PASS',
);
const PASS = [...BEFORE_COMPOSER, ...acts('composer COMPLETED')];
const composed = { update: { composer_status: 'COMPLETED', composer_answer: 'composed answer' }, reason_code: 'OK' };

beforeAll(() => Logger.overrideLogger(false));

describeOnEachDatabase('checkpoints of runs', (db) => {
  let store: Store;
  const stage = new Stage();
  let runs = 0;
  beforeEach(async () => {
    store = await openStore(db);
  });
  afterEach(() => store.close());

  const service = (
    checkpoints: CheckpointStore = store.checkpoints,
    options: DiagnosisOptionsInput['checkpoints'] = { keep: true, durability: 'sync' },
  ): DiagnosisGraphService =>
    new DiagnosisGraphService(
      stage.nodes,
      undefined,
      undefined,
      undefined,
      undefined,
      checkpoints,
      parseDiagnosisOptions({ checkpoints: options }),
    );

  function start(script: readonly Act[], by = service(), signal = new AbortController().signal): Promise<GraphRunResult> {
    const runId = `run-${(runs += 1)}`;
    stage.script(runId, script);
    return by.run({ runId, sessionId: 's', intake, signal, deadline: new AbortController().signal });
  }

  const parts = async (): Promise<{ kind: string; label: unknown; bytes: Buffer }[]> =>
    store.dataSource.query('SELECT kind, label, bytes FROM diagnosis_checkpoint_part');
  const latest = async (runId: string) =>
    new DiagnosisCheckpointSaver(store.checkpoints, { realm: RUN_REALM }).get({ configurable: { thread_id: runId } });

  it.each(['sync', 'async'] as const)('with durability %s the thread holds the state of a working run', async (durability) => {
    let seen: unknown;
    const look: Act = {
      node: 'composer',
      play: async (_view, config: RunnableConfig) => {
        for (let look = 0; look < 100; look += 1) {
          const checkpoint = await latest(String(config.configurable?.['thread_id']));
          seen = checkpoint?.channel_values;
          if ((seen as { verifier_status?: string } | undefined)?.verifier_status === 'COMPLETED') break;
          await setTimeout(20);
        }
        return composed;
      },
    };
    const result = await start([...BEFORE_COMPOSER, look], service(store.checkpoints, { keep: true, durability }));
    expect(result.failure).toBeNull();
    const fields = Object.entries(seen as object).filter(([channel]) => !channel.startsWith('branch:'));
    const state = parseDiagnosisState(Object.fromEntries(fields));
    expect(state).toMatchObject({ verifier_status: 'COMPLETED', effective_verdict: 'PASS', composer_answer: null });
    expect(state.orchestration_events).toEqual(result.state?.orchestration_events.slice(0, 5));
    expect(await parts()).toEqual([]);
  });

  it('stores what a node changed and nothing a second time, by one statement a node', async () => {
    let values: unknown[] = [];
    let kinds: string[] = [];
    const look: Act = {
      node: 'composer',
      play: async () => {
        kinds = (await parts()).map(({ kind }) => kind);
        values = (await parts()).filter(({ kind }) => kind === 'VALUE').map(({ label }) => asObject(label)['channel']);
        return composed;
      },
    };
    await start([...BEFORE_COMPOSER, look]);
    expect(kinds.filter((kind) => kind !== 'VALUE')).toEqual(Array(6).fill('CHECKPOINT'));
    expect(values.filter((channel) => channel === 'diagnosis_query')).toHaveLength(1);
    expect(values.filter((channel) => channel === 'orchestration_events')).toHaveLength(6);
  });

  it.each(['CANCELLED', 'LEASE_LOST', 'DRAIN'] as const)('a run that ends as %s leaves none', async (reason) => {
    const controller = new AbortController();
    let during = 0;
    const hang: Act = {
      node: 'executor',
      play: async () => {
        during = (await parts()).length;
        controller.abort(reason);
        return new Promise(() => undefined);
      },
    };
    const result = await start([...acts('planner COMPLETED'), hang], service(), controller.signal);
    expect([result.failure, during > 0, await parts()]).toEqual([reason, true, []]);
  });

  it('a run that the engine fails leaves none', async () => {
    class Narrow extends DiagnosisGraphService {
      protected override readonly recursionLimit = 3;
    }
    const options = parseDiagnosisOptions({ checkpoints: { keep: true } });
    const narrow = new Narrow(stage.nodes, undefined, undefined, undefined, undefined, store.checkpoints, options);
    const result = await start(PASS, narrow);
    expect([result.failure, await parts()]).toEqual(['GRAPH_RECURSION_LIMIT', []]);
  });

  it('keeps neither the text of an error nor what an inner graph of an agent holds', async () => {
    const State = Annotation.Root({ note: Annotation<string> });
    const inner = new StateGraph(State)
      .addNode('say', async () => ({ note: SECRET }))
      .addEdge(START, 'say')
      .addEdge('say', END)
      .compile();
    let during: string[] = [];
    const answers: unknown[] = [];
    const planner: Act = {
      node: 'planner',
      play: async (_view, config) => {
        answers.push((await inner.invoke({ note: `ask ${SECRET}` }, config)).note);
        throw new Error(`refused: ${SECRET}`);
      },
    };
    const fallback: Act = {
      node: 'fallback',
      play: async () => {
        during = (await parts()).map(({ label, bytes }) => `${JSON.stringify(label)} ${bytes.toString('utf8')}`);
        return {
          update: { fallback_class: 'PRE_VERIFICATION', fallback_reason: 'NODE_THREW', fallback_answer: 'safe' },
          reason_code: 'OK',
        };
      },
    };
    const result = await start([planner, fallback]);
    expect([result.failure, answers]).toEqual([null, [SECRET]]);
    expect(during.length).toBeGreaterThan(10);
    expect(during.filter((part) => part.includes(SECRET))).toEqual([]);
    expect(during.join('\n')).toContain('NODE_THREW');
  });

  it('a store that fails costs the run its further checkpoints and nothing else', async () => {
    const { checkpoints } = store;
    const original = checkpoints.put.bind(checkpoints);
    let calls = 0;
    jest.spyOn(checkpoints, 'put').mockImplementation(async (checkpoint) => {
      calls += 1;
      if (calls === 3) throw new DiagnosisError('STORE_UNAVAILABLE', 'down');
      await original(checkpoint);
    });
    let during: string[] = [];
    const look: Act = {
      node: 'composer',
      play: async () => {
        during = (await parts()).map(({ kind }) => kind);
        return composed;
      },
    };
    const result = await start([...BEFORE_COMPOSER, look]);
    expect([result.failure, result.state?.composer_answer]).toEqual([null, 'composed answer']);
    expect([calls, during.filter((kind) => kind === 'CHECKPOINT').length]).toEqual([3, 2]);
    expect(await parts()).toEqual([]);
  });

  it('what could not be deleted at the end is left to the sweep, as is what a killed process left', async () => {
    jest.spyOn(store.checkpoints, 'deleteThreads').mockRejectedValueOnce(new DiagnosisError('STORE_UNAVAILABLE', 'down'));
    const result = await start(PASS);
    expect(result.failure).toBeNull();
    expect((await parts()).length).toBeGreaterThan(0);
    expect(await store.checkpoints.sweep(RUN_REALM, new Date(Date.now() - 60_000))).toBe(0);
    expect(await store.checkpoints.sweep(RUN_REALM, new Date(Date.now() + 60_000))).toBe(1);
    expect(await parts()).toEqual([]);
  });

  it('what is written slowly is gone too when the run has been cancelled meanwhile', async () => {
    const { checkpoints } = store;
    const original = checkpoints.put.bind(checkpoints);
    jest.spyOn(checkpoints, 'put').mockImplementation(async (checkpoint) => {
      await setTimeout(80);
      await original(checkpoint);
    });
    const controller = new AbortController();
    const hang: Act = {
      node: 'executor',
      play: () => new Promise(() => setImmediate(() => controller.abort('CANCELLED'))),
    };
    const by = service(checkpoints, { keep: true, durability: 'async' });
    const result = await start([...acts('planner COMPLETED'), hang], by, controller.signal);
    expect(result.failure).toBe('CANCELLED');
    await setTimeout(300);
    expect(await parts()).toEqual([]);
  });

  it('keeps none where the option is off', async () => {
    const put = jest.spyOn(store.checkpoints, 'put');
    const deleted = jest.spyOn(store.checkpoints, 'deleteThreads');
    const result = await start(PASS, service(store.checkpoints, {}));
    expect([result.failure, put.mock.calls.length, deleted.mock.calls.length]).toEqual([null, 0, 0]);
  });
});

describeOnEachDatabase('checkpoints of runs in the module', (db) => {
  it('are there while a question is answered and gone with its answer', async () => {
    const { url, drop } = await db.migrated();
    const module = await Test.createTestingModule({
      imports: [
        DiagnosisModule.forRoot({
          database: { url },
          checkpoints: { keep: true, durability: 'sync' },
          ...SCRIPTED_HOST,
          controllers: false,
        }),
      ],
    }).compile();
    module.useLogger(false);
    await module.init();
    const saver = new DiagnosisCheckpointSaver(module.get(CheckpointStore), { realm: RUN_REALM });
    const ids: string[] = [];
    let during: unknown;
    script.composer = async (_input, config) => {
      ids.push(runIdOf(config));
      during = await saver.getTuple({ configurable: { thread_id: runIdOf(config) } });
      return JSON.stringify({ schema: 'composer_answer_v1', sections: [{ heading: 'What happened', text: '{{c1}}' }] });
    };
    try {
      const { runId } = await module.get(ChatService).chat(REQUEST);
      expect(ids).toEqual([runId]);
      expect(during).toMatchObject({ checkpoint: { channel_values: { planner_mode: 'INITIAL' } } });
      expect(await saver.getTuple({ configurable: { thread_id: runId } })).toBeUndefined();
    } finally {
      resetScript();
      await module.close();
      await drop();
    }
  });
});

/** A json column as SQLite and MariaDB hand it out: as its text. */
function asObject(label: unknown): Record<string, unknown> {
  return (typeof label === 'string' ? JSON.parse(label) : (label ?? {})) as Record<string, unknown>;
}
