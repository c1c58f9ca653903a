/** Why an attempt ended as it did: the reason code of an orchestration event. Codes only; never text of a model or a tool. */
export const REASON_CODES = [
  'OK',
  'NO_EVIDENCE',
  'OUTPUT_NOT_JSON',
  'OUTPUT_BREAKS_CONTRACT',
  'OUTPUT_MISSING',
  'AGENT_TRANSIENT',
  'AGENT_PERMANENT',
  'TOOL_DENIED',
  'NODE_THREW',
  'RUN_DEADLINE',
  'BINDING_FAILED',
  'FOREIGN_EVIDENCE',
  'UNTYPED_COMPARISON',
  'GATEKEEPER_RESULT_UNTRUSTED',
  'NOTHING_VERIFIED',
  'VERDICT_CAPPED',
  'VERDICT_LOW',
  'VERDICT_REJECT',
  'EVIDENCE_GAP',
  'RETRY_CONTEXT_UNUSABLE',
  'STATUS_UNKNOWN',
  'FALLBACK_FAILED',
] as const;
export type ReasonCode = (typeof REASON_CODES)[number];

/** Why a binding passed or failed: the reason code of a checked binding. */
export const BINDING_REASON_CODES = [
  'OK',
  'INVOCATION_UNKNOWN',
  'INVOCATION_OF_ANOTHER_RUN',
  'INVOCATION_ID_SLIP',
  'TOOL_MISMATCH',
  'STATUS_NOT_BINDABLE',
  'OUTPUT_CORRUPT',
  'PATH_SYNTAX',
  'PATH_NOT_FOUND',
  'PATH_IS_CONTAINER',
  'TEXT_EMPTY',
  'RANGE_TOO_WIDE',
  'QUOTE_TOO_SHORT',
  'QUOTE_NOT_FOUND',
  'CONCLUSION_NOT_CITEABLE',
  'SUBJECT_NOT_FOUND',
  'IDENTIFIER_NOT_FOUND',
  'WORD_NOT_FOUND',
  'NUMBER_NOT_FOUND',
  'UNIT_MISMATCH',
  'TIME_NOT_FOUND',
  'AMBIGUOUS_ZONE',
  'QUOTATION_NOT_FOUND',
  'ASSERTION_MALFORMED',
  'ASSERTION_FALSE',
  'WINDOW_MISMATCH',
  'ROW_MISMATCH',
  'SOURCE_INCOMPLETE',
  'ABSENCE_NOT_PROVEN',
  'SCOPE_MISMATCH',
  'CAUSAL_STATEMENT',
] as const;
export type BindingReasonCode = (typeof BINDING_REASON_CODES)[number];

/** What the gatekeeper says of the document as a whole, beside its bindings. */
export const GATEKEEPER_REASON_CODES = [
  'NO_CLAIMS',
  'UNBOUND_CLAIM',
  'BINDING_FAILED',
  'FOREIGN_EVIDENCE',
  'UNTYPED_COMPARISON',
  'CAUSAL_STATEMENT',
  'ASSESSMENT_UNSUPPORTED',
  'CHECK_FAILED',
] as const;
export type GatekeeperReasonCode = (typeof GATEKEEPER_REASON_CODES)[number];

/** Why material of a verifier was dropped before it could reach an answer. */
export const DROP_REASON_CODES = ['FREE_TEXT_UNFAITHFUL', 'ASSESSMENT_UNSUPPORTED'] as const;
export type DropReasonCode = (typeof DROP_REASON_CODES)[number];
