import type { RunnableConfig } from '@langchain/core/runnables';
import type { ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { Logger } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { RUN_REALM, type CheckpointStore } from '../ports/checkpoint-store.port';
import { DiagnosisCheckpointSaver } from './checkpoint-saver';

/** A run that may leave checkpoints now. */
interface OpenThread {
  readonly writing: Set<Promise<unknown>>;
  stopped: boolean;
}

/**
 * Checkpoints of running runs, whose thread is the run id. It refuses to cost a run anything: the first write that the store
 * does not take is logged and ends the checkpoints of that run, so that what is stored is always a state that the run was in.
 * It keeps the state of the diagnosis graph alone: an agent's inner graph, whose messages may hold anything, leaves nothing,
 * and so does whatever comes after the run's end.
 */
export class RunCheckpointSaver extends DiagnosisCheckpointSaver {
  private readonly logger = new Logger(RunCheckpointSaver.name);
  private readonly threads = new Map<string, OpenThread>();

  constructor(store: CheckpointStore) {
    super(store, { realm: RUN_REALM });
  }

  begin(runId: string): void {
    this.threads.set(runId, { writing: new Set(), stopped: false });
  }

  /** Takes no more of the run, waits for what is being written and deletes its thread; a thread that stays is for the sweep. */
  async end(runId: string, limitMs: number): Promise<void> {
    const thread = this.threads.get(runId);
    this.threads.delete(runId);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new DiagnosisError('STORE_UNAVAILABLE', 'The store does not answer.')), limitMs);
    });
    const gone = async (): Promise<void> => {
      await Promise.allSettled([...(thread?.writing ?? [])]);
      await this.deleteThread(runId);
    };
    try {
      await Promise.race([gone(), late]);
    } catch (error) {
      this.logger.warn(`The checkpoints of run ${runId} could not be deleted (${codeOf(error)}); the sweep will.`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A run starts at its beginning, so there is nothing to ask the store for. */
  override getTuple(): Promise<CheckpointTuple | undefined> {
    return Promise.resolve(undefined);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    // The run's record holds its input already, and the checkpoint that follows at once holds it as state.
    if (metadata.source !== 'input') await this.attempt(config, () => super.put(config, checkpoint, metadata, newVersions));
    return { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } };
  }

  /**
   * Leaves out what a single node wrote between two checkpoints: its superstep has no other, so the next checkpoint holds the
   * same, and what the engine would note here of a failed one is the raw text of its error.
   */
  override putWrites(): Promise<void> {
    return Promise.resolve();
  }

  private async attempt(config: RunnableConfig, write: () => Promise<unknown>): Promise<void> {
    const runId = String(config.configurable?.['thread_id']);
    const isInner = Boolean(config.configurable?.['checkpoint_ns']);
    const thread = this.threads.get(runId);
    if (thread === undefined || thread.stopped || isInner) return;
    const writing = write();
    thread.writing.add(writing);
    try {
      await writing;
    } catch (error) {
      if (!thread.stopped) this.logger.warn(`Run ${runId} leaves no more checkpoints (${codeOf(error)}); it goes on.`);
      thread.stopped = true;
    } finally {
      thread.writing.delete(writing);
    }
  }
}

function codeOf(error: unknown): string {
  return DiagnosisError.is(error) ? error.code : 'INTERNAL';
}
