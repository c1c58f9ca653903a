import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral, type SelectQueryBuilder } from 'typeorm';
import { DiagnosisError } from '../errors/diagnosis-error';
import { RunStatsStore, type CountedRanges, type DurationPercentiles, type RunCounts } from '../ports/run-stats-store.port';
import { INVOCATION_STATUSES, RUN_STATUSES, type InvocationStatus } from '../vocabulary/run-lifecycle';
import { FALLBACK_CLASSES } from '../vocabulary/statuses';
import { VERDICTS } from '../vocabulary/verdicts';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { DiagnosisRun } from './diagnosis-run.entity';
import { asStoreCall } from './store-error';
import { ToolInvocation } from './tool-invocation.entity';

/** Longest that one statement may take on a database server, in ms; SQLite has no such limit. */
const STATEMENT_LIMIT_MS = 20_000;
/** What the servers say when a statement reached its limit: MariaDB, MySQL. */
const TIMEOUTS: ReadonlySet<number> = new Set([1969, 3024]);

const FAILED_STATUSES: readonly InvocationStatus[] = ['ERROR', 'DENIED', 'ABANDONED'];
const COUNTED = { status: RUN_STATUSES, verdict: VERDICTS, fallback_class: FALLBACK_CLASSES } as const;
const PERCENTS = [50, 95, 99] as const;
/** Instead of the hex digits of a code: a failed call that has none, and one whose code is not told. */
const NO_CODE = '-';
const REST = '+';

type Row = Readonly<Record<string, string | number | null>>;

/** Calls of one range that have the same code; null for calls that did not fail. */
interface CallGroup {
  readonly code: string | null;
  readonly calls: number;
}

/**
 * Numbers in the database, by five statements whatever the number of runs: each reads the runs or calls of the window once, by
 * an index on time, and finds their range by a tree of comparisons; a table of ranges to join with would be compared with
 * every run. Codes are grouped by their bytes, because a collation may take two of them for one.
 */
@Injectable()
export class RunStatsRepository extends RunStatsStore {
  protected readonly statementLimitMs: number = STATEMENT_LIMIT_MS;

  constructor(@Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
  }

  override async countsWithin(borders: readonly Date[], maxReasons: number): Promise<CountedRanges> {
    const runs = await this.runCounts(borders);
    const ofAll = await this.durations(borders, 'all');
    const ofEach = await this.durations(borders, 'each range');
    const calls = await this.calls(borders, await this.commonReasons(borders, maxReasons));
    return {
      total: countsOf(sumOf([...runs.values()]), percentilesOf(ofAll.get(0)), [...calls.values()].flat()),
      ranges: borders
        .slice(1)
        .map((_end, place) => countsOf(runs.get(place) ?? {}, percentilesOf(ofEach.get(place)), calls.get(place) ?? [])),
    };
  }

  private async runCounts(borders: readonly Date[]): Promise<ReadonlyMap<number, Row>> {
    const query = this.within(DiagnosisRun, 'run', 'created_at', borders)
      .addSelect('COUNT(*)', 'runs')
      .addSelect('COUNT(CASE WHEN run.degraded = 1 THEN 1 END)', 'degraded')
      .addSelect('COUNT(CASE WHEN run.retries > 0 THEN 1 END)', 'retried')
      .addSelect('SUM(run.retries)', 'retries')
      .groupBy('place');
    for (const [column, values] of Object.entries(COUNTED)) {
      for (const value of values)
        query.addSelect(`COUNT(CASE WHEN run.${column} = '${value}' THEN 1 END)`, nameOf(column, value));
    }
    return byPlace(await this.rows(query));
  }

  /**
   * Percentiles of each range, or of all of them as one. Ranks over both at once would spare a statement, and MariaDB 10.11
   * reckons the second of two such windows wrongly.
   */
  private async durations(borders: readonly Date[], scope: 'each range' | 'all'): Promise<ReadonlyMap<number, Row>> {
    const { dataSource } = this;
    const placed = this.within(DiagnosisRun, 'run', 'created_at', borders)
      .addSelect('run.duration_ms', 'ms')
      .andWhere('run.duration_ms IS NOT NULL');
    if (scope === 'all') placed.select('0', 'place').addSelect('run.duration_ms', 'ms');
    const partition = scope === 'all' ? '' : 'PARTITION BY placed.place';
    const ranked = dataSource
      .createQueryBuilder()
      .select('placed.place', 'place')
      .addSelect('placed.ms', 'ms')
      .addSelect(`ROW_NUMBER() OVER (${partition} ORDER BY placed.ms)`, 'place_rank')
      .addSelect(`COUNT(*) OVER (${partition})`, 'runs')
      .from(`(${placed.getQuery()})`, 'placed');
    const query = dataSource
      .createQueryBuilder()
      .select('ranked.place', 'place')
      .from(`(${ranked.getQuery()})`, 'ranked')
      .groupBy('ranked.place')
      .setParameters(placed.getParameters());
    for (const percent of PERCENTS) {
      // By multiplying alone: the databases do not divide whole numbers alike.
      const share = `ranked.runs * ${percent}`;
      const isIt = `ranked.place_rank * 100 >= ${share} AND (ranked.place_rank - 1) * 100 < ${share}`;
      query.addSelect(`MAX(CASE WHEN ${isIt} THEN ranked.ms END)`, `p${percent}`);
    }
    return byPlace(await this.rows(query));
  }

