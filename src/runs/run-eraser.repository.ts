import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, LessThan, type EntityTarget, type FindOptionsWhere, type ObjectLiteral } from 'typeorm';
import { DiagnosisError } from '../errors/diagnosis-error';
import { CheckpointStore, RUN_REALM } from '../ports/checkpoint-store.port';
import { RunEraser, type RunPosition } from '../ports/run-eraser.port';
import { RUN_STATUSES, type RunStatus } from '../vocabulary/run-lifecycle';
import { AgentStep } from './agent-step.entity';
import { CALL_BATCH, dropOutputs } from './call-contents';
import { ChatSession } from './chat-session.entity';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { DiagnosisRun } from './diagnosis-run.entity';
import { exactly } from './exact-text';
import { RunEvaluation } from './run-evaluation.entity';
import { RunEvidence } from './run-evidence.entity';
import { RunOutcome } from './run-outcome.entity';
import { RunWord } from './run-word.entity';
import { asStoreCall } from './store-error';
import { ToolInvocation } from './tool-invocation.entity';
import { WriteQueue } from './write-queue';

/** Runs, and rows of a child, that one statement takes out. */
const RUN_BATCH = 50;
const ROW_BATCH = 500;
/** Sessions that are looked at together. */
const SESSION_BATCH = 500;
/** How often children are looked for again that came while a run was being erased. */
const ATTEMPTS = 5;

const LIVING: readonly RunStatus[] = ['PENDING', 'RUNNING'];
/** So written no index serves it: SQLite, which knows no numbers of rows, would prefer one of the status to that of the order. */
const HAS_ENDED = `COALESCE(run.status, '') IN (:...ended)`;
const ENDED = RUN_STATUSES.filter((status) => !LIVING.includes(status));

/**
 * Erases runs in the database. A run is marked first and its own row goes last, so that one whose erasure was cut off is found by its
 * mark. No statement takes out more than a fixed number of rows, of output chunks about 6 MB; each stands for itself, so that a
 * server never holds many locks, and SQLite lets others write in between.
 */
@Injectable()
export class RunEraserRepository extends RunEraser {
  private readonly queue: WriteQueue;

  constructor(
    @Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource,
    private readonly checkpoints: CheckpointStore,
  ) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async request(runId: string, at: Date): Promise<RunStatus | null> {
    if ((await this.row(runId)) === null) return null;
    await this.mark([runId], at);
    // Only now, because from here on whoever ends the run finds the mark.
    return (await this.row(runId))?.status ?? null;
  }

  override async isRequested(runId: string): Promise<boolean> {
    const row = await this.row(runId);
    return row !== null && row.erase_requested_at !== null;
  }

  override async erase(runIds: readonly string[], at: Date): Promise<number> {
    let erased = 0;
    for (let from = 0; from < runIds.length; from += RUN_BATCH) {
      if (from > 0) await setImmediate();
      erased += await this.eraseSome(runIds.slice(from, from + RUN_BATCH), at);
    }
    return erased;
  }

  override async eraseRequested(at: Date, signal?: AbortSignal): Promise<number> {
    for (let erased = 0; ;) {
      if (signal?.aborted === true) return erased;
      const runs = await asStoreCall(() =>
        this.requested().select('run.id', 'id').orderBy('run.erase_requested_at').limit(RUN_BATCH).getRawMany<{ id: string }>(),
      );
      if (runs.length === 0) return erased;
      erased += await this.erase(
        runs.map(({ id }) => id),
        at,
      );
      await setImmediate();
    }
  }

  override async ended(upTo: RunPosition, limit: number): Promise<string[]> {
    return asStoreCall(async () => {
      const runs = this.endedUpTo(upTo).select('run.id', 'id').orderBy('run.created_at').addOrderBy('run.id').limit(limit);
      return (await runs.getRawMany<{ id: string }>()).map(({ id }) => id);
    });
  }

  override async countEnded(upTo: RunPosition): Promise<number> {
    return asStoreCall(() => this.endedUpTo(upTo).getCount());
  }

  override async countRequested(): Promise<number> {
    return asStoreCall(() => this.requested().getCount());
  }

  override async countDead(now: Date): Promise<number> {
    const dead = { status: In([...LIVING]), lease_until: LessThan(now) };
    return asStoreCall(() => this.dataSource.manager.countBy(DiagnosisRun, dead));
  }

  override async firstBeyond(keep: number): Promise<RunPosition | null> {
    return asStoreCall(async () => {
      const [run] = await this.dataSource.manager.find(DiagnosisRun, {
        select: { id: true, created_at: true },
        order: { created_at: 'DESC', id: 'DESC' },
        skip: keep,
        take: 1,
      });
      return run === undefined ? null : { id: run.id, created_at: run.created_at };
    });
  }

  override async *emptySessions(before: Date): AsyncGenerator<readonly string[]> {
    for (let after: ChatSession | undefined; ;) {
      const last = after;
      const slice: ChatSession[] = await asStoreCall(() => {
        const sessions = this.dataSource.manager.createQueryBuilder(ChatSession, 'session');
        sessions.where('session.created_at < :before', { before }).orderBy('session.created_at').addOrderBy('session.id');
        if (last !== undefined) {
          sessions.andWhere('(session.created_at > :at OR (session.created_at = :at AND session.id > :id))', {
            at: last.created_at,
            id: last.id,
          });
        }
        return sessions.limit(SESSION_BATCH).getMany();
      });
      yield await asStoreCall(() => this.withoutRun(slice.map(({ id }) => id)));
      after = slice.at(-1);
      if (slice.length < SESSION_BATCH) return;
      await setImmediate();
    }
  }

