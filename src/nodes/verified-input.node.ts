import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import type { NodeView } from '../blueprint/node-contracts';
import { normaliseGatekeeperResult } from '../gatekeeper/normalise-gatekeeper-result';
import { GraphNode, type NodeResult } from '../ports/graph-node.port';
import { runIdOf } from '../ports/run-context';
import type { ReasonCode } from '../vocabulary/reason-codes';
import { projectVerified } from './verified-projection';

/**
 * Turns the untrusted document and its checked bindings into the only executor material that anyone downstream sees. It
 * refuses failed bindings, hypotheses and free text of the executor, and it fails when nothing is left. The raw result is
 * normalised once more, so that no status in the state can vouch for a result that does not stand by itself.
 */
@Injectable()
export class VerifiedInputNode extends GraphNode<'verified_input'> {
  readonly name = 'verified_input' as const;

  async run(view: NodeView<'verified_input'>, config: RunnableConfig): Promise<NodeResult<'verified_input'>> {
    const { executor_output, gatekeeper_result, gatekeeper_status } = view;
    if (executor_output === null) return failed('NOTHING_VERIFIED');
    const { status, result } = normaliseGatekeeperResult(gatekeeper_result, runIdOf(config), executor_output);
    if (result === null || status === 'REJECT' || status !== gatekeeper_status) return failed('GATEKEEPER_RESULT_UNTRUSTED');
    const projection = projectVerified(executor_output, result.checked_bindings);
    if (projection === null) return failed('NOTHING_VERIFIED');
    return {
      update: {
        verified_input_status: 'COMPLETED',
        verified_executor_output: projection.output,
        verified_evidence: projection.evidence,
      },
      reason_code: 'OK',
    };
  }
}

function failed(reason_code: ReasonCode): NodeResult<'verified_input'> {
  return { update: { verified_input_status: 'FAILED' }, reason_code };
}
