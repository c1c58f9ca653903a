/** How often something happened in how many, in the baseline and in the incident window. */
export interface TwoShares {
  readonly baseline_count: number;
  readonly baseline_total: number;
  readonly count: number;
  readonly total: number;
}

/**
 * G statistic of the two-by-two table with 0.5 added to each cell (log-likelihood ratio, one degree of freedom; about 10.8
 * is a chance of one in a thousand). Never negative; 0 when either window is empty.
 */
export function gStatistic({ baseline_count, baseline_total, count, total }: TwoShares): number {
  if (baseline_total <= 0 || total <= 0) return 0;
  const cells = [
    [baseline_count + 0.5, baseline_total - baseline_count + 0.5],
    [count + 0.5, total - count + 0.5],
  ] as const;
  const rows = cells.map(([yes, no]) => yes + no);
  const columns = [cells[0][0] + cells[1][0], cells[0][1] + cells[1][1]];
  const all = baseline_total + total + 2;
  const sum = cells
    .flatMap((row, r) => row.map((cell, c) => cell * Math.log((cell * all) / ((rows[r] ?? 1) * (columns[c] ?? 1)))))
    .reduce((a, b) => a + b, 0);
  return Math.max(0, 2 * sum);
}

/** Rise of the share from the baseline to the incident window, -1 to 1. */
export function riseOf({ baseline_count, baseline_total, count, total }: TwoShares): number {
  if (baseline_total <= 0 || total <= 0) return 0;
  return count / total - baseline_count / baseline_total;
}

/** Quantile with linear interpolation; 1 of nothing, as a factor that changes nothing. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? 1;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}
