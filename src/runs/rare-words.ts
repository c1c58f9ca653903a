import type { DataSource } from 'typeorm';
import { RunWord } from './run-word.entity';

/** Runs of a word beyond which SQLite does not count on. */
const COUNTED = 1_000;

/**
 * Digests of words, that with the fewest runs first: a list of runs with all of the words walks the runs of the first. It
 * estimates, and refuses to read what it estimates: a server is asked for its own guess, and SQLite counts to a bound.
 */
export async function rarestFirst(dataSource: DataSource, words: readonly string[]): Promise<string[]> {
  if (words.length < 2) return [...words];
  const guessed: { readonly word: string; readonly runs: number }[] = [];
  for (const word of words) guessed.push({ word, runs: await runsOf(dataSource, word) });
  return guessed.sort((a, b) => a.runs - b.runs).map(({ word }) => word);
}

async function runsOf(dataSource: DataSource, word: string): Promise<number> {
  const runs = dataSource.createQueryBuilder(RunWord, 'word').select('word.run_id').where('word.word_key = :word', { word });
  const isSqlite = dataSource.options.type === 'better-sqlite3';
  const [sql, parameters] = (isSqlite ? runs.limit(COUNTED) : runs).getQueryAndParameters();
  const statement = isSqlite ? `SELECT COUNT(*) AS "rows" FROM (${sql})` : `EXPLAIN ${sql}`;
  const [told] = await dataSource.query<{ readonly rows?: unknown }[]>(statement, parameters);
  // A word that the server knows to be in no question has no guess.
  return Number(told?.rows ?? 0);
}
