import type { RunnableConfig } from '@langchain/core/runnables';
import { fallbackClassOf } from '../../src/blueprint/classify';
import type { NodeUpdate, NodeView } from '../../src/blueprint/node-contracts';
import { GraphNode, type AnyGraphNode, type NodeResult } from '../../src/ports/graph-node.port';
import { runContextOf } from '../../src/ports/run-context';
import { NODE_NAMES, type NodeName } from '../../src/vocabulary/node-names';
import type { Outcome, OutcomeOf } from '../../src/vocabulary/outcomes';
import {
  allowed,
  criticalGap,
  evidence,
  gatekeeperPass,
  minorGap,
  plan,
  retryContext,
  supported,
  verifiedEvidence,
  verifiedOutput,
} from './documents';

/** One scripted attempt: the outcome it must have, or what to do in its stead. */
export interface Act {
  readonly node: NodeName;
  readonly outcome?: Outcome;
  readonly play?: (view: Record<string, unknown>, config: RunnableConfig) => unknown;
}

/** An attempt as a scripted node saw it. */
export interface Seen {
  readonly node: NodeName;
  readonly round: number;
  /** Bytes of the view, taken while the node ran. */
  readonly bytes: string;
  readonly keys: readonly string[];
}

interface Script {
  readonly acts: readonly Act[];
  readonly seen: Seen[];
}

type Played = { readonly [N in NodeName]: (outcome: OutcomeOf<N>, view: NodeView<N>) => NodeUpdate<N> };

const foreign = <T>(status: string): T => status as T;
const retried = <O extends string>(outcome: O) =>
  outcome === 'RETRY_EXHAUSTED' ? 'INVALID_OUTPUT' : outcome === 'UNKNOWN' ? foreign<'COMPLETED'>('MAYBE') : outcome;

/** What each node returns so that its attempt has the wanted outcome. A failing node returns stale documents on purpose. */
const PLAYED: Played = {
  planner: (outcome) => ({ planner_status: retried(outcome) as 'COMPLETED', diagnosis_plan: plan }),
  executor: (outcome) => ({
    executor_status: outcome === 'UNKNOWN' ? foreign<'FAILED'>('MAYBE') : outcome,
    executor_output: evidence,
  }),
  gatekeeper: (outcome) => {
    if (outcome === 'UNKNOWN') return { gatekeeper_status: foreign<'PASS'>('MAYBE'), verdict_ceiling: 'PASS' };
    const status = outcome === 'LOW_CONFID_UNBOUND' ? 'LOW_CONFID' : outcome;
    const ceiling = status === 'REJECT' ? null : status;
    const passed = outcome === 'LOW_CONFID_UNBOUND' ? 0 : 1;
    return {
      gatekeeper_result: gatekeeperPass,
      gatekeeper_status: status,
      verdict_ceiling: ceiling,
      gatekeeper_audit: { status, ceiling, passed, failed: 0, reason_codes: [] },
    };
  },
  verified_input: (outcome) => ({
    verified_input_status: outcome === 'UNKNOWN' ? foreign<'FAILED'>('MAYBE') : outcome,
    verified_executor_output: verifiedOutput,
    verified_evidence: verifiedEvidence,
  }),
  verifier: (outcome, view) => {
    const judged = { verifier_status: 'COMPLETED', allowed_material: allowed } as const;
    // Where no evidence round may start any more, a qualifying gap is given all the same: it must change nothing.
    const gapIsIdle = view.verdict_ceiling === 'LOW_CONFID' || view.evidence_retry_context !== null;
    switch (outcome) {
      case 'PASS':
        return { ...judged, verifier_model_verdict: 'PASS', effective_verdict: 'PASS', verifier_facts: [supported] };
      case 'LOW_CONFID':
        return {
          ...judged,
          verifier_model_verdict: gapIsIdle ? 'PASS' : 'LOW_CONFID',
          effective_verdict: 'LOW_CONFID',
          verifier_facts: [supported, gapIsIdle ? criticalGap : minorGap],
        };
      case 'EVIDENCE_GAP':
        return {
          ...judged,
          verifier_model_verdict: 'LOW_CONFID',
          effective_verdict: 'LOW_CONFID',
          verifier_facts: [criticalGap],
        };
      case 'REJECT':
        return { ...judged, verifier_model_verdict: 'REJECT', effective_verdict: 'REJECT', verifier_facts: [] };
      default:
        return { verifier_status: retried(outcome) as 'COMPLETED', effective_verdict: 'PASS', allowed_material: allowed };
    }
  },
  retry_prepare: (outcome) => ({
    retry_prepare_status: outcome === 'UNKNOWN' ? foreign<'FAILED'>('MAYBE') : outcome,
    planner_mode: 'EVIDENCE_GAP_ONLY',
    evidence_retry_count: 1,
    evidence_retry_context: retryContext,
  }),
  composer: (outcome) => ({ composer_status: retried(outcome) as 'COMPLETED', composer_answer: 'composed answer' }),
  fallback: (outcome, view) => ({
    fallback_class: outcome === 'UNKNOWN' ? foreign<'PRE_VERIFICATION'>('MAYBE') : outcome,
    fallback_reason: view.orchestration_events.at(-1)?.reason_code ?? 'STATUS_UNKNOWN',
    fallback_answer: `safe answer ${fallbackClassOf(view.orchestration_events)} of ${Object.keys(view).join(' ')}`,
  }),
};

/** What a node returns so that its attempt has `outcome`. */
export function playedUpdate<N extends NodeName>(node: N, outcome: OutcomeOf<N>, view: NodeView<N>): NodeUpdate<N> {
  return PLAYED[node](outcome, view);
}

/** Scripts by run: nodes find theirs by the run's thread id, so that one compiled graph serves all runs. */
export class Stage {
  private readonly scripts = new Map<string, Script>();
  readonly nodes: AnyGraphNode[] = NODE_NAMES.map((name) => new ScriptedNode(name, this) as AnyGraphNode);

  script(runId: string, acts: readonly Act[]): Script {
    const script: Script = { acts, seen: [] };
    this.scripts.set(runId, script);
    return script;
  }

  end(runId: string): void {
    this.scripts.delete(runId);
  }

  of(runId: string): Script {
    const script = this.scripts.get(runId);
    if (script === undefined) throw new Error(`no script for ${runId}`);
    return script;
  }
}

class ScriptedNode<N extends NodeName> extends GraphNode<N> {
  constructor(
    override readonly name: N,
    private readonly stage: Stage,
  ) {
    super();
  }

  override async run(view: NodeView<N>, config: RunnableConfig): Promise<NodeResult<N>> {
    const run = runContextOf(config);
    const script = this.stage.of(run.runId);
    const act = script.acts[script.seen.length];
    script.seen.push({ node: this.name, round: run.round, bytes: JSON.stringify(view), keys: Object.keys(view) });
    if (act?.node !== this.name) throw new Error(`the script wants ${act?.node ?? 'nothing'} where ${this.name} runs`);
    if (act.play !== undefined) return (await act.play(view, config)) as NodeResult<N>;
    return { update: playedUpdate(this.name, act.outcome as OutcomeOf<N>, view), reason_code: 'OK' };
  }
}

/** `'planner COMPLETED'` and so on, as a script. */
export function acts(...lines: readonly string[]): Act[] {
  return lines.map((line) => {
    const [node, outcome] = line.split(' ');
    return { node: node as NodeName, outcome: outcome as Outcome };
  });
}
