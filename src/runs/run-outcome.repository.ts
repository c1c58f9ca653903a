import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { RunOutcomeStore, type RunOutcomeRecord } from '../ports/run-outcome-store.port';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { RunOutcome } from './run-outcome.entity';
import { asStoreCall } from './store-error';
import { WriteQueue } from './write-queue';

/** Outcomes in the database; one statement puts a new one in the place of the old. */
@Injectable()
export class RunOutcomeRepository extends RunOutcomeStore {
  private readonly queue: WriteQueue;

  constructor(@Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async put({ run_id, outcome, actual_cause }: Parameters<RunOutcomeStore['put']>[0], at: Date): Promise<void> {
    await this.queue.write((manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(RunOutcome)
        .values({ run_id, outcome, actual_cause, created_at: at, updated_at: at })
        .orUpdate(['outcome', 'actual_cause', 'updated_at'], ['run_id'])
        .updateEntity(false)
        .execute(),
    );
  }

  override async find(runId: string): Promise<RunOutcomeRecord | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOneBy(RunOutcome, { run_id: runId });
      if (row === null) return null;
      const { run_id, outcome, actual_cause, created_at, updated_at } = row;
      return { run_id, outcome, actual_cause, created_at, updated_at };
    });
  }
}
