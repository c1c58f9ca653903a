import { loadDuckdb, QueryGate, type Row } from '../../src/telemetry/telemetry-database';
import { openTelemetry, takeSnapshot } from '../../src/telemetry/telemetry-opening';
import type { ImportedFile } from '../../src/telemetry/telemetry-reader';
import { instantOf } from '../../src/telemetry/time-expression';

/** What an import of a path left in its tables. */
export interface Imported {
  readonly files: readonly ImportedFile[];
  readonly skipped: Readonly<Record<string, string>>;
  readonly mapping: unknown;
  readonly zone: string | null;
  /** Rows of a query over the tables, nanoseconds as instants. */
  readonly rows: readonly Row[];
}

const LIMITS = { memoryLimitMb: 256, spillLimitMb: 256, maxConcurrentQueries: 2 };

/** Imports a path and asks one query over the tables as they are. */
export async function imported(path: string, sql: string): Promise<Imported> {
  const { signal } = new AbortController();
  const opened = await openTelemetry(
    await takeSnapshot(path, null),
    path,
    { path, mapping: null, ...LIMITS },
    loadDuckdb,
    new QueryGate(2),
    signal,
    () => undefined,
  );
  try {
    const rows = await opened.database.query(sql, {});
    return {
      files: opened.files,
      skipped: Object.fromEntries(opened.skipped.map(({ name, reason }) => [name, reason])),
      mapping: opened.effective,
      zone: opened.text_zone,
      rows: rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? instantOf(value) : value]),
        ),
      ),
    };
  } finally {
    await opened.close();
  }
}

/** Log lines in file order. */
export const LOG_LINES = `SELECT l.ns AS time, k.service, k.level, l.message, l.trace FROM logs l JOIN log_kinds k USING (kind_id) ORDER BY l.seq`;
/** Values of metrics in order of their names and times. */
export const METRIC_VALUES = `SELECT s.service, s.metric, s.statistic, s.unit, m.ns AS time, m.value FROM metrics m JOIN metric_series s USING (series_id)
  ORDER BY s.service, s.metric, s.statistic, m.ns, m.value`;
/** Spans in order of their start; the rows as read are gone, so that parents show as calls. */
export const SPAN_TIMES = `SELECT trace, service, operation, callee, ns AS time, b AS ended, is_error FROM span_times ORDER BY ns, service`;
