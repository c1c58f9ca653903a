import { resolve } from 'node:path';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisOptions } from '../options/diagnosis-options';
import {
  TELEMETRY_FAMILIES,
  TelemetrySource,
  type ChangeQuery,
  type ChangeRow,
  type ComparisonQuery,
  type ErrorShareQuery,
  type ErrorShareRow,
  type ImportProgress,
  type LogPatternQuery,
  type LogPatternRow,
  type LogSequenceQuery,
  type LogSequenceRow,
  type MetricAnomalyRow,
  type OverviewQuery,
  type OverviewRow,
  type QueryAnswer,
  type ServiceEdgeRow,
  type SpanServiceRow,
  type TelemetryDescription,
  type TelemetryFamilyName,
  type TimeRange,
} from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import { changesNear } from './change-queries';
import { coverageOf, errorShare, logPatterns } from './log-queries';
import { findSequenceChanges } from './log-sequences';
import { isMissed } from './mapping-inference';
import { metricAnomalies } from './metric-queries';
import { onsetOf } from './onset-queries';
import { familiesOf, overviewOf } from './overview-queries';
import type { SourceFacts } from './query-ground';
import { SharedOpening } from './shared-opening';
import { serviceGraph, spanAnalysis } from './span-queries';
import { loadDuckdb, QueryGate } from './telemetry-database';
import { fingerprintOf, openTelemetry, takeSnapshot, type OpenedTelemetry } from './telemetry-opening';
import { instantOf } from './time-expression';

/**
 * Telemetry in files, read by DuckDB. Nothing is opened before the first question; files are imported once and again when
 * one of them changed in size or time; after that the engine reads no file and takes no setting. It takes no SQL, follows
 * no symbolic link, and loses no row silently: what could not be read is counted per file. Errors as the port says, and
 * DEPENDENCY_MISSING without the package of DuckDB.
 */
export class DuckdbTelemetrySource extends TelemetrySource {
  private readonly gate: QueryGate;
  private readonly watchers = new Set<(progress: ImportProgress) => void>();
  private current: SharedOpening<OpenedTelemetry> | null = null;

  constructor(
    private readonly options: DiagnosisOptions['telemetry'],
    private readonly load: typeof loadDuckdb = loadDuckdb,
  ) {
    super();
    this.gate = new QueryGate(options.maxConcurrentQueries);
  }

  async describe(signal?: AbortSignal): Promise<TelemetryDescription> {
    return this.ask(async ({ database, files, skipped }) => {
      const families = (await familiesOf(database, signal)).map((family) => ({
        ...family,
        rejected: rejectedIn(files, [family.family]),
      }));
      const names = new Set(files.map((file) => file.name));
      return { families: families.filter((family) => family.records > 0 || family.rejected > 0), files: names.size, skipped };
    }, signal);
  }

  async onset(signal?: AbortSignal): Promise<TimeRange | null> {
    return this.ask((opened) => opened.database.session((session) => onsetOf(session, signal), signal), signal);
  }

  async overview(query: OverviewQuery, signal?: AbortSignal): Promise<QueryAnswer<OverviewRow>> {
    return this.ask(
      (opened) =>
        opened.database.session((session) => overviewOf(session, query, factsOf(opened, ...TELEMETRY_FAMILIES)), signal),
      signal,
    );
  }

  async logPatterns(query: LogPatternQuery, signal?: AbortSignal): Promise<QueryAnswer<LogPatternRow>> {
    return this.ask(
      (opened) => opened.database.session((session) => logPatterns(session, query, factsOf(opened, 'logs')), signal),
      signal,
    );
  }

  async errorShare(query: ErrorShareQuery, signal?: AbortSignal): Promise<QueryAnswer<ErrorShareRow>> {
    return this.ask(
      (opened) => opened.database.session((session) => errorShare(session, query, factsOf(opened, 'logs')), signal),
      signal,
    );
  }

  async logSequences(
    query: LogSequenceQuery,
    signal?: AbortSignal,
  ): Promise<QueryAnswer<LogSequenceRow> & { readonly by_trace: boolean }> {
    return this.ask(
      (opened) =>
        opened.database.session(async (session) => {
          const ground = await coverageOf(session, query);
          const [traced] = await session.rows<{ n: number }>(
            `SELECT count(*)::DOUBLE AS n FROM logs WHERE coalesce(trace, '') <> ''`,
          );
          const byTrace = (traced?.n ?? 0) > 0;
          const { window, baseline } = ground;
          const ranges = { window: [window.from, window.to], baseline: [baseline.from, baseline.to] } as const;
          const found = await findSequenceChanges(session, ranges, query, byTrace);
          const rows = found.slice(0, query.limit).map(({ first_ts, ...row }) => ({ ...row, first_seen: instantOf(first_ts) }));
          const { rejected, files_skipped, text_zone } = factsOf(opened, 'logs');
          return {
            rows,
            rows_total: found.length,
            matched_count: found.length,
            records_scanned: ground.scanned,
            records_rejected: rejected,
            complete: rows.length === found.length,
            covered: ground.covered,
            baseline: { covered: ground.baselineCovered, records_scanned: ground.baselineScanned, matched_count: 0 },
            files_skipped,
            text_zone,
            by_trace: byTrace,
          };
        }, signal),
      signal,
    );
  }

