import type { Token } from './tokens';

const SMALL: ReadonlyMap<string, number> = new Map(
  (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
    'eighteen nineteen'
  )
    .split(' ')
    .map((word, value) => [word, value]),
);
const TENS: ReadonlyMap<string, number> = new Map(
  'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, index) => [word, (index + 2) * 10]),
);
const SCALES: ReadonlyMap<string, number> = new Map([
  ['hundred', 100],
  ['thousand', 1_000],
  ['million', 1_000_000],
  ['billion', 1_000_000_000],
  ['trillion', 1_000_000_000_000],
  ['lakh', 100_000],
  ['crore', 10_000_000],
  ['dozen', 12],
]);

const MOST_WORDS = 20;

/** What a word multiplies a number by (`thousand`, `dozen`, `lakh`); null for any other word. */
export function scaleOf(word: string): number | null {
  return SCALES.get(word.toLowerCase()) ?? null;
}

export interface NumberWords {
  readonly value: number;
  /** Tokens that were read, from the first. */
  readonly length: number;
}

/**
 * Reads an English number written in words (`twenty-three`, `twentythree`, `two hundred and five`) from a token on, at most
 * 20 words; null when there is none. `bareScales` reads `million` alone as one million.
 */
export function readNumberWords(tokens: readonly Token[], from: number, bareScales = false): NumberWords | null {
  let total = 0;
  let current: number | null = null;
  let length = 0;
  const end = Math.min(tokens.length, from + MOST_WORDS);
  for (let index = from; index < end; index += 1) {
    const word = (tokens[index] as Token).text.toLowerCase();
    const value = smallValue(word);
    const scale = SCALES.get(word);
    if (value !== null && (current === null || canFollow(current, value))) {
      current = (current ?? 0) + value;
    } else if (scale !== undefined && (current !== null || bareScales || isArticle(tokens[from - 1]))) {
      current = (current ?? 1) * scale;
      if (scale >= 1_000) {
        total += current;
        current = 0;
      }
    } else if (
      word === 'and' &&
      current !== null &&
      length > 0 &&
      startsNumber(tokens[index + 1]) &&
      followsScale(tokens[index - 1])
    ) {
      continue;
    } else break;
    length = index - from + 1;
  }
  return length === 0 ? null : { value: total + (current ?? 0), length };
}

const GLUED = new RegExp(`^(${[...TENS.keys()].join('|')})(${[...SMALL.keys()].slice(1, 10).join('|')})$`);

function smallValue(word: string): number | null {
  const single = SMALL.get(word) ?? TENS.get(word);
  if (single !== undefined) return single;
  const glued = GLUED.exec(word);
  const [tens = '', ones = '', ...rest] = glued === null ? word.split('-') : glued.slice(1);
  const high = TENS.get(tens);
  const low = SMALL.get(ones);
  return rest.length === 0 && high !== undefined && low !== undefined && low > 0 && low < 10 ? high + low : null;
}

function canFollow(current: number, value: number): boolean {
  if (current === 0) return value > 0;
  if (current % 100 === 0) return value < 100 && value > 0;
  return current % 10 === 0 && current % 100 >= 20 && value > 0 && value < 10;
}

function isArticle(token: Token | undefined): boolean {
  return token !== undefined && /^an?$/i.test(token.text);
}

function startsNumber(token: Token | undefined): boolean {
  return token !== undefined && smallValue(token.text.toLowerCase()) !== null;
}

function followsScale(token: Token | undefined): boolean {
  return token !== undefined && SCALES.has(token.text.toLowerCase());
}
