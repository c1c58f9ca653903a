import type { NodeUpdate, NodeView } from '../../src/blueprint/node-contracts';
import { ROUTING_TABLE, type NextNode } from '../../src/blueprint/routing-table';
import { GraphNode, type NodeResult } from '../../src/ports/graph-node.port';
import { type NodeName } from '../../src/vocabulary/node-names';
import type { OutcomeOf } from '../../src/vocabulary/outcomes';

type Table = { [N in NodeName]: { [O in OutcomeOf<N>]: NextNode } };

/** These tests are checked by `tsc --noEmit`: each expected error is an error of its own when it is missing. */
describe('Contracts as types', () => {
  it('[A5] a misspelt outcome, a missing one and an unknown next node are type errors in the routing table', () => {
    // @ts-expect-error an outcome that no contract lists
    const misspelt: Table = { ...ROUTING_TABLE, verified_input: { ...ROUTING_TABLE.verified_input, COMPLETE: 'verifier' } };
    // @ts-expect-error an outcome without a route
    const missing: Table['verified_input'] = { COMPLETED: 'verifier', FAILED: 'fallback' };
    // @ts-expect-error a node that does not exist
    const nowhere: NextNode = 'verifyer';
    expect([misspelt, missing, nowhere]).toHaveLength(3);
  });

  it('[A2] [A3] a write to a foreign field and a status of another node are type errors', () => {
    // @ts-expect-error the verdict belongs to the verifier
    const foreign: NodeUpdate<'planner'> = { effective_verdict: 'PASS' };
    // @ts-expect-error events belong to the guard
    const events: NodeUpdate<'executor'> = { orchestration_events: [] };
    // @ts-expect-error the executor has no retryable failure
    const status: NodeUpdate<'executor'> = { executor_status: 'RETRYABLE_FAILED' };
    expect([foreign, events, status]).toHaveLength(3);
  });

  it('[A3] [A12] an undeclared read is a type error, and a view cannot be written', () => {
    const verifier = (view: NodeView<'verifier'>): unknown[] => [
      // @ts-expect-error the verifier never sees the executor's own document
      view.executor_output,
      // @ts-expect-error nor the raw result of the gatekeeper
      view.gatekeeper_result,
    ];
    const composer = (view: NodeView<'composer'>): void => {
      // @ts-expect-error a view is read-only
      view.effective_verdict = 'PASS';
    };
    class Curious extends GraphNode<'planner'> {
      readonly name = 'planner' as const;
      override async run(view: NodeView<'planner'>): Promise<NodeResult<'planner'>> {
        // @ts-expect-error the planner does not read verdicts
        return { update: { planner_status: view.effective_verdict }, reason_code: 'OK' };
      }
    }
    expect([verifier, composer, Curious]).toHaveLength(3);
  });
});
