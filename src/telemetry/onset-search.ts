import { setImmediate as letOthersIn } from 'node:timers/promises';
import { DiagnosisError } from '../errors/diagnosis-error';
import { quantile, type Sign } from './segment-contrast';

/** Constants of the search, each with what it is for. */
const SEARCH = {
  /** Interquartile range of a normal distribution with sigma 1. */
  iqrOfNormal: 1.349,
  /** Shortest stretch, as a part of all buckets and in buckets: fewer are a spike and no stretch. */
  leastShare: 1 / 60,
  leastBuckets: 3,
  /** Longest stretch of a measure that knows which way is trouble, and of one that does not: there the longer part is the rest. */
  mostShareOfSigned: 0.85,
  mostShareOfUnsigned: 0.5,
  /** Fewest values that a measure must have, and that must lie outside of a stretch. */
  leastValues: 12,
  leastOutside: 5,
  /** Least statistic of a measure that counts, above what the best of all stretches of plain noise reaches. */
  leastStatistic: 7,
  /** Least sum of the statistics that agree, where few are measured; among many measures some depart by chance. */
  leastSum: 10,
  sumPerDoubling: 10,
  fewMeasures: 6,
  /** Part of its own best that a measure must reach in a stretch to agree with it. */
  leastAgreement: 0.7,
  /** Least statistic of a measure that agrees and departs earlier, to be believed that trouble began with it. */
  leastStatisticOfFirst: 20,
  /** Least distance of the medians in interquartile ranges of the rest. */
  leastRanges: 2.5,
  /** Quantile of what is left beside both medians that heavy tails show in, and its place in a normal distribution. */
  tailQuantile: 0.95,
  tailOfNormal: 1.96,
  /** Most that neighbours may hang together, so that a random walk has some noise left. */
  mostMemory: 0.95,
  /** Most of the rest that may lie beyond the middle between both medians, and least of the stretch that must. */
  mostOutsideBeyond: 0.1,
  leastInsideBeyond: 0.7,
  /** A measure's say grows with its statistic up to here, times its weight. */
  mostSay: 20,
  /** Longest that code works before it lets others in, in ms. */
  sliceMs: 20,
} as const;

/** One measure of the telemetry over equal buckets; null where there is no value. */
export interface BucketSeries {
  readonly values: readonly (number | null)[];
  /** Which way is trouble; 0 for either. */
  readonly sign: Sign;
  /** Least noise that the measure has by its nature, in its own unit: a constant must not make wonders of nothing. */
  readonly leastNoise: number;
  /** How much the measure says beside others. */
  readonly weight: number;
}

/** Buckets `from` inclusive to `to` exclusive. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

interface Measure {
  readonly series: BucketSeries;
  readonly smooth: readonly (number | null)[];
  readonly noise: number;
  /** Numbers and sums of the values before each bucket. */
  readonly counts: Float64Array;
  readonly sums: Float64Array;
}

interface Departure {
  readonly measure: Measure;
  readonly statistic: number;
  readonly best: Stretch;
}

/** Medians of three neighbours, so that one bucket alone is nothing. */
function smoothed(values: readonly (number | null)[]): (number | null)[] {
  const known = values.flatMap((value, at) => (value === null ? [] : [at]));
  const smooth = [...values];
  for (let place = 1; place < known.length - 1; place += 1) {
    const near = [known[place - 1], known[place], known[place + 1]].map((at) => values[at as number] as number);
    smooth[known[place] as number] = quantile(near, 0.5);
  }
  return smooth;
}

/** Noise from steps between neighbours, which a change of level does not swell. */
function noiseOf(values: readonly number[], least: number): number {
  const steps = values.slice(1).map((value, at) => value - (values[at] as number));
  const range = quantile(steps, 0.75) - quantile(steps, 0.25);
  return Math.max(least, range / SEARCH.iqrOfNormal / Math.SQRT2);
}

