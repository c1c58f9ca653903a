import type { RunnableConfig } from '@langchain/core/runnables';
import { classify } from '../../src/blueprint/classify';
import { ROUTING_TABLE } from '../../src/blueprint/routing-table';
import type { DiagnosisState } from '../../src/blueprint/state-fields';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import type { ExecutorGatekeeperService } from '../../src/gatekeeper/executor-gatekeeper.service';
import { ComposerNode } from '../../src/nodes/composer.node';
import { ExecutorNode } from '../../src/nodes/executor.node';
import { FallbackNode } from '../../src/nodes/fallback.node';
import { GatekeeperNode } from '../../src/nodes/gatekeeper.node';
import { PlannerNode } from '../../src/nodes/planner.node';
import { VerifierNode } from '../../src/nodes/verifier.node';
import type { AgentNodeName } from '../../src/vocabulary/node-names';
import type { ReasonCode } from '../../src/vocabulary/reason-codes';
import {
  checkedOf,
  evidenceOf,
  failResult,
  invocationsOf,
  NO_EVIDENCE,
  passResult,
  PLAN,
  QUERY,
  recordOf,
  roseClaim,
  RUN_ID,
  runConfig,
  ScriptedAgent,
  statedClaim,
  stateOf,
  toolsNamed,
  verdictOf,
} from './incident-material';

interface AttemptResult {
  readonly update: object;
  readonly reason_code: ReasonCode;
  readonly input_bytes?: number;
  readonly output_bytes?: number;
}

interface Role {
  readonly name: AgentNodeName;
  readonly legal: object;
  readonly keys: readonly string[];
  /** State fields whose marks must stand in the input, all others must not. */
  readonly sees: readonly string[];
  run(agent: ScriptedAgent, state: DiagnosisState, config: RunnableConfig): Promise<AttemptResult>;
}

const ROLES: readonly Role[] = [
  {
    name: 'planner',
    legal: { ...PLAN, steps: PLAN.steps.map((step) => ({ ...step, gap_fact_id: 'f1' })) },
    keys: ['diagnosis_query', 'evidence_retry_context', 'planner_mode', 'session_context'],
    sees: ['diagnosis_query', 'evidence_retry_context', 'session_context'],
    run: (agent, state, config) => new PlannerNode(agent, toolsNamed('error_share')).run(state, config),
  },
  {
    name: 'executor',
    legal: evidenceOf([roseClaim('c1', 'order-db')]),
    keys: ['diagnosis_plan', 'diagnosis_query', 'evidence_retry_context', 'instructions', 'planner_mode'],
    sees: ['diagnosis_plan', 'diagnosis_query', 'evidence_retry_context'],
    run: (agent, state, config) => new ExecutorNode(agent, invocationsOf([])).run(state, config),
  },
  {
    name: 'verifier',
    legal: verdictOf('PASS'),
    keys: [
      'diagnosis_query',
      'evidence_retry_context',
      'gatekeeper_audit',
      'verdict_ceiling',
      'verified_evidence',
      'verified_executor_output',
    ],
    sees: ['diagnosis_query', 'evidence_retry_context', 'gatekeeper_audit', 'verified_evidence', 'verified_executor_output'],
    run: (agent, state, config) => new VerifierNode(agent).run(state, config),
  },
  {
    name: 'composer',
    legal: { schema: 'composer_answer_v1', sections: [{ heading: 'What was found', text: 'The evidence shows: {{c1}}' }] },
    keys: ['assessments', 'claims', 'effective_verdict', 'missing_information', 'recommendations'],
    sees: ['allowed_material'],
    run: (agent, state, config) => new ComposerNode(agent).run(state, config),
  },
];

const role = (name: AgentNodeName): Role => ROLES.find((candidate) => candidate.name === name) as Role;

