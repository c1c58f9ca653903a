import { RECURSION_LIMIT } from '../../src/blueprint/routing-table';
import { answerOf, initialState, STATE_FIELDS, type DiagnosisState, type StateField } from '../../src/blueprint/state-fields';
import { compileDiagnosisGraph } from '../../src/graph/diagnosis-graph';
import { frozenJson } from '../../src/graph/plain-json';
import { intake } from './documents';
import { allPaths, type Step } from './oracle';
import { Stage } from './scripted-nodes';

/** Every outcome sequence that the routing table and the business limits allow. */
export const ALL_SEQUENCES: readonly (readonly Step[])[] = [...allPaths()];
const roundFields = (Object.keys(STATE_FIELDS) as StateField[]).filter(
  (field) => STATE_FIELDS[field].scope === 'round' && STATE_FIELDS[field].owner !== 'planner',
);
const count = (path: readonly Step[], node: string, round?: number): number =>
  path.filter((step) => step.node === node && (round === undefined || step.round === round)).length;

/** Every rule that a finished path breaks, in words; empty when it is safe. */
function brokenRules(path: readonly Step[], state: DiagnosisState, stage: Stage, runId: string): string[] {
  const broken: string[] = [];
  const rule = (holds: boolean, words: string): void => void (holds || broken.push(words));
  const { seen } = stage.of(runId);
  const last = path.at(-1);
  const unsafe = path.findIndex((step) => step.node === 'gatekeeper' && !['PASS', 'LOW_CONFID'].includes(step.outcome));
  rule(unsafe === -1 || count(path.slice(unsafe), 'verifier') === 0, 'no verifier after an unsafe gate');
  for (const round of [0, 1]) {
    for (const node of ['executor', 'gatekeeper', 'verified_input']) rule(count(path, node, round) <= 1, `${node} once a round`);
    for (const node of ['planner', 'verifier', 'composer']) rule(count(path, node, round) <= 2, `${node} at most twice a round`);
  }
  rule(count(path, 'retry_prepare') <= 1, 'one evidence round at most');
  rule(state.evidence_retry_count === (count(path, 'planner', 1) > 0 ? 1 : 0), 'the counter counts rounds');
  const gate = path.filter((step) => step.node === 'gatekeeper').at(-1)?.outcome;
  rule(gate !== 'LOW_CONFID' || state.effective_verdict !== 'PASS', 'a LOW_CONFID ceiling never ends as PASS');
  const [composed, safe] = [state.composer_answer !== null, state.fallback_answer !== null];
  const fallbackFailed = last?.node === 'fallback' && last.outcome === 'UNKNOWN';
  rule(fallbackFailed ? !composed && !safe : composed !== safe, 'exactly one of composer and fallback answers');
  rule((answerOf(state) === null) === fallbackFailed, 'no answer only when the fallback failed');
  rule(composed === (last?.node === 'composer'), 'the composer answers only when it ended the run');
  const failing = path.at(-2)?.node;
  for (const entry of seen.filter(({ node }) => node === 'fallback')) {
    const material = entry.keys.filter((key) => key !== 'diagnosis_query' && key !== 'orchestration_events');
    rule(material.length === (failing === 'composer' ? 2 : 0), 'material for the fallback only after verification');
  }
  return broken;
}

/** What a walk found: how many sequences it walked, and every disagreement in words. */
export interface Walk {
  readonly walked: number;
  readonly disagreements: readonly string[];
}

/**
 * Walks every `of`th sequence, from number `part` on, through the compiled graph and compares it with the oracle. The parts lie in
 * test files of their own, so that the walk uses more than one core.
 */
export async function walkSequences(part: number, of: number): Promise<Walk> {
  const stage = new Stage();
  const disagreements: string[] = [];
  let latest: DiagnosisState | null = null;
  const graph = compileDiagnosisGraph(stage.nodes, {
    started: () => undefined,
    handled: (run, { event, state }) => {
      latest = state;
      if (event.node !== 'planner' || event.attempt.round !== 1) return;
      for (const field of roundFields) if (state[field] !== null) disagreements.push(`${run.runId}: ${field} was not cleared`);
    },
  });
  const deadline = new AbortController().signal;
  const paths = ALL_SEQUENCES.filter((_, index) => index % of === part);
  for (const [index, path] of paths.entries()) {
    const runId = `run-${index}`;
    const words = path.map((step) => `${step.node} ${step.outcome} ${step.round} ${step.attempt}`).join(', ');
    const { seen } = stage.script(runId, path);
    const state: DiagnosisState = await graph.invoke(frozenJson(initialState(intake)) as unknown as DiagnosisState, {
      configurable: { thread_id: runId, run: { runId, deadline, round: 0 } },
      metadata: { runId },
      recursionLimit: RECURSION_LIMIT,
    });
    const events = state.orchestration_events
      .map(({ node, outcome, attempt }) => `${node} ${outcome} ${attempt.round} ${attempt.attempt}`)
      .join(', ');
    if (events !== words) disagreements.push(`${words}\n  events: ${events}`);
    const ran = seen.map(({ node, round }) => `${node} ${round}`).join(', ');
    if (ran !== path.map(({ node, round }) => `${node} ${round}`).join(', ')) disagreements.push(`${words}\n  ran: ${ran}`);
    if (JSON.stringify(latest) !== JSON.stringify(state)) disagreements.push(`${words}\n  the guard and the engine differ`);
    for (const rule of brokenRules(path, state, stage, runId)) disagreements.push(`${words}\n  broken: ${rule}`);
    stage.end(runId);
  }
  return { walked: paths.length, disagreements };
}
