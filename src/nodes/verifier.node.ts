import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import { isQualifyingGap } from '../blueprint/classify';
import type { NodeView } from '../blueprint/node-contracts';
import { VerifierAgent } from '../ports/agent-invoker.port';
import { GraphNode, type NodeResult } from '../ports/graph-node.port';
import { parseVerifierVerdict } from '../protocol/parse-verifier-verdict';
import type { VerifierVerdict } from '../protocol/verifier-verdict';
import type { ReasonCode } from '../vocabulary/reason-codes';
import type { Verdict, VerdictCeiling } from '../vocabulary/verdicts';
import { askAgent, failedAttempt } from './agent-attempt';
import { allowedMaterialOf } from './allowed-material';

/**
 * Has the verified material judged. The attempt's status, the model's word and the verdict that counts are three values; it
 * refuses to lift a LOW_CONFID ceiling, to take claim text from the verifier, and to give a verdict when the attempt failed.
 */
@Injectable()
export class VerifierNode extends GraphNode<'verifier'> {
  readonly name = 'verifier' as const;

  constructor(private readonly agent: VerifierAgent) {
    super();
  }

  async run(view: NodeView<'verifier'>, config: RunnableConfig): Promise<NodeResult<'verifier'>> {
    const { diagnosis_query, verified_executor_output, verified_evidence, gatekeeper_audit } = view;
    const { verdict_ceiling, evidence_retry_context } = view;
    if (verified_executor_output === null || verified_evidence === null || verdict_ceiling === null) {
      return { update: { verifier_status: 'NON_RETRYABLE_FAILED' }, reason_code: 'STATUS_UNKNOWN' };
    }
    const projection = {
      diagnosis_query,
      verified_executor_output,
      verified_evidence,
      gatekeeper_audit,
      verdict_ceiling,
      evidence_retry_context,
    };
    const reply = await askAgent(this.agent, projection, config);
    const { input_bytes } = reply;
    if (!reply.answered) {
      const { status, reason_code } = failedAttempt(reply.failure);
      return { update: { verifier_status: status }, reason_code, input_bytes };
    }
    const { output_bytes } = reply;
    const parsed = parseVerifierVerdict(reply.raw, verified_executor_output);
    if (!parsed.ok) {
      return { update: { verifier_status: 'INVALID_OUTPUT' }, reason_code: parsed.reason_code, input_bytes, output_bytes };
    }
    const verdict = parsed.value;
    const effective_verdict = underCeiling(verdict.verdict, verdict_ceiling);
    const rejected = effective_verdict === 'REJECT';
    return {
      update: {
        verifier_status: 'COMPLETED',
        verifier_model_verdict: verdict.verdict,
        effective_verdict,
        verifier_facts: verdict.facts,
        allowed_material: rejected ? null : allowedMaterialOf(verdict, verified_executor_output, verified_evidence),
      },
      reason_code: reasonOf(verdict, effective_verdict, verdict_ceiling, evidence_retry_context === null),
      input_bytes,
      output_bytes,
    };
  }
}

function underCeiling(verdict: Verdict, ceiling: VerdictCeiling): Verdict {
  return verdict === 'PASS' && ceiling === 'LOW_CONFID' ? 'LOW_CONFID' : verdict;
}

function reasonOf(verdict: VerifierVerdict, effective: Verdict, ceiling: VerdictCeiling, firstRound: boolean): ReasonCode {
  if (effective === 'REJECT') return 'VERDICT_REJECT';
  if (effective === 'PASS') return 'OK';
  if (verdict.verdict === 'PASS') return 'VERDICT_CAPPED';
  const gapMayBeClosed = firstRound && ceiling === 'PASS' && verdict.facts.some(isQualifyingGap);
  return gapMayBeClosed ? 'EVIDENCE_GAP' : 'VERDICT_LOW';
}
