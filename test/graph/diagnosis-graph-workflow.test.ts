import { answerOf, type DiagnosisState } from '../../src/blueprint/state-fields';
import { buildOrchestrationTrace } from '../../src/blueprint/orchestration-trace-builder';
import { DiagnosisGraphService } from '../../src/graph/diagnosis-graph.service';
import { orchestrationTraceSchema } from '../../src/protocol/orchestration-trace';
import { allowed, intake, noEvidence } from './documents';
import { acts, Stage, type Act, type Seen } from './scripted-nodes';

const GATE = ['planner COMPLETED', 'executor COMPLETED', 'gatekeeper PASS', 'verified_input COMPLETED'];
const LOW_GATE = ['planner COMPLETED', 'executor COMPLETED', 'gatekeeper LOW_CONFID', 'verified_input COMPLETED'];
const GAP = [...GATE, 'verifier EVIDENCE_GAP', 'retry_prepare COMPLETED'];
const PRE = 'fallback PRE_VERIFICATION';
const POST = 'fallback POST_VERIFICATION';

/** Every route by name: requirement ids and what happens, the node runs with their outcomes, and what answers. */
const ROUTES: readonly (readonly [name: string, path: readonly string[]])[] = [
  ['[C3] PASS', [...GATE, 'verifier PASS', 'composer COMPLETED']],
  ['[A6] [C3] planner INVALID_OUTPUT, then success', ['planner INVALID_OUTPUT', ...GATE, 'verifier PASS', 'composer COMPLETED']],
  [
    '[A6] [C3] planner RETRYABLE_FAILED, then success',
    ['planner RETRYABLE_FAILED', ...GATE, 'verifier PASS', 'composer COMPLETED'],
  ],
  ['[A7] [C3] planner fails technically twice: executor is skipped', ['planner INVALID_OUTPUT', 'planner RETRY_EXHAUSTED', PRE]],
  ['[A7] [C3] planner NON_RETRYABLE_FAILED: executor is skipped', ['planner NON_RETRYABLE_FAILED', PRE]],
  ['[A5] [C3] planner status unknown: fails closed', ['planner UNKNOWN', PRE]],
  ['[A8] [C4] executor FAILED', ['planner COMPLETED', 'executor FAILED', PRE]],
  ['[A8] [C4] executor TOOL_BLOCKED', ['planner COMPLETED', 'executor TOOL_BLOCKED', PRE]],
  ['[A8] [C4] executor INVALID_OUTPUT is not retried', ['planner COMPLETED', 'executor INVALID_OUTPUT', PRE]],
  ['[A8] [C4] executor status unknown', ['planner COMPLETED', 'executor UNKNOWN', PRE]],
  ['[A11] [C4] gatekeeper LOW_CONFID with a verified binding', [...LOW_GATE, 'verifier LOW_CONFID', 'composer COMPLETED']],
  [
    '[A10] [C4] gatekeeper LOW_CONFID without one: verifier is skipped',
    [...GATE.slice(0, 2), 'gatekeeper LOW_CONFID_UNBOUND', PRE],
  ],
  ['[A10] [C4] gatekeeper REJECT: verifier is skipped', [...GATE.slice(0, 2), 'gatekeeper REJECT', PRE]],
  ['[A10] [C4] gatekeeper unknown: verifier is skipped', [...GATE.slice(0, 2), 'gatekeeper UNKNOWN', PRE]],
  ['[A10] [C4] nothing verified: verifier is skipped', [...GATE.slice(0, 3), 'verified_input FAILED', PRE]],
  ['[A6] [C5] verifier is retried once, alone', [...GATE, 'verifier RETRYABLE_FAILED', 'verifier PASS', 'composer COMPLETED']],
  ['[A7] [C5] verifier exhausts', [...GATE, 'verifier INVALID_OUTPUT', 'verifier RETRY_EXHAUSTED', PRE]],
  ['[A7] [C5] verifier NON_RETRYABLE_FAILED', [...GATE, 'verifier NON_RETRYABLE_FAILED', PRE]],
  ['[C5] verifier REJECT', [...GATE, 'verifier REJECT', PRE]],
  ['[A9] [C5] a critical gap opens an evidence round', [...GAP, ...GATE, 'verifier PASS', 'composer COMPLETED']],
  ['[B12] [C5] only a gap that is not critical: no evidence round', [...GATE, 'verifier LOW_CONFID', 'composer COMPLETED']],
  [
    '[A9] [C5] a second LOW_CONFID with a gap ends: one round at most',
    [...GAP, ...GATE, 'verifier LOW_CONFID', 'composer COMPLETED'],
  ],
  [
    '[A9] the preparation fails: the allowed answer stands',
    [...GATE, 'verifier EVIDENCE_GAP', 'retry_prepare FAILED', 'composer COMPLETED'],
  ],
  [
    '[B13] [C5] the second round passes the gate in full',
    [...GAP, 'planner COMPLETED', 'executor COMPLETED', 'gatekeeper REJECT', PRE],
  ],
  ['[A6] [C6] composer is retried once', [...GATE, 'verifier PASS', 'composer INVALID_OUTPUT', 'composer COMPLETED']],
  ['[A13] [C6] composer exhausts', [...GATE, 'verifier PASS', 'composer RETRYABLE_FAILED', 'composer RETRY_EXHAUSTED', POST]],
  ['[A13] [C6] composer NON_RETRYABLE_FAILED', [...GATE, 'verifier PASS', 'composer NON_RETRYABLE_FAILED', POST]],
];

