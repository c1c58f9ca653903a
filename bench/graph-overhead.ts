import { START, StateGraph } from '@langchain/langgraph';
import type { RunnableConfig } from '@langchain/core/runnables';
import { classify } from '../src/blueprint/classify';
import { ENTRY_NODE, RECURSION_LIMIT } from '../src/blueprint/routing-table';
import { initialState, type DiagnosisState, type IntakeFields } from '../src/blueprint/state-fields';
import { pathMapOf } from '../src/graph/diagnosis-graph';
import { DiagnosisGraphService } from '../src/graph/diagnosis-graph.service';
import { DiagnosisAnnotation } from '../src/graph/diagnosis-state';
import { GraphNode, type AnyGraphNode, type NodeResult } from '../src/ports/graph-node.port';
import type { RunContext } from '../src/ports/run-context';
import { NODE_NAMES, type NodeName } from '../src/vocabulary/node-names';

interface OverheadRow {
  readonly name: string;
  readonly ratio: number;
  readonly limit: number | null;
}

const ROUNDS = 5;
const RUNS_PER_ROUND = 120;
const WARM_UP_RUNS = 60;

export const intake: IntakeFields = {
  schema_version: 1,
  diagnosis_query: {
    schema: 'diagnosis_query_v1',
    question: 'Why do orders fail?',
    now: '2026-05-04T15:00:00.000Z',
    window: { from: '2026-05-04T14:00:00.000Z', to: '2026-05-04T14:10:00.000Z', source: 'request' },
    baseline: null,
    time_zone: 'UTC',
    locale: 'en',
  },
  session_context: { earlier_answers: [] },
};

const bindings = Array.from({ length: 10 }, (_, row) => ({
  source_invocation_id: 't1-aaaa',
  tool_name: 'log_patterns',
  raw_path: `/rows/${row}/count`,
}));
const claims = bindings.map((binding, index) => ({
  claim_id: `c${index}`,
  kind: 'fact' as const,
  subject: 'orders',
  statement: `orders: count is ${index}`,
  bindings: [binding],
}));
const evidence = bindings.map((binding, index) => ({ ...binding, claim_id: `c${index}`, matched_text: String(index) }));
const assessments = [{ rank: 1, subject: 'orders', role: 'cause' as const, claim_ids: ['c0'] }];

/** What the scripted nodes of the straight path write; ten claims, so that the guard has documents to check. */
const UPDATES: { readonly [N in NodeName]: Partial<DiagnosisState> } = {
  planner: {
    planner_status: 'COMPLETED',
    diagnosis_plan: {
      schema: 'diagnosis_plan_v1',
      hypotheses: [],
      steps: [{ step_id: 's1', tool_name: 'log_patterns', arguments: {}, purpose: 'look', gap_fact_id: null }],
      disproofs: [],
    },
  },
  executor: {
    executor_status: 'COMPLETED',
    executor_output: { schema: 'executor_evidence_v2', claims, assessments, limitations: [], no_evidence: null },
  },
  gatekeeper: {
    gatekeeper_result: { result: 'pass', run_id: 'r', checked_bindings: [], reasons: [] },
    gatekeeper_status: 'PASS',
    verdict_ceiling: 'PASS',
    gatekeeper_audit: { status: 'PASS', ceiling: 'PASS', passed: 10, failed: 0, reason_codes: [] },
  },
  verified_input: {
    verified_input_status: 'COMPLETED',
    verified_executor_output: { claims, assessments, limitations: [] },
    verified_evidence: evidence,
  },
  verifier: {
    verifier_status: 'COMPLETED',
    verifier_model_verdict: 'PASS',
    effective_verdict: 'PASS',
    verifier_facts: [],
    allowed_material: {
      claims,
      evidence,
      assessments,
      missing_information: [],
      recommendations: [],
      limitations: [],
      dropped: [],
    },
  },
  retry_prepare: { retry_prepare_status: 'FAILED' },
  composer: { composer_status: 'COMPLETED', composer_answer: 'an answer' },
  fallback: { fallback_class: 'PRE_VERIFICATION', fallback_reason: 'OK', fallback_answer: 'a safe answer' },
};

