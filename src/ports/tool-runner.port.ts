import type { RunnableConfig } from '@langchain/core/runnables';
import type { JsonObject, JsonValue } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import type { InvocationStatus } from '../vocabulary/run-lifecycle';

export interface ToolCall {
  readonly tool_name: string;
  readonly arguments: JsonObject;
}

/** What an agent gets back: a view of the stored output, cut only at its tail and then marked. Never an exception. */
export interface ToolResult {
  /** Short id of the recorded call, the one that claims cite. */
  readonly invocation_id: string;
  readonly status: InvocationStatus;
  readonly coverage: ToolOutput['coverage'] | null;
  readonly matched_count: number | null;
  readonly records_scanned: number | null;
  readonly records_rejected: number | null;
  readonly complete: boolean;
  /** The output's `data`, or its head as text when `view_truncated`; for ERROR and DENIED `{ error: { code, message } }`. */
  readonly data: JsonValue;
  readonly view_truncated: boolean;
}

/** What an agent may know of a tool before it calls it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly arguments: JsonObject;
}

/**
 * The recorder: the only way to a tool. Policy, row, timeout, redaction and storage happen here. It refuses to run a tool
 * that is not on the allow-list, beyond a budget, or twice with the same arguments in one round (the stored result comes back).
 * The run is taken from `config.metadata.runId`, which must equal `config.configurable.thread_id`.
 */
export abstract class ToolRunner {
  abstract describe(): ToolDescription[];
  abstract run(call: ToolCall, config: RunnableConfig): Promise<ToolResult>;

  /** Forgets what is held in memory for a run that has ended; what was recorded stays. Safe to call at any time. */
  release?(runId: string): void;
}
