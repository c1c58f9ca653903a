import { Injectable } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { AgentStepRecord } from '../ports/agent-step-store.port';
import { EvaluationStore } from '../ports/evaluation-store.port';
import {
  RunQueryStore,
  type EvaluationSummary,
  type InvocationSummary,
  type ListPosition,
  type ListSlice,
  type RunSummary,
  type SessionRecord,
} from '../ports/run-query-store.port';
import { cursorOf, positionOf, type ListIdentity } from './list-cursor';
import { DEFAULT_PAGE, filterOf, parsePageQuery, parseRunListQuery, type PageQuery, type RunListQuery } from './run-list-query';
import type {
  EvaluationListItem,
  EvaluationView,
  InvocationListItem,
  Page,
  RunListItem,
  SessionListItem,
  SessionView,
  StepView,
} from './run-list-views';

/** How one list is read: rows, their number, where a row stands, and how it is shown. */
interface ListReading<Row, Item> {
  readonly rows: (slice: ListSlice) => Promise<Row[]>;
  readonly count: () => Promise<number>;
  readonly position: (row: Row) => ListPosition;
  readonly item: (row: Row) => Item;
}

/**
 * Lists for dashboards: runs, what belongs to a run, and sessions, a page at a time. It shows scalar facts and no body of a run;
 * whoever follows the cursors sees each row that was there all the time exactly once. It takes at most 100 rows a page, and a
 * cursor only for the list, sort and filter it came from. Throws `DiagnosisError` REQUEST_INVALID, NOT_FOUND, STORE_UNAVAILABLE.
 */
@Injectable()
export class RunQueries {
  constructor(
    private readonly store: RunQueryStore,
    private readonly evaluationStore: EvaluationStore,
  ) {}

  async runs(query: RunListQuery = {}): Promise<Page<RunListItem>> {
    const { sort = 'start', order = 'desc', limit, cursor, total, ...conditions } = parseRunListQuery(query);
    const filter = filterOf(conditions);
    return this.page(
      { list: 'runs', sort, order, scope: conditions },
      { limit, cursor, total },
      {
        rows: (slice) => this.store.runs(filter, sort, slice),
        count: () => this.store.countRuns(filter, sort),
        position: (run) => ({ key: sort === 'start' ? run.created_at.getTime() : (run.duration_ms ?? 0), id: run.id }),
        item: runItem,
      },
    );
  }

  /** Timed attempts of a run's nodes, oldest first. */
  async steps(runId: string, query: PageQuery = {}): Promise<Page<StepView>> {
    const page = parsePageQuery(query);
    await this.assertRun(runId);
    return this.page(ofRun('steps', 'started_at', runId), page, {
      rows: (slice) => this.store.steps(runId, slice),
      count: () => this.store.countSteps(runId),
      position: (step) => ({ key: step.started_at.getTime(), id: step.id }),
      item: stepItem,
    });
  }

  /** Tool calls of a run in their order; arguments and output of one are with `RunReader.invocation`. */
  async invocations(runId: string, query: PageQuery = {}): Promise<Page<InvocationListItem>> {
    const page = parsePageQuery(query);
    await this.assertRun(runId);
    return this.page(ofRun('tool-invocations', 'ordinal', runId), page, {
      rows: (slice) => this.store.invocations(runId, slice),
      count: () => this.store.countInvocations(runId),
      position: (call) => ({ key: call.ordinal, id: call.id }),
      item: invocationItem,
    });
  }

  /** Evaluations of a run, oldest first; `evaluation` gives the detail of one. */
  async evaluations(runId: string, query: PageQuery = {}): Promise<Page<EvaluationListItem>> {
    const page = parsePageQuery(query);
    await this.assertRun(runId);
    return this.page(ofRun('evaluation', 'created_at', runId), page, {
      rows: (slice) => this.store.evaluations(runId, slice),
      count: () => this.store.countEvaluations(runId),
      position: (evaluation) => ({ key: evaluation.created_at.getTime(), id: evaluation.id }),
      item: evaluationItem,
    });
  }

