import { Inject, Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, LessThan, type EntityManager } from 'typeorm';
import { z } from 'zod';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { diagnosisQuerySchema, type DiagnosisQuery } from '../protocol/diagnosis-query';
import { orchestrationTraceSchema } from '../protocol/orchestration-trace';
import { rankedCauseSchema, runEvidenceSchema, type RunEvidence as RunEvidenceDocument } from '../protocol/run-evidence';
import { RunStore, type NewRun, type RunLease, type RunRecord, type RunTerminal } from '../ports/run-store.port';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { DiagnosisRun } from './diagnosis-run.entity';
import { RunEvidence } from './run-evidence.entity';
import { asStoreCall } from './store-error';
import { readStoredJson } from './stored-json';
import { ToolInvocation } from './tool-invocation.entity';
import { WriteQueue } from './write-queue';

const causesSchema = z.array(rankedCauseSchema);
/** Runs that one statement ends, so that no statement grows with the table. */
const EXPIRED_BATCH = 100;

/**
 * Runs in the database. A running run is written only by the holder of its lease, and its terminal status, trace and
 * evidence stand together or not at all; tool calls still open at that moment become ABANDONED, so that a late result
 * finds nothing to write to. A waiting run is protected for one lease from its creation.
 */
@Injectable()
export class RunRepository extends RunStore {
  private readonly queue: WriteQueue;

  constructor(
    @Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(DIAGNOSIS_OPTIONS) private readonly options: DiagnosisOptions,
  ) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async create(run: NewRun): Promise<void> {
    const row = {
      id: run.id,
      session_id: run.session_id,
      status: 'PENDING' as const,
      agent_flow: run.agent_flow,
      verdict: null,
      degraded: false,
      failure_code: null,
      lease_owner: null,
      lease_until: new Date(run.created_at.getTime() + this.options.run.leaseMs),
      created_at: run.created_at,
      started_at: null,
      finished_at: null,
      message: { text: run.message },
      query: null,
      answer: null,
      causes: null,
      trace: null,
      metrics: null,
      self_evaluation: null,
    };
    await this.queue.write((manager) => manager.insert(DiagnosisRun, row));
  }

  override async markRunning(runId: string, query: DiagnosisQuery | null, lease: RunLease, startedAt: Date): Promise<boolean> {
    return this.updated((manager) =>
      manager.update(
        DiagnosisRun,
        { id: runId, status: 'PENDING' },
        { status: 'RUNNING', query, lease_owner: lease.owner, lease_until: lease.until, started_at: startedAt },
      ),
    );
  }

  override async renewLease(runId: string, lease: RunLease): Promise<boolean> {
    return this.updated((manager) =>
      manager.update(DiagnosisRun, { id: runId, lease_owner: lease.owner, status: 'RUNNING' }, { lease_until: lease.until }),
    );
  }

  override async finish(runId: string, leaseOwner: string, terminal: RunTerminal): Promise<boolean> {
    const change =
      terminal.status === 'SUCCESS'
        ? {
            status: terminal.status,
            answer: { text: terminal.answer },
            verdict: terminal.verdict,
            degraded: terminal.degraded,
            causes: [...terminal.causes],
            trace: terminal.trace,
            metrics: terminal.metrics,
            self_evaluation: terminal.self_evaluation,
            finished_at: terminal.finished_at,
          }
        : {
            status: terminal.status,
            failure_code: terminal.failure_code,
            trace: terminal.trace,
            metrics: terminal.metrics,
            finished_at: terminal.finished_at,
          };
    const evidence = terminal.status === 'SUCCESS' ? terminal.evidence : null;
    return this.queue.transaction(async (manager) => {
      const held = { id: runId, lease_owner: leaseOwner, status: 'RUNNING' as const };
      const result = await manager.update(DiagnosisRun, held, change);
      if (result.affected !== 1) return false;
      await abandonOpenCalls(manager, [runId]);
      if (evidence !== null) {
        await manager.insert(RunEvidence, { run_id: runId, body: evidence, created_at: terminal.finished_at });
      }
      return true;
    });
  }

