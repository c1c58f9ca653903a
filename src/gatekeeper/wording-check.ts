import { findWords } from '../protocol/claim-fidelity/english-words';
import { foreignSign, kindOfWord, wordsOfName } from '../protocol/claim-fidelity/plain-words';
import { findVerbatim } from '../protocol/claim-fidelity/quoted-span';
import { tokensOf, type Token } from '../protocol/claim-fidelity/tokens';
import type { WrittenContent } from '../protocol/claim-fidelity/written-content';
import { measureWords } from '../protocol/tool-outputs/field-words';
import type { BindingReasonCode } from '../vocabulary/reason-codes';
import { judgeOrder, judgeRows } from './row-check';
import { quantityOf, shows } from './shown-value';
import type { BoundPlace } from './source-invocation';

/** What the words of an untyped statement come to. */
export interface WordingJudgement {
  readonly failed: BindingReasonCode | null;
  /** Whether a word that nobody computed caps the verdict. */
  readonly untyped: boolean;
  /** Whether the statement gives the earlier value as the earlier one: "rose from 1 to 42". */
  readonly tellsChange: boolean;
}

const fail = (failed: BindingReasonCode): WordingJudgement => ({ failed, untyped: false, tellsChange: false });
const ABOUT_WORDS: readonly string[] = 'about around approximately approx roughly nearly almost circa some'.split(' ');

interface Grounds {
  readonly texts: readonly string[];
  readonly textWords: ReadonlySet<string>;
  readonly ownWords: ReadonlySet<string>;
  readonly fieldWords: ReadonlySet<string>;
}

/**
 * Judges the words of an untyped statement outside its quotations, names, numbers and times. A word is plain (the closed
 * vocabulary), or stands in the matched texts, in the subject, in an entity of a bound row or in the name of a bound field;
 * any other is refused, so that no predicate passes because it is on no list. A negation needs a bound zero, a verb of change
 * needs both values and their direction. It refuses to read the meaning of what is left.
 */
export function judgeWording(subject: string, content: WrittenContent, places: readonly BoundPlace[]): WordingJudgement {
  if (foreignSign(content.unquoted) !== null) return fail('WORD_NOT_FOUND');
  const grounds = groundsOf(subject, places);
  const hasNumber = places.some((place) => place.kind === 'number');
  let capped = '';
  let negates = false;
  const directions = new Set<'rising' | 'falling'>();
  for (const token of content.words) {
    const word = token.text.toLowerCase();
    if (grounds.ownWords.has(word) || isFiller(word, token, content)) continue;
    const kind = kindOfWord(word);
    if (kind === 'negating' || kind === 'rising' || kind === 'falling') {
      if (standsInPhrase(token, content.unquoted, grounds.texts)) continue;
      if (kind === 'negating') negates = true;
      else directions.add(kind);
      continue;
    }
    if (isOneOf(word, grounds.fieldWords)) continue;
    if (grounds.textWords.has(word)) {
      // "more" of a text is no "more" of a count beside it
      if (!standsInPhrase(token, content.unquoted, grounds.texts)) capped += ` ${word}`;
      continue;
    }
    if (kind === 'blaming') return fail('CAUSAL_STATEMENT');
    if (kind === 'unknown' || (kind === 'counted' && hasNumber)) return fail('WORD_NOT_FOUND');
    capped += ` ${word}`;
  }
  const mentioned = places.filter((place) => isMentioned(place, content));
  const nothing = mentioned.filter((place) => isNothing(place));
  if (negates && nothing.length === 0) {
    return fail(places.some((place) => isValue(place)) ? 'ASSERTION_FALSE' : 'WORD_NOT_FOUND');
  }
  if (!negates && claimsSomething(nothing, content)) return fail('ASSERTION_FALSE');
  const change = directions.size === 0 ? null : judgeChange([...directions], subject, content, places, mentioned);
  if (typeof change === 'string') return fail(change);
  const words = findWords(capped);
  const untyped =
    negates || change !== null || words.compares || words.negates || words.quantifies || leavesOutNegation(content, places);
  return { failed: null, untyped, tellsChange: change === true };
}

function groundsOf(subject: string, places: readonly BoundPlace[]): Grounds {
  const texts = places.map((place) => place.matchedText.toLowerCase());
  const words = (from: readonly string[]): Set<string> =>
    new Set(from.flatMap((text) => tokensOf(text.toLowerCase()).map((token) => token.text)));
  return {
    texts,
    textWords: words(texts),
    ownWords: words([subject, ...places.flatMap((place) => place.entities.map(({ text }) => text))]),
    fieldWords: new Set(places.flatMap((place) => [...fieldWordsOf(place), ...place.pathNames.flatMap(wordsOfName)])),
  };
}

function fieldWordsOf(place: BoundPlace): string[] {
  if (place.fieldName === null) return [];
  const measure = measureWords(place.source.record.tool_name, place.fieldName, null);
  return [...wordsOfName(place.fieldName), ...(measure === null ? [] : wordsOfName(measure))];
}