function measureOf(series: BucketSeries): Measure | null {
  const known = series.values.filter((value) => value !== null);
  const noise = noiseOf(known, series.leastNoise);
  if (known.length < SEARCH.leastValues || !(noise > 0)) return null;
  const smooth = smoothed(series.values);
  const counts = new Float64Array(smooth.length + 1);
  const sums = new Float64Array(smooth.length + 1);
  smooth.forEach((value, at) => {
    counts[at + 1] = (counts[at] as number) + (value === null ? 0 : 1);
    sums[at + 1] = (sums[at] as number) + (value ?? 0);
  });
  return { series, smooth, noise, counts, sums };
}

function leastLength(buckets: number): number {
  return Math.max(SEARCH.leastBuckets, Math.ceil(buckets * SEARCH.leastShare));
}

/** Distance of the means within and outside of a stretch over its standard error, in the direction of trouble; 0 for none. */
function statisticOf({ series, noise, counts, sums }: Measure, from: number, to: number): number {
  const buckets = series.values.length;
  const all = counts[buckets] as number;
  const inside = (counts[to] as number) - (counts[from] as number);
  const outside = all - inside;
  if (inside < SEARCH.leastBuckets || outside < SEARCH.leastOutside) return 0;
  const sum = (sums[to] as number) - (sums[from] as number);
  const distance = sum / inside - ((sums[buckets] as number) - sum) / outside;
  const directed = series.sign === 0 ? Math.abs(distance) : distance * series.sign;
  return directed > 0 ? (directed * Math.sqrt((inside * outside) / all)) / noise : 0;
}

/** Calls back for every stretch that a measure may depart in, with its statistic. */
function eachStretch(measure: Measure, tell: (from: number, to: number, statistic: number) => void): void {
  const { sign, values } = measure.series;
  const least = leastLength(values.length);
  const most = values.length * (sign === 0 ? SEARCH.mostShareOfUnsigned : SEARCH.mostShareOfSigned);
  // Where trouble has no direction, the beginning of the telemetry is what the rest departs from.
  for (let from = sign === 0 ? least : 0; from + least <= values.length; from += 1) {
    for (let to = from + least; to <= Math.min(values.length, from + most); to += 1) {
      const statistic = statisticOf(measure, from, to);
      if (statistic > 0) tell(from, to, statistic);
    }
  }
}

/** Whether medians and quartiles bear out that a measure is another one within a stretch than outside of it. */
function standsApart({ series, smooth, noise }: Measure, { from, to }: Stretch): boolean {
  const inside = smooth.slice(from, to).filter((value) => value !== null);
  const outside = [...smooth.slice(0, from), ...smooth.slice(to)].filter((value) => value !== null);
  const [within, around] = [quantile(inside, 0.5), quantile(outside, 0.5)];
  const distance = within - around;
  if (series.sign * distance < 0 || Math.abs(distance) < noise) return false;
  const range = quantile(outside, 0.75) - quantile(outside, 0.25);
  if (Math.abs(distance) < SEARCH.leastRanges * range) return false;
  const middle = (within + around) / 2;
  const beyond = (values: readonly number[]): number =>
    values.filter((value) => (value - middle) * distance > 0).length / values.length;
  if (beyond(outside) > SEARCH.mostOutsideBeyond || beyond(inside) < SEARCH.leastInsideBeyond) return false;
  const rest = series.values.map((value, at) => (value === null ? null : value - (at >= from && at < to ? within : around)));
  const error = restNoise(
    rest.filter((value) => value !== null),
    series.leastNoise,
  );
  const certainty = Math.sqrt((inside.length * outside.length) / (inside.length + outside.length));
  return (Math.abs(distance) * certainty) / error >= SEARCH.leastStatistic;
}

/**
 * Noise of what is left beside a change, heavy tails and the memory of neighbours included: with a correlation r between
 * neighbours a mean errs by the root of (1 + r) / (1 - r) more than one of independent values.
 */
