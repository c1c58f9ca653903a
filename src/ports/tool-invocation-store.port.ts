import type { InvocationStatus } from '../vocabulary/run-lifecycle';

/** A recorded tool call without its output. */
export interface InvocationRecord {
  /** UUIDv7 of the row. */
  readonly id: string;
  readonly run_id: string;
  /** Short, checksummed id that agents see and claims cite; unique within the run. */
  readonly invocation_id: string;
  /** sha256 of round, tool, canonical arguments and ordinal: a resumed run finds its stored result by it. */
  readonly call_key: string;
  readonly round: number;
  readonly ordinal: number;
  readonly tool_name: string;
  /** Canonical JSON, redacted. */
  readonly arguments: string;
  readonly status: InvocationStatus;
  readonly output_sha256: string | null;
  readonly output_bytes: number | null;
  readonly error_code: string | null;
  readonly started_at: Date;
  readonly duration_ms: number | null;
}

export type NewInvocation = Pick<
  InvocationRecord,
  'id' | 'run_id' | 'invocation_id' | 'call_key' | 'round' | 'ordinal' | 'tool_name' | 'arguments' | 'started_at'
> & {
  readonly status: 'RUNNING' | 'DENIED';
  /** Why a DENIED call was denied. */
  readonly error_code?: string | null;
};

export interface FinishedInvocation {
  readonly status: 'OK' | 'TRUNCATED' | 'ERROR' | 'ABANDONED';
  /** The whole redacted output as text; null for ABANDONED. */
  readonly output: string | null;
  readonly error_code: string | null;
  readonly duration_ms: number;
}

/**
 * Tool calls and the bytes of their outputs (UTF-8, gzip, chunks, SHA-256). It refuses to hand out an output whose bytes
 * no longer match their hash: `DiagnosisError` OUTPUT_CORRUPT.
 */
export abstract class ToolInvocationStore {
  /** Inserts the row; when the run already has a row with this `call_key`, answers that row and inserts nothing. */
  abstract begin(invocation: NewInvocation): Promise<{ readonly record: InvocationRecord; readonly existed: boolean }>;
  abstract finish(id: string, end: FinishedInvocation): Promise<void>;
  abstract listByRun(runId: string): Promise<InvocationRecord[]>;
  /** By the row's id or the short id within the run. */
  abstract findOfRun(runId: string, id: string): Promise<InvocationRecord | null>;
  /** Whether any other run recorded a call with this short id. */
  abstract existsInAnotherRun(runId: string, invocationId: string): Promise<boolean>;
  abstract readOutput(id: string): Promise<string>;
}
