import { Test } from '@nestjs/testing';
import { Logger } from '@nestjs/common';
import { answerOf } from '../../src/blueprint/state-fields';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { compileDiagnosisGraph } from '../../src/graph/diagnosis-graph';
import { DiagnosisGraphService, type GraphRunResult } from '../../src/graph/diagnosis-graph.service';
import { AgentStepStore, type AgentStepRecord } from '../../src/ports/agent-step-store.port';
import { Clock } from '../../src/ports/clock.port';
import { DIAGNOSIS_NODES } from '../../src/ports/graph-node.port';
import { IdSource } from '../../src/ports/id-source.port';
import { ProgressSink, type ProgressEvent } from '../../src/ports/progress-sink.port';
import type { NodeName } from '../../src/vocabulary/node-names';
import { intake } from './documents';
import { acts, Stage, type Act } from './scripted-nodes';

const GATE = acts('planner COMPLETED', 'executor COMPLETED', 'gatekeeper PASS', 'verified_input COMPLETED');
const PASS = [...GATE, ...acts('verifier PASS', 'composer COMPLETED')];
const throwing = (node: NodeName, make: () => unknown): Act => ({
  node,
  play: () => {
    throw make();
  },
});

beforeAll(() => Logger.overrideLogger(false));

describe('DiagnosisGraphService', () => {
  const stage = new Stage();
  const service = new DiagnosisGraphService(stage.nodes);
  let runs = 0;

  function start(
    script: readonly Act[],
    signals: { signal?: AbortSignal; deadline?: AbortSignal } = {},
    by = service,
  ): Promise<GraphRunResult> {
    const runId = `run-${(runs += 1)}`;
    stage.script(runId, script);
    const signal = signals.signal ?? new AbortController().signal;
    return by.run({ runId, sessionId: 's', intake, signal, deadline: signals.deadline ?? new AbortController().signal });
  }

  const path = (result: GraphRunResult): string[] =>
    (result.state?.orchestration_events ?? []).map(({ node, outcome }) => `${node} ${outcome}`);

  it.each(['CANCELLED', 'LEASE_LOST', 'DRAIN'] as const)(
    '[A4] %s ends the run at once and keeps the real partial state',
    async (reason) => {
      const controller = new AbortController();
      const hang: Act = { node: 'executor', play: () => new Promise(() => setImmediate(() => controller.abort(reason))) };
      const result = await start([...acts('planner COMPLETED'), hang], { signal: controller.signal });
      expect(result.failure).toBe(reason);
      expect(path(result)).toEqual(['planner COMPLETED']);
      expect((await start(PASS, { signal: AbortSignal.abort(reason) })).failure).toBe(reason);
    },
  );

  it('[A4] an attempt that outlives its aborted run changes nothing', async () => {
    const controller = new AbortController();
    let finish = (): void => undefined;
    const late: Act = {
      node: 'planner',
      play: () =>
        new Promise((resolve) => {
          finish = () => resolve({ update: { planner_status: 'COMPLETED' }, reason_code: 'OK' });
          setImmediate(() => controller.abort('CANCELLED'));
        }),
    };
    const result = await start([late], { signal: controller.signal });
    finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect(path(result)).toEqual([]);
    expect(result.state?.planner_status).toBeNull();
  });

  it('[A7] [A15] the deadline is an outcome: the run goes on to its safe answer', async () => {
    const controller = new AbortController();
    const hang: Act = { node: 'executor', play: () => new Promise(() => setImmediate(() => controller.abort('RUN_DEADLINE'))) };
    const result = await start([...acts('planner COMPLETED'), hang, ...acts('fallback PRE_VERIFICATION')], {
      deadline: controller.signal,
    });
    expect(result.failure).toBeNull();
    expect(path(result)).toEqual(['planner COMPLETED', 'executor FAILED', 'fallback PRE_VERIFICATION']);
    expect(result.state).toMatchObject({ fallback_reason: 'RUN_DEADLINE' });
  });

  it('[A13] a deadline that passes in the composer still gives the allowed material', async () => {
    const controller = new AbortController();
    const hang: Act = { node: 'composer', play: () => new Promise(() => setImmediate(() => controller.abort('RUN_DEADLINE'))) };
    const script = [...GATE, ...acts('verifier PASS'), hang, ...acts('fallback POST_VERIFICATION')];
    const result = await start(script, { deadline: controller.signal });
    expect(result.state && answerOf(result.state)).toContain('allowed_material');
  });

  it('[A5] a GraphRecursionError is a failure of its own, with the real partial state', async () => {
    class Narrow extends DiagnosisGraphService {
      protected override readonly recursionLimit = 3;
    }
    const result = await start(PASS, {}, new Narrow(stage.nodes));
    expect(result.failure).toBe('GRAPH_RECURSION_LIMIT');
    expect(path(result).length).toBeGreaterThan(0);
    expect(result.state && answerOf(result.state)).toBeNull();
  });

  it.each<[string, () => unknown]>([
    ['an Error', () => new Error('x')],
    ['a frozen Error', () => Object.freeze(new Error('x'))],
    ['undefined', () => undefined],
    ['a string', () => 'x'],
  ])('[A7] [A10] %s thrown by a node never fails the graph', async (_name, make) => {
    const planner = await start([throwing('planner', make), ...acts('fallback PRE_VERIFICATION')]);
    expect([planner.failure, path(planner)]).toEqual([null, ['planner NON_RETRYABLE_FAILED', 'fallback PRE_VERIFICATION']]);
    const gate = await start([...GATE.slice(0, 2), throwing('gatekeeper', make), ...acts('fallback PRE_VERIFICATION')]);
    expect(path(gate).slice(2)).toEqual(['gatekeeper REJECT', 'fallback PRE_VERIFICATION']);
    const composer = await start([
      ...GATE,
      ...acts('verifier PASS'),
      throwing('composer', make),
      ...acts('fallback POST_VERIFICATION'),
    ]);
    expect(path(composer).slice(-2)).toEqual(['composer NON_RETRYABLE_FAILED', 'fallback POST_VERIFICATION']);
  });

  it('[A5] a throwing fallback ends the run without any answer, and says which class it had', async () => {
    const result = await start([...GATE, ...acts('verifier REJECT'), throwing('fallback', () => undefined)]);
    expect(result.failure).toBeNull();
    expect(result.state).toMatchObject({
      fallback_class: 'PRE_VERIFICATION',
      fallback_reason: 'FALLBACK_FAILED',
      fallback_answer: null,
    });
    expect(result.state && answerOf(result.state)).toBeNull();
    expect(result.state?.orchestration_events.at(-1)).toMatchObject({ node: 'fallback', reason_code: 'NODE_THREW' });
  });

  it('[A3] an intake that is no state is refused before the graph starts', async () => {
    const broken = { ...intake, diagnosis_query: { ...intake.diagnosis_query, now: new Date() as unknown as string } };
    const signal = new AbortController().signal;
    const result = await service.run({ runId: 'x', sessionId: 's', intake: broken, signal, deadline: signal });
    expect(result).toEqual({ state: null, failure: 'GRAPH_FAILED' });
  });

  it('[A5] refuses a set of nodes that is not each of the eight once', () => {
    expect(() => compileDiagnosisGraph(stage.nodes.slice(1))).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(() => compileDiagnosisGraph([...stage.nodes, ...stage.nodes.slice(1)])).toThrow(DiagnosisError);
  });
});

