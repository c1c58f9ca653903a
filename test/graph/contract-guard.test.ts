import type { RunnableConfig } from '@langchain/core/runnables';
import { NODE_CONTRACTS } from '../../src/blueprint/node-contracts';
import { initialState, STATE_FIELDS, type DiagnosisState, type StateField } from '../../src/blueprint/state-fields';
import { guardNode, type GuardedNode } from '../../src/graph/contract-guard';
import { GraphNode, type NodeResult } from '../../src/ports/graph-node.port';
import { NODE_NAMES, type NodeName } from '../../src/vocabulary/node-names';
import { fullState, intake, plan } from './documents';

type Run = (view: Record<string, unknown>, config: RunnableConfig) => unknown;

class Played extends GraphNode<NodeName> {
  constructor(
    override readonly name: NodeName,
    private readonly play: Run,
  ) {
    super();
  }
  override run(view: object, config: RunnableConfig): Promise<NodeResult<NodeName>> {
    return this.play(view as Record<string, unknown>, config) as Promise<NodeResult<NodeName>>;
  }
}

const guard = (name: NodeName, play: Run): GuardedNode => guardNode<NodeName>(new Played(name, play));

function configOf(signals: { signal?: AbortSignal; deadline?: AbortSignal } = {}): RunnableConfig {
  const deadline = signals.deadline ?? new AbortController().signal;
  return {
    configurable: { thread_id: 'r', run: { runId: 'r', deadline, round: 0 } },
    metadata: { runId: 'r' },
    signal: signals.signal,
  };
}

/** First-round state: as `fullState`, before the evidence round. */
function firstRound(): DiagnosisState {
  return { ...fullState(), evidence_retry_count: 0, planner_mode: 'INITIAL', evidence_retry_context: null };
}

const done = (update: object) => ({ update, reason_code: 'OK' });

