import { END_OF_RUN, type NodeName } from '../vocabulary/node-names';
import type { OutcomeOf } from '../vocabulary/outcomes';

/** Where the graph goes next. */
export type NextNode = NodeName | typeof END_OF_RUN;

/** The first node of every run. */
export const ENTRY_NODE = 'planner' as const satisfies NodeName;

/** Most node runs of the longest path; the recursion limit of the engine is one more. */
export const LONGEST_PATH = 18;
export const RECURSION_LIMIT = LONGEST_PATH + 1;

/** Attempts that planner, verifier and composer have in one round. */
export const MAX_TECHNICAL_ATTEMPTS = 2;

/** Evidence rounds beyond the first that a run may start. */
export const MAX_EVIDENCE_RETRIES = 1;

/** Outcome of a node -> next node. Every route of the graph is here and nowhere else. */
export const ROUTING_TABLE = {
  planner: {
    COMPLETED: 'executor',
    INVALID_OUTPUT: 'planner',
    RETRYABLE_FAILED: 'planner',
    RETRY_EXHAUSTED: 'fallback',
    NON_RETRYABLE_FAILED: 'fallback',
    UNKNOWN: 'fallback',
  },
  executor: {
    COMPLETED: 'gatekeeper',
    INVALID_OUTPUT: 'fallback',
    TOOL_BLOCKED: 'fallback',
    FAILED: 'fallback',
    UNKNOWN: 'fallback',
  },
  gatekeeper: {
    PASS: 'verified_input',
    LOW_CONFID: 'verified_input',
    LOW_CONFID_UNBOUND: 'fallback',
    REJECT: 'fallback',
    UNKNOWN: 'fallback',
  },
  verified_input: { COMPLETED: 'verifier', FAILED: 'fallback', UNKNOWN: 'fallback' },
  verifier: {
    PASS: 'composer',
    LOW_CONFID: 'composer',
    EVIDENCE_GAP: 'retry_prepare',
    INVALID_OUTPUT: 'verifier',
    RETRYABLE_FAILED: 'verifier',
    RETRY_EXHAUSTED: 'fallback',
    NON_RETRYABLE_FAILED: 'fallback',
    REJECT: 'fallback',
    UNKNOWN: 'fallback',
  },
  retry_prepare: { COMPLETED: 'planner', FAILED: 'composer', UNKNOWN: 'fallback' },
  composer: {
    COMPLETED: END_OF_RUN,
    INVALID_OUTPUT: 'composer',
    RETRYABLE_FAILED: 'composer',
    RETRY_EXHAUSTED: 'fallback',
    NON_RETRYABLE_FAILED: 'fallback',
    UNKNOWN: 'fallback',
  },
  fallback: { PRE_VERIFICATION: END_OF_RUN, POST_VERIFICATION: END_OF_RUN, UNKNOWN: END_OF_RUN },
} as const satisfies { [N in NodeName]: { [O in OutcomeOf<N>]: NextNode } };
