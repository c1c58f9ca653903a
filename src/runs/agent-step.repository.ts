import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AgentStepStore, type AgentStepRecord } from '../ports/agent-step-store.port';
import { AgentStep } from './agent-step.entity';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { exactly } from './exact-text';
import { asStoreCall } from './store-error';
import { WriteQueue } from './write-queue';

const BATCH = 100;

/** Timed attempts in the database, in the order in which they started. */
@Injectable()
export class AgentStepRepository extends AgentStepStore {
  private readonly queue: WriteQueue;

  constructor(@Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async record(steps: readonly AgentStepRecord[]): Promise<void> {
    if (steps.length === 0) return;
    const rows = steps.map(stepOf);
    if (rows.length <= BATCH) {
      await this.queue.write((manager) => manager.insert(AgentStep, rows));
      return;
    }
    await this.queue.transaction(async (manager) => {
      for (let at = 0; at < rows.length; at += BATCH) await manager.insert(AgentStep, rows.slice(at, at + BATCH));
    });
  }

  override async listByRun(runId: string): Promise<AgentStepRecord[]> {
    return asStoreCall(async () => {
      const rows = await this.dataSource.manager.find(AgentStep, {
        where: { run_id: exactly(runId) },
        order: { started_at: 'ASC', id: 'ASC' },
      });
      return rows.map(stepOf);
    });
  }
}

function stepOf(step: AgentStepRecord): AgentStepRecord {
  return {
    id: step.id,
    run_id: step.run_id,
    node: step.node,
    round: step.round,
    attempt: step.attempt,
    outcome: step.outcome,
    reason_code: step.reason_code,
    started_at: step.started_at,
    duration_ms: step.duration_ms,
    input_bytes: step.input_bytes,
    output_bytes: step.output_bytes,
    input_tokens: step.input_tokens,
    output_tokens: step.output_tokens,
  };
}
