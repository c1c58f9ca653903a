import { createHash } from 'node:crypto';

/** Different words of one question that it is found by: more would cost every run for the few. */
export const MAX_WORDS = 64;
/** Hex digits of a word's digest: 128 bits. */
const KEY_LENGTH = 32;

/** The segmenter takes a time that grows with the square of what it is given, so it is given no more than this, in characters. */
const PIECE = /\S{1,256}/gu;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * Digests of the different words of a text, at most `MAX_WORDS`, in the order in which they come. Words are those of Unicode's
 * word boundaries (UAX 29), in lower case and compatibility form, but end after 256 characters without white space at the latest; it
 * finds no part of a word.
 */
export function wordKeysOf(text: string): string[] {
  const words = new Set<string>();
  for (const [piece] of text.normalize('NFKC').toLowerCase().matchAll(PIECE)) {
    for (const { segment, isWordLike } of segmenter.segment(piece)) if (isWordLike === true) words.add(segment);
    if (words.size >= MAX_WORDS) break;
  }
  return [...words].slice(0, MAX_WORDS).map((word) => createHash('sha256').update(word).digest('hex').slice(0, KEY_LENGTH));
}
