import { Injectable } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { RunStatsStore, type DurationPercentiles, type RunCounts } from '../ports/run-stats-store.port';
import { instantSchema } from '../protocol/diagnosis-query';
import type { RunStatus } from '../vocabulary/run-lifecycle';
import type { FallbackClass } from '../vocabulary/statuses';
import type { Verdict } from '../vocabulary/verdicts';
import {
  DAY_MS,
  MAX_STATS_BUCKETS,
  STATS_BUCKETS,
  bucketBordersOf,
  defaultBucketOf,
  wallMsAt,
  type StatsBucket,
} from './stats-buckets';

/** Longest window that numbers are given for, in days of its zone. */
const MAX_STATS_DAYS = 92;
/** Reasons of failed tool calls that are told one by one. */
const MAX_REASONS = 20;

const INSTANT_HINT =
  'must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z (within a URL the + of an offset is written %2B)';

/** A window, `from` inclusive, `to` exclusive, both RFC 3339 with a zone, and how it is cut. */
export interface StatsRequest {
  readonly from: string;
  readonly to: string;
  /** @default the smallest size that gives about a hundred buckets */
  readonly bucket?: StatsBucket | undefined;
  /** IANA zone whose clocks buckets begin by. @default UTC */
  readonly timeZone?: string | undefined;
}

/** How many there were, and their share of what is named beside; null where there is nothing to take a share of. */
export interface Share {
  readonly count: number;
  readonly rate: number | null;
}

/** Numbers over one window. Rates are from 0 to 1. */
export interface RunNumbers {
  /** Runs that were created in the window. */
  readonly runs: number;
  /** Those of them that have ended, however they did; rates of runs are shares of these. */
  readonly ended: number;
  readonly byStatus: Readonly<Record<RunStatus, number>>;
  readonly byVerdict: Readonly<Record<Verdict | 'none', number>>;
  /** Of the ended runs whose duration is known. Nearest rank: the smallest duration that at least that share does not exceed. */
  readonly durationMs: DurationPercentiles;
  readonly degraded: Share;
  readonly fallback: Share & { readonly byClass: Readonly<Record<FallbackClass, Share>> };
  /** Runs that repeated an attempt, and how many attempts were repeated in all. */
  readonly retries: Share & { readonly sum: number };
  /** Tool calls that were started in the window, whichever run they are of. */
  readonly toolCalls: {
    readonly calls: number;
    /** Calls that failed, were denied or were given up, as a share of all calls. */
    readonly failed: Share;
    /** By error code, the most frequent first; `none` without a code, `other` for all beyond the twenty most frequent of the whole window. */
    readonly failedByReason: readonly (Share & { readonly reason: string })[];
  };
}

/** Numbers of a window and of each of its buckets, instants in UTC. */
export interface RunStatsView {
  readonly from: string;
  readonly to: string;
  readonly bucket: StatsBucket;
  readonly timeZone: string;
  readonly total: RunNumbers;
  readonly buckets: readonly (RunNumbers & { readonly from: string; readonly to: string })[];
}

/**
 * Numbers about runs over a window, cut into buckets that begin by the clocks of a zone: a day has 23 or 25 hours where they
 * change, and the first and the last bucket end with the window. It refuses a window of more than 92 days or 400 buckets, and
 * looks into no body.
 */
@Injectable()
export class RunStats {
  constructor(private readonly store: RunStatsStore) {}