  private async commonReasons(borders: readonly Date[], most: number): Promise<string[]> {
    const query = this.within(ToolInvocation, 'invocation', 'started_at', borders)
      .select('HEX(invocation.error_code)', 'code')
      .addSelect('COUNT(*)', 'calls')
      .andWhere('invocation.status IN (:...failed)', { failed: FAILED_STATUSES })
      .andWhere('invocation.error_code IS NOT NULL')
      .groupBy('code')
      .orderBy('calls', 'DESC')
      .addOrderBy('code', 'ASC')
      .limit(most);
    return (await this.rows(query)).map((row) => String(row['code']));
  }

  private async calls(borders: readonly Date[], reasons: readonly string[]): Promise<ReadonlyMap<number, readonly CallGroup[]>> {
    const told = reasons.length === 0 ? '' : 'WHEN HEX(invocation.error_code) IN (:...reasons) THEN HEX(invocation.error_code) ';
    const query = this.within(ToolInvocation, 'invocation', 'started_at', borders)
      // Each status is named, so that the index that begins with it can be walked.
      .andWhere('invocation.status IN (:...statuses)', { statuses: INVOCATION_STATUSES })
      .addSelect(
        `CASE WHEN invocation.status NOT IN (:...failed) THEN NULL WHEN invocation.error_code IS NULL THEN '${NO_CODE}' ${told}ELSE '${REST}' END`,
        'code',
      )
      .addSelect('COUNT(*)', 'calls')
      .groupBy('place')
      .addGroupBy('code')
      .setParameters({ failed: FAILED_STATUSES, reasons });
    const groups = new Map<number, CallGroup[]>();
    for (const { place, code, calls } of await this.rows(query)) {
      const group = { code: code === null ? null : String(code), calls: Number(calls) };
      groups.set(Number(place), [...(groups.get(Number(place)) ?? []), group]);
    }
    return groups;
  }

  /** What lies within the borders, with the index of its range as `place`. */
  private within<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    alias: string,
    column: string,
    borders: readonly Date[],
  ): SelectQueryBuilder<Entity> {
    const at = `${alias}.${column}`;
    return this.dataSource
      .createQueryBuilder(entity, alias)
      .select(placeOf(at, 0, borders.length - 2), 'place')
      .where(`${at} >= :border0 AND ${at} < :border${borders.length - 1}`)
      .setParameters(Object.fromEntries(borders.map((border, index) => [`border${index}`, border])));
  }

  private rows<Entity extends ObjectLiteral>(query: SelectQueryBuilder<Entity>): Promise<Row[]> {
    const limitMs = this.statementLimitMs;
    const [sql, parameters] = query.maxExecutionTime(limitMs).getQueryAndParameters();
    // The query builder's hint is that of MySQL; MariaDB takes it for a comment.
    const limit = this.dataSource.options.type === 'mariadb' ? `SET STATEMENT max_statement_time=${limitMs / 1000} FOR ` : '';
    return asStoreCall(async () => {
      try {
        return await this.dataSource.manager.query<Row[]>(limit + sql, parameters as unknown[]);
      } catch (error) {
        throw TIMEOUTS.has(Number((error as { errno?: unknown }).errno)) ? tooSlow(limitMs) : error;
      }
    });
  }
}

function nameOf(column: string, value: string): string {
  return `${column}_${value}`;
}

/** An expression for the index of the range, from `first` to `last`, that a time lies in. */
function placeOf(column: string, first: number, last: number): string {
  if (first === last) return String(first);
  const middle = (first + last + 1) >> 1;
  return `CASE WHEN ${column} < :border${middle} THEN ${placeOf(column, first, middle - 1)} ELSE ${placeOf(column, middle, last)} END`;
}

function byPlace(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.map((row) => [Number(row['place']), row]));
}

function sumOf(rows: readonly Row[]): Row {
  const sum: Record<string, number> = {};
  for (const row of rows) for (const [name, value] of Object.entries(row)) sum[name] = (sum[name] ?? 0) + Number(value);
  return sum;
}

function percentilesOf(row: Row | undefined): DurationPercentiles {
  const of = (percent: (typeof PERCENTS)[number]): number | null => {
    const ms = row?.[`p${percent}`] ?? null;
    return ms === null ? null : Number(ms);
  };
  return { p50: of(50), p95: of(95), p99: of(99) };
}

function countsOf(row: Row, durationMs: DurationPercentiles, groups: readonly CallGroup[]): RunCounts {
  const count = (name: string): number => Number(row[name] ?? 0);
  const each = <Value extends string>(column: keyof typeof COUNTED, values: readonly Value[]): Record<Value, number> =>
    Object.fromEntries(values.map((value) => [value, count(nameOf(column, value))])) as Record<Value, number>;
  const failed = new Map<string, number>();
  for (const { code, calls } of groups) if (code !== null) failed.set(code, (failed.get(code) ?? 0) + calls);
  return {
    runs: count('runs'),
    byStatus: each('status', RUN_STATUSES),
    byVerdict: each('verdict', VERDICTS),
    degraded: count('degraded'),
    byFallbackClass: each('fallback_class', FALLBACK_CLASSES),
    retried: count('retried'),
    retries: count('retries'),
    durationMs,
    toolCalls: groups.reduce((sum, { calls }) => sum + calls, 0),
    failedCalls: [...failed].map(([code, calls]) => ({
      reason: code === NO_CODE || code === REST ? null : Buffer.from(code, 'hex').toString('utf8'),
      isRest: code === REST,
      calls,
    })),
  };
}

function tooSlow(limitMs: number): DiagnosisError {
  return new DiagnosisError('STORE_UNAVAILABLE', `The numbers take longer than ${limitMs / 1000} s; ask for a shorter window.`);
}
