/** Constants of the contrast of a segment, each with what it is for. */
const CONTRAST = {
  /** Fewest rows of a baseline: quartiles of fewer mean nothing. */
  fewestBaselineRows: 8,
  /** Least spread, as a share of the baseline's median: a constant series must not turn noise into wonders. */
  leastSpread: 0.02,
  /** The same where a fall is trouble: a share of successes lies near its ceiling, and what scatters are the failures. */
  leastSpreadBelow: 0.004,
  /** Interquartile range of a normal distribution with sigma 1. */
  iqrOfNormal: 1.349,
  /** Rows before an adjacent window that belong to the surroundings of a segment. */
  rowsBefore: 5,
  /** Rows that a window is reduced to, so that the work for a series is bounded. */
  mostWindowRows: 12,
  /** Windows of the baseline that the contrast is calibrated on. */
  mostCalibrationWindows: 150,
  /** Quantile of the calibration that counts as what the series does on a normal day. */
  ownQuantile: 0.95,
  /** Least contrast that counts as unusual, about two sigma, however quiet the baseline is. */
  leastReference: 2,
  /** Quantile of what all series of one metric do on a normal day: metrics with heavy tails need a second yardstick. */
  pooledQuantile: 0.99,
} as const;

/** Which way a segment must stand out: 1 above, -1 below, 0 either. */
export type Sign = -1 | 0 | 1;

/**
 * How far a baseline lies from the window. `adjacent`: it ends where the window begins, so that its last rows are the window's
 * surroundings. `near`: no farther off than it is long, so that its own drift tells what a level may do by itself. `far`: its
 * level says nothing of the window's.
 */
export type Distance = 'adjacent' | 'near' | 'far';

/** The segment of a window that stands out most, by index of its rows, and how it compares with the baseline's own windows. */
export interface SegmentContrast {
  readonly from: number;
  readonly to: number;
  /** Median of the segment minus the median of the rows around it, or of the baseline where the whole window departs. */
  readonly change: number;
  /** Median of the rows around it, or of the baseline where the whole window departs. */
  readonly around: number;
  /** Contrast over that of the baseline's own windows. */
  readonly ratio: number;
  /** The same of each of the baseline's own windows. */
  readonly ownRatios: readonly number[];
}

/** Quantile with linear interpolation. NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below] as number;
  return low + ((sorted[Math.min(below + 1, sorted.length - 1)] as number) - low) * (at - below);
}

/** Medians of consecutive rows, `size` at a time. */
export function reduced(values: readonly number[], size: number): readonly number[] {
  if (size === 1) return values;
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    quantile(values.slice(at * size, (at + 1) * size), 0.5),
  );
}

/** Rows that stand for one so that a window has no more rows than a contrast looks at. */
export function bucketSize(windowRows: number): number {
  return Math.max(1, Math.ceil(windowRows / CONTRAST.mostWindowRows));
}

interface Segment {
  readonly contrast: number;
  readonly from: number;
  readonly to: number;
  readonly change: number;
  readonly around: number;
}

const scratch = new Float64Array(CONTRAST.rowsBefore + CONTRAST.mostWindowRows);

/** Median of the rows from `first` to `last`, or of all others; rows are few, so they are sorted as they come. */
function medianOf(rows: readonly number[], first: number, last: number, inside: boolean): number {
  let size = 0;
  for (let at = 0; at < rows.length; at += 1) {
    if ((at >= first && at <= last) !== inside) continue;
    const value = rows[at] as number;
    let place = size;
    size += 1;
    while (place > 0 && (scratch[place - 1] as number) > value) {
      scratch[place] = scratch[place - 1] as number;
      place -= 1;
    }
    scratch[place] = value;
  }
  const middle = scratch[size >> 1] as number;
  return size % 2 === 1 ? middle : ((scratch[(size >> 1) - 1] as number) + middle) / 2;
}

/** The segment of `window` with the largest contrast against the rows around it, `before` among them. */
function bestSegment(before: readonly number[], window: readonly number[], spread: number, sign: Sign): Segment {
  const rows = [...before, ...window];
  const all = rows.length;
  let best: Segment = { contrast: 0, from: 0, to: -1, change: 0, around: 0 };
  for (let from = 0; from < window.length; from += 1) {
    for (let to = from; to < window.length; to += 1) {
      const size = to - from + 1;
      const first = from + before.length;
      // More than half of all rows only with a quiet row in front: else the rest is the segment.
      if (size === all || (2 * size > all && first === 0)) continue;
      const last = to + before.length;
      const around = medianOf(rows, first, last, false);
      const change = medianOf(rows, first, last, true) - around;
      if (sign !== 0 && Math.sign(change) !== sign) continue;
      const contrast = (Math.abs(change) / spread) * Math.sqrt((size * (all - size)) / all);
      if (contrast > best.contrast) best = { contrast, from, to, change, around };
    }
  }
  return best;
}

