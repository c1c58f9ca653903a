import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DiagnosisError } from '../errors/diagnosis-error';
import { EvaluationStore, type EvaluationRecord } from '../ports/evaluation-store.port';
import { jsonObjectSchema } from '../protocol/json-value';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { RunEvaluation } from './run-evaluation.entity';
import { asStoreCall } from './store-error';
import { readStoredJson } from './stored-json';
import { WriteQueue } from './write-queue';

/** Evaluations in the database; the unique index of run and kind is what refuses a second one. */
@Injectable()
export class EvaluationRepository extends EvaluationStore {
  private readonly queue: WriteQueue;

  constructor(@Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async insert(evaluation: EvaluationRecord): Promise<boolean> {
    const { id, run_id, kind, score, detail, created_at } = evaluation;
    try {
      await this.queue.write((manager) => manager.insert(RunEvaluation, { id, run_id, kind, score, detail, created_at }));
      return true;
    } catch (error) {
      if (!DiagnosisError.is(error, 'CONFLICT')) throw error;
      if (await asStoreCall(() => this.dataSource.manager.existsBy(RunEvaluation, { run_id, kind }))) return false;
      throw error;
    }
  }

  override async listByRun(runId: string): Promise<EvaluationRecord[]> {
    return asStoreCall(async () => {
      const rows = await this.dataSource.manager.find(RunEvaluation, { where: { run_id: runId }, order: { kind: 'ASC' } });
      return rows.map((row) => ({
        id: row.id,
        run_id: row.run_id,
        kind: row.kind,
        score: row.score,
        detail: readStoredJson(jsonObjectSchema, row.detail, 'detail') ?? {},
        created_at: row.created_at,
      }));
    });
  }
}