  /** @throws DiagnosisError REQUEST_INVALID that names the field or the limit; STORE_UNAVAILABLE */
  async over(request: StatsRequest): Promise<RunStatsView> {
    const timeZone = zoneOf(request.timeZone ?? 'UTC');
    const [from, to] = [instantOf(request.from, 'from'), instantOf(request.to, 'to')];
    if (from >= to) throw refusal('from', 'must be before `to`');
    // By the clocks, so that a quarter of a year is accepted in which they were set back.
    if (Math.min(to - from, wallMsAt(to, timeZone) - wallMsAt(from, timeZone)) > MAX_STATS_DAYS * DAY_MS) {
      throw refusal('to', `must be at most ${MAX_STATS_DAYS} days after \`from\``);
    }
    const bucket = bucketOf(request.bucket ?? defaultBucketOf(to - from));
    const borders = bucketBordersOf(from, to, bucket, timeZone);
    if (borders === null) {
      throw refusal(
        'bucket',
        `is too small for this window: at most ${MAX_STATS_BUCKETS} buckets are given; choose a larger one or leave it out`,
      );
    }
    const instants = borders.map((border) => new Date(border));
    const counted = await this.store.countsWithin(instants, MAX_REASONS);
    return {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      bucket,
      timeZone,
      total: numbersOf(counted.total),
      buckets: counted.ranges.map((counts, index) => ({
        from: (instants[index] as Date).toISOString(),
        to: (instants[index + 1] as Date).toISOString(),
        ...numbersOf(counts),
      })),
    };
  }
}

function refusal(field: string, problem: string): DiagnosisError {
  return new DiagnosisError('REQUEST_INVALID', `The request is not valid. ${field}: ${problem}.`, { field });
}

function instantOf(text: unknown, field: 'from' | 'to'): number {
  const parsed = instantSchema.safeParse(text);
  const instant = parsed.success ? Date.parse(parsed.data) : Number.NaN;
  if (Number.isNaN(instant)) throw refusal(field, INSTANT_HINT);
  if (instant < 0) throw refusal(field, 'must not be before 1970');
  return instant;
}

function zoneOf(name: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name;
  } catch {
    throw refusal('timeZone', 'must be a known IANA time zone, such as Europe/Berlin or UTC');
  }
}

function bucketOf(name: string): StatsBucket {
  const bucket = STATS_BUCKETS.find((known) => known === name);
  if (bucket === undefined) throw refusal('bucket', `must be one of ${STATS_BUCKETS.join(', ')}`);
  return bucket;
}

function shareOf(count: number, whole: number): Share {
  return { count, rate: whole === 0 ? null : count / whole };
}

function numbersOf(counts: RunCounts): RunNumbers {
  const { runs, byStatus, byVerdict, byFallbackClass, durationMs } = counts;
  const ended = byStatus.SUCCESS + byStatus.FAILED + byStatus.CANCELLED;
  const { PRE_VERIFICATION, POST_VERIFICATION } = byFallbackClass;
  const failed = counts.failedCalls.reduce((sum, { calls }) => sum + calls, 0);
  return {
    runs,
    ended,
    byStatus,
    byVerdict: { ...byVerdict, none: runs - byVerdict.PASS - byVerdict.LOW_CONFID - byVerdict.REJECT },
    durationMs,
    degraded: shareOf(counts.degraded, ended),
    fallback: {
      ...shareOf(PRE_VERIFICATION + POST_VERIFICATION, ended),
      byClass: {
        PRE_VERIFICATION: shareOf(PRE_VERIFICATION, ended),
        POST_VERIFICATION: shareOf(POST_VERIFICATION, ended),
      },
    },
    retries: { ...shareOf(counts.retried, ended), sum: counts.retries },
    toolCalls: {
      calls: counts.toolCalls,
      failed: shareOf(failed, counts.toolCalls),
      failedByReason: reasonsOf(counts),
    },
  };
}

function reasonsOf({ failedCalls, toolCalls }: RunCounts): RunNumbers['toolCalls']['failedByReason'] {
  return failedCalls
    .map(({ reason, isRest, calls }) => ({ reason: reason ?? (isRest ? 'other' : 'none'), isRest, calls }))
    .sort((a, b) => Number(a.isRest) - Number(b.isRest) || b.calls - a.calls || (a.reason < b.reason ? -1 : 1))
    .map(({ reason, calls }) => ({ reason, ...shareOf(calls, toolCalls) }));
}
