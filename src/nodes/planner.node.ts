import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import type { NodeView } from '../blueprint/node-contracts';
import { PlannerAgent } from '../ports/agent-invoker.port';
import { GraphNode, type NodeResult } from '../ports/graph-node.port';
import { ToolRunner } from '../ports/tool-runner.port';
import { parseDiagnosisPlan } from '../protocol/parse-diagnosis-plan';
import { askAgent, failedAttempt } from './agent-attempt';

/** Asks the planner for one `diagnosis_plan_v1` over the registered tools; it refuses to mend or complete a plan. */
@Injectable()
export class PlannerNode extends GraphNode<'planner'> {
  readonly name = 'planner' as const;

  constructor(
    private readonly agent: PlannerAgent,
    private readonly tools: ToolRunner,
  ) {
    super();
  }

  async run(view: NodeView<'planner'>, config: RunnableConfig): Promise<NodeResult<'planner'>> {
    const { diagnosis_query, session_context, planner_mode, evidence_retry_context } = view;
    const reply = await askAgent(this.agent, { diagnosis_query, session_context, planner_mode, evidence_retry_context }, config);
    const { input_bytes } = reply;
    if (!reply.answered) {
      const { status, reason_code } = failedAttempt(reply.failure);
      return { update: { planner_status: status }, reason_code, input_bytes };
    }
    const { output_bytes } = reply;
    const plan = parseDiagnosisPlan(reply.raw, {
      mode: planner_mode,
      toolNames: this.tools.describe().map((tool) => tool.name),
      gapFactIds: (evidence_retry_context?.gaps ?? []).map((gap) => gap.fact_id),
    });
    return plan.ok
      ? { update: { planner_status: 'COMPLETED', diagnosis_plan: plan.value }, reason_code: 'OK', input_bytes, output_bytes }
      : { update: { planner_status: 'INVALID_OUTPUT' }, reason_code: plan.reason_code, input_bytes, output_bytes };
  }
}
