import type { JsonObject } from '../protocol/json-value';

/** Time range: `from` inclusive, `to` exclusive, RFC 3339 in UTC. */
export interface TimeRange {
  readonly from: string;
  readonly to: string;
}

/** Kinds of telemetry. `graph` is a list of calls between services that a file states, without times. */
export const TELEMETRY_FAMILIES = ['logs', 'metrics', 'spans', 'changes', 'graph'] as const;
export type TelemetryFamilyName = (typeof TELEMETRY_FAMILIES)[number];

export interface TelemetryFamily {
  readonly family: TelemetryFamilyName;
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

/** A question for what there is. */
export interface OverviewQuery {
  readonly service: string | null;
  readonly limit: number;
}

/** Records of one service in one family; times are null where records have none. */
export interface OverviewRow {
  readonly service: string;
  readonly family: TelemetryFamilyName;
  readonly records: number;
  readonly first_seen: string | null;
  readonly last_seen: string | null;
}

/** How far an import is. */
export interface ImportProgress {
  /** File that is being read. */
  readonly file: string;
  readonly files_done: number;
  readonly files_total: number;
  /** Part of all bytes that is read, 0 to 1. */
  readonly share: number;
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
  readonly part?: PartOfSystem;
  readonly limit: number;
}

/**
 * Words, whole and without case, that the name of a line's service or instance must hold, such as a region; where no name in
 * all the telemetry holds them, the line itself. Null for all.
 */
export type PartOfSystem = string | null;

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
  readonly part?: PartOfSystem;
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

/** What a metric measures, by its name. */
export const METRIC_KINDS = ['error', 'availability', 'latency', 'traffic', 'saturation', 'other'] as const;
export type MetricKind = (typeof METRIC_KINDS)[number];

/** Which way a metric of a kind must go to be trouble. */
export const METRIC_DIRECTIONS = ['rises', 'falls', 'either'] as const;
export type MetricDirection = (typeof METRIC_DIRECTIONS)[number];

/**
 * One series of a window beside a baseline. The telling segment is the run of rows within the window that stands out most
 * from the rows around it; `first_seen` is its first row that is nearer
 * to its median than to the rows around it, `last_seen` its last row. Values have the unit of `unit`.
 */
export interface MetricAnomalyRow {
  readonly service: string;
  readonly metric: string;
  /** As the telemetry names it (`p90`, `Average`); null where it names none. */
  readonly statistic: string | null;
  /** As the telemetry names it (`s`, `%`); null where it names none. */
  readonly unit: string | null;
  readonly kind: MetricKind;
  readonly direction: MetricDirection;
  readonly rows: number;
  /** Rows of the telling segment, from the first to the last that is nearer to its level than to the rows around. */
  readonly segment_rows: number;
  readonly baseline_rows: number | null;
  /** Rows of the baseline beside the most that any series of this metric and statistic has there, 0 to 1. */
  readonly coverage: number;
  /** Series that the service has of this metric: statistics of one metric are no independent witnesses. */
  readonly statistics: number;
  /** Median of the telling segment; of the whole window without a baseline. */
  readonly median: number;
  readonly baseline_median: number | null;
  /** Interquartile range of the baseline. */
  readonly baseline_iqr: number | null;
  /** Median of the telling segment minus the median of the rows around it, of the baseline where the whole window departs; null without a baseline. */
  readonly change: number | null;
  readonly first_seen: string;
  readonly last_seen: string;
  /** Contrast of the telling segment divided by what the baseline itself shows: above 1 is unusual, a rank of the tool. 0 where nothing can be compared. */
  readonly score: number;
}

export interface ComparisonQuery {
  readonly window: TimeRange;
  readonly baseline: TimeRange | null;
  readonly service: string | null;
  readonly limit: number;
}

/**
 * One service in the traces of a window beside a baseline. Its spans' self time is their time outside of children; the gap of
 * a call into it is the time of the caller's span that the callee's does not account for. A span is high when its self
 * time or gap is far above its group's in the baseline. Without a baseline no span is high and every score is 0.
 */
export interface SpanServiceRow {
  readonly service: string;
  /** Traces that touch the service. */
  readonly traces: number;
  readonly baseline_traces: number | null;
  readonly high_traces: number;
  readonly baseline_high_traces: number | null;
  readonly high_share: number;
  readonly baseline_high_share: number | null;
  /** Median self time of its spans that call no other service, in ms. */
  readonly self_ms: number | null;
  readonly baseline_self_ms: number | null;
  /** Median gap of calls into it, in ms. */
  readonly gap_ms: number | null;
  readonly baseline_gap_ms: number | null;
  /** Time above the groups' medians in high spans, in ms for each trace that touches the service. */
  readonly excess_ms: number;
  readonly baseline_excess_ms: number | null;
  /** Share of its spans with an error status. */
  readonly error_share: number;
  readonly baseline_error_share: number | null;
  /** Traces that touch it, a minute. */
  readonly rate_per_min: number;
  readonly baseline_rate_per_min: number | null;
  /** Start of the first high span; null when there is none. */
  readonly first_seen: string | null;
  /** Part of the excess of its own high spans that lies in calls (kind CLIENT or PRODUCER) that no span answers; null without such an excess, or where the kinds of those spans are not known. */
  readonly unanswered_share: number | null;
  /** Where its time goes: in itself, in the calls into it, in its calls to others; null without a high span. */
  readonly role: 'self' | 'incoming' | 'outgoing' | null;
  /** Rise of the excess in median trace durations of the baseline: a rank of the tool. */
  readonly gain: number;
  /** How much of what touches it in that role is high, 0 to 1: a rank of the tool. */
  readonly precision: number;
  /** gain, times precision, times the certainty that the share of high traces rose: a rank of the tool. */
  readonly score: number;
}

/** A call from one service to another. Counts are spans of the callee in each range; null for an edge that only a file states. */
export interface ServiceEdgeRow {
  readonly caller: string;
  readonly callee: string;
  readonly count: number | null;
  readonly baseline_count: number | null;
}

export interface ChangeQuery {
  /** The incident window. */
  readonly window: TimeRange;
  /** How long before the window to look too. */
  readonly lookback_minutes: number;
  readonly service: string | null;
  readonly limit: number;
}

/** A deploy, flag, configuration change or migration. */
export interface ChangeRow {
  readonly service: string;
  readonly kind: string;
  readonly text: string;
  readonly time: string;
  /** Minutes from the change to the start of the window; negative inside the window. */
  readonly minutes_before: number;
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
  /** The stretch of all telemetry that departs most from the rest, without any question; null when nothing departs. */
  abstract onset(signal?: AbortSignal): Promise<TimeRange | null>;
  abstract logPatterns(query: LogPatternQuery, signal?: AbortSignal): Promise<QueryAnswer<LogPatternRow>>;
  abstract errorShare(query: ErrorShareQuery, signal?: AbortSignal): Promise<QueryAnswer<ErrorShareRow>>;
  abstract logSequences(
    query: LogSequenceQuery,
    signal?: AbortSignal,
  ): Promise<QueryAnswer<LogSequenceRow> & { readonly by_trace: boolean }>;
  /** One row for each service of a family, the ones with the most records first. */
  abstract overview(query: OverviewQuery, signal?: AbortSignal): Promise<QueryAnswer<OverviewRow>>;
  abstract metricAnomalies(query: ComparisonQuery, signal?: AbortSignal): Promise<QueryAnswer<MetricAnomalyRow>>;
  abstract spanAnalysis(query: ComparisonQuery, signal?: AbortSignal): Promise<QueryAnswer<SpanServiceRow>>;
  abstract serviceGraph(query: ComparisonQuery, signal?: AbortSignal): Promise<QueryAnswer<ServiceEdgeRow>>;
  abstract changes(query: ChangeQuery, signal?: AbortSignal): Promise<QueryAnswer<ChangeRow>>;
  /** Facts about the opened files for a person: formats, columns and what they were taken for, time ranges, rejected rows, skipped files. */
  abstract inspect(signal?: AbortSignal): Promise<JsonObject>;
  /** Calls a listener while files are imported, until the answered function is called; a source without files tells nothing. */
  watchImport(_listener: (progress: ImportProgress) => void): () => void {
    return () => undefined;
  }
  abstract close(): Promise<void>;
}
