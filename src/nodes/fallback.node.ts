import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import { fallbackClassOf } from '../blueprint/classify';
import type { NodeView } from '../blueprint/node-contracts';
import { GraphNode, type NodeResult } from '../ports/graph-node.port';
import { runIdOf } from '../ports/run-context';
import { ToolInvocationStore } from '../ports/tool-invocation-store.port';
import { renderPostFallback } from '../protocol/answer-markdown';
import type { DiagnosisQuery } from '../protocol/diagnosis-query';
import { renderPreFallback, type AskedTool } from '../protocol/pre-fallback-markdown';
import type { ReasonCode } from '../vocabulary/reason-codes';

/**
 * The safe answer that code alone gives when a run cannot be answered otherwise. Before verification it names question,
 * window, tools and reason, and refuses any claim; after it, it shows verifier-allowed material and nothing else.
 */
@Injectable()
export class FallbackNode extends GraphNode<'fallback'> {
  readonly name = 'fallback' as const;

  constructor(private readonly invocations: ToolInvocationStore) {
    super();
  }

  async run(view: NodeView<'fallback'>, config: RunnableConfig): Promise<NodeResult<'fallback'>> {
    const { diagnosis_query: query, orchestration_events } = view;
    const fallback_class = fallbackClassOf(orchestration_events);
    const reason = orchestration_events.at(-1)?.reason_code ?? 'STATUS_UNKNOWN';
    const allowed = fallback_class === 'POST_VERIFICATION' ? (view.allowed_material ?? null) : null;
    const verdict = view.effective_verdict ?? null;
    const fallback_answer =
      allowed !== null && allowed.claims.length > 0 && verdict !== null && verdict !== 'REJECT'
        ? renderPostFallback({ query, verdict, allowed, reason })
        : await this.preVerificationAnswer(query, reason, config);
    return { update: { fallback_class, fallback_reason: reason, fallback_answer }, reason_code: 'OK' };
  }

  private async preVerificationAnswer(query: DiagnosisQuery, reason: ReasonCode, config: RunnableConfig): Promise<string> {
    const tools = await this.toolsAsked(config);
    return renderPreFallback({ query, tools, reason });
  }

  /** Tools of the run in the order they were asked, with their statuses; null when they could not be read. */
  private async toolsAsked(config: RunnableConfig): Promise<AskedTool[] | null> {
    try {
      const records = await this.invocations.listByRun(runIdOf(config));
      return records.map(({ tool_name, status }) => ({ tool_name, status }));
    } catch {
      return null;
    }
  }
}
