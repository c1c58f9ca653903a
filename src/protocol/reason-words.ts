import type { ReasonCode } from '../vocabulary/reason-codes';

/** A reason in plain words and the step that helps against it. */
export interface ReasonWords {
  readonly why: string;
  readonly next: string;
}

const ASK_AGAIN = 'Ask the same question again. If it ends like this a second time, look at the run with its id.';
const NARROW = 'Ask again with a narrower window or one service by name, and check that telemetry for that time is there.';
const INSPECT = 'Look at the run with its id: its orchestration trace shows which step failed.';
const REPORT = 'Report the run with its id to whoever operates this service; asking again may help, but the fault is inside.';

const REASON_WORDS: Record<ReasonCode, ReasonWords> = {
  OK: { why: 'Every step ended as it should, and still there was no answer to give.', next: INSPECT },
  NO_EVIDENCE: {
    why: 'No query gave anything to base an answer on: each one failed, was not allowed, or found nothing.',
    next: NARROW,
  },
  OUTPUT_NOT_JSON: { why: 'An agent answered with something that could not be read as a document.', next: ASK_AGAIN },
  OUTPUT_BREAKS_CONTRACT: { why: 'An agent answered with a document that breaks the rules for it.', next: ASK_AGAIN },
  OUTPUT_MISSING: { why: 'An agent gave no answer.', next: ASK_AGAIN },
  AGENT_TRANSIENT: {
    why: 'An agent could not be reached or was too busy, twice.',
    next: 'Ask the same question again in a few minutes.',
  },
  AGENT_PERMANENT: {
    why: 'An agent refused the request for good.',
    next: 'Check how the agents are configured (model name, credentials, limits), then ask again.',
  },
  TOOL_DENIED: {
    why: 'A tool that was needed is not allowed in this service, or the budget of tool calls was used up.',
    next: 'Check the list of allowed tools and the budget of calls, or ask a narrower question.',
  },
  NODE_THREW: { why: 'A step failed inside.', next: REPORT },
  RUN_DEADLINE: { why: 'The time for this run was over before anything was verified.', next: NARROW },
  BINDING_FAILED: { why: 'What was put forward did not match the recorded tool output it pointed at.', next: ASK_AGAIN },
  FOREIGN_EVIDENCE: {
    why: 'What was put forward pointed at tool output that is not part of this run, so all of it was refused.',
    next: ASK_AGAIN,
  },
  UNTYPED_COMPARISON: { why: 'What was put forward compared values in a way that could not be checked.', next: ASK_AGAIN },
  GATEKEEPER_RESULT_UNTRUSTED: {
    why: 'The check of the evidence gave a result that cannot be trusted, so it was taken as a refusal.',
    next: REPORT,
  },
  NOTHING_VERIFIED: { why: 'Nothing that was put forward passed the check against recorded tool output.', next: NARROW },
  VERDICT_CAPPED: { why: 'The evidence allowed no more than a low-confidence answer.', next: NARROW },
  VERDICT_LOW: { why: 'The evidence was judged too weak for an answer.', next: NARROW },
  VERDICT_REJECT: { why: 'The evidence was judged not to support what was put forward.', next: NARROW },
  EVIDENCE_GAP: { why: 'Evidence that the answer hangs on was missing.', next: NARROW },
  RETRY_CONTEXT_UNUSABLE: { why: 'The second look for missing evidence could not be prepared.', next: REPORT },
  STATUS_UNKNOWN: { why: 'A step ended in a way that is not known here, so its result was not used.', next: REPORT },
  FALLBACK_FAILED: { why: 'The safe answer itself could not be put together in full.', next: REPORT },
};

/** What a reader is told about a reason code: fixed English sentences, never text of a model or a tool. */
export function reasonWords(reason: ReasonCode): ReasonWords {
  return REASON_WORDS[reason];
}