  override async find(runId: string): Promise<RunRecord | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOneBy(DiagnosisRun, { id: runId });
      return row === null ? null : recordOf(row);
    });
  }

  override async findEvidence(runId: string): Promise<RunEvidenceDocument | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOneBy(RunEvidence, { run_id: runId });
      return row === null ? null : readStoredJson(runEvidenceSchema, row.body, 'evidence');
    });
  }

  override async passedAnswers(
    sessionId: string,
    limit: number,
  ): Promise<Pick<RunRecord, 'id' | 'message' | 'answer' | 'verdict'>[]> {
    return asStoreCall(async () => {
      const rows = await this.dataSource.manager.find(DiagnosisRun, {
        select: { id: true, message: true, answer: true, verdict: true },
        where: { session_id: sessionId, status: 'SUCCESS', verdict: 'PASS', degraded: false },
        order: { created_at: 'DESC', id: 'DESC' },
        take: limit,
      });
      return rows
        .reverse()
        .map((row) => ({ id: row.id, message: row.message.text, answer: row.answer?.text ?? null, verdict: row.verdict }));
    });
  }

  override async latestQuery(sessionId: string): Promise<{ readonly id: string; readonly query: DiagnosisQuery } | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOne(DiagnosisRun, {
        select: { id: true, query: true },
        where: { session_id: sessionId, status: 'SUCCESS', agent_flow: 'DIAGNOSIS_GRAPH' },
        order: { created_at: 'DESC', id: 'DESC' },
      });
      const query = row === null ? null : readStoredJson(diagnosisQuerySchema, row.query, 'query');
      return row === null || query === null ? null : { id: row.id, query };
    });
  }

  override async failExpired(now: Date): Promise<number> {
    let ended = 0;
    for (;;) {
      const batch = await this.failExpiredBatch(now);
      ended += batch;
      if (batch < EXPIRED_BATCH) return ended;
    }
  }

  private failExpiredBatch(now: Date): Promise<number> {
    return this.queue.transaction(async (manager) => {
      const expired = await manager.find(DiagnosisRun, {
        select: { id: true },
        where: { status: In(['PENDING', 'RUNNING']), lease_until: LessThan(now) },
        order: { lease_until: 'ASC' },
        take: EXPIRED_BATCH,
      });
      if (expired.length === 0) return 0;
      const ids = expired.map((run) => run.id);
      // The condition is repeated: on a database with several connections a lease may have been renewed in between.
      const result = await manager.update(
        DiagnosisRun,
        { id: In(ids), status: In(['PENDING', 'RUNNING']), lease_until: LessThan(now), finished_at: IsNull() },
        { status: 'FAILED', failure_code: 'INTERRUPTED', finished_at: now },
      );
      const failed = await manager.find(DiagnosisRun, { select: { id: true }, where: { id: In(ids), status: 'FAILED' } });
      await abandonOpenCalls(
        manager,
        failed.map((run) => run.id),
      );
      return result.affected ?? 0;
    });
  }

  private updated(work: (manager: EntityManager) => Promise<{ affected?: number | null }>): Promise<boolean> {
    return this.queue.write(async (manager) => (await work(manager)).affected === 1);
  }
}

async function abandonOpenCalls(manager: EntityManager, runIds: readonly string[]): Promise<void> {
  await manager.update(ToolInvocation, { run_id: In([...runIds]), status: 'RUNNING' }, { status: 'ABANDONED' });
}

function recordOf(row: DiagnosisRun): RunRecord {
  return {
    id: row.id,
    session_id: row.session_id,
    message: row.message.text,
    status: row.status,
    agent_flow: row.agent_flow,
    query: readStoredJson(diagnosisQuerySchema, row.query, 'query'),
    answer: row.answer?.text ?? null,
    verdict: row.verdict,
    degraded: row.degraded,
    causes: readStoredJson(causesSchema, row.causes, 'causes') ?? [],
    failure_code: row.failure_code,
    trace: readStoredJson(orchestrationTraceSchema, row.trace, 'trace'),
    metrics: row.metrics,
    self_evaluation: row.self_evaluation,
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
  };
}