describe('DiagnosisGraphWorkflowTest', () => {
  const stage = new Stage();
  const service = new DiagnosisGraphService(stage.nodes);
  let runs = 0;

  async function play(script: readonly Act[]): Promise<{ state: DiagnosisState; seen: readonly Seen[] }> {
    const runId = `run-${(runs += 1)}`;
    const { seen } = stage.script(runId, script);
    const [signal, deadline] = [new AbortController().signal, new AbortController().signal];
    const { state, failure } = await service.run({ runId, sessionId: 's', intake, signal, deadline });
    if (state === null || failure !== null) throw new Error(`the run failed: ${failure}`);
    return { state, seen };
  }

  it.each(ROUTES)('%s', async (_name, path) => {
    const { state, seen } = await play(acts(...path));
    expect(state.orchestration_events.map(({ node, outcome }) => `${node} ${outcome}`)).toEqual(path);
    expect(seen.map(({ node }) => node)).toEqual(path.map((step) => step.split(' ')[0]));
    const last = path.at(-1);
    expect(answerOf(state)).toMatch(last === POST ? /POST/ : last === PRE ? /PRE/ : /^composed/);
    const trace = orchestrationTraceSchema.parse(buildOrchestrationTrace(state));
    expect(trace).toMatchObject({
      degraded: last === PRE || last === POST,
      fallback_class: last?.startsWith('fallback') ? last.split(' ')[1] : null,
    });
  });

  it('[C4] a legal no-evidence document goes on to the gatekeeper', async () => {
    const play_ = () => ({ update: { executor_status: 'COMPLETED', executor_output: noEvidence }, reason_code: 'NO_EVIDENCE' });
    const script: Act[] = [
      ...acts('planner COMPLETED'),
      { node: 'executor', play: play_ },
      ...acts('gatekeeper LOW_CONFID_UNBOUND', PRE),
    ];
    const { state } = await play(script);
    expect(state.orchestration_events.slice(1, 3)).toMatchObject([
      { node: 'executor', outcome: 'COMPLETED', reason_code: 'NO_EVIDENCE' },
      { node: 'gatekeeper', outcome: 'LOW_CONFID_UNBOUND' },
    ]);
  });

  it('[A11] [C5] under a LOW_CONFID ceiling a PASS of the verifier is not believed', async () => {
    const claim = () => ({
      update: {
        verifier_status: 'COMPLETED',
        verifier_model_verdict: 'PASS',
        effective_verdict: 'PASS',
        allowed_material: allowed,
      },
      reason_code: 'OK',
    });
    const { state } = await play([...acts(...LOW_GATE), { node: 'verifier', play: claim }, ...acts(PRE)]);
    expect(state.orchestration_events.at(-2)).toMatchObject({ outcome: 'UNKNOWN', reason_code: 'STATUS_UNKNOWN' });
    expect(state.effective_verdict).toBeNull();
  });

  it('[A6] [B10] [B14] first attempt and retry are given the same bytes, in both rounds', async () => {
    const twice = ['planner INVALID_OUTPUT', ...GATE, 'verifier RETRYABLE_FAILED'];
    const { seen, state } = await play(
      acts(
        ...twice,
        'verifier EVIDENCE_GAP',
        'retry_prepare COMPLETED',
        ...twice,
        'verifier PASS',
        'composer INVALID_OUTPUT',
        'composer COMPLETED',
      ),
    );
    for (const [node, round] of [
      ['planner', 0],
      ['planner', 1],
      ['verifier', 0],
      ['verifier', 1],
      ['composer', 1],
    ] as const) {
      const bytes = seen.filter((entry) => entry.node === node && entry.round === round).map((entry) => entry.bytes);
      expect(bytes).toHaveLength(2);
      expect(bytes[0]).toBe(bytes[1]);
    }
    expect(seen).toHaveLength(17);
    expect(state.attempts).toEqual({
      planner: [2, 2],
      executor: [1, 1],
      gatekeeper: [1, 1],
      verified_input: [1, 1],
      verifier: [2, 2],
      retry_prepare: [1, 0],
      composer: [0, 2],
    });
  });

  it('[A9] technical and evidence counters are independent', async () => {
    const { state } = await play(
      acts('planner INVALID_OUTPUT', ...GAP, 'planner RETRYABLE_FAILED', ...GATE, 'verifier PASS', 'composer COMPLETED'),
    );
    expect(state.evidence_retry_count).toBe(1);
    expect(buildOrchestrationTrace(state)).toMatchObject({ technical_retries: 2, evidence_retries: 1 });
  });

  it('[A17] runs at the same time do not touch each other', async () => {
    const results = await Promise.all(ROUTES.slice(0, 8).map(async ([, path]) => [path, await play(acts(...path))] as const));
    for (const [path, { state }] of results) expect(state.orchestration_events).toHaveLength(path.length);
  });
});
