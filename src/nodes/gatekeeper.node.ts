import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import type { NodeView } from '../blueprint/node-contracts';
import { ExecutorGatekeeperService } from '../gatekeeper/executor-gatekeeper.service';
import { normaliseGatekeeperResult } from '../gatekeeper/normalise-gatekeeper-result';
import { GraphNode, type NodeResult } from '../ports/graph-node.port';
import { runIdOf } from '../ports/run-context';
import type { JsonValue } from '../protocol/json-value';
import { wasAborted } from './agent-attempt';

const UNTRUSTED: NodeResult<'gatekeeper'> = {
  update: {
    gatekeeper_result: null,
    gatekeeper_status: 'REJECT',
    verdict_ceiling: null,
    gatekeeper_audit: { status: 'REJECT', ceiling: null, passed: 0, failed: 0, reason_codes: ['GATEKEEPER_RESULT_UNTRUSTED'] },
  },
  reason_code: 'GATEKEEPER_RESULT_UNTRUSTED',
};

/**
 * Has the executor's document checked exactly once, for the run that the config names. It keeps what the service returned
 * apart from the normalised status, and refuses to trust anything it cannot read: that is REJECT.
 */
@Injectable()
export class GatekeeperNode extends GraphNode<'gatekeeper'> {
  readonly name = 'gatekeeper' as const;

  constructor(private readonly service: ExecutorGatekeeperService) {
    super();
  }

  async run(view: NodeView<'gatekeeper'>, config: RunnableConfig): Promise<NodeResult<'gatekeeper'>> {
    const { executor_output } = view;
    if (executor_output === null) return UNTRUSTED;
    try {
      const runId = runIdOf(config);
      const raw: unknown = await this.service.validateRun(runId, executor_output);
      const normalised = normaliseGatekeeperResult(raw, runId, executor_output);
      return {
        update: {
          gatekeeper_result: asPlainJson(raw),
          gatekeeper_status: normalised.status,
          verdict_ceiling: normalised.ceiling,
          gatekeeper_audit: normalised.audit,
        },
        reason_code: normalised.reason_code,
      };
    } catch (error) {
      if (wasAborted(config)) throw error;
      return UNTRUSTED;
    }
  }
}

function asPlainJson(raw: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(raw);
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}
