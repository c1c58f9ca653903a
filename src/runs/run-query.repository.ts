import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral, type SelectQueryBuilder } from 'typeorm';
import type { AgentStepRecord } from '../ports/agent-step-store.port';
import {
  RunQueryStore,
  type EvaluationSummary,
  type InvocationSummary,
  type ListSlice,
  type RunFilter,
  type RunSort,
  type RunSummary,
  type SessionRecord,
} from '../ports/run-query-store.port';
import { AgentStep } from './agent-step.entity';
import { ChatSession } from './chat-session.entity';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { DiagnosisRun } from './diagnosis-run.entity';
import { indexOver, readSlice } from './keyset-slice';
import { wordKeysOf } from './question-words';
import { rarestFirst } from './rare-words';
import { RunEvaluation } from './run-evaluation.entity';
import { RunWord } from './run-word.entity';
import { asStoreCall } from './store-error';
import { ToolInvocation } from './tool-invocation.entity';

const SUMMARY = [
  'id',
  'session_id',
  'status',
  'agent_flow',
  'verdict',
  'degraded',
  'failure_code',
  'fallback_class',
  'fallback_reason',
  'retries',
  'tool_failed',
  'title',
  'message_sha256',
  'message_bytes',
  'answer_sha256',
  'answer_bytes',
  'keeps_content',
  'erase_requested_at',
  'created_at',
  'started_at',
  'finished_at',
  'duration_ms',
] as const satisfies readonly (keyof RunSummary)[];
const STEP = [
  'id',
  'run_id',
  'node',
  'round',
  'attempt',
  'outcome',
  'reason_code',
  'started_at',
  'duration_ms',
  'input_bytes',
  'output_bytes',
  'input_tokens',
  'output_tokens',
] as const satisfies readonly (keyof AgentStepRecord)[];
const INVOCATION = [
  'id',
  'run_id',
  'invocation_id',
  'round',
  'ordinal',
  'tool_name',
  'status',
  'output_sha256',
  'output_bytes',
  'error_code',
  'started_at',
  'duration_ms',
] as const satisfies readonly (keyof InvocationSummary)[];
const EVALUATION = ['id', 'run_id', 'kind', 'score', 'created_at'] as const satisfies readonly (keyof EvaluationSummary)[];
const SESSION = ['id', 'created_at'] as const satisfies readonly (keyof SessionRecord)[];

/** Filters that compare a column with a value, and that column. */
const COLUMNS = {
  sessionId: 'session_id',
  fallbackReason: 'fallback_reason',
  fallbackClass: 'fallback_class',
  status: 'status',
  verdict: 'verdict',
  toolFailed: 'tool_failed',
  degraded: 'degraded',
  agentFlow: 'agent_flow',
} as const satisfies Partial<Record<keyof RunFilter, keyof RunSummary>>;
const FILTERS = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
/** Filters that leave few runs, whatever their value. */
const NARROW: readonly (keyof RunFilter)[] = ['sessionId', 'fallbackReason', 'fallbackClass'];
/** What most runs are. */
const USUAL: RunFilter = { status: 'SUCCESS', verdict: 'PASS', toolFailed: false, degraded: false, agentFlow: 'DIAGNOSIS_GRAPH' };
const SORT_COLUMNS = { start: 'created_at', duration: 'duration_ms' } as const satisfies Record<RunSort, keyof RunSummary>;

/**
 * Lists in the database, over scalar columns alone. A list of runs walks one index that holds its order: that of a filter, of a
 * word of the question, or of all runs; what else is asked for is checked run by run. No index serves a time range sorted by
 * duration: the database reads what the range holds, or walks by duration, whichever it takes for less.
 */
@Injectable()
export class RunQueryRepository extends RunQueryStore {
  constructor(@Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
  }

  override async runs(filter: RunFilter, sort: RunSort, slice: ListSlice): Promise<RunSummary[]> {
    return asStoreCall(async () => {
      const { query, table, id, index } = await this.runsOf(sort === 'start' ? withoutImplied(filter, slice) : filter, sort);
      const shape = {
        alias: 'run',
        metadata: this.dataSource.getMetadata(DiagnosisRun),
        columns: SUMMARY,
        key: `${table}.${SORT_COLUMNS[sort]}`,
        id,
        isTime: sort === 'start',
        index,
      };
      return readSlice<DiagnosisRun, keyof RunSummary>(query, shape, slice);
    });
  }

  override async countRuns(filter: RunFilter, sort: RunSort): Promise<number> {
    return asStoreCall(async () => counted((await this.runsOf(filter, sort)).query));
  }

  override async runExists(runId: string): Promise<boolean> {
    return asStoreCall(() => this.dataSource.manager.existsBy(DiagnosisRun, { id: runId }));
  }

  override async steps(runId: string, slice: ListSlice): Promise<AgentStepRecord[]> {
    return this.listed(this.ofRun(AgentStep, runId), AgentStep, STEP, 'started_at', slice);
  }

  override async countSteps(runId: string): Promise<number> {
    return counted(this.ofRun(AgentStep, runId));
  }

  override async invocations(runId: string, slice: ListSlice): Promise<InvocationSummary[]> {
    return this.listed(this.ofRun(ToolInvocation, runId), ToolInvocation, INVOCATION, 'ordinal', slice);
  }

  override async countInvocations(runId: string): Promise<number> {
    return counted(this.ofRun(ToolInvocation, runId));
  }

  override async evaluations(runId: string, slice: ListSlice): Promise<EvaluationSummary[]> {
    return this.listed(this.ofRun(RunEvaluation, runId), RunEvaluation, EVALUATION, 'created_at', slice);
  }

