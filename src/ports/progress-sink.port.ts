import type { NodeName } from '../vocabulary/node-names';
import type { Outcome } from '../vocabulary/outcomes';
import type { InvocationStatus } from '../vocabulary/run-lifecycle';

/** What a caller may see while a run works: node, tool name and status; never a claim and never an output. */
export type ProgressEvent =
  | { readonly type: 'node_started'; readonly node: NodeName; readonly round: number; readonly attempt: number }
  | {
      readonly type: 'node_finished';
      readonly node: NodeName;
      readonly round: number;
      readonly attempt: number;
      readonly outcome: Outcome;
    }
  | { readonly type: 'tool_started'; readonly tool_name: string }
  | { readonly type: 'tool_finished'; readonly tool_name: string; readonly status: InvocationStatus };

/** Takes progress of runs; it must not throw and must not slow a run down. */
export abstract class ProgressSink {
  abstract publish(runId: string, event: ProgressEvent): void;
}
