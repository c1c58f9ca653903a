import type { JsonValue } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import type { ToolResult } from '../ports/tool-runner.port';
import type { InvocationStatus } from '../vocabulary/run-lifecycle';

/** What an agent gets of a stored output: `data` whole when it fits into `maxBytes` of UTF-8, else the head of its text. */
export function viewOf(invocationId: string, status: InvocationStatus, output: ToolOutput, maxBytes: number): ToolResult {
  const { data, view_truncated } = cutView(output.data, maxBytes);
  return {
    invocation_id: invocationId,
    status,
    coverage: output.coverage,
    matched_count: output.matched_count,
    records_scanned: output.records_scanned,
    records_rejected: output.records_rejected,
    complete: output.complete,
    data,
    view_truncated,
  };
}

/** What an agent gets of a call that has no output. */
export function refusalOf(invocationId: string, status: InvocationStatus, code: string, message: string): ToolResult {
  return {
    invocation_id: invocationId,
    status,
    coverage: null,
    matched_count: null,
    records_scanned: null,
    records_rejected: null,
    complete: false,
    data: errorData(code, message),
    view_truncated: false,
  };
}

/** The output that is stored for a call that failed. */
export function errorOutput(code: string, message: string): ToolOutput {
  return {
    matched_count: 0,
    records_scanned: 0,
    records_rejected: 0,
    complete: false,
    coverage: { from: null, to: null, filter: null },
    fields: {},
    server_time: null,
    data: errorData(code, message),
  };
}

function errorData(code: string, message: string): JsonValue {
  return { error: { code, message } };
}

function cutView(data: JsonValue, maxBytes: number): { data: JsonValue; view_truncated: boolean } {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  if (text.length <= maxBytes && Buffer.byteLength(text, 'utf8') <= maxBytes) return { data, view_truncated: false };
  // No more than maxBytes characters can fit, and half a character at the end is dropped.
  const bytes = Buffer.from(text.slice(0, maxBytes), 'utf8').subarray(0, maxBytes);
  let end = bytes.length;
  if (end > 0) {
    let lead = end - 1;
    while (lead > 0 && ((bytes[lead] as number) & 0xc0) === 0x80) lead -= 1;
    const first = bytes[lead] as number;
    const width = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (lead + width > end) end = lead;
  }
  return { data: bytes.subarray(0, end).toString('utf8'), view_truncated: true };
}