  override async eraseSessions(sessionIds: readonly string[]): Promise<number> {
    let erased = 0;
    for (const id of sessionIds) {
      try {
        const { affected } = await this.queue.write((manager) => manager.delete(ChatSession, { id }));
        erased += affected ?? 0;
      } catch (error) {
        // Somebody has just gone on with it.
        if (!DiagnosisError.is(error, 'CONFLICT')) throw error;
      }
    }
    return erased;
  }

  private async eraseSome(runIds: readonly string[], at: Date): Promise<number> {
    const runs = await asStoreCall(() =>
      this.dataSource.manager.find(DiagnosisRun, {
        select: { id: true, session_id: true, erase_requested_at: true },
        where: { id: In([...runIds]), status: In([...ENDED]) },
      }),
    );
    if (runs.length === 0) return 0;
    const ids = runs.map(({ id }) => id);
    await this.mark(
      runs.filter((run) => run.erase_requested_at === null).map(({ id }) => id),
      at,
    );
    let erased = 0;
    for (let attempt = 1; ; attempt += 1) {
      await this.eraseChildren(ids);
      try {
        const { affected } = await this.queue.write((manager) => manager.delete(DiagnosisRun, { id: In(ids) }));
        erased = affected ?? 0;
        break;
      } catch (error) {
        // A late evaluation, step or outcome came in between.
        if (!DiagnosisError.is(error, 'CONFLICT') || attempt === ATTEMPTS) throw error;
      }
    }
    await this.eraseSessions(await asStoreCall(() => this.withoutRun([...new Set(runs.map((run) => run.session_id))])));
    return erased;
  }

  private async eraseChildren(runIds: readonly string[]): Promise<void> {
    const ofRuns = { run_id: In([...runIds]) };
    for (const child of [RunEvidence, RunOutcome, RunWord]) await this.delete(child, ofRuns);
    for (let calls = await this.ids(ToolInvocation, ofRuns, CALL_BATCH); calls.length > 0;) {
      await dropOutputs(this.dataSource, this.queue, calls);
      await this.delete(ToolInvocation, { id: In(calls) });
      calls = calls.length < CALL_BATCH ? [] : await this.ids(ToolInvocation, ofRuns, CALL_BATCH);
    }
    for (const child of [AgentStep, RunEvaluation]) {
      for (let rows = await this.ids(child, ofRuns, ROW_BATCH); rows.length > 0;) {
        await this.delete(child, { id: In(rows) });
        rows = rows.length < ROW_BATCH ? [] : await this.ids(child, ofRuns, ROW_BATCH);
      }
    }
    await this.checkpoints.deleteThreads(RUN_REALM, runIds);
  }

  private async mark(runIds: readonly string[], at: Date): Promise<void> {
    if (runIds.length === 0) return;
    const unmarked = { id: In([...runIds]), erase_requested_at: IsNull() };
    await this.queue.write((manager) => manager.update(DiagnosisRun, unmarked, { erase_requested_at: at }));
  }

  private row(runId: string): Promise<Pick<DiagnosisRun, 'id' | 'status' | 'erase_requested_at'> | null> {
    return asStoreCall(async () => {
      const select = { id: true, status: true, erase_requested_at: true };
      return this.dataSource.manager.findOne(DiagnosisRun, { select, where: { id: exactly(runId) } });
    });
  }

  private endedUpTo({ created_at, id }: RunPosition) {
    return this.dataSource.manager
      .createQueryBuilder(DiagnosisRun, 'run')
      .where('(run.created_at < :created_at OR (run.created_at = :created_at AND run.id <= :id))', { created_at, id })
      .andWhere(`${HAS_ENDED} AND (run.erase_requested_at IS NULL) = 1`, { ended: ENDED });
  }

  private requested() {
    return this.dataSource.manager
      .createQueryBuilder(DiagnosisRun, 'run')
      .where(`run.erase_requested_at > :never AND ${HAS_ENDED}`, { never: new Date(0), ended: ENDED });
  }

  private async ids<T extends ObjectLiteral & { id: string }>(
    entity: EntityTarget<T>,
    where: object,
    take: number,
  ): Promise<string[]> {
    return asStoreCall(async () => {
      const rows = await this.dataSource.manager
        .createQueryBuilder(entity, 'child')
        .select('child.id', 'id')
        .where(where)
        .limit(take)
        .getRawMany<{ id: string }>();
      return rows.map(({ id }) => id);
    });
  }

  private async delete<T extends ObjectLiteral>(entity: EntityTarget<T>, where: FindOptionsWhere<T>): Promise<void> {
    await this.queue.write((manager) => manager.delete(entity, where));
  }

  private async withoutRun(sessionIds: readonly string[]): Promise<string[]> {
    if (sessionIds.length === 0) return [];
    const sessions = this.dataSource.manager.createQueryBuilder(ChatSession, 'session').select('session.id', 'id');
    const runs = sessions.subQuery().select('1').from(DiagnosisRun, 'run').where('run.session_id = session.id').getQuery();
    const empty = sessions.where('session.id IN (:...ids)', { ids: sessionIds }).andWhere(`NOT EXISTS ${runs}`);
    return (await empty.getRawMany<{ id: string }>()).map(({ id }) => id);
  }
}
