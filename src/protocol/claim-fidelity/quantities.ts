import Big from 'big.js';
import type { Unit } from '../../vocabulary/evidence-terms';

/** Decimal arithmetic of the gate; 60 places, so that a quotient's rounding can be told from its exact half. */
export const Decimal = Big();
Decimal.DP = 60;

/** What is measured. `points` are percentage points, which only a difference of shares gives; `factor` is "times"; `other` fits nothing. */
export type Dimension = 'plain' | 'count' | 'share' | 'rate' | 'time' | 'bytes' | 'points' | 'factor' | 'other';

export interface Measure {
  readonly dimension: Dimension;
  /** Size of one unit in the dimension's smallest unit (ns, byte, per hour, percent). */
  readonly size: string;
}

const UNIT_MEASURES: Readonly<Record<Exclude<Unit, 'instant' | 'text'>, Measure>> = {
  none: { dimension: 'plain', size: '1' },
  count: { dimension: 'count', size: '1' },
  ratio: { dimension: 'share', size: '100' },
  percent: { dimension: 'share', size: '1' },
  per_second: { dimension: 'rate', size: '3600' },
  per_minute: { dimension: 'rate', size: '60' },
  ns: { dimension: 'time', size: '1' },
  us: { dimension: 'time', size: '1000' },
  ms: { dimension: 'time', size: '1000000' },
  s: { dimension: 'time', size: '1000000000' },
  min: { dimension: 'time', size: '60000000000' },
  h: { dimension: 'time', size: '3600000000000' },
  B: { dimension: 'bytes', size: '1' },
  KiB: { dimension: 'bytes', size: '1024' },
  MiB: { dimension: 'bytes', size: '1048576' },
  GiB: { dimension: 'bytes', size: '1073741824' },
};

/** Measure of a declared unit; null for `instant` and `text`, which are no numbers. */
export function measureOf(unit: Unit): Measure | null {
  return unit === 'instant' || unit === 'text' ? null : UNIT_MEASURES[unit];
}

export const POINTS: Measure = { dimension: 'points', size: '1' };
const FACTOR: Measure = { dimension: 'factor', size: '1' };
export const PLAIN: Measure = { dimension: 'plain', size: '1' };

const DECIMAL_BYTES: Readonly<Record<string, string>> = { kb: '1000', mb: '1000000', gb: '1000000000' };
const UNIT_WORDS: ReadonlyMap<string, Measure> = new Map(
  Object.entries({
    ns: ['ns', 'nanosecond', 'nanoseconds'],
    us: ['us', 'µs', 'μs', 'microsecond', 'microseconds'],
    ms: ['ms', 'msec', 'millisecond', 'milliseconds'],
    s: ['s', 'sec', 'secs', 'second', 'seconds'],
    min: ['min', 'mins', 'minute', 'minutes'],
    h: ['h', 'hr', 'hrs', 'hour', 'hours'],
    B: ['b', 'byte', 'bytes'],
    KiB: ['kib'],
    MiB: ['mib'],
    GiB: ['gib'],
    percent: ['%', 'percent', 'pct'],
    per_second: ['/s', '/sec', '/second'],
    per_minute: ['/min', '/minute'],
  } satisfies Partial<Record<Unit, string[]>>).flatMap(([unit, words]) =>
    words.map((word) => [word, UNIT_MEASURES[unit as Exclude<Unit, 'instant' | 'text'>]] as const),
  ),
);

/** Measure of a unit as it is written in text, or null. `kB`, `MB` and `GB` are decimal. */
export function measureOfWord(word: string): Measure | null {
  const lower = word.toLowerCase();
  if (lower === 'x' || lower === 'times' || lower === '×') return FACTOR;
  if (lower === 'pp') return POINTS;
  const decimal = DECIMAL_BYTES[lower];
  if (decimal !== undefined) return { dimension: 'bytes', size: decimal };
  return UNIT_WORDS.get(lower) ?? null;
}

/** A number as it was written: its value, its last shown decimal place, and how many significant digits it shows. */
export interface ShownNumber {
  readonly value: Big;
  readonly decimals: number;
  readonly significant: number;
}

