import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import { isQualifyingGap } from '../blueprint/classify';
import type { NodeView } from '../blueprint/node-contracts';
import { MAX_EVIDENCE_RETRIES } from '../blueprint/routing-table';
import { GraphNode, type NodeResult } from '../ports/graph-node.port';
import { runIdOf } from '../ports/run-context';
import { ToolInvocationStore, type InvocationRecord } from '../ports/tool-invocation-store.port';
import { evidenceGapSchema, type CompletedQuery, type EvidenceGap } from '../protocol/evidence-retry-context';
import type { VerifierFact } from '../protocol/verifier-verdict';
import { wasAborted } from './agent-attempt';

const UNUSABLE: NodeResult<'retry_prepare'> = {
  update: { retry_prepare_status: 'FAILED' },
  reason_code: 'RETRY_CONTEXT_UNUSABLE',
};

/**
 * Prepares the one evidence round that a run may have: what is verified, which gaps are left, which queries are done. It
 * refuses a second round, a round without a gap, and any claim text that did not pass; a failure leaves counter and mode.
 */
@Injectable()
export class RetryPrepareNode extends GraphNode<'retry_prepare'> {
  readonly name = 'retry_prepare' as const;

  constructor(private readonly invocations: ToolInvocationStore) {
    super();
  }

  async run(view: NodeView<'retry_prepare'>, config: RunnableConfig): Promise<NodeResult<'retry_prepare'>> {
    const { verified_executor_output, verified_evidence, verifier_facts, evidence_retry_count } = view;
    const gaps = gapsOf(verifier_facts ?? []);
    if (evidence_retry_count >= MAX_EVIDENCE_RETRIES || gaps.length === 0) return UNUSABLE;
    if (verified_executor_output === null || verified_evidence === null) return UNUSABLE;
    let records: InvocationRecord[];
    try {
      records = await this.invocations.listByRun(runIdOf(config));
    } catch (error) {
      if (wasAborted(config)) throw error;
      return UNUSABLE;
    }
    return {
      update: {
        retry_prepare_status: 'COMPLETED',
        planner_mode: 'EVIDENCE_GAP_ONLY',
        evidence_retry_count: 1,
        evidence_retry_context: {
          prior_verified_output: verified_executor_output,
          prior_verified_evidence: verified_evidence,
          gaps,
          completed_queries: completedQueriesOf(records),
          constraints: {
            max_evidence_retries: MAX_EVIDENCE_RETRIES,
            repeat_completed_queries: false,
            snapshot: 'complete',
            keep_prior_verified_claims: true,
          },
        },
      },
      reason_code: 'OK',
    };
  }
}

function gapsOf(facts: readonly VerifierFact[]): EvidenceGap[] {
  return facts
    .filter(isQualifyingGap)
    .map(({ fact_id, claim_id, verification, gap }) => evidenceGapSchema.parse({ fact_id, claim_id, verification, gap }));
}

function completedQueriesOf(records: readonly InvocationRecord[]): CompletedQuery[] {
  const byQuery = new Map<string, CompletedQuery>();
  const inOrder = [...records].sort((a, b) => a.round - b.round || a.ordinal - b.ordinal);
  for (const record of inOrder) {
    if (record.status !== 'OK' && record.status !== 'TRUNCATED') continue;
    const key = JSON.stringify([record.tool_name, record.arguments]);
    if (byQuery.has(key)) continue;
    byQuery.set(key, { source_invocation_id: record.invocation_id, tool_name: record.tool_name, arguments: record.arguments });
  }
  return [...byQuery.values()];
}