export class ScriptedNode<N extends NodeName> extends GraphNode<N> {
  constructor(override readonly name: N) {
    super();
  }

  override async run(): Promise<NodeResult<N>> {
    return { update: UPDATES[this.name], reason_code: 'OK' };
  }
}

export type OneRun = (runId: string) => Promise<void>;

export function expectAnswer(state: Pick<DiagnosisState, 'composer_answer'> | null | undefined): void {
  if (state?.composer_answer !== 'an answer') throw new Error('The measured graph did not reach its answer.');
}

/** The same topology, state shape, updates and config in LangGraph alone: no guard, no events, no attempts. */
function bareLangGraph(): OneRun {
  const nodes = Object.fromEntries(NODE_NAMES.map((name) => [name, async () => UPDATES[name]])) as unknown as {
    [N in NodeName]: (state: DiagnosisState, config: RunnableConfig) => Promise<Partial<DiagnosisState>>;
  };
  const builder = new StateGraph(DiagnosisAnnotation).addNode(nodes).addEdge(START, ENTRY_NODE);
  for (const name of NODE_NAMES) {
    const route = (state: DiagnosisState): string => classify(name, state);
    builder.addConditionalEdges(name, route, pathMapOf(name));
  }
  const graph = builder.compile({ name: 'diagnosis' });
  return async (runId) => {
    const run: RunContext = { runId, deadline: new AbortController().signal, round: 0 };
    const state = await graph.invoke(initialState(intake), {
      configurable: { thread_id: runId, run },
      metadata: { runId, sessionId: 's' },
      signal: new AbortController().signal,
      recursionLimit: RECURSION_LIMIT,
    });
    expectAnswer(state);
  };
}

function guardedGraph(): OneRun {
  const service = new DiagnosisGraphService(NODE_NAMES.map((name) => new ScriptedNode(name) as AnyGraphNode));
  return async (runId) => {
    const [signal, deadline] = [new AbortController().signal, new AbortController().signal];
    expectAnswer((await service.run({ runId, sessionId: 's', intake, signal, deadline })).state);
  };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Median over five rounds of the ratio of summed times, the two sides run alternately and in alternating order. */
export async function pairedRatio(left: OneRun, right: OneRun): Promise<number> {
  for (let warm = 0; warm < WARM_UP_RUNS; warm += 1) {
    await left(`warm-${warm}`);
    await right(`warm-${warm}`);
  }
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const spent = { left: 0, right: 0 };
    for (let pair = 0; pair < RUNS_PER_ROUND; pair += 1) {
      for (const side of pair % 2 === 0 ? (['left', 'right'] as const) : (['right', 'left'] as const)) {
        const start = process.hrtime.bigint();
        await (side === 'left' ? left : right)(`${round}-${pair}`);
        spent[side] += Number(process.hrtime.bigint() - start);
      }
    }
    ratios.push(spent.left / spent.right);
  }
  return median(ratios);
}

/**
 * What the contract guard costs: a whole `DiagnosisGraphService.run` with scripted nodes against the same topology in bare
 * LangGraph, documented options only on both sides. The A/A row is the bare graph against a second copy of itself: it
 * tells how much of the other ratio is noise.
 */
export async function measureGraphOverhead(): Promise<OverheadRow[]> {
  const noise = await pairedRatio(bareLangGraph(), bareLangGraph());
  const guard = await pairedRatio(guardedGraph(), bareLangGraph());
  return [
    { name: 'graph run: bare LangGraph / bare LangGraph (A/A)', ratio: noise, limit: null },
    { name: 'graph run: guarded / bare LangGraph', ratio: guard, limit: 1.15 },
  ];
}
