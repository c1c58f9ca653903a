import { timesIn, type WrittenTime } from './instants';
import { readNumberWords, scaleOf } from './number-words';
import { isUnitFiller } from './plain-words';
import { Decimal, measureOfWord, PLAIN, readNumber, unitAfter, type Measure, type ShownNumber } from './quantities';
import { isDisguised, isNameShaped, skeletonOf, tokensOf, type Token } from './tokens';

/** A number as a text gives it. `measure` is plain when no unit follows. */
export interface WrittenNumber {
  readonly shown: ShownNumber;
  readonly measure: Measure;
  readonly about: boolean;
  readonly text: string;
  readonly start: number;
}

/** What a text holds that can be true or false of evidence, each once: digits of a time or a name are no numbers. */
export interface WrittenContent {
  readonly quotations: readonly string[];
  readonly times: readonly WrittenTime[];
  readonly numbers: readonly WrittenNumber[];
  readonly names: readonly string[];
  /** All other tokens: plain words, and the words between a number and its unit. */
  readonly words: readonly Token[];
  /** The text with its quotations blanked out. */
  readonly unquoted: string;
}

const QUOTATION = /"([^"]*)"|\u201C([^\u201D]*)\u201D|`([^`]*)`/gu;
const WITH_UNIT = /^([-+\u2212]?\d+(?:\.\d+)?)(\/?[a-z\u00B5\u03BC\u00D7]+)$/iu;
const ABOUT = /(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|some)\s+|[~\u2248]\s*)$/iu;

/** Entity names of a run, ready to be looked for in sentences. */
export class EntityIndex {
  private readonly lower = new Set<string>();
  private readonly skeletons = new Set<string>();
  readonly phrases: readonly string[];

  constructor(names: Iterable<string>) {
    const phrases: string[] = [];
    for (const name of names) {
      const tokens = tokensOf(name);
      if (tokens.length === 1 && tokens[0]?.text === name) {
        this.lower.add(name.toLowerCase());
        this.skeletons.add(skeletonOf(name));
      } else if (tokens.length > 0) phrases.push(name);
    }
    this.phrases = phrases;
  }

  /** Whether a name that a sentence was read to hold is one of the run's. */
  isEntity(name: string): boolean {
    return this.has(name) || this.phrases.includes(name);
  }

  /** Whether a token is one of the names, in any case, or is made to look like one. */
  has(token: string): boolean {
    if (this.lower.has(token.toLowerCase())) return true;
    return /[^\u0021-\u007E]/u.test(token) && this.skeletons.has(skeletonOf(token));
  }
}

/** Reads a sentence of a claim: quotations aside, then times, numbers (words too) and names. */
export function readSentence(text: string, entities: EntityIndex): WrittenContent {
  const quotations: string[] = [];
  const unquoted = text.replace(QUOTATION, (whole, straight?: string, curly?: string, ticks?: string) => {
    quotations.push(straight ?? curly ?? ticks ?? '');
    return ' '.repeat(whole.length);
  });
  const times = timesIn(unquoted);
  const names: string[] = [];
  let rest = blank(unquoted, times);
  for (const phrase of entities.phrases) {
    const at = rest.indexOf(phrase);
    if (at === -1) continue;
    names.push(phrase);
    rest = blank(rest, [{ start: at, end: at + phrase.length }]);
  }
  const { numbers, others, between } = readNumbers(rest, true);
  const words: Token[] = [...between];
  for (const token of others) {
    if (isNameShaped(token.text) || isDisguised(token.text) || entities.has(token.text)) names.push(token.text);
    else words.push(token);
  }
  return { quotations, times, numbers, names, words, unquoted };
}

