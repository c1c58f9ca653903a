import type { ErrorShareRow, LogPatternRow } from '../../ports/telemetry-source.port';
import type { Tier } from './sequence-ranking';
import { gStatistic, riseOf, type TwoShares } from './significance';
import type { Thresholds } from './thresholds';
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
export function hasRisen({ row }: Pick<PlacedPattern, 'row'>, limits: Thresholds['logs']): boolean {
  if (row.baseline_count === null || row.baseline_share === null) return true;
  if (row.count < limits.fewest || row.share <= 0 || row.share <= row.baseline_share) return false;
  const total = Math.round(row.count / row.share);
  const baseline_total = row.baseline_share > 0 ? Math.round(row.baseline_count / row.baseline_share) : total;
  return gStatistic({ baseline_count: row.baseline_count, baseline_total, count: row.count, total }) >= limits.chanceG;
}

/**
 * Reads every service's own lines; `shares` in the order of their stored output. `flowsKnown` says that flows were compared
 * too: then lines alone must show more, because flows tell whose failure came first.
 */
export function readLineSigns(
  shares: readonly ErrorShareRow[],
  patterns: readonly PlacedPattern[],
  flowsKnown: boolean,
  limits: Thresholds['logs'],
): Map<string, LineSigns> {
  const names = new Set([...shares.map(({ service }) => service), ...patterns.map(({ row }) => row.service)]);
  return new Map(
    [...names].map((service) => {
      const index = shares.findIndex((row) => row.service === service);
      const row = shares[index];
      const own = patterns.filter((pattern) => pattern.row.service === service && hasRisen(pattern, limits));
      const byCount = [...own].sort((a, b) => b.row.count - a.row.count);
      return [
        service,
        {
          service,
          ...weighErrorShare(row, flowsKnown, limits),
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
  limits: Thresholds['logs'],
): { readonly tier: Tier | null; readonly score: number } {
  const counts = row === undefined ? null : errorCountsOf(row);
  if (counts === null) return { tier: null, score: 0 };
  const g = gStatistic(counts);
  const rise = riseOf(counts);
  const score = g * rise;
  const sure = g >= limits.errorG && rise >= limits.errorRise;
  const sureAlone = !flowsKnown && g >= limits.errorGAlone && rise >= limits.errorRiseAlone;
  if (sure || sureAlone) return { tier: 2, score };
  return g >= limits.chanceG && rise >= limits.noiseRise ? { tier: 1, score } : { tier: null, score: 0 };
}
