import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DiagnosisError } from '../errors/diagnosis-error';
import { EvaluationStore, type EvaluationRecord } from '../ports/evaluation-store.port';
import { jsonObjectSchema } from '../protocol/json-value';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { exactly } from './exact-text';
import { RunEvaluation } from './run-evaluation.entity';
import { asStoreCall } from './store-error';
import { readStoredJson } from './stored-json';
import { WriteQueue } from './write-queue';

/** Kinds that every database tells apart alike: some take A for a. */
const KIND = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

/**
 * Evaluations in the database; the unique index of run and kind is what refuses a second one. It refuses a kind that is not written in
 * lower case, digits and `_.-` with REQUEST_INVALID.
 */
@Injectable()
export class EvaluationRepository extends EvaluationStore {
  private readonly queue: WriteQueue;

  constructor(@Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async insert(evaluation: EvaluationRecord): Promise<boolean> {
    const { id, run_id, kind, score, detail, created_at } = evaluation;
    if (!KIND.test(kind)) {
      throw new DiagnosisError(
        'REQUEST_INVALID',
        'The kind of an evaluation is at most 64 lower-case letters, digits, _ . and -.',
      );
    }
    try {
      await this.queue.write((manager) => manager.insert(RunEvaluation, { id, run_id, kind, score, detail, created_at }));
      return true;
    } catch (error) {
      if (!DiagnosisError.is(error, 'CONFLICT')) throw error;
      if (await asStoreCall(() => this.dataSource.manager.existsBy(RunEvaluation, { run_id, kind }))) return false;
      throw error;
    }
  }

  override async put({ id, run_id, kind, score, detail, created_at }: EvaluationRecord): Promise<void> {
    await this.queue.write((manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(RunEvaluation)
        .values({ id, run_id, kind, score, detail, created_at })
        .orUpdate(['score', 'detail', 'created_at'], ['run_id', 'kind'])
        .updateEntity(false)
        .execute(),
    );
  }

  override async listByRun(runId: string): Promise<EvaluationRecord[]> {
    return asStoreCall(async () => {
      const rows = await this.dataSource.manager.find(RunEvaluation, { where: { run_id: exactly(runId) } });
      const ofRun = rows.sort((a, b) => (a.kind < b.kind ? -1 : 1));
      return ofRun.map((row) => ({
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