function restNoise(rest: readonly number[], least: number): number {
  const range = (quantile(rest, 0.75) - quantile(rest, 0.25)) / SEARCH.iqrOfNormal;
  const tail = quantile(rest.map(Math.abs), SEARCH.tailQuantile) / SEARCH.tailOfNormal;
  const noise = Math.max(least, range, tail);
  const calm = rest.map((value) => Math.max(-3 * noise, Math.min(3 * noise, value)));
  const squares = calm.reduce((sum, value) => sum + value * value, 0);
  const products = calm.slice(1).reduce((sum, value, at) => sum + value * (calm[at] as number), 0);
  const memory = squares === 0 ? 0 : Math.max(0, Math.min(SEARCH.mostMemory, products / squares));
  return noise * Math.sqrt((1 + memory) / (1 - memory));
}

function departureOf(measure: Measure): Departure | null {
  let best: Stretch | null = null;
  let statistic = 0;
  eachStretch(measure, (from, to, value) => {
    if (value > statistic) {
      statistic = value;
      best = { from, to };
    }
  });
  return best !== null && statistic >= SEARCH.leastStatistic && standsApart(measure, best) ? { measure, statistic, best } : null;
}

/**
 * The stretch of equal buckets in which measures depart most from what they are outside of it; null when none does. Each
 * measure is searched for the pair of change points with the largest difference of means over its noise (the epidemic
 * alternative of Levin and Kline: "The cusum test of homogeneity with an application in spontaneous abortion epidemiology",
 * Statistics in Medicine 4(4), 1985), noise taken from steps between neighbours, single buckets smoothed away. It counts only
 * where medians and interquartile ranges bear it out. The stretch is the one that the measures that count agree on most, and
 * stands only when they say more than some of so many measures do by chance.
 * It refuses spikes, slow drifts, and to call the longer part of the telemetry the unusual one without a direction of trouble.
 */
export async function departingStretch(series: readonly BucketSeries[], signal?: AbortSignal): Promise<Stretch | null> {
  const buckets = series[0]?.values.length ?? 0;
  const departures: Departure[] = [];
  let measured = 0;
  let sliceStart = performance.now();
  const breathe = async (): Promise<void> => {
    if (performance.now() - sliceStart < SEARCH.sliceMs) return;
    await letOthersIn();
    if (signal?.aborted === true) throw new DiagnosisError('CANCELLED', 'The question to the telemetry was cancelled.');
    sliceStart = performance.now();
  };
  for (const one of series) {
    const measure = measureOf(one);
    if (measure !== null) {
      measured += 1;
      const departure = departureOf(measure);
      if (departure !== null) departures.push(departure);
    }
    await breathe();
  }
  if (departures.length === 0) return null;
  const width = buckets + 1;
  const votes = new Float64Array(width * width);
  for (const { measure, statistic } of departures) {
    const say = sayOf({ measure, statistic }) / statistic;
    eachStretch(measure, (from, to, value) => {
      const at = from * width + to;
      votes[at] = (votes[at] as number) + say * value;
    });
    await breathe();
  }
  const at = votes.reduce((best, vote, place) => (vote > (votes[best] as number) ? place : best), 0);
  const stretch = { from: Math.floor(at / width), to: at % width };
  const agreeing = departures.filter((departure) => agrees(departure, stretch));
  const said = agreeing.reduce((sum, one) => sum + sayOf(one), 0);
  const needed = Math.max(SEARCH.leastSum, SEARCH.sumPerDoubling * Math.log2(1 + measured / SEARCH.fewMeasures));
  return said >= needed ? { from: firstOf(agreeing, stretch), to: stretch.to } : null;
}

/** Where trouble began: what only follows from it is often loudest, and later. */
function firstOf(agreeing: readonly Departure[], { from }: Stretch): number {
  const clear = agreeing.filter(({ statistic }) => statistic >= SEARCH.leastStatisticOfFirst);
  return Math.min(from, ...clear.map(({ best }) => best.from));
}

function sayOf({ measure, statistic }: Pick<Departure, 'measure' | 'statistic'>): number {
  return Math.min(statistic, SEARCH.mostSay * measure.series.weight);
}

function agrees({ measure, statistic }: Departure, { from, to }: Stretch): boolean {
  return statisticOf(measure, from, to) >= SEARCH.leastAgreement * statistic;
}