  override async countEvaluations(runId: string): Promise<number> {
    return counted(this.ofRun(RunEvaluation, runId));
  }

  override async sessions(slice: ListSlice): Promise<SessionRecord[]> {
    return this.listed(this.dataSource.createQueryBuilder(ChatSession, 'entry'), ChatSession, SESSION, 'created_at', slice);
  }

  override async countSessions(): Promise<number> {
    return counted(this.dataSource.createQueryBuilder(ChatSession, 'entry'));
  }

  override async session(sessionId: string): Promise<(SessionRecord & { readonly runs: number }) | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOneBy(ChatSession, { id: sessionId });
      if (row === null) return null;
      const runs = await this.dataSource.manager.countBy(DiagnosisRun, { session_id: sessionId });
      return { id: row.id, created_at: row.created_at, runs };
    });
  }

  /** Runs that meet the filter, by the index that the list walks. */
  private async runsOf(filter: RunFilter, sort: RunSort): Promise<WalkedRuns> {
    const words = await rarestFirst(this.dataSource, filter.question === undefined ? [] : wordKeysOf(filter.question));
    const byWord = words.length > 0 && !NARROW.some((name) => filter[name] !== undefined);
    const walked = byWord ? this.runsOfWord(words[0] ?? '', sort) : this.runsOfColumn(filter, sort);
    const { query, table, id } = walked;
    words.slice(byWord ? 1 : 0).forEach((word, index) => {
      const alias = `word${index}`;
      query.innerJoin(RunWord, alias, `${alias}.run_id = ${id} AND ${alias}.word_key = :${alias}`, { [alias]: word });
    });
    for (const name of FILTERS) {
      const value = filter[name];
      if (value === null) query.andWhere(`run.${COLUMNS[name]} IS NULL`);
      else if (value !== undefined) query.andWhere(`run.${COLUMNS[name]} = :${name}`, { [name]: value });
    }
    if (filter.from !== undefined) query.andWhere(`${table}.created_at >= :from`, { from: filter.from });
    if (filter.to !== undefined) query.andWhere(`${table}.created_at < :to`, { to: filter.to });
    if (sort === 'duration') query.andWhere(`${table}.duration_ms IS NOT NULL`);
    const isBetween = sort === 'duration' && (filter.from !== undefined || filter.to !== undefined);
    return isBetween ? { ...walked, index: null } : walked;
  }

  /** A word repeats, in its own index, what lists are sorted by. */
  private runsOfWord(word: string, sort: RunSort): WalkedRuns {
    const query: SelectQueryBuilder<ObjectLiteral> = this.dataSource
      .createQueryBuilder(RunWord, 'word')
      .innerJoin(DiagnosisRun, 'run', 'run.id = word.run_id')
      .where('word.word_key = :word', { word });
    const index = indexOver(this.dataSource.getMetadata(RunWord), ['word_key', SORT_COLUMNS[sort], 'run_id']);
    return { query, table: 'word', id: 'word.run_id', index };
  }

  private runsOfColumn(filter: RunFilter, sort: RunSort): WalkedRuns {
    const given = FILTERS.filter((name) => filter[name] !== undefined);
    const walked = given.find((name) => filter[name] !== USUAL[name]) ?? given[0];
    const columns = [...(walked === undefined ? [] : [COLUMNS[walked]]), SORT_COLUMNS[sort], 'id'];
    const query: SelectQueryBuilder<ObjectLiteral> = this.dataSource.createQueryBuilder(DiagnosisRun, 'run');
    return { query, table: 'run', id: 'run.id', index: indexOver(this.dataSource.getMetadata(DiagnosisRun), columns) };
  }

  private ofRun<T extends ObjectLiteral>(entity: EntityTarget<T>, runId: string): SelectQueryBuilder<T> {
    return this.dataSource.createQueryBuilder(entity, 'entry').where('entry.run_id = :runId', { runId });
  }

  private listed<T extends ObjectLiteral, K extends keyof T & string>(
    query: SelectQueryBuilder<T>,
    entity: EntityTarget<T>,
    columns: readonly K[],
    key: K,
    slice: ListSlice,
  ): Promise<Pick<T, K>[]> {
    const metadata = this.dataSource.getMetadata(entity);
    return asStoreCall(() =>
      readSlice<T, K>(
        query,
        {
          alias: 'entry',
          metadata,
          columns,
          key: `entry.${key}`,
          id: 'entry.id',
          isTime: metadata.findColumnWithPropertyName(key)?.type === 'datetime',
          index: indexOver(metadata, [key, 'id']),
        },
        slice,
      ),
    );
  }
}

/** A query of runs, the table whose columns of time and duration it reads, where it finds their ids, and the index it walks. */
interface WalkedRuns {
  readonly query: SelectQueryBuilder<ObjectLiteral>;
  readonly table: 'run' | 'word';
  readonly id: string;
  readonly index: string | null;
}

/** The filter without the end of its time range that the slice lies within anyway: SQLite would take that end for the better place to begin. */
function withoutImplied(filter: RunFilter, { order, after }: ListSlice): RunFilter {
  if (after === null) return filter;
  if (order === 'desc') return filter.to !== undefined && after.key < filter.to.getTime() ? { ...filter, to: undefined } : filter;
  return filter.from !== undefined && after.key >= filter.from.getTime() ? { ...filter, from: undefined } : filter;
}

async function counted(query: SelectQueryBuilder<ObjectLiteral>): Promise<number> {
  return asStoreCall(async () => Number((await query.select('COUNT(*)', 'total').getRawOne<{ total: unknown }>())?.total));
}
