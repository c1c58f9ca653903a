/** Status of a node whose agent may be asked a second time. A status is never a diagnosis. */
export const RETRIED_AGENT_STATUSES = ['COMPLETED', 'INVALID_OUTPUT', 'RETRYABLE_FAILED', 'NON_RETRYABLE_FAILED'] as const;
export type RetriedAgentStatus = (typeof RETRIED_AGENT_STATUSES)[number];

/** Status of the executor, which is never retried. */
export const EXECUTOR_STATUSES = ['COMPLETED', 'INVALID_OUTPUT', 'TOOL_BLOCKED', 'FAILED'] as const;
export type ExecutorStatus = (typeof EXECUTOR_STATUSES)[number];

/** Normalised word of the gatekeeper. */
export const GATEKEEPER_STATUSES = ['PASS', 'LOW_CONFID', 'REJECT'] as const;
export type GatekeeperStatus = (typeof GATEKEEPER_STATUSES)[number];

/** Status of a node that is code alone and either works or does not. */
export const CODE_NODE_STATUSES = ['COMPLETED', 'FAILED'] as const;
export type CodeNodeStatus = (typeof CODE_NODE_STATUSES)[number];

/** Mode of the planner: the first round looks everywhere, the evidence round only at named gaps. */
export const PLANNER_MODES = ['INITIAL', 'EVIDENCE_GAP_ONLY'] as const;
export type PlannerMode = (typeof PLANNER_MODES)[number];

/** Which kind of fallback answer was given: without any claim, or from verifier-allowed material only. */
export const FALLBACK_CLASSES = ['PRE_VERIFICATION', 'POST_VERIFICATION'] as const;
export type FallbackClass = (typeof FALLBACK_CLASSES)[number];