/** A state in which every field that can hold text holds a mark with its name. */
function markedState(): DiagnosisState {
  const claim = { claim_id: 'c1', kind: 'fact' as const, subject: 'order-db', bindings: roseClaim('c1', 'order-db').bindings };
  const evidence = { claim_id: 'c1', source_invocation_id: 't1-aaaa', tool_name: 'error_share', raw_path: '/rows/0/error_lines' };
  const material = (mark: string) => ({ claims: [{ ...claim, statement: mark }], assessments: [], limitations: [] });
  return stateOf({
    diagnosis_query: { ...QUERY, question: 'mark:diagnosis_query' },
    session_context: { earlier_answers: [{ run_id: 'r0', question: 'earlier', answer: 'mark:session_context' }] },
    planner_mode: 'EVIDENCE_GAP_ONLY',
    evidence_retry_count: 1,
    evidence_retry_context: {
      prior_verified_output: material('mark:evidence_retry_context'),
      prior_verified_evidence: [],
      gaps: [{ fact_id: 'f1', claim_id: null, verification: 'no_evidence', gap: 'not looked at' }],
      completed_queries: [],
      constraints: {
        max_evidence_retries: 1,
        repeat_completed_queries: false,
        snapshot: 'complete',
        keep_prior_verified_claims: true,
      },
    },
    diagnosis_plan: { ...PLAN, hypotheses: [{ hypothesis_id: 'h1', text: 'mark:diagnosis_plan' }] },
    executor_output: evidenceOf([statedClaim('c1', 'fact', 'order-db', 'mark:executor_output')]),
    gatekeeper_result: { note: 'mark:gatekeeper_result' },
    gatekeeper_status: 'PASS',
    verdict_ceiling: 'PASS',
    gatekeeper_audit: { status: 'PASS', ceiling: 'PASS', passed: 1, failed: 0, reason_codes: ['mark:gatekeeper_audit'] },
    verified_executor_output: material('mark:verified_executor_output'),
    verified_evidence: [{ ...evidence, matched_text: 'mark:verified_evidence' }],
    effective_verdict: 'PASS',
    verifier_facts: [
      { fact_id: 'f1', claim_id: null, is_critical: true, verification: 'no_evidence', gap: 'mark:verifier_facts' },
    ],
    allowed_material: {
      ...material('mark:allowed_material'),
      evidence: [{ ...evidence, matched_text: 'mark:evidence_of_allowed_material' }],
      missing_information: [],
      recommendations: [],
      dropped: [],
    },
    composer_answer: 'mark:composer_answer',
    fallback_answer: 'mark:fallback_answer',
    orchestration_events: [
      { node: 'planner', outcome: 'INVALID_OUTPUT', reason_code: 'OUTPUT_NOT_JSON', attempt: { round: 0, attempt: 1 } },
    ],
  });
}

const transient = new DiagnosisError('AGENT_TRANSIENT', 'The model is busy.');
const permanent = new DiagnosisError('AGENT_PERMANENT', 'The model refuses.');
const blocked = new DiagnosisError('TOOL_BLOCKED', 'No tool may be called.');

