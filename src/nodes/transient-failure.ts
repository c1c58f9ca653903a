import { DiagnosisError } from '../errors/diagnosis-error';

/** HTTP statuses after which the same request may succeed; every 5xx beside them. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 429]);
/** Codes with which Node and fetch tell a timeout or a connection that was reset. */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_SOCKET',
]);

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function isTransientStatus(status: unknown): boolean {
  return typeof status === 'number' && (TRANSIENT_STATUSES.has(status) || (status >= 500 && status <= 599));
}

/**
 * Whether what an agent threw may be gone at a second attempt: AGENT_TRANSIENT, a timeout, a reset connection, or HTTP 408,
 * 409, 425, 429 and 5xx as model clients carry them (`status`, `statusCode`, `response.status`), one `cause` deep. It reads
 * codes and numbers and refuses to read messages: everything else is permanent.
 */
export function isTransientFailure(error: unknown): boolean {
  if (error instanceof DiagnosisError) return error.code === 'AGENT_TRANSIENT';
  return [error, property(error, 'cause')].some(
    (layer) =>
      isTransientStatus(property(layer, 'status')) ||
      isTransientStatus(property(layer, 'statusCode')) ||
      isTransientStatus(property(property(layer, 'response'), 'status')) ||
      TRANSIENT_CODES.has(property(layer, 'code')) ||
      property(layer, 'name') === 'TimeoutError',
  );
}
