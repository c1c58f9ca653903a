import type { RunnableConfig } from '@langchain/core/runnables';
import type { NodeUpdate, NodeView } from '../blueprint/node-contracts';
import type { NodeName } from '../vocabulary/node-names';
import type { ReasonCode } from '../vocabulary/reason-codes';

/** What an attempt of a node gives back: its own fields, why it ended so, and sizes for its step record. */
export interface NodeResult<N extends NodeName> {
  readonly update: NodeUpdate<N>;
  readonly reason_code: ReasonCode;
  readonly input_bytes?: number;
  readonly output_bytes?: number;
}

/**
 * One node of the graph. It sees exactly the fields that its contract reads and returns fields that it owns; it refuses to
 * route, to retry itself, or to throw for an ending that its contract knows.
 */
export abstract class GraphNode<N extends NodeName> {
  abstract readonly name: N;
  abstract run(view: NodeView<N>, config: RunnableConfig): Promise<NodeResult<N>>;
}

/** One of the eight nodes, whichever. */
export type AnyGraphNode = { [N in NodeName]: GraphNode<N> }[NodeName];

/** DI token of the eight nodes (`AnyGraphNode[]`, in any order) that the graph is compiled from. */
export const DIAGNOSIS_NODES = Symbol('DIAGNOSIS_NODES');