describe('Contract guard', () => {
  it.each(NODE_NAMES)('[A3] [B2] %s sees exactly its declared reads and the very config of the engine', async (name) => {
    const config = configOf();
    let seen: unknown;
    let given: unknown;
    await guard(name, (view, passed) => {
      seen = Object.keys(view).sort();
      given = passed;
      return done({});
    })(firstRound(), config);
    expect(seen).toEqual([...NODE_CONTRACTS[name].reads].sort());
    expect(given).toBe(config);
  });

  it('[A3] [B15] the fallback sees allowed material only when the composer failed', async () => {
    const seen: string[][] = [];
    const fallback = guard('fallback', (view) => {
      seen.push(Object.keys(view).sort());
      return done({});
    });
    for (const node of ['verifier', 'composer'] as const) {
      const event = { node, outcome: 'NON_RETRYABLE_FAILED', reason_code: 'OK', attempt: { round: 0, attempt: 1 } } as const;
      await fallback({ ...firstRound(), orchestration_events: [event] }, configOf());
    }
    expect(seen).toEqual([
      ['diagnosis_query', 'orchestration_events'],
      ['allowed_material', 'diagnosis_query', 'effective_verdict', 'orchestration_events'],
    ]);
  });

  it('[A2] a node cannot change state through its view, nor through what it returned', async () => {
    const state = firstRound();
    const before = JSON.stringify(state);
    const returned = structuredClone(plan);
    const update = await guard('planner', (view) => {
      expect(() => ((view['diagnosis_query'] as { question: string }).question = 'x')).toThrow(TypeError);
      expect(() => (view['planner_mode'] = 'x')).toThrow(TypeError);
      return done({ planner_status: 'COMPLETED', diagnosis_plan: returned });
    })(state, configOf());
    returned.steps.length = 0;
    expect(JSON.stringify(state)).toBe(before);
    expect(update.diagnosis_plan).toEqual(plan);
  });

  it.each<[string, unknown]>([
    ['a write to a foreign field', done({ planner_status: 'COMPLETED', effective_verdict: 'PASS' })],
    ['a write to the guard’s events', done({ planner_status: 'COMPLETED', orchestration_events: [] })],
    ['a Date in a document', done({ planner_status: 'COMPLETED', diagnosis_plan: { ...plan, at: new Date() } })],
    ['NaN', done({ planner_status: 'COMPLETED', diagnosis_plan: { ...plan, n: Number.NaN } })],
    ['a BigInt', done({ planner_status: 'COMPLETED', diagnosis_plan: { ...plan, n: 1n } })],
    ['a function', done({ planner_status: 'COMPLETED', diagnosis_plan: { ...plan, f: () => 1 } })],
    ['no result', undefined],
    ['a result without an update', { reason_code: 'OK' }],
    ['a reason that is no code', { update: {}, reason_code: 'because of the key sk-123' }],
  ])('[A2] [A3] [A7] %s ends the attempt in the on_throw status', async (_name, result) => {
    const update = await guard('planner', () => result)(initialState(intake), configOf());
    expect(update).toEqual({
      planner_status: 'NON_RETRYABLE_FAILED',
      attempts: { planner: [1, 0] },
      orchestration_events: [
        { node: 'planner', outcome: 'NON_RETRYABLE_FAILED', reason_code: 'NODE_THREW', attempt: { round: 0, attempt: 1 } },
      ],
    });
  });

  it.each<[string, () => unknown]>([
    ['an Error', () => new Error('password=x')],
    ['a frozen Error', () => Object.freeze(new Error('x'))],
    ['undefined', () => undefined],
    ['a string', () => 'x'],
    ['null', () => null],
  ])('[A7] [B6] %s, thrown or rejected, becomes the status that each contract names', async (_name, make) => {
    for (const name of NODE_NAMES) {
      for (const play of [
        () => Promise.reject(make()),
        () => {
          throw make();
        },
      ]) {
        const update = await guard(name, play)(firstRound(), configOf());
        expect(update).toMatchObject(NODE_CONTRACTS[name].on_throw);
        expect(update.orchestration_events).toMatchObject([{ node: name, reason_code: 'NODE_THREW' }]);
        expect(JSON.stringify(update)).not.toContain('password');
      }
    }
  });

  it('[A2] strips undefined and clears the node’s own outputs before an attempt, no other field', async () => {
    const state = { ...firstRound(), attempts: {} };
    const update = await guard('verifier', () => done({ verifier_status: 'INVALID_OUTPUT', verifier_facts: undefined }))(
      state,
      configOf(),
    );
    expect(update).toEqual({
      verifier_status: 'INVALID_OUTPUT',
      verifier_model_verdict: null,
      effective_verdict: null,
      verifier_facts: null,
      allowed_material: null,
      attempts: { verifier: [1, 0] },
      orchestration_events: [expect.objectContaining({ outcome: 'INVALID_OUTPUT' })],
    });
  });

  it('[B9] a failing node leaves its status alone, an unknown one leaves nothing', async () => {
    const play = (status: string) => guard('composer', () => done({ composer_status: status, composer_answer: 'made up' }));
    const failed = await play('NON_RETRYABLE_FAILED')(firstRound(), configOf());
    expect([failed.composer_status, failed.composer_answer]).toEqual(['NON_RETRYABLE_FAILED', null]);
    const unknown = await play('MAYBE')(firstRound(), configOf());
    expect([unknown.composer_status, unknown.composer_answer]).toEqual([null, null]);
    expect(unknown.orchestration_events).toMatchObject([{ outcome: 'UNKNOWN', reason_code: 'STATUS_UNKNOWN' }]);
  });

  it('[A2] [A9] clears every round field when the evidence round starts, and no run field; counters start anew', async () => {
    const state = fullState();
    const update = await guard('planner', () => done({ planner_status: 'RETRYABLE_FAILED' }))(state, configOf());
    for (const field of Object.keys(STATE_FIELDS) as StateField[]) {
      if (field === 'planner_status' || STATE_FIELDS[field].owner === 'guard') continue;
      if (STATE_FIELDS[field].scope === 'round') expect([field, update[field]]).toEqual([field, null]);
      else expect([field, field in update]).toEqual([field, false]);
    }
    expect(update.attempts?.planner).toEqual([1, 1]);
    expect(update.orchestration_events).toMatchObject([{ outcome: 'RETRYABLE_FAILED', attempt: { round: 1, attempt: 1 } }]);
  });

  it('[A9] a prepared retry that did not count itself is unknown, so that no third round can open', async () => {
    const { evidence_retry_context } = fullState();
    const update = await guard('retry_prepare', () => done({ retry_prepare_status: 'COMPLETED', evidence_retry_context }))(
      firstRound(),
      configOf(),
    );
    expect(update.orchestration_events).toMatchObject([{ outcome: 'UNKNOWN' }]);
  });

  it.each([
    ['CANCELLED', 'CANCELLED'],
    ['LEASE_LOST', 'LEASE_LOST'],
    ['DRAIN', 'CANCELLED'],
  ])(
    '[A4] an attempt under a signal aborted with %s leaves neither status nor event, whenever it is aborted',
    async (reason, code) => {
      const late = new AbortController();
      const hanging = guard('executor', () => new Promise((settle) => setImmediate(() => settle(late.abort(reason)))))(
        firstRound(),
        configOf(late),
      );
      await expect(hanging).rejects.toMatchObject({ code, detail: { reason } });
      const throwing = new AbortController();
      const thrown = guard('executor', () => {
        throwing.abort(reason);
        throw new Error('x');
      })(firstRound(), configOf(throwing));
      await expect(thrown).rejects.toMatchObject({ code });
      let ran = false;
      const early = guard('executor', () => void (ran = true))(firstRound(), configOf({ signal: AbortSignal.abort(reason) }));
      await expect(early).rejects.toMatchObject({ code });
      expect(ran).toBe(false);
    },
  );

  it.each(NODE_NAMES.filter((name) => name !== 'fallback'))(
    '[A7] the deadline ends an attempt of %s in its on_throw status; what comes late is ignored',
    async (name) => {
      const deadline = new AbortController();
      const play = () =>
        new Promise((_resolve, reject) =>
          setImmediate(() => {
            deadline.abort('RUN_DEADLINE');
            reject(new Error('late'));
          }),
        );
      let ran = 0;
      for (const run of [play, () => void (ran += 1)]) {
        const update = await guard(name, run)(firstRound(), configOf({ deadline: deadline.signal }));
        expect(update).toMatchObject(NODE_CONTRACTS[name].on_throw);
        expect(update.orchestration_events).toMatchObject([{ reason_code: 'RUN_DEADLINE' }]);
      }
      expect(ran).toBe(0);
    },
  );

  it('[A7] the fallback answers after the deadline too', async () => {
    const answer = { fallback_class: 'PRE_VERIFICATION', fallback_reason: 'RUN_DEADLINE', fallback_answer: 'safe' };
    const config = configOf({ deadline: AbortSignal.abort('RUN_DEADLINE') });
    expect(await guard('fallback', () => done(answer))(firstRound(), config)).toMatchObject(answer);
  });

  it('[A4] an event has four keys and closed words', async () => {
    const update = await guard('executor', () => ({ ...done({ executor_status: 'FAILED' }), note: 'text' }))(
      firstRound(),
      configOf(),
    );
    expect(Object.keys(update.orchestration_events?.[0] ?? {})).toEqual(['node', 'outcome', 'reason_code', 'attempt']);
  });

  it('[A17] refuses a config whose thread is not its run', async () => {
    const config = { ...configOf(), metadata: { runId: 'another' } };
    await expect(guard('planner', () => done({}))(firstRound(), config)).rejects.toMatchObject({ code: 'STATE_INVALID' });
  });
});