function spreadOf(baseline: readonly number[], window: readonly number[], sign: Sign): number {
  const middle = quantile(baseline, 0.5);
  const byQuartiles = (quantile(baseline, 0.75) - quantile(baseline, 0.25)) / CONTRAST.iqrOfNormal;
  const spread = Math.max(byQuartiles, (sign < 0 ? CONTRAST.leastSpreadBelow : CONTRAST.leastSpread) * Math.abs(middle));
  if (spread > 0) return spread;
  const meanDistance = baseline.reduce((sum, value) => sum + Math.abs(value - middle), 0) / baseline.length;
  if (meanDistance > 0) return meanDistance;
  return Math.max(...window.map(Math.abs)) * CONTRAST.leastSpread || 1;
}

/**
 * The contrast of a window against a baseline, both in order of time: the t statistic of a change point with medians in
 * place of means and the interquartile range in place of sigma (both survive a window whose onset is uncertain), over the
 * same statistic of the baseline's own windows. Null for too short a baseline or a window without rows.
 * A window that departs as a whole shows no segment; beside a near baseline its level counts as one when it lies beyond every
 * level of the baseline's own windows.
 */
export function segmentContrast(
  baseline: readonly number[],
  window: readonly number[],
  sign: Sign,
  distance: Distance,
): SegmentContrast | null {
  if (baseline.length < CONTRAST.fewestBaselineRows || window.length === 0) return null;
  const spread = spreadOf(baseline, window, sign);
  const rowsBefore = distance === 'adjacent' ? CONTRAST.rowsBefore : 0;
  const best = bestSegment(rowsBefore === 0 ? [] : baseline.slice(-rowsBefore), window, spread, sign);
  const lastStart = baseline.length - window.length - rowsBefore;
  const step = Math.max(1, Math.floor(lastStart / CONTRAST.mostCalibrationWindows));
  const level = levelContrast(quantile(baseline, 0.5), spread, sign);
  const own: number[] = [];
  let highest: number = CONTRAST.leastReference;
  // A baseline shorter than the window is one window itself: what it shows is still what the series does on a normal day.
  for (let start = 0; start <= Math.max(0, lastStart); start += step) {
    const middle = Math.min(start + rowsBefore, Math.max(0, baseline.length - window.length));
    const rows = baseline.slice(middle, middle + window.length);
    own.push(bestSegment(baseline.slice(start, middle), rows, spread, sign).contrast);
    highest = Math.max(highest, level(rows).contrast);
  }
  const reference = Math.max(CONTRAST.leastReference, own.length === 0 ? 0 : quantile(own, CONTRAST.ownQuantile));
  const ownRatios = own.map((contrast) => contrast / reference);
  const whole = level(window);
  if (distance === 'near' && whole.contrast / highest > best.contrast / reference)
    return {
      from: 0,
      to: window.length - 1,
      change: whole.change,
      around: whole.around,
      ratio: whole.contrast / highest,
      ownRatios,
    };
  const { from, to, change, around, contrast } = best;
  return { from, to, change, around, ratio: contrast / reference, ownRatios };
}

/** How far the median of some rows lies from a baseline's, as the t statistic of their mean with the same spread. */
function levelContrast(
  middle: number,
  spread: number,
  sign: Sign,
): (rows: readonly number[]) => { readonly change: number; readonly around: number; readonly contrast: number } {
  return (rows) => {
    const change = quantile(rows, 0.5) - middle;
    const counts = sign === 0 || Math.sign(change) === sign;
    return { change, around: middle, contrast: counts ? (Math.abs(change) / spread) * Math.sqrt(rows.length) : 0 };
  };
}

/** What series of one metric do on a normal day, from the ratios of all their baseline windows; at least 1. */
export function pooledReference(ratios: readonly number[]): number {
  return ratios.length === 0 ? 1 : Math.max(1, quantile(ratios, CONTRAST.pooledQuantile));
}
