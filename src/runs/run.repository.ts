import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource, In, LessThan, type EntityManager, type SelectQueryBuilder } from 'typeorm';
import { z } from 'zod';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { diagnosisQuerySchema, type DiagnosisQuery } from '../protocol/diagnosis-query';
import { orchestrationTraceSchema } from '../protocol/orchestration-trace';
import { rankedCauseSchema, runEvidenceSchema, type RunEvidence as RunEvidenceDocument } from '../protocol/run-evidence';
import { RunStore, type NewRun, type RunLease, type RunRecord, type RunTerminal } from '../ports/run-store.port';
import { dropOutputsOfRuns, dropThreads, eraseCallContents } from './call-contents';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { DiagnosisRun } from './diagnosis-run.entity';
import { wordKeysOf } from './question-words';
import { digestOf, titleOf, wellFormed, withoutContent } from './run-contents';
import { exactly } from './exact-text';
import { RunEvidence } from './run-evidence.entity';
import { RunWord } from './run-word.entity';
import { asStoreCall } from './store-error';
import { readStoredJson } from './stored-json';
import { ToolInvocation } from './tool-invocation.entity';
import { WriteQueue } from './write-queue';

const causesSchema = z.array(rankedCauseSchema);
/** Runs that one statement ends, so that no statement grows with the table. */
const EXPIRED_BATCH = 100;
/** How long a sweeper has at least to erase what runs of a dead process left, in ms. */
const TAKE_OVER_MS = 600_000;
const MAX_INT = 2 ** 31 - 1;
const WORKING = ['PENDING', 'RUNNING'] as const;
const FAILED_CALLS = ['ERROR', 'DENIED', 'ABANDONED'] as const;

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
    const keeps = this.options.content.store;
    const text = wellFormed(run.message);
    const { sha256, bytes } = digestOf(text);
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
      duration_ms: null,
      title: keeps ? titleOf(text) : null,
      message_sha256: sha256,
      message_bytes: bytes,
      keeps_content: keeps,
      message: { text: keeps ? text : '' },
      query: null,
      answer: null,
      causes: null,
      trace: null,
      metrics: null,
      self_evaluation: null,
    };
    const words = keeps
      ? wordKeysOf(text).map((word_key) => ({ run_id: run.id, word_key, created_at: run.created_at, duration_ms: null }))
      : [];
    const insert = (manager: EntityManager): Promise<unknown> =>
      manager.createQueryBuilder().insert().into(DiagnosisRun).values(row).updateEntity(false).execute();
    if (words.length === 0) {
      await this.queue.write(insert);
      return;
    }
    await this.queue.transaction(async (manager) => {
      await insert(manager);
      await manager.insert(RunWord, words);
    });
  }

  override async markRunning(runId: string, query: DiagnosisQuery | null, lease: RunLease, startedAt: Date): Promise<boolean> {
    const kept = query === null || this.options.content.store ? query : withoutContent(query);
    return this.updated((manager) =>
      manager.update(
        DiagnosisRun,
        { id: exactly(runId), status: 'PENDING' },
        { status: 'RUNNING', query: kept, lease_owner: lease.owner, lease_until: lease.until, started_at: startedAt },
      ),
    );
  }

  override async renewLease(runId: string, lease: RunLease): Promise<boolean> {
    return this.updated((manager) =>
      manager.update(
        DiagnosisRun,
        { id: exactly(runId), lease_owner: exactly(lease.owner), status: 'RUNNING' },
        { lease_until: lease.until },
      ),
    );
  }

  override async finish(runId: string, leaseOwner: string, terminal: RunTerminal): Promise<boolean> {
    const keeps = this.options.content.store;
    const held = { id: exactly(runId), lease_owner: exactly(leaseOwner), status: 'RUNNING' as const };
    if (!keeps) {
      if (!(await asStoreCall(() => this.dataSource.manager.existsBy(DiagnosisRun, held)))) return false;
      // Nobody reads them any more. A process that dies from here on leaves a run without a status, which expires.
      await dropOutputsOfRuns(this.dataSource, this.queue, [runId]);
      if (this.options.checkpoints.keep) await dropThreads(this.queue, [runId]);
    }
    const change = { ...scalarsOf(terminal), ...(terminal.status === 'SUCCESS' ? answerOf(terminal, keeps) : {}) };
    const evidence = terminal.status === 'SUCCESS' && keeps ? terminal.evidence : null;
    return this.queue.transaction(async (manager) => {
      const result = await manager.update(DiagnosisRun, held, change);
      if (result.affected !== 1) return false;
      const abandoned = await abandonOpenCalls(manager, [runId]);
      if (abandoned > 0 && !change.tool_failed) await manager.update(DiagnosisRun, { id: runId }, { tool_failed: true });
      if (keeps) await manager.update(RunWord, { run_id: runId }, { duration_ms: change.duration_ms });
      else await eraseCallContents(manager, [runId]);
      if (evidence !== null) {
        await manager.insert(RunEvidence, { run_id: runId, body: evidence, created_at: terminal.finished_at });
      }
      return true;
    });
  }

  override async find(runId: string): Promise<RunRecord | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOneBy(DiagnosisRun, { id: exactly(runId) });
      return row === null ? null : recordOf(row);
    });
  }

  override async findEvidence(runId: string): Promise<RunEvidenceDocument | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOneBy(RunEvidence, { run_id: exactly(runId) });
      return row === null ? null : readStoredJson(runEvidenceSchema, row.body, 'evidence');
    });
  }

  override async passedAnswers(
    sessionId: string,
    limit: number,
  ): Promise<Pick<RunRecord, 'id' | 'message' | 'answer' | 'verdict'>[]> {
    return asStoreCall(async () => {
      const rows = await this.newestOf(sessionId)
        .select(['run.id', 'run.message', 'run.answer', 'run.verdict'])
        .andWhere(`COALESCE(run.verdict, '') = 'PASS' AND (run.degraded = :no) = 1 AND (run.keeps_content = :yes) = 1`)
        .setParameters({ yes: true, no: false })
        .limit(limit)
        .getMany();
      return rows
        .reverse()
        .map((row) => ({ id: row.id, message: row.message.text, answer: row.answer?.text ?? null, verdict: row.verdict }));
    });
  }

  override async latestQuery(sessionId: string): Promise<{ readonly id: string; readonly query: DiagnosisQuery } | null> {
    return asStoreCall(async () => {
      const row = await this.newestOf(sessionId)
        .select(['run.id', 'run.query'])
        .andWhere(`COALESCE(run.agent_flow, '') = 'DIAGNOSIS_GRAPH'`)
        .limit(1)
        .getOne();
      const query = row === null ? null : readStoredJson(diagnosisQuerySchema, row.query, 'query');
      return row === null || query === null ? null : { id: row.id, query };
    });
  }

  /**
   * Successes of a session that are to stay, newest first. Every condition but the session is written so that no index serves it:
   * SQLite, which knows no numbers of rows, would read all successes instead.
   */
  private newestOf(sessionId: string): SelectQueryBuilder<DiagnosisRun> {
    return this.dataSource.manager
      .createQueryBuilder(DiagnosisRun, 'run')
      .where({ session_id: exactly(sessionId) })
      .andWhere(`COALESCE(run.status, '') = 'SUCCESS' AND (run.erase_requested_at IS NULL) = 1`)
      .orderBy('run.created_at', 'DESC')
      .addOrderBy('run.id', 'DESC');
  }

  override async failExpired(now: Date): Promise<number> {
    for (let ended = 0; ;) {
      const expired = await asStoreCall(() => this.expired(now));
      const withContent = expired.filter((run) => run.status === 'RUNNING' && !run.keeps_content).map(({ id }) => id);
      const sweeper = randomUUID();
      if (withContent.length > 0) await this.takeOver(withContent, sweeper, now);
      const failed = await this.fail(
        expired.map(({ id }) => id),
        sweeper,
        now,
      );
      await dropThreads(this.queue, failed);
      ended += failed.length;
      if (expired.length < EXPIRED_BATCH) return ended;
    }
  }

  private expired(now: Date): Promise<Pick<DiagnosisRun, 'id' | 'status' | 'keeps_content'>[]> {
    return this.dataSource.manager.find(DiagnosisRun, {
      select: { id: true, status: true, keeps_content: true },
      where: { status: In([...WORKING]), lease_until: LessThan(now) },
      order: { lease_until: 'ASC' },
      take: EXPIRED_BATCH,
    });
  }

  /**
   * Erases the outputs of expired runs that keep none. Until then they have no terminal status, so that what is cut off here expires
   * once more; the lease keeps off the process that held them, should it live after all, and other sweepers.
   */
  private async takeOver(runIds: readonly string[], sweeper: string, now: Date): Promise<void> {
    const until = new Date(now.getTime() + Math.max(this.options.run.leaseMs, TAKE_OVER_MS));
    const expired = { id: In([...runIds]), status: 'RUNNING' as const, lease_until: LessThan(now) };
    await this.queue.write((manager) => manager.update(DiagnosisRun, expired, { lease_owner: sweeper, lease_until: until }));
    const held = await asStoreCall(() =>
      this.dataSource.manager.find(DiagnosisRun, { select: { id: true }, where: { id: In([...runIds]), lease_owner: sweeper } }),
    );
    const ids = held.map(({ id }) => id);
    await dropOutputsOfRuns(this.dataSource, this.queue, ids);
    await dropThreads(this.queue, ids);
  }

  private fail(runIds: readonly string[], sweeper: string, now: Date): Promise<string[]> {
    if (runIds.length === 0) return Promise.resolve([]);
    return this.queue.transaction(async (manager) => {
      const working = { id: In([...runIds]), status: In([...WORKING]) };
      // On a database with several connections a lease may have been renewed in between.
      const runs = await manager.find(DiagnosisRun, {
        select: { id: true, keeps_content: true },
        where: [
          { ...working, keeps_content: true, lease_until: LessThan(now) },
          { ...working, status: 'PENDING', lease_until: LessThan(now) },
          { ...working, lease_owner: sweeper },
        ],
        ...lockOf(manager),
      });
      if (runs.length === 0) return [];
      const ids = runs.map(({ id }) => id);
      await manager.update(DiagnosisRun, { id: In(ids) }, { status: 'FAILED', failure_code: 'INTERRUPTED', finished_at: now });
      await abandonOpenCalls(manager, ids);
      const failing = await runsWithFailedCalls(manager, ids);
      if (failing.length > 0) await manager.update(DiagnosisRun, { id: In(failing) }, { tool_failed: true });
      const without = runs.filter((run) => !run.keeps_content).map(({ id }) => id);
      if (without.length > 0) await eraseCallContents(manager, without);
      return ids;
    });
  }

  private updated(work: (manager: EntityManager) => Promise<{ affected?: number | null }>): Promise<boolean> {
    return this.queue.write(async (manager) => (await work(manager)).affected === 1);
  }
}

