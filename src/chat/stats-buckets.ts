import { instantOfWallTime, wallTimeAt } from './wall-time';

/** Sizes of a bucket, smallest first. */
export const STATS_BUCKETS = ['5m', '15m', '1h', '6h', '1d', '1w'] as const;
export type StatsBucket = (typeof STATS_BUCKETS)[number];

/** Most buckets that numbers are cut into. */
export const MAX_STATS_BUCKETS = 400;
/** Most buckets where the caller names no size. */
const DEFAULT_BUCKETS = 100;

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const SIZES_MS: Readonly<Record<StatsBucket, number>> = {
  '5m': 300_000,
  '15m': 900_000,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '1d': DAY_MS,
  '1w': 7 * DAY_MS,
};
/** The first Monday since 1970, in ms of the clock on the wall: weeks begin on it. */
const A_MONDAY_MS = 4 * DAY_MS;

/** The smallest size that cuts a window of this length into about a hundred buckets. */
export function defaultBucketOf(lengthMs: number): StatsBucket {
  return STATS_BUCKETS.find((bucket) => lengthMs <= SIZES_MS[bucket] * DEFAULT_BUCKETS) ?? '1w';
}

/** What the clocks of a zone show, as ms that are counted as if they were UTC. */
export function wallMsAt(epochMs: number, timeZone: string): number {
  const wall = wallTimeAt(epochMs, timeZone);
  const seconds = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  return seconds + (((epochMs % 1000) + 1000) % 1000);
}

/**
 * The borders (ms since 1970) of the buckets of a window, its own ends among them: bucket i goes from border i up to border
 * i + 1. Buckets begin where the clocks of the zone show a whole multiple of their size, weeks on Monday; so a day whose
 * clocks change has 23 or 25 hours, and the first and the last bucket are cut at the window. Where an hour is shown twice,
 * buckets of up to an hour come twice too, and longer ones take both. It refuses to go beyond `MAX_STATS_BUCKETS`: null.
 */
export function bucketBordersOf(fromMs: number, toMs: number, bucket: StatsBucket, timeZone: string): number[] | null {
  const borders = [fromMs];
  for (let at = fromMs; at < toMs;) {
    at = Math.min(toMs, nextBorder(at, SIZES_MS[bucket], timeZone));
    borders.push(at);
    if (borders.length > MAX_STATS_BUCKETS + 1) return null;
  }
  return borders;
}

function nextBorder(atMs: number, sizeMs: number, timeZone: string): number {
  const wallMs = wallMsAt(atMs, timeZone);
  const rest = restOf(wallMs, sizeMs);
  if (sizeMs <= HOUR_MS) {
    const elapsed = atMs + sizeMs - rest;
    if (restOf(wallMsAt(elapsed, timeZone), sizeMs) === 0) return elapsed;
  }
  for (let wanted = wallMs - rest + sizeMs; ; wanted += sizeMs) {
    const border = instantOfWallMs(wanted, timeZone);
    // The clocks may have shown that time before: they were set back over it.
    if (border > atMs) return border;
  }
}

function restOf(wallMs: number, sizeMs: number): number {
  const since = wallMs - (sizeMs > DAY_MS ? A_MONDAY_MS : 0);
  return ((since % sizeMs) + sizeMs) % sizeMs;
}

function instantOfWallMs(wallMs: number, timeZone: string): number {
  const wall = new Date(wallMs);
  return instantOfWallTime(
    {
      year: wall.getUTCFullYear(),
      month: wall.getUTCMonth() + 1,
      day: wall.getUTCDate(),
      hour: wall.getUTCHours(),
      minute: wall.getUTCMinutes(),
      second: wall.getUTCSeconds(),
    },
    timeZone,
  );
}