const LEXEME = /^[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?$/;

/** Reads a number's lexeme (`1,500`, `-0.43`, `1e3`), or answers null. */
export function readNumber(lexeme: string): ShownNumber | null {
  if (!LEXEME.test(lexeme) || lexeme.length > 400) return null;
  const plain = lexeme.replace(/,/g, '').replace('\u2212', '-').replace(/^\+/, '');
  const [mantissa = '', exponent = '0'] = plain.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  return {
    value: new Decimal(plain),
    decimals: fraction.length - Number(exponent),
    significant: `${whole}${fraction}`.replace(/^0+/, '').length,
  };
}

/** An exact number of evidence; one of the dimension `count` may not be rounded by a claim. */
export interface Quantity {
  readonly value: Big;
  readonly measure: Measure;
}

/** A value in the smallest unit of its dimension. */
export function inBase(value: Big, measure: Measure): Big {
  return value.times(measure.size);
}

/**
 * Whether a stated number is what an exact one shows: equal, or equal after rounding half away from zero to the stated
 * decimals, with at least two significant digits. Counts are exact; "about" allows any number to be rounded to two or more
 * significant digits.
 */
export function isShownAs(exact: Quantity, stated: ShownNumber, statedMeasure: Measure, about: boolean): boolean {
  const truth = inBase(exact.value, exact.measure);
  const said = inBase(stated.value, statedMeasure);
  if (truth.eq(said)) return true;
  if (!about) {
    return (
      exact.measure.dimension !== 'count' && stated.significant >= 2 && roundsTo(truth, said, stated.decimals, statedMeasure)
    );
  }
  for (let decimals = stated.decimals, digits = stated.significant; digits >= 2; decimals -= 1, digits -= 1) {
    if (!isMultiple(stated.value, decimals)) return false;
    if (roundsTo(truth, said, decimals, statedMeasure)) return true;
  }
  return false;
}

function powerOfTen(exponent: number): Big {
  return new Decimal(`1e${exponent}`);
}

function isMultiple(value: Big, decimals: number): boolean {
  return value.times(powerOfTen(decimals)).mod(1).eq(0);
}

function roundsTo(truth: Big, said: Big, decimals: number, measure: Measure): boolean {
  const half = inBase(powerOfTen(-decimals).times('0.5'), measure);
  const size = truth.abs();
  const target = truth.lt(0) ? said.times(-1) : said;
  return size.gte(target.minus(half)) && size.lt(target.plus(half));
}

/** Whether two measures can be compared; a stated number without a unit is compared as it stands. */
export function areComparable(evidence: Measure, stated: Measure): boolean {
  return (evidence.dimension === stated.dimension && stated.dimension !== 'other') || (isBare(evidence) && isBare(stated));
}

function isBare(measure: Measure): boolean {
  return measure.dimension === 'plain' || measure.dimension === 'count' || measure.dimension === 'factor';
}

const PER: Readonly<Record<string, Measure>> = {
  second: UNIT_MEASURES.per_second,
  s: UNIT_MEASURES.per_second,
  sec: UNIT_MEASURES.per_second,
  minute: UNIT_MEASURES.per_minute,
  min: UNIT_MEASURES.per_minute,
  hour: { dimension: 'rate', size: '1' },
  h: { dimension: 'rate', size: '1' },
};
const POINTS_AFTER = /^\s*(?:percentage[\s-]points?|percent[\s-]points?|%[\s-]?points?|pp)(?![\p{L}\p{N}])/iu;
const PER_AFTER = /^\s*(?:\p{L}+\s+){0,2}?(?:per\s+|an?\s+(?=second|minute|hour|day))(\p{L}+)/iu;
const SLASH_AFTER = /^\s*\p{L}*\/(\p{L}+)(?![\p{L}\p{N}])/u;
const WORD_AFTER = /^[\s-]?(%|[\p{L}\u00D7]+)(?![\p{L}\p{N}_/])/u;

/** The unit that follows a number in a text, and how many characters it takes; null when none follows. */
export function unitAfter(text: string, position: number): { readonly measure: Measure; readonly length: number } | null {
  const rest = text.slice(position, position + 80);
  const points = POINTS_AFTER.exec(rest);
  if (points !== null) return { measure: POINTS, length: points[0].length };
  const per = PER_AFTER.exec(rest) ?? SLASH_AFTER.exec(rest);
  if (per !== null)
    return { measure: PER[(per[1] ?? '').toLowerCase()] ?? { dimension: 'other', size: '1' }, length: per[0].length };
  const word = WORD_AFTER.exec(rest);
  const measure = word === null ? null : measureOfWord(word[1] ?? '');
  return word === null || measure === null ? null : { measure, length: word[0].length };
}
