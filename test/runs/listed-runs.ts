import type { DataSource } from 'typeorm';
import { ChatSession } from '../../src/runs/chat-session.entity';
import { DiagnosisRun } from '../../src/runs/diagnosis-run.entity';
import { wordKeysOf } from '../../src/runs/question-words';
import { RunWord } from '../../src/runs/run-word.entity';

/** What a test says of a run; the rest is of no matter to lists. */
export type ListedRun = Pick<
  DiagnosisRun,
  | 'id'
  | 'session_id'
  | 'status'
  | 'agent_flow'
  | 'verdict'
  | 'degraded'
  | 'fallback_class'
  | 'fallback_reason'
  | 'tool_failed'
  | 'created_at'
  | 'duration_ms'
> & { readonly question: string };

/** Columns that lists must not name. */
export const BODIES = [
  'message',
  'query',
  'answer',
  'causes',
  'trace',
  'metrics',
  'self_evaluation',
  'detail',
  'body',
  'bytes',
  'arguments',
] as const;

export function uuid(number: number): string {
  return `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** A finished run with everything usual. */
export function listedRun(number: number, change: Partial<ListedRun> = {}): ListedRun {
  return {
    id: uuid(number),
    session_id: uuid(0),
    status: 'SUCCESS',
    agent_flow: 'DIAGNOSIS_GRAPH',
    verdict: 'PASS',
    degraded: false,
    fallback_class: null,
    fallback_reason: null,
    tool_failed: false,
    created_at: new Date(Date.UTC(2026, 4, 1) + number * 1_000),
    duration_ms: 1_000 + number,
    question: `Why is run ${number} slow?`,
    ...change,
  };
}

/** Stores runs with their sessions and the words of their questions, past the service. */
export async function storeListed(dataSource: DataSource, runs: readonly ListedRun[]): Promise<void> {
  const sessions = [...new Set(runs.map((run) => run.session_id))].map((id) => ({
    id,
    created_at: new Date(Date.UTC(2026, 4, 1)),
  }));
  for (const session of sessions) {
    await dataSource.createQueryBuilder().insert().into(ChatSession).values(session).orIgnore().updateEntity(false).execute();
  }
  for (let at = 0; at < runs.length; at += 50) {
    const batch = runs.slice(at, at + 50);
    await dataSource.manager.insert(
      DiagnosisRun,
      batch.map(({ question, ...run }) => ({
        ...run,
        title: question,
        message: { text: question },
        failure_code: null,
        lease_owner: null,
        lease_until: run.created_at,
        started_at: run.duration_ms === null ? null : run.created_at,
        finished_at: run.duration_ms === null ? null : new Date(run.created_at.getTime() + run.duration_ms),
        query: null,
        answer: null,
        causes: null,
        trace: null,
        metrics: null,
        self_evaluation: null,
      })),
    );
    const words = batch.flatMap(({ id, created_at, duration_ms, question }) =>
      wordKeysOf(question).map((word_key) => ({ run_id: id, word_key, created_at, duration_ms })),
    );
    if (words.length > 0) await dataSource.manager.insert(RunWord, words);
  }
}

/** Removes runs and their words, past the service. */
export async function eraseListed(dataSource: DataSource, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await dataSource.manager.delete(RunWord, { run_id: id });
    await dataSource.manager.delete(DiagnosisRun, { id });
  }
}

/** Notes every statement that a data source sends from now on. */
export function statementsOf(dataSource: DataSource): string[] {
  const statements: string[] = [];
  const silent = (): void => undefined;
  Object.assign(dataSource, {
    logger: {
      logQuery: (statement: string) => statements.push(statement),
      logQueryError: silent,
      logQuerySlow: silent,
      logSchemaBuild: silent,
      logMigration: silent,
      log: silent,
    },
  });
  return statements;
}

/** The columns of bodies that a statement names; names of tables and of other columns that contain such a word are none. */
export function bodiesIn(statement: string): string[] {
  const named = new Set([...statement.matchAll(/[`"]?([A-Za-z_][A-Za-z0-9_]*)[`"]?/g)].map(([, name]) => name));
  return [...BODIES.filter((body) => named.has(body)), ...(/\*(?!\))/.test(statement) ? ['*'] : [])];
}
