import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import type { NodeView } from '../blueprint/node-contracts';
import { ExecutorAgent } from '../ports/agent-invoker.port';
import { GraphNode, type NodeResult } from '../ports/graph-node.port';
import { runContextOf } from '../ports/run-context';
import { ToolInvocationStore } from '../ports/tool-invocation-store.port';
import { parseExecutorEvidence } from '../protocol/parse-executor-evidence';
import { askAgent, wasAborted } from './agent-attempt';

/** What the executor of an evidence round is told beside its material; fixed, so that a resumed run sends the same bytes. */
export const EVIDENCE_ROUND_INSTRUCTIONS = [
  'Do not repeat a query that is listed under evidence_retry_context.completed_queries.',
  'Ask only what can close a gap that is listed under evidence_retry_context.gaps.',
  'Answer with one complete executor_evidence_v2 document: a snapshot, not a difference.',
  'Keep every claim of evidence_retry_context.prior_verified_output with its claim_id and bindings; nobody merges it for you.',
  'Leave out the statement of a kept claim that has an assertion or a scope; code words such claims anew.',
] as const;

/**
 * Asks the executor once for `executor_evidence_v2`. What it gives is untrusted. It refuses to ask a second time, to merge
 * claims of two rounds, or to take anything but a legal document; a legal document without evidence is one.
 */
@Injectable()
export class ExecutorNode extends GraphNode<'executor'> {
  readonly name = 'executor' as const;

  constructor(
    private readonly agent: ExecutorAgent,
    private readonly invocations: ToolInvocationStore,
  ) {
    super();
  }

  async run(view: NodeView<'executor'>, config: RunnableConfig): Promise<NodeResult<'executor'>> {
    const { diagnosis_query, planner_mode, diagnosis_plan, evidence_retry_context } = view;
    const instructions = planner_mode === 'EVIDENCE_GAP_ONLY' ? { instructions: EVIDENCE_ROUND_INSTRUCTIONS } : {};
    const projection = { diagnosis_query, planner_mode, diagnosis_plan, evidence_retry_context, ...instructions };
    const reply = await askAgent(this.agent, projection, config);
    const { input_bytes } = reply;
    if (!reply.answered) {
      const isBlocked = reply.failure === 'TOOL_DENIED' || (await this.wasDenied(config));
      return isBlocked
        ? { update: { executor_status: 'TOOL_BLOCKED' }, reason_code: 'TOOL_DENIED', input_bytes }
        : { update: { executor_status: 'FAILED' }, reason_code: reply.failure, input_bytes };
    }
    const { output_bytes } = reply;
    const evidence = parseExecutorEvidence(reply.raw);
    if (!evidence.ok) {
      if (await this.wasDenied(config)) {
        return { update: { executor_status: 'TOOL_BLOCKED' }, reason_code: 'TOOL_DENIED', input_bytes, output_bytes };
      }
      return { update: { executor_status: 'INVALID_OUTPUT' }, reason_code: evidence.reason_code, input_bytes, output_bytes };
    }
    return {
      update: { executor_status: 'COMPLETED', executor_output: evidence.value },
      reason_code: evidence.value.no_evidence === null ? 'OK' : 'NO_EVIDENCE',
      input_bytes,
      output_bytes,
    };
  }
  /** Whether a call of this round was denied; a store that cannot tell leaves the failure what it was. */
  private async wasDenied(config: RunnableConfig): Promise<boolean> {
    try {
      const { runId, round } = runContextOf(config);
      const records = await this.invocations.listByRun(runId);
      return records.some((record) => record.round === round && record.status === 'DENIED');
    } catch (error) {
      if (wasAborted(config)) throw error;
      return false;
    }
  }
}