  /** One evaluation of a run, by its kind, with its detail. */
  async evaluation(runId: string, kind: string): Promise<EvaluationView> {
    await this.assertRun(runId);
    const found = (await this.evaluationStore.listByRun(runId)).find((evaluation) => evaluation.kind === kind);
    if (found === undefined) {
      throw new DiagnosisError('NOT_FOUND', 'There is no such evaluation of this run; its list names those that there are.');
    }
    return { runId, ...evaluationItem(found), detail: found.detail };
  }

  /** Sessions, newest first. */
  async sessions(query: PageQuery = {}): Promise<Page<SessionListItem>> {
    return this.page({ list: 'sessions', sort: 'created_at', order: 'desc', scope: {} }, parsePageQuery(query), {
      rows: (slice) => this.store.sessions(slice),
      count: () => this.store.countSessions(),
      position: (session) => ({ key: session.created_at.getTime(), id: session.id }),
      item: sessionItem,
    });
  }

  async session(sessionId: string): Promise<SessionView> {
    const session = await this.store.session(sessionId);
    if (session === null) throw new DiagnosisError('NOT_FOUND', 'There is no such session; `sessionId` of an answer names one.');
    return { ...sessionItem(session), runs: session.runs };
  }

  private async page<Row, Item>(
    identity: ListIdentity,
    { limit = DEFAULT_PAGE, cursor, total = false }: PageQuery,
    reading: ListReading<Row, Item>,
  ): Promise<Page<Item>> {
    const after = cursor === undefined ? null : positionOf(identity, cursor);
    // One more than is shown tells whether anything follows.
    const rows = await reading.rows({ order: identity.order, after, limit: limit + 1 });
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      items: shown.map(reading.item),
      nextCursor: last === undefined ? null : cursorOf(identity, reading.position(last)),
      total: total ? await reading.count() : null,
    };
  }

  private async assertRun(runId: string): Promise<void> {
    if (await this.store.runExists(runId)) return;
    throw new DiagnosisError('NOT_FOUND', 'There is no such run; `runId` of an answer names one.');
  }
}

function ofRun(list: string, sort: string, runId: string): ListIdentity {
  return { list, sort, order: 'asc', scope: { runId } };
}

function runItem(run: RunSummary): RunListItem {
  return {
    id: run.id,
    sessionId: run.session_id,
    title: run.title,
    status: run.status,
    agent_flow: run.agent_flow,
    verdict: run.verdict,
    degraded: run.degraded,
    failureCode: run.failure_code,
    fallbackClass: run.fallback_class,
    fallbackReason: run.fallback_reason,
    retries: run.retries,
    toolFailed: run.tool_failed,
    durationMs: run.duration_ms,
    createdAt: run.created_at.toISOString(),
    startedAt: run.started_at?.toISOString() ?? null,
    finishedAt: run.finished_at?.toISOString() ?? null,
    messageBytes: run.message_bytes,
    messageSha256: run.message_sha256,
    answerBytes: run.answer_bytes,
    answerSha256: run.answer_sha256,
    keepsContent: run.keeps_content,
    eraseRequestedAt: run.erase_requested_at?.toISOString() ?? null,
  };
}

function stepItem({ run_id: _run, started_at, ...step }: AgentStepRecord): StepView {
  return { ...step, started_at: started_at.toISOString() };
}

function invocationItem({ run_id: _run, started_at, ...call }: InvocationSummary): InvocationListItem {
  return { ...call, started_at: started_at.toISOString() };
}

function evaluationItem({ id, kind, score, created_at }: EvaluationSummary): EvaluationListItem {
  return { id, kind, score, createdAt: created_at.toISOString() };
}

function sessionItem({ id, created_at }: SessionRecord): SessionListItem {
  return { id, createdAt: created_at.toISOString() };
}