function isOneOf(word: string, words: ReadonlySet<string>): boolean {
  return words.has(word) || words.has(`${word}s`) || (word.endsWith('s') && words.has(word.slice(0, -1)));
}

/** "about" before a number, and the "s" of a genitive. */
function isFiller(word: string, token: Token, { unquoted, numbers }: WrittenContent): boolean {
  if (word === 's') return /['\u2019]/u.test(unquoted.charAt(token.start - 1));
  if (!ABOUT_WORDS.includes(word)) return false;
  return numbers.some((number) => number.about && number.start > token.end && number.start - token.end <= 2);
}

/** Whether a word stands in a text together with the word before or behind it. */
function standsInPhrase(token: Token, unquoted: string, texts: readonly string[]): boolean {
  const before = /\S+\s+$/u.exec(unquoted.slice(0, token.start))?.[0] ?? null;
  const after = /^\s+\S+/u.exec(unquoted.slice(token.end))?.[0].replace(/[.,;:]+$/u, '') ?? null;
  const phrases = [before === null ? null : before + token.text, after === null ? null : token.text + after];
  return phrases.some(
    (phrase) => phrase !== null && texts.some((text) => findVerbatim(text, phrase.trim().toLowerCase()) !== null),
  );
}

function isValue(place: BoundPlace): boolean {
  return place.kind === 'number' || place.kind === 'boolean';
}

function isNothing(place: BoundPlace): boolean {
  return place.kind === 'boolean' ? place.matchedText === 'false' : quantityOf(place)?.value.eq(0) === true;
}

/** Whether the statement uses a word of the field's own name that the closed vocabulary does not give it anyway. */
function isMentioned(place: BoundPlace, content: WrittenContent): boolean {
  if (!isValue(place) || place.fieldName === null) return false;
  const name = wordsOfName(place.fieldName);
  const own = name.filter((word) => kindOfWord(word) !== 'plain');
  const words = new Set(own.length === 0 ? name : own);
  if (content.names.includes(place.fieldName)) return true;
  return content.words.some((token) => isOneOf(token.text.toLowerCase(), words));
}

/** "had failures" over a zero, or "is down" over a false. */
function claimsSomething(nothing: readonly BoundPlace[], content: WrittenContent): boolean {
  return nothing.some((place) => {
    if (place.kind === 'boolean') return !content.words.some((token) => token.text.toLowerCase() === 'false');
    return content.numbers.length === 0 && place.field?.window !== 'baseline';
  });
}

/** True when the values are told in their order, false when only their direction is; a code when they say otherwise. */
function judgeChange(
  directions: readonly ('rising' | 'falling')[],
  subject: string,
  content: WrittenContent,
  places: readonly BoundPlace[],
  mentioned: readonly BoundPlace[],
): BindingReasonCode | boolean {
  const [direction, ...more] = directions;
  if (more.length > 0) return 'WORD_NOT_FOUND';
  if (content.numbers.some((number) => /\bby\s+(?:\p{L}+\s+)?$/iu.test(content.unquoted.slice(0, number.start)))) {
    return 'NUMBER_NOT_FOUND';
  }
  const isPair = (before: BoundPlace, after: BoundPlace): boolean =>
    before.field?.window === 'baseline' &&
    after.field?.window === 'incident' &&
    judgeRows(before, after, subject) === null &&
    judgeOrder(before, after) === null;
  const all = places.flatMap((before) => places.filter((after) => isPair(before, after)).map((after) => ({ before, after })));
  const meant = all.filter(({ before, after }) => mentioned.includes(before) || mentioned.includes(after));
  const pairs = meant.length > 0 ? meant : all;
  if (pairs.length === 0) return 'WORD_NOT_FOUND';
  const goesSo = ({ before, after }: { before: BoundPlace; after: BoundPlace }): boolean => {
    const earlier = quantityOf(before);
    const later = quantityOf(after);
    return earlier !== null && later !== null && later.value.cmp(earlier.value) === (direction === 'rising' ? 1 : -1);
  };
  if (!pairs.every(goesSo)) return 'ASSERTION_FALSE';
  const range = /\bfrom\b/iu.exec(content.unquoted);
  const [first, second] = content.numbers.filter((number) => range !== null && number.start > range.index);
  if (first === undefined || second === undefined) return false;
  return pairs.some(({ before, after }) => shows(before, first) && shows(after, second)) ? true : 'ASSERTION_FALSE';
}

/** A text that denies may turn into its opposite when its words are told one by one. */
function leavesOutNegation(content: WrittenContent, places: readonly BoundPlace[]): boolean {
  const isDenial = (text: string): boolean => tokensOf(text).some((token) => kindOfWord(token.text.toLowerCase()) === 'negating');
  if (content.words.some((token) => kindOfWord(token.text.toLowerCase()) === 'negating')) return false;
  return places.some((place) => {
    if (place.kind !== 'string' || !isDenial(place.matchedText)) return false;
    const words = new Set(tokensOf(place.matchedText.toLowerCase()).map((token) => token.text));
    return content.words.some((token) => {
      const word = token.text.toLowerCase();
      return words.has(word) && kindOfWord(word) === 'unknown';
    });
  });
}
