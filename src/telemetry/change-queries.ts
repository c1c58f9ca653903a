import type { ChangeQuery, ChangeRow, QueryAnswer } from '../ports/telemetry-source.port';
import { rangeOf, rounded, timeRange, type Range, type SourceFacts } from './query-ground';
import type { TelemetrySession } from './telemetry-database';
import { instantOf } from './time-expression';

const MINUTE_NS = 60_000_000_000;
const MINUTE_DECIMALS = 3;

interface FoundRow {
  readonly service: string;
  readonly kind: string;
  readonly text: string;
  readonly ns: bigint;
}

/** What the whole source spans: a record of changes has no lines in quiet times, so it is taken to reach as far as that. */
const SPAN_OF_SOURCE = `
  SELECT min(ns) AS first, max(ns) AS last, (SELECT count(*) FROM changes)::DOUBLE AS records FROM (
    SELECT min(ns) AS ns FROM logs UNION ALL SELECT max(ns) FROM logs UNION ALL SELECT min(ns) FROM metrics UNION ALL SELECT max(ns) FROM metrics
    UNION ALL SELECT min(ns) FROM span_times UNION ALL SELECT max(ns) FROM span_times UNION ALL SELECT min(ns) FROM changes UNION ALL SELECT max(ns) FROM changes)`;

function overlap(asked: Range, first: bigint, last: bigint): Range | null {
  const from = asked.from > first ? asked.from : first;
  // The last record's own instant is covered.
  const to = asked.to < last + 1_000_000n ? asked.to : last + 1_000_000n;
  return from < to ? { from, to } : null;
}

/** Changes from the lookback to the end of the window, the nearest to the window's start first. */
export async function changesNear(
  session: TelemetrySession,
  query: ChangeQuery,
  facts: SourceFacts,
  hasRecord: boolean,
): Promise<QueryAnswer<ChangeRow>> {
  const window = rangeOf(query.window);
  const asked = { from: window.from - BigInt(Math.round(query.lookback_minutes * MINUTE_NS)), to: window.to };
  const inScope = query.service === null ? 'TRUE' : 'service = $service';
  const values = { from: asked.from, to: asked.to, ...(query.service === null ? {} : { service: query.service }) };
  const found = await session.rows<FoundRow>(
    `SELECT service, kind, text, ns FROM changes WHERE ns >= $from AND ns < $to AND ${inScope}
     ORDER BY abs(ns - ${window.from}), ns, service, kind, text, seq`,
    values,
  );
  const [span] = await session.rows<{ first: bigint | null; last: bigint | null; records: number }>(SPAN_OF_SOURCE);
  const first = span?.first ?? null;
  const last = span?.last ?? null;
  const covered = hasRecord && first !== null && last !== null ? overlap(asked, first, last) : null;
  const rows = found.slice(0, query.limit).map(({ service, kind, text, ns }): ChangeRow => ({
    service,
    kind,
    text,
    time: instantOf(ns),
    minutes_before: rounded(Number(window.from - ns) / MINUTE_NS, MINUTE_DECIMALS),
  }));
  return {
    rows,
    rows_total: found.length,
    matched_count: found.length,
    // All of the record is looked through: one without any change in the range is what shows that nothing changed.
    records_scanned: span?.records ?? 0,
    records_rejected: facts.rejected,
    complete: rows.length === found.length,
    covered: timeRange(covered),
    files_skipped: facts.files_skipped,
  };
}
