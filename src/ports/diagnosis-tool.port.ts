import type { z } from 'zod';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';

export interface ToolExecution {
  /** Aborted when the run is cancelled, its deadline passes, or the call's own time is over. */
  readonly signal: AbortSignal;
  readonly runId: string;
}

/**
 * A read-only question to telemetry or another system. Name and description are what agents see; `argumentsSchema` guards
 * the input. It refuses to write anywhere, and it never draws the conclusion of the run.
 * `execute` returns the whole output with its counts; it may throw `DiagnosisError`, which the recorder turns into an ERROR
 * output. It is only ever called through `ToolRunner`.
 */
export abstract class DiagnosisTool {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly argumentsSchema: z.ZodType<JsonObject>;
  /** Whether the tool reads the telemetry of `TelemetrySource` and can do nothing without it. */
  readonly readsTelemetry: boolean = false;
  abstract execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput>;
}

/** Token of the tools that are registered, as an array of `DiagnosisTool`. */
export const DIAGNOSIS_TOOLS = Symbol('DIAGNOSIS_TOOLS');