describe('DiagnosisGraphService with listeners', () => {
  class FixedClock extends Clock {
    now = () => new Date('2026-05-04T15:00:00Z');
  }
  class Counter extends IdSource {
    private count = 0;
    next = () => `id-${(this.count += 1)}`;
  }
  class Steps extends AgentStepStore {
    readonly kept: AgentStepRecord[] = [];
    failures = 0;
    async record(steps: readonly AgentStepRecord[]): Promise<void> {
      if (this.failures-- > 0) throw new DiagnosisError('STORE_UNAVAILABLE', 'down');
      this.kept.push(...steps);
    }
    async listByRun(): Promise<AgentStepRecord[]> {
      return this.kept;
    }
  }
  class Sink extends ProgressSink {
    readonly events: ProgressEvent[] = [];
    broken = false;
    publish(_runId: string, event: ProgressEvent): void {
      if (this.broken) throw new Error('sink');
      this.events.push(event);
    }
  }

  async function play(prepare: (steps: Steps, sink: Sink) => void) {
    const stage = new Stage();
    stage.script('r', PASS);
    const [steps, sink] = [new Steps(), new Sink()];
    prepare(steps, sink);
    const module = await Test.createTestingModule({
      providers: [
        DiagnosisGraphService,
        { provide: DIAGNOSIS_NODES, useValue: stage.nodes },
        { provide: ProgressSink, useValue: sink },
        { provide: AgentStepStore, useValue: steps },
        { provide: IdSource, useClass: Counter },
        { provide: Clock, useClass: FixedClock },
      ],
    }).compile();
    const signal = new AbortController().signal;
    const result = await module.get(DiagnosisGraphService).run({ runId: 'r', sessionId: 's', intake, signal, deadline: signal });
    return { steps, sink, result };
  }

  it('[A14] publishes progress and records one step for each attempt, with codes only', async () => {
    const { steps, sink, result } = await play(() => undefined);
    expect(result.failure).toBeNull();
    expect(sink.events.slice(0, 2)).toEqual([
      { type: 'node_started', node: 'planner', round: 0, attempt: 1 },
      { type: 'node_finished', node: 'planner', round: 0, attempt: 1, outcome: 'COMPLETED' },
    ]);
    expect(sink.events).toHaveLength(12);
    expect(steps.kept.map(({ node }) => node)).toEqual(result.state?.orchestration_events.map(({ node }) => node));
    expect(steps.kept[0]).toMatchObject({ id: 'id-1', run_id: 'r', outcome: 'COMPLETED', reason_code: 'OK', input_tokens: null });
  });

  it('[A14] a broken sink and a store that is down for a while change nothing and lose nothing', async () => {
    const { steps, result } = await play((store, sink) => {
      store.failures = 2;
      sink.broken = true;
    });
    expect(result.state?.composer_answer).toBe('composed answer');
    expect(steps.kept).toHaveLength(6);
  });

  it('[A14] steps that the store never takes are lost, the run is not', async () => {
    const { steps, result } = await play((store) => (store.failures = 100));
    expect([result.failure, steps.kept, result.state?.orchestration_events.length]).toEqual([null, [], 6]);
  });
});