describe('DiagnosisGraphNodeContractTest', () => {
  describe.each(ROLES)('$name', (current) => {
    it('[B1] [C7] hands its agent the very config object it was given', async () => {
      const agent = new ScriptedAgent([JSON.stringify(current.legal)]);
      const config = runConfig();
      const before = { ...config };
      await current.run(agent, markedState(), config);
      expect(agent.configs).toHaveLength(1);
      expect(agent.configs[0]).toBe(config);
      expect(config).toEqual(before);
    });

    it('[B2] [B8] [B14] [A12] serialises its declared projection and nothing else of the state', async () => {
      const agent = new ScriptedAgent([JSON.stringify(current.legal)]);
      await current.run(agent, markedState(), runConfig());
      const input = agent.inputs[0] as string;
      expect(Object.keys(JSON.parse(input) as object).sort()).toEqual(current.keys);
      expect([...new Set(input.match(/mark:\w+/g))].sort()).toEqual(current.sees.map((field) => `mark:${field}`));
      expect(input).not.toContain('orchestration_events');
    });

    it('[B3] completes with a legal document and tells the sizes of the exchange', async () => {
      const answer = JSON.stringify(current.legal);
      const agent = new ScriptedAgent([answer]);
      const result = await current.run(agent, markedState(), runConfig());
      expect(result).toMatchObject({ update: { [`${current.name}_status`]: 'COMPLETED' }, reason_code: 'OK' });
      expect(result.input_bytes).toBe(Buffer.byteLength(agent.inputs[0] as string));
      expect(result.output_bytes).toBe(Buffer.byteLength(answer));
    });

    it.each([
      ['no answer', undefined, 'OUTPUT_MISSING'],
      ['text that is no JSON', 'It was the database.', 'OUTPUT_NOT_JSON'],
      ['a document cut off', JSON.stringify(current.legal).slice(0, -1), 'OUTPUT_NOT_JSON'],
      ['an object that is another document', '{"schema":"something_else_v1"}', 'OUTPUT_BREAKS_CONTRACT'],
    ])('[B3] [B4] %s is INVALID_OUTPUT and nothing besides', async (_case, answer, reason_code) => {
      const result = await current.run(new ScriptedAgent([answer]), markedState(), runConfig());
      expect(result.update).toEqual({ [`${current.name}_status`]: 'INVALID_OUTPUT' });
      expect(result.reason_code).toBe(reason_code);
    });

    it('[B4] throws what its agent threw when the run itself was aborted', async () => {
      const error = new Error('stopped');
      const config = runConfig(AbortSignal.abort('CANCELLED'));
      await expect(current.run(new ScriptedAgent([error]), markedState(), config)).rejects.toBe(error);
    });
  });

  const executor = { AGENT_TRANSIENT: 'FAILED', AGENT_PERMANENT: 'FAILED', RUN_DEADLINE: 'FAILED', TOOL_DENIED: 'TOOL_BLOCKED' };
  const retried = {
    AGENT_TRANSIENT: 'RETRYABLE_FAILED',
    AGENT_PERMANENT: 'NON_RETRYABLE_FAILED',
    RUN_DEADLINE: 'NON_RETRYABLE_FAILED',
  };
  it.each([
    ...(['planner', 'verifier', 'composer'] as const).flatMap((name) => [
      { name, error: transient, status: retried.AGENT_TRANSIENT, reason: 'AGENT_TRANSIENT' },
      { name, error: permanent, status: retried.AGENT_PERMANENT, reason: 'AGENT_PERMANENT' },
      { name, error: new TypeError('a bug'), status: retried.AGENT_PERMANENT, reason: 'AGENT_PERMANENT' },
      { name, error: blocked, status: retried.AGENT_PERMANENT, reason: 'AGENT_PERMANENT' },
    ]),
    { name: 'executor' as const, error: transient, status: executor.AGENT_TRANSIENT, reason: 'AGENT_TRANSIENT' },
    { name: 'executor' as const, error: permanent, status: executor.AGENT_PERMANENT, reason: 'AGENT_PERMANENT' },
    { name: 'executor' as const, error: new TypeError('a bug'), status: executor.AGENT_PERMANENT, reason: 'AGENT_PERMANENT' },
    { name: 'executor' as const, error: blocked, status: executor.TOOL_DENIED, reason: 'TOOL_DENIED' },
  ])(
    '[B3] [B4] [B9] [A8] $name: an agent that throws $error sets $status and no other field',
    async ({ name, error, status, reason }) => {
      const result = await role(name).run(new ScriptedAgent([error]), markedState(), runConfig());
      expect(result.update).toEqual({ [`${name}_status`]: status });
      expect(result.reason_code).toBe(reason);
    },
  );

  it.each(ROLES)('[A7] $name: a failure past the deadline is not worth a second attempt', async (current) => {
    const config = runConfig(undefined, AbortSignal.abort('RUN_DEADLINE'));
    const result = await current.run(new ScriptedAgent([transient]), markedState(), config);
    expect(result.update).toEqual({
      [`${current.name}_status`]: current.name === 'executor' ? executor.RUN_DEADLINE : retried.RUN_DEADLINE,
    });
    expect(result.reason_code).toBe('RUN_DEADLINE');
  });

  it.each(['planner', 'verifier', 'composer'] as const)(
    '[A6] [B10] [B14] %s: the second attempt sends the same bytes, whatever order the fields are in',
    async (name) => {
      const agent = new ScriptedAgent(['no document', JSON.stringify(role(name).legal)]);
      await role(name).run(agent, markedState(), runConfig());
      const state = markedState();
      const shuffled = Object.fromEntries(Object.entries(state).reverse()) as unknown as DiagnosisState;
      const query = Object.fromEntries(Object.entries(state.diagnosis_query).reverse()) as unknown as typeof QUERY;
      const second = await role(name).run(agent, { ...shuffled, diagnosis_query: query }, runConfig());
      expect(second.update).toMatchObject({ [`${name}_status`]: 'COMPLETED' });
      expect(agent.inputs[1]).toBe(agent.inputs[0]);
    },
  );

  it('[A8] [B3] [C7] a legal document without evidence is a completed executor attempt, and the gatekeeper gets it', async () => {
    const result = await new ExecutorNode(new ScriptedAgent([JSON.stringify(NO_EVIDENCE)]), invocationsOf([])).run(
      stateOf(),
      runConfig(),
    );
    expect(result).toMatchObject({
      update: { executor_status: 'COMPLETED', executor_output: NO_EVIDENCE },
      reason_code: 'NO_EVIDENCE',
    });
    expect(ROUTING_TABLE.executor[classify('executor', stateOf(result.update))]).toBe('gatekeeper');
  });

  describe('gatekeeper', () => {
    const PASSED = 'lock wait timeout on table baskets';
    const claims = [
      statedClaim('c1', 'fact', 'order-db', 'order-db logged lock waits', 0),
      statedClaim('c2', 'fact', 'shipping', 'shipping lost parcels', 1),
    ];
    const output = evidenceOf(claims);
    const partly = checkedOf(claims, [PASSED, null]);

    function serviceAnswering(answer: unknown): { service: ExecutorGatekeeperService; calls: unknown[][] } {
      const calls: unknown[][] = [];
      const validateRun = async (...args: unknown[]): Promise<unknown> => {
        calls.push(args);
        if (answer instanceof Error) throw answer;
        return answer;
      };
      return { service: { validateRun } as unknown as ExecutorGatekeeperService, calls };
    }

    it('[B6] [C7] validates exactly once, with the run of the config, and keeps the raw result apart', async () => {
      const raw = passResult(checkedOf(claims, [PASSED, 'parcel lost']));
      const { service, calls } = serviceAnswering(raw);
      const { update } = await new GatekeeperNode(service).run(stateOf({ executor_output: output }), runConfig());
      expect(calls).toEqual([[RUN_ID, output]]);
      expect(update.gatekeeper_result).toEqual(raw);
      expect(update).toMatchObject({ gatekeeper_status: 'PASS', verdict_ceiling: 'PASS' });
      expect(update.gatekeeper_audit).toMatchObject({ status: 'PASS', passed: 2, failed: 0 });
    });

    it('[B6] a config whose thread is not its run is REJECT, and nothing was validated', async () => {
      const { service, calls } = serviceAnswering(passResult(checkedOf(claims, [PASSED, 'parcel lost'])));
      const config = { ...runConfig(), metadata: { runId: 'another run' } };
      const { update } = await new GatekeeperNode(service).run(stateOf({ executor_output: output }), config);
      expect(update.gatekeeper_status).toBe('REJECT');
      expect(calls).toEqual([]);
    });

    it('[B6] throws on what the service threw when the run was aborted', async () => {
      const error = new Error('stopped');
      const config = runConfig(AbortSignal.abort('LEASE_LOST'));
      const running = new GatekeeperNode(serviceAnswering(error).service).run(stateOf({ executor_output: output }), config);
      await expect(running).rejects.toBe(error);
    });

    it('[A11] [B6] a failure of low confidence with a passed binding goes on under its ceiling', async () => {
      const { service } = serviceAnswering(failResult('low_confid', partly));
      const { update } = await new GatekeeperNode(service).run(stateOf({ executor_output: output }), runConfig());
      expect(update).toMatchObject({ gatekeeper_status: 'LOW_CONFID', verdict_ceiling: 'LOW_CONFID' });
      expect(ROUTING_TABLE.gatekeeper[classify('gatekeeper', stateOf(update))]).toBe('verified_input');
    });

    it.each([
      ['REJECT with partially passed bindings', failResult('reject', partly), 'REJECT'],
      ['LOW_CONFID with none passed', failResult('low_confid', checkedOf(claims, [null, null])), 'LOW_CONFID_UNBOUND'],
      ['a missing result', undefined, 'REJECT'],
      ['an unknown result', { ...passResult(partly), result: 'maybe' }, 'REJECT'],
      ['a pass that holds a failed binding', passResult(partly), 'REJECT'],
      ['a service that throws', new Error('store is down'), 'REJECT'],
    ])('[A10] [B6] [B15] [C7] %s: fallback, and no claim, passed or failed, in the answer', async (_case, answer, outcome) => {
      const { service } = serviceAnswering(answer);
      const { update, reason_code } = await new GatekeeperNode(service).run(stateOf({ executor_output: output }), runConfig());
      const state = stateOf({ ...update, executor_output: output });
      expect(classify('gatekeeper', state)).toBe(outcome);
      expect(ROUTING_TABLE.gatekeeper[classify('gatekeeper', state)]).toBe('fallback');
      if (answer === undefined || answer instanceof Error) expect(update.gatekeeper_result).toBeNull();

      state.orchestration_events = [
        { node: 'gatekeeper', outcome: classify('gatekeeper', state), reason_code, attempt: { round: 0, attempt: 1 } },
      ];
      const fallback = new FallbackNode(invocationsOf([recordOf({ tool_name: 'log_patterns' })]));
      const { fallback_class, fallback_answer } = (await fallback.run(state, runConfig())).update;
      expect(fallback_class).toBe('PRE_VERIFICATION');
      expect(fallback_answer).toContain(QUERY.question);
      for (const text of [PASSED, 'lock waits', 'lost parcels', 'order-db', 'shipping'])
        expect(fallback_answer).not.toContain(text);
    });
  });
});
