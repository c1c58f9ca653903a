import type { JsonObject } from '../protocol/json-value';

/** Time range: `from` inclusive, `to` exclusive, RFC 3339 in UTC. */
export interface TimeRange {
  readonly from: string;
  readonly to: string;
}

export interface TelemetryFamily {
  readonly family: 'logs' | 'metrics' | 'spans' | 'changes';
  readonly records: number;
  readonly rejected: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly services: readonly string[];
}

/** A file that was left out, and why. */
export interface SkippedFile {
  readonly name: string;
  readonly reason: string;
}

/** What a source holds, for the intake and for a planner. */
export interface TelemetryDescription {
  readonly families: readonly TelemetryFamily[];
  readonly files: number;
  /** Files that were left out, each with its reason; absent where a source has no files. */
  readonly skipped?: readonly SkippedFile[];
}

export interface QueryCounts {
  readonly records_scanned: number;
  readonly records_rejected: number;
  readonly matched_count: number;
  readonly complete: boolean;
}

export interface LogPatternRow {
  readonly service: string;
  readonly level: string | null;
  /** Template with variable tokens masked as `<*>`. */
  readonly template: string;
  /** One whole line as it stands in the telemetry. */
  readonly sample: string;
  readonly count: number;
  readonly baseline_count: number | null;
  /** Share of the service's lines in the window, 0 to 1. */
  readonly share: number;
  readonly baseline_share: number | null;
  readonly rate_per_min: number;
  readonly baseline_rate_per_min: number | null;
  readonly first_seen: string | null;
  readonly last_seen: string | null;
  /** How telling the change is, higher first; a rank of the tool, not citeable. */
  readonly score: number;
}

export interface LogPatternQuery {
  readonly window: TimeRange;
  readonly baseline: TimeRange | null;
  readonly service: string | null;
  /** Case-insensitive plain text that a line must contain; never a pattern, never SQL. */
  readonly contains: string | null;
  readonly limit: number;
}

export interface ErrorShareRow {
  readonly service: string;
  readonly lines: number;
  readonly error_lines: number;
  readonly error_share: number;
  readonly baseline_lines: number | null;
  readonly baseline_error_lines: number | null;
  readonly baseline_error_share: number | null;
  readonly rate_per_min: number;
  readonly baseline_rate_per_min: number | null;
}

export interface ErrorShareQuery {
  readonly window: TimeRange;
  readonly baseline: TimeRange | null;
  readonly service: string | null;
  readonly limit: number;
}

/**
 * A change in what follows a step within one flow (the lines of one trace in one service, or of one instance where there
 * are no trace ids). `cut`: the flow ends or goes on with an error line after `step`; `missing`: `service` was called after
 * `step` before and is no longer, while the caller carries on; `error_line`: a template of an error line in flows that
 * touch the service; `reroute`: another ordinary step follows than before. Counts are flows at `step`, so load cancels out.
 */
export interface LogSequenceRow {
  /** The service that the change speaks against. */
  readonly service: string;
  readonly kind: 'cut' | 'missing' | 'error_line' | 'reroute';
  /** Call site or masked text of the step that the change is about. */
  readonly step: string;
  /** Service that logs the step; another one than `service` for `missing` only. */
  readonly step_service: string;
  /** One whole line of the incident window that shows the change (of the step itself where nothing follows it). */
  readonly sample: string;
  readonly count: number;
  readonly total: number;
  readonly share: number;
  readonly baseline_count: number;
  readonly baseline_total: number;
  readonly baseline_share: number;
  /** Flows whose first deviation is this service's: a rank of the tool, not citeable. */
  readonly votes: number;
  /** How telling the change is, higher first: a rank of the tool, not citeable. */
  readonly score: number;
  readonly first_seen: string;
}

export interface LogSequenceQuery {
  readonly window: TimeRange;
  readonly baseline: TimeRange;
  readonly service: string | null;
  readonly limit: number;
}

export interface QueryAnswer<Row> extends QueryCounts {
  readonly rows: readonly Row[];
  /** Range that the source really holds of the asked window; null when it holds nothing of it. */
  readonly covered: TimeRange | null;
  /** The same of the baseline; absent when the query has none. */
  readonly baseline?: BaselineCounts;
  /** Rows that there were before the limit. */
  readonly rows_total?: number;
  /** Files that look like telemetry by their names and were left out. */
  readonly files_skipped?: number;
  /** Zone of clock times written in samples, where all files agree on one. */
  readonly text_zone?: string | null;
}

export interface BaselineCounts {
  readonly covered: TimeRange | null;
  readonly records_scanned: number;
  readonly matched_count: number;
}

/**
 * Read-only telemetry behind closed questions. It takes no query language and refuses any path outside what it was opened
 * with. Throws `DiagnosisError`: TELEMETRY_MISSING, TELEMETRY_UNREADABLE, TELEMETRY_EMPTY, MAPPING_INVALID, CANCELLED.
 */
export abstract class TelemetrySource {
  abstract describe(signal?: AbortSignal): Promise<TelemetryDescription>;
  abstract logPatterns(query: LogPatternQuery, signal?: AbortSignal): Promise<QueryAnswer<LogPatternRow>>;
  abstract errorShare(query: ErrorShareQuery, signal?: AbortSignal): Promise<QueryAnswer<ErrorShareRow>>;
  abstract logSequences(
    query: LogSequenceQuery,
    signal?: AbortSignal,
  ): Promise<QueryAnswer<LogSequenceRow> & { readonly by_trace: boolean }>;
  /** Facts about the opened files for a person: formats, columns and what they were taken for, time ranges, rejected rows, skipped files. */
  abstract inspect(signal?: AbortSignal): Promise<JsonObject>;
  abstract close(): Promise<void>;
}