  async metricAnomalies(query: ComparisonQuery, signal?: AbortSignal): Promise<QueryAnswer<MetricAnomalyRow>> {
    return this.ask(
      (opened) =>
        opened.database.session((session) => metricAnomalies(session, query, factsOf(opened, 'metrics'), signal), signal),
      signal,
    );
  }

  async spanAnalysis(query: ComparisonQuery, signal?: AbortSignal): Promise<QueryAnswer<SpanServiceRow>> {
    return this.ask(
      (opened) => opened.database.session((session) => spanAnalysis(session, query, factsOf(opened, 'spans')), signal),
      signal,
    );
  }

  async serviceGraph(query: ComparisonQuery, signal?: AbortSignal): Promise<QueryAnswer<ServiceEdgeRow>> {
    return this.ask(
      (opened) => opened.database.session((session) => serviceGraph(session, query, factsOf(opened, 'spans', 'graph')), signal),
      signal,
    );
  }

  async changes(query: ChangeQuery, signal?: AbortSignal): Promise<QueryAnswer<ChangeRow>> {
    return this.ask(
      (opened) =>
        opened.database.session((session) => {
          const hasRecord = opened.files.some((file) => file.family === 'changes');
          return changesNear(session, query, factsOf(opened, 'changes'), hasRecord);
        }, signal),
      signal,
    );
  }

  async inspect(signal?: AbortSignal): Promise<JsonObject> {
    return this.ask(
      async ({ database, files, skipped, mapping, effective, text_zone }) => ({
        mapping_file: mapping,
        mapping: effective,
        families: (await familiesOf(database, signal))
          .filter(({ records }) => records > 0)
          .map(({ services, ...family }) => ({ ...family, services: [...services] })),
        text_zone,
        files: files.map((file) => ({
          ...file,
          rejected: { ...file.rejected },
          columns: [...file.columns],
          taken: { ...file.taken },
        })),
        skipped: skipped.map((file) => ({ ...file })),
      }),
      signal,
    );
  }

  override watchImport(listener: (progress: ImportProgress) => void): () => void {
    this.watchers.add(listener);
    return () => void this.watchers.delete(listener);
  }

  async close(): Promise<void> {
    const { current } = this;
    this.current = null;
    await current?.retire();
  }

  private tell(progress: ImportProgress): void {
    for (const watcher of this.watchers) watcher(progress);
  }

  private async ask<R>(work: (opened: OpenedTelemetry) => Promise<R>, signal: AbortSignal | undefined): Promise<R> {
    const { path } = this.options;
    if (path === null) {
      throw new DiagnosisError(
        'TELEMETRY_MISSING',
        'No telemetry is configured: set DIAGNOSIS_TELEMETRY, or the option telemetry.path, to a folder of log files or a mapping file.',
      );
    }
    const snapshot = await takeSnapshot(path, this.options.mapping);
    const fingerprint = fingerprintOf(snapshot, resolve(path));
    const before = this.current;
    if (before === null || !before.usable || before.fingerprint !== fingerprint) {
      this.current = new SharedOpening(fingerprint, (stop) =>
        openTelemetry(snapshot, path, this.options, this.load, this.gate, stop, (progress) => this.tell(progress)),
      );
      // Questions still under way over the earlier import finish there.
      void before?.retire();
    }
    return (this.current as SharedOpening<OpenedTelemetry>).use(work, signal);
  }
}

function rejectedIn(files: OpenedTelemetry['files'], families: readonly TelemetryFamilyName[]): number {
  return files
    .filter((file) => families.includes(file.family))
    .reduce((sum, { rejected }) => sum + rejected.malformed + rejected.unrecognised + rejected.bad_time, 0);
}

function factsOf(opened: OpenedTelemetry, ...families: readonly TelemetryFamilyName[]): SourceFacts {
  const isLogs = families.includes('logs');
  const files_skipped = opened.skipped.filter(isMissed).length;
  return { rejected: rejectedIn(opened.files, families), files_skipped, text_zone: isLogs ? opened.text_zone : null };
}
