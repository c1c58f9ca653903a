/**
 * Every outcome that a node attempt can have: the labels of the graph's edges and of the events.
 * `UNKNOWN` is what `classify` answers to anything it does not recognise; it always leads to the fallback.
 */
export const NODE_OUTCOMES = {
  planner: ['COMPLETED', 'INVALID_OUTPUT', 'RETRYABLE_FAILED', 'RETRY_EXHAUSTED', 'NON_RETRYABLE_FAILED', 'UNKNOWN'],
  executor: ['COMPLETED', 'INVALID_OUTPUT', 'TOOL_BLOCKED', 'FAILED', 'UNKNOWN'],
  gatekeeper: ['PASS', 'LOW_CONFID', 'LOW_CONFID_UNBOUND', 'REJECT', 'UNKNOWN'],
  verified_input: ['COMPLETED', 'FAILED', 'UNKNOWN'],
  verifier: [
    'PASS',
    'LOW_CONFID',
    'EVIDENCE_GAP',
    'INVALID_OUTPUT',
    'RETRYABLE_FAILED',
    'RETRY_EXHAUSTED',
    'NON_RETRYABLE_FAILED',
    'REJECT',
    'UNKNOWN',
  ],
  retry_prepare: ['COMPLETED', 'FAILED', 'UNKNOWN'],
  composer: ['COMPLETED', 'INVALID_OUTPUT', 'RETRYABLE_FAILED', 'RETRY_EXHAUSTED', 'NON_RETRYABLE_FAILED', 'UNKNOWN'],
  fallback: ['PRE_VERIFICATION', 'POST_VERIFICATION', 'UNKNOWN'],
} as const;

export type OutcomeOf<N extends keyof typeof NODE_OUTCOMES> = (typeof NODE_OUTCOMES)[N][number];
export type Outcome = OutcomeOf<keyof typeof NODE_OUTCOMES>;