/** Numbers and times that a piece of evidence holds; `1,500` is read both as one number and as two. */
export function readEvidenceText(text: string): Pick<WrittenContent, 'times' | 'numbers'> {
  const times = timesIn(text);
  const rest = blank(text, times);
  const numbers = [...readNumbers(rest).numbers];
  if (/\d,\d{3}/.test(rest)) numbers.push(...readNumbers(rest.replace(/,/g, ' ')).numbers);
  return { times, numbers: numbers.map((number) => withUnitOfKey(rest, number)) };
}

const KEY_UNIT = /[\w.-]*_(ns|us|ms|s|sec|secs|seconds|min|minutes|bytes|kib|mib|gib|pct|percent)["']?\s*[=:]\s*["']?$/i;

function withUnitOfKey(text: string, number: WrittenNumber): WrittenNumber {
  if (number.measure !== PLAIN) return number;
  const key = KEY_UNIT.exec(text.slice(Math.max(0, number.start - 100), number.start));
  const measure = key === null ? null : measureOfWord(key[1] ?? '');
  return measure === null ? number : { ...number, measure };
}

const MOST_SCALES = 3;

interface ReadTokens {
  readonly numbers: WrittenNumber[];
  readonly others: Token[];
  readonly between: Token[];
}

/** `isStatement` reads more words as numbers than evidence is trusted to mean by them. */
function readNumbers(text: string, isStatement = false): ReadTokens {
  const numbers: WrittenNumber[] = [];
  const others: Token[] = [];
  const between: Token[] = [];
  const tokens = tokensOf(text);
  let consumed = 0;
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index] as Token;
    if (token.start < consumed) {
      if (!isOfUnit(token.text)) between.push(token);
      continue;
    }
    const words = readNumberWords(tokens, index, isStatement);
    let last = words === null ? token : (tokens[index + words.length - 1] as Token);
    const glued = WITH_UNIT.exec(token.text);
    const gluedMeasure = glued === null ? null : measureOfGlued(glued[2] ?? '');
    let shown: ShownNumber | null = null;
    if (words !== null) shown = { value: new Decimal(words.value), decimals: 0, significant: String(words.value).length };
    else shown = readNumber(gluedMeasure === null ? token.text : (glued?.[1] ?? ''));
    if (shown === null) {
      others.push(token);
      continue;
    }
    if (words !== null) index += words.length - 1;
    for (let scales = 0; scales < MOST_SCALES && gluedMeasure === null; scales += 1) {
      const next = tokens[index + 1];
      const scale = next === undefined || /[^\s-]/u.test(text.slice(last.end, next.start)) ? null : scaleOf(next.text);
      if (next === undefined || scale === null) break;
      shown = scaled(shown, scale);
      last = next;
      index += 1;
    }
    const unit = gluedMeasure === null ? unitAfter(text, last.end) : null;
    consumed = last.end + (unit?.length ?? 0);
    numbers.push({
      shown,
      measure: gluedMeasure ?? unit?.measure ?? PLAIN,
      about: ABOUT.test(text.slice(Math.max(0, token.start - 20), token.start)),
      text: text.slice(token.start, consumed),
      start: token.start,
    });
  }
  return { numbers, others, between };
}

/** `4.2 thousand` shows two digits and no decimals below the hundreds. */
function scaled({ value, decimals, significant }: ShownNumber, scale: number): ShownNumber {
  const zeros = /^10+$/.test(String(scale)) ? String(scale).length - 1 : 0;
  return { value: value.times(scale), decimals: decimals - zeros, significant };
}

function isOfUnit(token: string): boolean {
  const word = token.replace(/^\//, '').toLowerCase();
  return isUnitFiller(word) || measureOfWord(word) !== null;
}

function measureOfGlued(unit: string): Measure | null {
  return unit.startsWith('/') ? (unitAfter(unit, 0)?.measure ?? null) : measureOfWord(unit);
}

function blank(text: string, spans: readonly { readonly start: number; readonly end: number }[]): string {
  let result = text;
  for (const span of spans) result = result.slice(0, span.start) + ' '.repeat(span.end - span.start) + result.slice(span.end);
  return result;
}
