import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import type { NodeView } from '../blueprint/node-contracts';
import { ComposerAgent } from '../ports/agent-invoker.port';
import { GraphNode, type NodeResult } from '../ports/graph-node.port';
import { renderComposedAnswer } from '../protocol/answer-markdown';
import { parseComposerAnswer } from '../protocol/parse-composer-answer';
import { askAgent, failedAttempt } from './agent-attempt';

/**
 * Asks the composer to arrange the allowed claims and lets code word the answer. The composer never sees the question, a
 * binding or a matched text, and the node refuses any text of it that carries facts of its own: the parser does.
 */
@Injectable()
export class ComposerNode extends GraphNode<'composer'> {
  readonly name = 'composer' as const;

  constructor(private readonly agent: ComposerAgent) {
    super();
  }

  async run(view: NodeView<'composer'>, config: RunnableConfig): Promise<NodeResult<'composer'>> {
    const { diagnosis_query, effective_verdict, allowed_material: allowed } = view;
    if (allowed === null || effective_verdict === null || effective_verdict === 'REJECT') {
      return { update: { composer_status: 'NON_RETRYABLE_FAILED' }, reason_code: 'STATUS_UNKNOWN' };
    }
    const projection = {
      effective_verdict,
      claims: allowed.claims.map(({ claim_id, kind, subject, statement }) => ({ claim_id, kind, subject, statement })),
      assessments: allowed.assessments,
      missing_information: allowed.missing_information,
      recommendations: allowed.recommendations,
    };
    const reply = await askAgent(this.agent, projection, config);
    const { input_bytes } = reply;
    if (!reply.answered) {
      const { status, reason_code } = failedAttempt(reply.failure);
      return { update: { composer_status: status }, reason_code, input_bytes };
    }
    const { output_bytes } = reply;
    const document = parseComposerAnswer(reply.raw, allowed);
    if (!document.ok) {
      return { update: { composer_status: 'INVALID_OUTPUT' }, reason_code: document.reason_code, input_bytes, output_bytes };
    }
    const composer_answer = renderComposedAnswer({
      query: diagnosis_query,
      verdict: effective_verdict,
      allowed,
      answer: document.value,
    });
    return { update: { composer_status: 'COMPLETED', composer_answer }, reason_code: 'OK', input_bytes, output_bytes };
  }
}
