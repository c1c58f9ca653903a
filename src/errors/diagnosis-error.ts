/**
 * The closed list of what can go wrong at a boundary. One HTTP status each, see `DiagnosisErrorFilter`.
 * A code is part of the public contract: it is never renamed, only added to.
 */
export const DIAGNOSIS_ERROR_CODES = [
  'REQUEST_INVALID',
  'REQUEST_TOO_LARGE',
  'NOT_FOUND',
  'CONFLICT',
  'OPTIONS_INVALID',
  'DEPENDENCY_MISSING',
  'TELEMETRY_MISSING',
  'TELEMETRY_UNREADABLE',
  'TELEMETRY_EMPTY',
  'MAPPING_INVALID',
  'TOOL_ARGUMENTS_INVALID',
  'TOOL_FAILED',
  'TOOL_BLOCKED',
  'OUTPUT_TOO_LARGE',
  'OUTPUT_CORRUPT',
  'AGENT_TRANSIENT',
  'AGENT_PERMANENT',
  'STATE_INVALID',
  'STORE_UNAVAILABLE',
  'LEASE_LOST',
  'CANCELLED',
  'RUN_FAILED',
  'OVERLOADED',
  'INTERNAL',
] as const;

export type DiagnosisErrorCode = (typeof DIAGNOSIS_ERROR_CODES)[number];

/**
 * The only error that ports throw. It carries a code from the closed list and a message that may be shown to a caller;
 * it refuses to carry a cause's raw text, because causes may hold credentials or telemetry.
 */
export class DiagnosisError extends Error {
  override readonly name = 'DiagnosisError';

  /**
   * @param code what went wrong, from the closed list
   * @param message one sentence for the caller: what is wrong and what would be right
   * @param detail scalar facts for logs and problem documents; never telemetry, never a secret
   */
  constructor(
    readonly code: DiagnosisErrorCode,
    message: string,
    readonly detail: Readonly<Record<string, string | number | boolean | null>> = {},
  ) {
    super(message);
  }

  /** Whether a value is a `DiagnosisError`, optionally of one code. */
  static is(value: unknown, code?: DiagnosisErrorCode): value is DiagnosisError {
    return value instanceof DiagnosisError && (code === undefined || value.code === code);
  }
}
