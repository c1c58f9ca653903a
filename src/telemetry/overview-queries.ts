import {
  TELEMETRY_FAMILIES,
  type OverviewQuery,
  type OverviewRow,
  type QueryAnswer,
  type TelemetryFamily,
  type TelemetryFamilyName,
} from '../ports/telemetry-source.port';
import type { SourceFacts } from './query-ground';
import type { TelemetryDatabase, TelemetrySession } from './telemetry-database';
import { instantOf } from './time-expression';

/** Most service names in a description. */
const MAX_SERVICES = 1000;

/** SQL of one family: a row a record with its time, and a row a record and service. */
const FAMILY_TABLES: Readonly<Record<TelemetryFamilyName, { readonly records: string; readonly owned: string }>> = {
  logs: { records: 'logs', owned: 'SELECT service, ns FROM logs JOIN log_kinds USING (kind_id)' },
  metrics: { records: 'metrics', owned: 'SELECT service, ns FROM metrics JOIN metric_series USING (series_id)' },
  spans: { records: 'span_times', owned: 'SELECT service, ns FROM span_times' },
  changes: { records: 'changes', owned: 'SELECT service, ns FROM changes' },
  graph: {
    records: '(SELECT NULL::BIGINT AS ns, * FROM edges)',
    owned: 'SELECT caller AS service, NULL::BIGINT AS ns FROM edges UNION ALL SELECT callee, NULL FROM edges',
  },
};

/** Names of a family's services without a look at its records, where there is a shorter way. */
const NAMES: Partial<Record<TelemetryFamilyName, string>> = {
  logs: 'SELECT service FROM log_kinds',
  metrics: 'SELECT service FROM metric_series',
};

const FAMILIES_SQL = TELEMETRY_FAMILIES.map((family) => {
  const { records, owned } = FAMILY_TABLES[family];
  const names = NAMES[family] ?? owned;
  return `SELECT '${family}' AS family, count(*)::DOUBLE AS records, min(ns) AS first, max(ns) AS last,
    (SELECT list(service ORDER BY service) FROM (SELECT DISTINCT service FROM (${names}) ORDER BY service LIMIT ${MAX_SERVICES})) AS services FROM ${records}`;
}).join(' UNION ALL ');

const OVERVIEW_SQL = `
  SELECT service, family, count(*)::DOUBLE AS records, min(ns) AS first, max(ns) AS last FROM (
    ${TELEMETRY_FAMILIES.map((family) => `SELECT '${family}' AS family, service, ns FROM (${FAMILY_TABLES[family].owned})`).join(' UNION ALL ')})
  WHERE $service IS NULL OR service = $service GROUP BY service, family ORDER BY records DESC, service, family`;

function instantOrNull(nanoseconds: bigint | null): string | null {
  return nanoseconds === null ? null : instantOf(nanoseconds);
}

/** Every family with its range and services, those without a record too. */
export async function familiesOf(
  database: TelemetryDatabase,
  signal: AbortSignal | undefined,
): Promise<Omit<TelemetryFamily, 'rejected'>[]> {
  const rows = (await database.query(FAMILIES_SQL, {}, signal)) as unknown as readonly {
    readonly family: TelemetryFamilyName;
    readonly records: number;
    readonly first: bigint | null;
    readonly last: bigint | null;
    readonly services: string[] | null;
  }[];
  return rows.map(({ family, records, first, last, services }) => ({
    family,
    records,
    from: instantOrNull(first),
    to: instantOrNull(last),
    services: services ?? [],
  }));
}

/** Records of each service in each family. */
export async function overviewOf(
  session: TelemetrySession,
  query: OverviewQuery,
  facts: SourceFacts,
): Promise<QueryAnswer<OverviewRow>> {
  const found = await session.rows<{
    service: string;
    family: TelemetryFamilyName;
    records: number;
    first: bigint | null;
    last: bigint | null;
  }>(OVERVIEW_SQL.replaceAll('$service IS NULL OR service = $service', query.service === null ? 'TRUE' : 'service = $service'), {
    ...(query.service === null ? {} : { service: query.service }),
  });
  const times = found.flatMap(({ first, last }) => (first === null || last === null ? [] : [first, last]));
  const from = times.reduce<bigint | null>((least, time) => (least === null || time < least ? time : least), null);
  const to = times.reduce<bigint | null>((most, time) => (most === null || time > most ? time : most), null);
  const rows = found.slice(0, query.limit).map(({ service, family, records, first, last }) => ({
    service,
    family,
    records,
    first_seen: instantOrNull(first),
    last_seen: instantOrNull(last),
  }));
  const total = found.reduce((sum, { records }) => sum + records, 0);
  return {
    rows,
    rows_total: found.length,
    records_scanned: total,
    records_rejected: facts.rejected,
    matched_count: total,
    complete: rows.length === found.length,
    covered: from === null || to === null ? null : { from: instantOf(from), to: instantOf(to + 1_000_000n) },
    files_skipped: facts.files_skipped,
    text_zone: null,
  };
}
