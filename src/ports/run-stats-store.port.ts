import type { RunStatus } from '../vocabulary/run-lifecycle';
import type { FallbackClass } from '../vocabulary/statuses';
import type { Verdict } from '../vocabulary/verdicts';

/** Percentiles by nearest rank, in ms: the smallest duration that at least that share of the runs does not exceed; null for no run. */
export interface DurationPercentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** Failed calls with one error code; `reason` is null where a call has none, and for all codes that are not told one by one. */
export interface FailedCalls {
  readonly reason: string | null;
  readonly isRest: boolean;
  readonly calls: number;
}

/** What was counted over one range of time. */
export interface RunCounts {
  readonly runs: number;
  readonly byStatus: Readonly<Record<RunStatus, number>>;
  /** Runs without a verdict are those that are left. */
  readonly byVerdict: Readonly<Record<Verdict, number>>;
  readonly degraded: number;
  readonly byFallbackClass: Readonly<Record<FallbackClass, number>>;
  /** Runs that repeated an attempt, and the attempts that were repeated. */
  readonly retried: number;
  readonly retries: number;
  /** Of the runs that have a duration. */
  readonly durationMs: DurationPercentiles;
  readonly toolCalls: number;
  readonly failedCalls: readonly FailedCalls[];
}

/** The numbers of each range, and of all together. */
export interface CountedRanges {
  readonly total: RunCounts;
  readonly ranges: readonly RunCounts[];
}

/**
 * Numbers over runs and tool calls, reckoned where they are stored: no run is read out, no body is read at all. A run counts
 * where it was created, a tool call where it was started. Throws `DiagnosisError` STORE_UNAVAILABLE, also for numbers that
 * take too long.
 */
export abstract class RunStatsStore {
  /**
   * @param borders of the ranges, in order: range i goes from border i (inclusive) up to border i + 1; the caller bounds them
   * @param maxReasons error codes that are told one by one, those with the most calls; the others are one entry
   */
  abstract countsWithin(borders: readonly Date[], maxReasons: number): Promise<CountedRanges>;
}
