import type { ErrorShareRow, LogPatternRow } from '../../ports/telemetry-source.port';
import type { Tier } from './sequence-ranking';
import { gStatistic, riseOf, type TwoShares } from './significance';
import { isAlarming, isSevere } from './tool-rows';

/** A kind of line with its place in the stored output. */
export interface PlacedPattern {
  readonly invocation_id: string;
  readonly index: number;
  readonly row: LogPatternRow;
}

/** What a service's own lines say: how its error share moved and which alarming kinds of line are new or more frequent. */
export interface LineSigns {
  readonly service: string;
  readonly tier: Tier | null;
  readonly score: number;
  readonly share: { readonly index: number; readonly row: ErrorShareRow } | null;
  /** New or more frequent severe lines, most of them first. */
  readonly severe: readonly PlacedPattern[];
  /** The same for warnings. */
  readonly warnings: readonly PlacedPattern[];
}

const LIMITS = {
  /** Error lines from which a risen error share is more than a blip. */
  minErrorLines: 11,
  sureG: 20,
  /** Where no flow could be compared, a smaller rise suffices if it is far beyond chance. */
  sureGAlone: 40,
  sureRiseAlone: 0.03,
  hintG: 10.8,
  sureRise: 0.1,
  hintRise: 0.02,
  /** Lines of one kind below which its rise is not looked at. */
  minPatternLines: 4,
} as const;

/** Error lines among all lines of a service, null without a baseline. */
export function errorCountsOf(row: ErrorShareRow): TwoShares | null {
  if (row.baseline_lines === null || row.baseline_error_lines === null) return null;
  return {
    baseline_count: row.baseline_error_lines,
    baseline_total: row.baseline_lines,
    count: row.error_lines,
    total: row.lines,
  };
}

/** Whether a kind of line is new or takes a clearly larger share of its service's lines than in the baseline. */
export function hasRisen({ row }: Pick<PlacedPattern, 'row'>): boolean {
  if (row.baseline_count === null || row.baseline_share === null) return true;
  if (row.count < LIMITS.minPatternLines || row.share <= 0 || row.share <= row.baseline_share) return false;
  const total = Math.round(row.count / row.share);
  const baseline_total = row.baseline_share > 0 ? Math.round(row.baseline_count / row.baseline_share) : total;
  return gStatistic({ baseline_count: row.baseline_count, baseline_total, count: row.count, total }) >= LIMITS.hintG;
}

/**
 * Reads every service's own lines; `shares` in the order of their stored output. `flowsKnown` says that flows were compared
 * too: then lines alone must show more, because flows tell whose failure came first.
 */
export function readLineSigns(
  shares: readonly ErrorShareRow[],
  patterns: readonly PlacedPattern[],
  flowsKnown: boolean,
): Map<string, LineSigns> {
  const names = new Set([...shares.map(({ service }) => service), ...patterns.map(({ row }) => row.service)]);
  return new Map(
    [...names].map((service) => {
      const index = shares.findIndex((row) => row.service === service);
      const row = shares[index];
      const own = patterns.filter((pattern) => pattern.row.service === service && hasRisen(pattern));
      const byCount = [...own].sort((a, b) => b.row.count - a.row.count);
      return [
        service,
        {
          service,
          ...weighErrorShare(row, flowsKnown),
          share: row === undefined ? null : { index, row },
          severe: byCount.filter((pattern) => isSevere(pattern.row.level)),
          warnings: byCount.filter((pattern) => isAlarming(pattern.row.level) && !isSevere(pattern.row.level)),
        },
      ];
    }),
  );
}

function weighErrorShare(
  row: ErrorShareRow | undefined,
  flowsKnown: boolean,
): { readonly tier: Tier | null; readonly score: number } {
  const counts = row === undefined ? null : errorCountsOf(row);
  if (counts === null) return { tier: null, score: 0 };
  const g = gStatistic(counts);
  const rise = riseOf(counts);
  const score = g * rise;
  const enough = counts.count >= LIMITS.minErrorLines && counts.baseline_total > 0;
  const sure = g >= LIMITS.sureG && rise >= LIMITS.sureRise;
  const sureAlone = !flowsKnown && g >= LIMITS.sureGAlone && rise >= LIMITS.sureRiseAlone;
  if (enough && (sure || sureAlone)) return { tier: 2, score };
  return g >= LIMITS.hintG && rise >= LIMITS.hintRise ? { tier: 1, score } : { tier: null, score: 0 };
}
