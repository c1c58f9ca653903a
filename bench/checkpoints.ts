import { MemorySaver, type BaseCheckpointSaver } from '@langchain/langgraph';
import { RECURSION_LIMIT } from '../src/blueprint/routing-table';
import { initialState } from '../src/blueprint/state-fields';
import { DiagnosisCheckpointSaver } from '../src/graph/checkpoint-saver';
import { compileDiagnosisGraph } from '../src/graph/diagnosis-graph';
import type { AnyGraphNode } from '../src/ports/graph-node.port';
import type { RunContext } from '../src/ports/run-context';
import { CheckpointRepository } from '../src/runs/checkpoint.repository';
import { SystemClock } from '../src/runs/system-clock.service';
import { NODE_NAMES } from '../src/vocabulary/node-names';
import { onEachDatabase, openBenchDatabase } from './bench-databases';
import { expectAnswer, intake, pairedRatio, ScriptedNode, type OneRun } from './graph-overhead';

interface CheckpointRow {
  readonly name: string;
  readonly ratio: number;
  readonly limit: number | null;
}

/** The graph with scripted nodes over a checkpointer; the thread is deleted after each run, so that no side grows. */
function graphWith(checkpointer: BaseCheckpointSaver): OneRun {
  const nodes = NODE_NAMES.map((name) => new ScriptedNode(name) as AnyGraphNode);
  const graph = compileDiagnosisGraph(nodes, undefined, checkpointer);
  return async (runId) => {
    const run: RunContext = { runId, deadline: new AbortController().signal, round: 0 };
    const state = await graph.invoke(initialState(intake), {
      configurable: { thread_id: runId, run },
      metadata: { runId, sessionId: 's' },
      signal: new AbortController().signal,
      recursionLimit: RECURSION_LIMIT,
    });
    expectAnswer(state);
    await checkpointer.deleteThread(runId);
  };
}

/**
 * What durable checkpoints cost: a run of the graph with `DiagnosisCheckpointSaver` against the same with the saver of
 * LangGraph that keeps everything in memory, on both databases, nothing left out that a host's graph would write.
 */
export async function measureCheckpoints(): Promise<CheckpointRow[]> {
  const noise = await pairedRatio(graphWith(new MemorySaver()), graphWith(new MemorySaver()));
  return [
    { name: 'graph run: MemorySaver / MemorySaver (A/A)', ratio: noise, limit: null },
    ...(await onEachDatabase(async (database) => {
      const dataSource = await openBenchDatabase(database);
      try {
        const saver = new DiagnosisCheckpointSaver(new CheckpointRepository(dataSource, new SystemClock()));
        const ratio = await pairedRatio(graphWith(saver), graphWith(new MemorySaver()));
        return [{ name: `graph run: checkpointer on ${database.name} / MemorySaver`, ratio, limit: null }];
      } finally {
        await dataSource.destroy();
      }
    })),
  ];
}