async function abandonOpenCalls(manager: EntityManager, runIds: readonly string[]): Promise<number> {
  const result = await manager.update(ToolInvocation, { run_id: In([...runIds]), status: 'RUNNING' }, { status: 'ABANDONED' });
  return result.affected ?? 0;
}

async function runsWithFailedCalls(manager: EntityManager, runIds: readonly string[]): Promise<string[]> {
  const runs = await manager
    .createQueryBuilder(ToolInvocation, 'call')
    .select('call.run_id', 'run_id')
    .distinct(true)
    .where({ run_id: In([...runIds]), status: In([...FAILED_CALLS]) })
    .getRawMany<{ run_id: string }>();
  return runs.map(({ run_id }) => run_id);
}

/** Rows that are read to be written are locked on a server; SQLite has one writer, and takes up again what was overtaken. */
function lockOf({ dataSource }: EntityManager): { lock?: { mode: 'pessimistic_write' } } {
  return dataSource.options.type === 'better-sqlite3' ? {} : { lock: { mode: 'pessimistic_write' } };
}

function durationOf(ms: number): number {
  return Math.min(Math.max(0, ms), MAX_INT);
}

function scalarsOf(terminal: RunTerminal) {
  const { trace, metrics, finished_at } = terminal;
  return {
    status: terminal.status,
    failure_code: terminal.status === 'SUCCESS' ? null : terminal.failure_code,
    fallback_class: trace?.fallback_class ?? null,
    fallback_reason: trace?.fallback_reason ?? null,
    retries: (trace?.technical_retries ?? 0) + (trace?.evidence_retries ?? 0),
    tool_failed: terminal.tool_failures > 0,
    trace,
    metrics,
    duration_ms: durationOf(terminal.duration_ms),
    finished_at,
  };
}

function answerOf(terminal: Extract<RunTerminal, { status: 'SUCCESS' }>, keeps: boolean) {
  const text = wellFormed(terminal.answer);
  const { sha256, bytes } = digestOf(text);
  return {
    answer: keeps ? { text } : null,
    answer_sha256: sha256,
    answer_bytes: bytes,
    verdict: terminal.verdict,
    degraded: terminal.degraded,
    causes: keeps ? [...terminal.causes] : null,
    self_evaluation: terminal.self_evaluation,
  };
}

function recordOf(row: DiagnosisRun): RunRecord {
  return {
    id: row.id,
    session_id: row.session_id,
    message: row.message.text,
    keeps_content: row.keeps_content,
    erase_requested_at: row.erase_requested_at,
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
