import type { ChatProgress } from '../../src/chat/chat.service';
import { ProgressHub } from '../../src/chat/progress-hub.service';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { DiagnosisGraphService } from '../../src/graph/diagnosis-graph.service';
import type { DiagnosisOptionsInput } from '../../src/options/diagnosis-options';
import { EvaluationStore } from '../../src/ports/evaluation-store.port';
import { ToolInvocationStore } from '../../src/ports/tool-invocation-store.port';
import { describeOnEachDatabase, type FreshDatabase } from '../runs/test-databases';
import { ChatHost, REQUEST, failureOf } from './chat-host';
import { MARKER, resetScript, script } from './scripted-diagnosis';

describeOnEachDatabase('ChatServiceGraphIntegrationTest', (db) => {
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

  describe('a safe answer', () => {
    it('[A15] [C8] keeps answer, sessionId and runId, and persists SUCCESS with flow, trace, metrics and self evaluation', async () => {
      const result = await host.chat.chat(REQUEST);
      expect(result).toMatchObject({
        verdict: 'PASS',
        degraded: false,
        causes: [{ rank: 1, subject: 'alder', role: 'cause', claimIds: ['c1'] }],
      });
      const run = await host.runs.find(result.runId);
      expect(run).toMatchObject({
        status: 'SUCCESS',
        agent_flow: 'DIAGNOSIS_GRAPH',
        session_id: result.sessionId,
        answer: result.answer,
        verdict: 'PASS',
        degraded: false,
        causes: result.causes,
        failure_code: null,
      });
      expect(run?.trace?.events.length).toBeGreaterThan(0);
      expect(run?.metrics).toMatchObject({ tool_calls: 1, input_tokens: null });
      expect(run?.metrics?.agent_calls).toBeGreaterThan(0);
      expect(run?.self_evaluation).toEqual({
        claims_proposed: 1,
        claims_passed: 1,
        claims_allowed: 1,
        claims_shown: 1,
        gaps: 0,
        tool_calls: 1,
      });
      expect(Object.keys(run?.self_evaluation ?? {})).not.toContain('events');
    });

    it('[C8] [A14] calls the evaluation once, after SUCCESS is committed', async () => {
      let seen: string | undefined;
      host.evaluation = async (runId) => {
        seen = (await host.runs.find(runId))?.status;
      };
      const { runId } = await host.chat.chat(REQUEST);
      expect(host.evaluated).toEqual([runId]);
      expect(seen).toBe('SUCCESS');
    });

    it('[C8] stores the score of the default evaluation', async () => {
      const { runId } = await host.chat.chat(REQUEST);
      expect(await host.module.get(EvaluationStore).listByRun(runId)).toMatchObject([
        { run_id: runId, kind: 'expected_label', score: null },
      ]);
    });

    it('[C8] a failing evaluation changes neither result nor run', async () => {
      host.evaluation = async () => {
        throw new Error('no scores today');
      };
      const result = await host.chat.chat(REQUEST);
      expect(result.verdict).toBe('PASS');
      expect(await host.runs.find(result.runId)).toMatchObject({ status: 'SUCCESS', answer: result.answer });
    });

    it('[A15] [A10] [B15] a fallback before verification is SUCCESS, degraded, without causes, claims or verdict, and is evaluated', async () => {
      script.executor = async () => {
        throw new DiagnosisError('AGENT_PERMANENT', 'out of order');
      };
      const result = await host.chat.chat(REQUEST);
      expect(result).toMatchObject({ verdict: null, degraded: true, causes: [] });
      expect(await host.runs.find(result.runId)).toMatchObject({
        status: 'SUCCESS',
        degraded: true,
        causes: [],
        trace: { fallback_class: 'PRE_VERIFICATION', degraded: true },
      });
      const evidence = await host.reader.evidence(result.runId);
      expect(evidence.claims).toEqual([]);
      expect(evidence.emptyReason).toMatch(/before verification/);
      expect(host.evaluated).toEqual([result.runId]);
    });

    it('[A13] [A15] [B15] a fallback after verification shows what was allowed, with its evidence', async () => {
      script.composer = async () => 'no document at all';
      const result = await host.chat.chat(REQUEST);
      expect(result).toMatchObject({ verdict: 'PASS', degraded: true, causes: [{ subject: 'alder' }] });
      expect((await host.reader.evidence(result.runId)).claims).toMatchObject([{ claim_id: 'c1', citation: 1 }]);
      expect(host.evaluated).toEqual([result.runId]);
    });

    it('[A10] a run that the verifier rejects shows no cause although the executor named one', async () => {
      script.verifier = async () =>
        JSON.stringify({
          schema: 'verifier_verdict_v1',
          verdict: 'REJECT',
          facts: [{ fact_id: 'f1', claim_id: 'c1', is_critical: true, verification: 'contradicted', gap: null }],
          allowed: { claim_ids: [], assessment_subjects: [], missing_information: [], recommendations: [] },
        });
      const result = await host.chat.chat(REQUEST);
      expect(result).toMatchObject({ verdict: 'REJECT', degraded: true, causes: [] });
      expect(result.answer).not.toContain('alder');
    });

    it('[B7] opens the evidence: binding, matched text and the lines around it as they are stored', async () => {
      const { runId } = await host.chat.chat(REQUEST);
      const { claims } = await host.reader.evidence(runId);
      expect(claims).toHaveLength(1);
      const failures = claims[0]?.bindings.find(({ raw_path }) => raw_path === '/rows/0/failures');
      expect(failures).toMatchObject({ tool_name: 'unit_counts', matched_text: '42' });
      expect(failures?.context?.filter(({ matched }) => matched).map(({ text }) => text)).toEqual(['  "failures": 42,']);
      const call = await host.reader.invocation(runId, failures?.source_invocation_id ?? '');
      expect(call.output?.text).toContain('"failures":42');
      expect(call.output?.next).toBeNull();
      const part = await host.reader.invocation(runId, call.invocation.id, { offset: 1, limit: 4 });
      expect(part.output).toMatchObject({ offset: 1, text: call.output?.text.slice(1, 5), next: 5 });
    });
  });

  describe('an unsafe ending', () => {
    it('[C8] an unhandled failure is FAILED, without evaluation, with the real partial trace only', async () => {
      const graph = host.module.get(DiagnosisGraphService, { strict: false });
      const real = graph.run.bind(graph);
      jest.spyOn(graph, 'run').mockImplementation(async (request) => ({ ...(await real(request)), failure: 'GRAPH_FAILED' }));
      const error = await failureOf(host.chat.chat(REQUEST));
      expect(error).toMatchObject({ code: 'RUN_FAILED', detail: { failure: 'GRAPH_FAILED' } });
      const run = await host.runs.find(String(error.detail['runId']));
      expect(run).toMatchObject({ status: 'FAILED', failure_code: 'GRAPH_FAILED', answer: null, self_evaluation: null });
      expect(run?.trace?.path.length).toBeGreaterThan(0);
      expect(host.evaluated).toEqual([]);
    });

    it('[C8] a graph that throws is FAILED without a trace, and its text reaches nobody', async () => {
      jest.spyOn(host.module.get(DiagnosisGraphService, { strict: false }), 'run').mockRejectedValue(new Error('key=sk-123'));
      const error = await failureOf(host.chat.chat(REQUEST));
      expect(error.code).toBe('RUN_FAILED');
      expect(JSON.stringify([error.message, error.detail])).not.toContain('sk-123');
      expect(await host.runs.find(String(error.detail['runId']))).toMatchObject({
        status: 'FAILED',
        failure_code: 'GRAPH_FAILED',
        trace: null,
      });
      expect(host.evaluated).toEqual([]);
    });

    it.each([
      ['no state', 'STATE_MISSING'],
      ['a blank answer', 'ANSWER_BLANK'],
    ] as const)('[C8] %s is FAILED with %s and no evaluation', async (kind, code) => {
      const graph = host.module.get(DiagnosisGraphService, { strict: false });
      const real = graph.run.bind(graph);
      jest.spyOn(graph, 'run').mockImplementation(async (request) => {
        const { state } = await real(request);
        return { state: kind === 'no state' || state === null ? null : { ...state, composer_answer: ' \n' }, failure: null };
      });
      const error = await failureOf(host.chat.chat(REQUEST));
      const run = await host.runs.find(String(error.detail['runId']));
      expect(run).toMatchObject({ status: 'FAILED', failure_code: code, answer: null });
      expect(run?.trace === null).toBe(kind === 'no state');
      expect(host.evaluated).toEqual([]);
    });
  });

  describe('runs of one session', () => {
    it('[C8] [A17] two runs have distinct ids and keep trace, evaluation, metrics, steps and calls apart', async () => {
      const first = await host.chat.chat(REQUEST);
      script.executor = async () => 'no document at all';
      const second = await host.chat.chat({ ...REQUEST, sessionId: first.sessionId });
      expect(second.sessionId).toBe(first.sessionId);
      expect(second.runId).not.toBe(first.runId);
      const [one, two] = [await host.runs.find(first.runId), await host.runs.find(second.runId)];
      expect(one?.trace?.degraded).toBe(false);
      expect(two?.trace?.degraded).toBe(true);
      expect(one?.metrics?.tool_calls).toBe(1);
      expect(two?.metrics?.tool_calls).toBe(0);
      expect(await host.module.get(ToolInvocationStore).listByRun(second.runId)).toEqual([]);
      for (const { runId } of [first, second]) {
        expect((await host.module.get(EvaluationStore).listByRun(runId)).map(({ run_id }) => run_id)).toEqual([runId]);
      }
    });

    it('[C8] [A17] two callers at once get two runs, each with its own call and its own evidence', async () => {
      const { sessionId } = await host.chat.chat(REQUEST);
      const results = await Promise.all([1, 2, 3].map(() => host.chat.chat({ ...REQUEST, sessionId })));
      expect(new Set(results.map(({ runId }) => runId)).size).toBe(3);
      for (const { runId, verdict } of results) {
        expect(verdict).toBe('PASS');
        const calls = await host.module.get(ToolInvocationStore).listByRun(runId);
        expect(calls.map(({ run_id }) => run_id)).toEqual([runId]);
        const cited = (await host.reader.evidence(runId)).claims.flatMap(({ bindings }) =>
          bindings.map((row) => row.source_invocation_id),
        );
        expect(new Set(cited)).toEqual(new Set(calls.map(({ invocation_id }) => invocation_id)));
      }
    });

    it('[A17] an invocation of another run is as unknown as one that does not exist', async () => {
      const first = await host.chat.chat(REQUEST);
      const second = await host.chat.chat(REQUEST);
      const [call] = await host.module.get(ToolInvocationStore).listByRun(first.runId);
      const words = async (id: string): Promise<string> =>
        host.reader.invocation(second.runId, id).then(
          () => 'found',
          (error: DiagnosisError) => `${error.code} ${error.message}`,
        );
      expect(await words(call?.id ?? '')).toMatch(/^NOT_FOUND /);
      expect(await words(call?.id ?? '')).toBe(await words('t9-zzzz'));
      expect(await words(call?.invocation_id ?? '')).toBe(await words('t9-zzzz'));
    });

    it('[A17] the planner of a later run sees earlier PASS answers with their run ids, and nothing of a fallback', async () => {
      const passed = await host.chat.chat(REQUEST);
      const { sessionId } = passed;
      script.executor = async () => 'no document at all';
      await host.chat.chat({ ...REQUEST, sessionId });
      let context: unknown;
      const planner = script.planner;
      script.planner = async (input, ...rest) => {
        context = input['session_context'];
        return planner(input, ...rest);
      };
      await host.chat.chat({ ...REQUEST, sessionId });
      expect(context).toEqual({
        earlier_answers: [{ run_id: passed.runId, question: REQUEST.message, answer: passed.answer }],
      });
    });

    it('[C8] DIRECT quotes the stored answer with run and verdict, and has no trace, metrics or evaluation', async () => {
      const first = await host.chat.chat(REQUEST);
      const quoted = await host.chat.chat({ message: 'Show the last answer.', sessionId: first.sessionId });
      expect(quoted).toMatchObject({ sessionId: first.sessionId, verdict: null, degraded: false, causes: [] });
      expect(quoted.answer).toContain(first.answer);
      expect(quoted.answer).toContain(first.runId);
      expect(quoted.answer).toContain('verdict PASS');
      expect(await host.runs.find(quoted.runId)).toMatchObject({
        status: 'SUCCESS',
        agent_flow: 'DIRECT',
        trace: null,
        metrics: null,
        self_evaluation: null,
      });
      expect(await host.reader.run(quoted.runId)).not.toHaveProperty('orchestrationTrace');
      expect(host.evaluated).toEqual([first.runId]);
    });

    it('[C8] DIRECT never quotes a fallback: without a PASS answer the graph is asked', async () => {
      script.executor = async () => 'no document at all';
      const first = await host.chat.chat(REQUEST);
      const second = await host.chat.chat({ message: 'Show the last answer.', sessionId: first.sessionId });
      expect(await host.runs.find(second.runId)).toMatchObject({ agent_flow: 'DIAGNOSIS_GRAPH' });
    });
  });

  describe('what is shown', () => {
    it('[A16] the trace stands at run.orchestrationTrace of a graph run and nowhere else', async () => {
      const result = await host.chat.chat(REQUEST);
      expect(result).not.toHaveProperty('orchestrationTrace');
      const view = await host.reader.run(result.runId);
      expect(view.orchestrationTrace).toMatchObject({
        gatekeeper_status: 'PASS',
        verdict_ceiling: 'PASS',
        effective_verdict: 'PASS',
        fallback_class: null,
        degraded: false,
      });
      expect(view).not.toHaveProperty('trace');
      expect(JSON.stringify({ ...view, orchestrationTrace: null })).not.toContain('reason_code');
    });

    it('[A14] [A17] nothing of prompts, reasoning or tool output stands in a run', async () => {
      const { runId } = await host.chat.chat(REQUEST);
      expect(JSON.stringify(await host.reader.run(runId))).not.toContain(MARKER);
      expect(JSON.stringify(await host.runs.find(runId))).not.toContain(MARKER);
    });

    it('[A17] progress names the run first, then nodes and tools as they work, never a claim or an output', async () => {
      const events: ChatProgress[] = [];
      let seenByExecutor = 0;
      const executor = script.executor;
      script.executor = async (...given) => {
        seenByExecutor = events.length;
        return executor(...given);
      };
      const result = await host.chat.chat(REQUEST, { onProgress: (event) => events.push(event) });
      expect(events[0]).toEqual({ type: 'run', runId: result.runId, sessionId: result.sessionId });
      expect(seenByExecutor).toBeGreaterThan(1);
      expect(events).toContainEqual({ type: 'tool_finished', tool_name: 'unit_counts', status: 'OK' });
      expect(new Set(events.map(({ type }) => type)).size).toBe(5);
      expect(JSON.stringify(events)).not.toMatch(new RegExp(`alder|${MARKER}`));
      expect(host.module.get(ProgressHub).size).toBe(0);
    });
  });
});
