/** The eight nodes of the diagnosis graph, in the order of the straight path. */
export const NODE_NAMES = [
  'planner',
  'executor',
  'gatekeeper',
  'verified_input',
  'verifier',
  'retry_prepare',
  'composer',
  'fallback',
] as const;
export type NodeName = (typeof NODE_NAMES)[number];

/** Nodes that ask an agent; the others are code alone. */
export const AGENT_NODE_NAMES = ['planner', 'executor', 'verifier', 'composer'] as const;
export type AgentNodeName = (typeof AGENT_NODE_NAMES)[number];

/** The word for "no further node" in the routing table. */
export const END_OF_RUN = 'end' as const;
