import { ENTRY_NODE, ROUTING_TABLE, type NextNode } from '../../src/blueprint/routing-table';
import { NODE_OUTCOMES, type Outcome } from '../../src/vocabulary/outcomes';
import type { NodeName } from '../../src/vocabulary/node-names';

/** One node run of an expected path. */
export interface Step {
  readonly node: NodeName;
  readonly outcome: Outcome;
  readonly round: number;
  readonly attempt: number;
}

/**
 * Every path that the routing table allows under the business limits (two attempts, one evidence round, the ceiling, the
 * class of a fallback by the failing node), depth first. It shares no code with classify, the guard or the engine.
 */
export function* allPaths(node: NextNode = ENTRY_NODE, path: readonly Step[] = []): Generator<readonly Step[]> {
  if (node === 'end') return yield path;
  const round = path.some((step) => step.node === 'retry_prepare' && step.outcome === 'COMPLETED') ? 1 : 0;
  const attempt = 1 + path.filter((step) => step.node === node && step.round === round).length;
  const ceiling = path.filter((step) => step.node === 'gatekeeper').at(-1)?.outcome;
  const failing = path.at(-1)?.node;
  const routes: Readonly<Record<string, NextNode>> = ROUTING_TABLE[node];
  for (const outcome of NODE_OUTCOMES[node] as readonly Outcome[]) {
    const next = routes[outcome] as NextNode;
    if (next === node && attempt === 2) continue;
    if (outcome === 'RETRY_EXHAUSTED' && attempt === 1) continue;
    if (node === 'verifier' && outcome === 'PASS' && ceiling !== 'PASS') continue;
    if (outcome === 'EVIDENCE_GAP' && (ceiling !== 'PASS' || round === 1)) continue;
    if (outcome === 'POST_VERIFICATION' && failing !== 'composer') continue;
    if (outcome === 'PRE_VERIFICATION' && failing === 'composer') continue;
    yield* allPaths(next, [...path, { node, outcome, round, attempt }]);
  }
}
