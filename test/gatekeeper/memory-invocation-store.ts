import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { ToolInvocationStore, type InvocationRecord } from '../../src/ports/tool-invocation-store.port';
import { mintInvocationId } from '../../src/protocol/invocation-id';
import type { JsonObject } from '../../src/protocol/json-value';
import type { ToolOutput } from '../../src/protocol/tool-output';
import type { InvocationStatus } from '../../src/vocabulary/run-lifecycle';

export interface RecordedCall {
  readonly runId: string;
  readonly tool_name?: string;
  readonly arguments?: JsonObject;
  readonly status?: InvocationStatus;
  /** An output, its text as stored, or null for bytes that no longer match their hash. */
  readonly output: ToolOutput | string | null;
}

/** Recorded calls in memory, with the reads that the gate may do and a count of them. */
export class MemoryInvocationStore extends ToolInvocationStore {
  readonly reads: string[] = [];
  private readonly records: InvocationRecord[] = [];
  private readonly outputs = new Map<string, string | null>();

  /** Records a call and answers its short id. */
  record(call: RecordedCall): string {
    const ordinal = this.records.filter((record) => record.run_id === call.runId).length + 1;
    const invocation_id = mintInvocationId(call.runId, ordinal);
    const id = `${call.runId}/${ordinal}`;
    this.records.push({
      id,
      run_id: call.runId,
      invocation_id,
      call_key: id,
      round: 0,
      ordinal,
      tool_name: call.tool_name ?? 'error_share',
      arguments: JSON.stringify(call.arguments ?? {}),
      status: call.status ?? 'OK',
      output_sha256: null,
      output_bytes: null,
      error_code: null,
      started_at: new Date(0),
      duration_ms: 1,
    });
    this.outputs.set(id, typeof call.output === 'string' || call.output === null ? call.output : JSON.stringify(call.output));
    return invocation_id;
  }

  async listByRun(runId: string): Promise<InvocationRecord[]> {
    return this.records.filter((record) => record.run_id === runId);
  }

  async existsInAnotherRun(runId: string, invocationId: string): Promise<boolean> {
    return this.records.some((record) => record.run_id !== runId && record.invocation_id === invocationId);
  }

  async readOutput(id: string): Promise<string> {
    this.reads.push(id);
    const output = this.outputs.get(id);
    if (output === undefined || output === null) throw new DiagnosisError('OUTPUT_CORRUPT', 'The bytes do not match their hash.');
    return output;
  }

  begin(): Promise<never> {
    return Promise.reject(new DiagnosisError('INTERNAL', 'The gate writes nothing.'));
  }

  finish(): Promise<never> {
    return Promise.reject(new DiagnosisError('INTERNAL', 'The gate writes nothing.'));
  }

  findOfRun(): Promise<never> {
    return Promise.reject(new DiagnosisError('INTERNAL', 'The gate lists a run, it does not look for single calls.'));
  }
}
