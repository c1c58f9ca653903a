import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { DiagnosisError, type DiagnosisErrorCode } from '../errors/diagnosis-error';

/** Media type of every error. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** Body of an error (RFC 9457) with a code of the closed list, and the scalar facts of the error beside it. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: DiagnosisErrorCode;
  readonly [fact: string]: string | number | boolean | null;
}

const HTTP_STATUSES: Readonly<Record<DiagnosisErrorCode, number>> = {
  REQUEST_INVALID: 400,
  REQUEST_TOO_LARGE: 413,
  NOT_FOUND: 404,
  CONFLICT: 409,
  OPTIONS_INVALID: 500,
  DEPENDENCY_MISSING: 500,
  TELEMETRY_MISSING: 422,
  TELEMETRY_UNREADABLE: 422,
  TELEMETRY_EMPTY: 422,
  MAPPING_INVALID: 422,
  TOOL_ARGUMENTS_INVALID: 422,
  TOOL_FAILED: 500,
  TOOL_BLOCKED: 403,
  OUTPUT_TOO_LARGE: 500,
  OUTPUT_CORRUPT: 500,
  AGENT_TRANSIENT: 503,
  AGENT_PERMANENT: 500,
  STATE_INVALID: 500,
  STORE_UNAVAILABLE: 503,
  LEASE_LOST: 500,
  CANCELLED: 409,
  RUN_FAILED: 500,
  OVERLOADED: 503,
  INTERNAL: 500,
};

/**
 * The problem document of anything that was thrown. It shows the message of a `DiagnosisError` and fixed texts for
 * everything else; it refuses to show the text of an unknown error.
 */
export function problemOf(thrown: unknown): ProblemDocument {
  if (DiagnosisError.is(thrown)) {
    const isPassing = thrown.code === 'RUN_FAILED' && thrown.detail['failure'] === 'DRAIN';
    return problem(thrown.code, isPassing ? 503 : HTTP_STATUSES[thrown.code], thrown.message, thrown.detail);
  }
  const status = statusOf(thrown);
  if (status === 413) {
    const limit = (thrown as { limit?: unknown }).limit;
    return typeof limit === 'number'
      ? problem('REQUEST_TOO_LARGE', 413, `The body is too large; at most ${limit} bytes are accepted.`, { limitBytes: limit })
      : problem('REQUEST_TOO_LARGE', 413, 'The body is too large.');
  }
  if (status === 404) return problem('NOT_FOUND', 404, 'There is no such route; /docs lists those that exist.');
  if (status === 415) return problem('REQUEST_INVALID', 415, 'The body must be JSON in UTF-8 (content-type: application/json).');
  if (status === 405) {
    return problem(
      'REQUEST_INVALID',
      405,
      'This route does not answer this method; the header Allow names those that it answers.',
    );
  }
  if (isPathUndecodable(thrown)) {
    return problem(
      'REQUEST_INVALID',
      400,
      'The path holds a percent escape that is not UTF-8; a percent sign itself is written %25.',
    );
  }
  if (status >= 400 && status < 500) {
    const isBody = typeof (thrown as { type?: unknown }).type === 'string' || status === 400;
    return problem(
      'REQUEST_INVALID',
      status,
      isBody ? 'The body must be one valid JSON object in UTF-8.' : 'The request is not accepted here.',
    );
  }
  if (status === 503) return problem('STORE_UNAVAILABLE', 503, 'A part of the service is not available; ask again in a moment.');
  return problem('INTERNAL', 500, 'Something went wrong inside; the log of the service has the code.');
}

function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status: unknown = (thrown as { status?: unknown } | null | undefined)?.status;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 500 ? status : 500;
}

/** The router names what it could not decode in its message alone, behind these words. */
function isPathUndecodable(thrown: unknown): boolean {
  return thrown instanceof URIError || (thrown instanceof HttpException && /^Failed to decode param/.test(thrown.message));
}

function problem(
  code: DiagnosisErrorCode,
  status: number,
  detail: string,
  facts: Readonly<Record<string, string | number | boolean | null>> = {},
): ProblemDocument {
  return { ...facts, type: `urn:problem:nestjs-diagnosis:${code}`, title: STATUS_CODES[status] ?? 'Error', status, detail, code };
}
