import { END, START, StateGraph, type BaseCheckpointSaver } from '@langchain/langgraph';
import { ENTRY_NODE, ROUTING_TABLE, type NextNode } from '../blueprint/routing-table';
import type { DiagnosisState } from '../blueprint/state-fields';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { AnyGraphNode } from '../ports/graph-node.port';
import { END_OF_RUN, NODE_NAMES, type NodeName } from '../vocabulary/node-names';
import type { Outcome } from '../vocabulary/outcomes';
import { guardNode, type AttemptObserver, type GuardedNode } from './contract-guard';
import { DiagnosisAnnotation } from './diagnosis-state';

/** Outcome -> next node of the engine, for one node. */
export function pathMapOf(node: NodeName): Record<string, NodeName | typeof END> {
  const routes: Readonly<Record<string, NextNode>> = ROUTING_TABLE[node];
  return Object.fromEntries(Object.entries(routes).map(([outcome, next]) => [outcome, next === END_OF_RUN ? END : next]));
}

function guardedByName(nodes: readonly AnyGraphNode[], observer?: AttemptObserver): Record<NodeName, GuardedNode> {
  const guarded = new Map<NodeName, GuardedNode>();
  for (const node of nodes) guarded.set(node.name, guardNode<NodeName>(node, observer));
  const missing = NODE_NAMES.filter((name) => !guarded.has(name));
  if (missing.length > 0 || nodes.length !== NODE_NAMES.length) {
    throw new DiagnosisError('OPTIONS_INVALID', 'The graph needs each of its eight nodes exactly once.', {
      missing: missing.join(', '),
      given: nodes.length,
    });
  }
  return Object.fromEntries(guarded) as Record<NodeName, GuardedNode>;
}

function lastOutcome(state: DiagnosisState): Outcome {
  // The guard has just appended the event of the node whose edge this is, so that an outcome is decided once.
  return state.orchestration_events.at(-1)?.outcome ?? 'UNKNOWN';
}

/**
 * The topology of `ROUTING_TABLE`, compiled, every node behind the contract guard. It refuses any route that is not in the
 * table, the engine's own retries, and a set of nodes that is not each of the eight once (`DiagnosisError` OPTIONS_INVALID).
 * Compile it once per process: the engine keeps what it compiles.
 */
export function compileDiagnosisGraph(
  nodes: readonly AnyGraphNode[],
  observer?: AttemptObserver,
  checkpointer?: BaseCheckpointSaver,
) {
  const graph = new StateGraph(DiagnosisAnnotation).addNode(guardedByName(nodes, observer)).addEdge(START, ENTRY_NODE);
  for (const name of NODE_NAMES) graph.addConditionalEdges(name, lastOutcome, pathMapOf(name));
  return graph.compile({ name: 'diagnosis', checkpointer });
}

/** The compiled graph. */
export type DiagnosisGraph = ReturnType<typeof compileDiagnosisGraph>;
