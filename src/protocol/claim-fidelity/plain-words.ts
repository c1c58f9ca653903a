/**
 * The closed vocabulary of an untyped statement: words that say nothing by themselves. Every other word has to stand in the
 * evidence, so that a predicate which nobody thought of is refused as surely as one that is on a list.
 */
const PLAIN_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the this that these it its itself there which and then also respectively ' +
    'of in at on to from by for with per within between during until ' +
    'is are was were be been being has have had ' +
    'logged log logs recorded record records reported report reports wrote written writes shows show showed shown says said ' +
    'reads read took takes held holds returned returns counted stood stands seen ' +
    'line lines error errors message messages entry entries event events value values count counts number field text ' +
    'time times utc gmt window incident baseline before beforehand previous previously prior'
  ).split(' '),
);

/** Nouns of what a counted field counts: beside a bound number they have to be the words of its field. */
const COUNTED_NOUNS: ReadonlySet<string> = new Set(['error', 'errors', 'failure', 'failures']);

/** Words of amount, which a reader may see beside a number or a row without their being checked: they cap the verdict. */
const CAPPED_WORDS: ReadonlySet<string> = new Set('all every each any only both'.split(' '));

const RISING_VERBS: ReadonlySet<string> = new Set(
  'rose rises risen rising increased increases grew grown grows climbed climbs jumped jumps spiked spikes surged surges'.split(
    ' ',
  ),
);
const FALLING_VERBS: ReadonlySet<string> = new Set(
  'fell falls fallen falling decreased decreases dropped drops declined declines shrank shrunk'.split(' '),
);
const NEGATING_WORDS: ReadonlySet<string> = new Set('no not none without never nor neither zero'.split(' '));

/** Words by which a sentence blames, where they stand in no evidence. */
const BLAMING_WORDS: ReadonlySet<string> = new Set(
  (
    'source origin behind fault result broke breaks broken killed kills kill forces forced force knocked knocks made ' +
    'makes so since offline crashed crashes stopped stops reason reasons why cause via through breaks harmed hit hits ' +
    'ruined affects affected impacts impacted'
  ).split(' '),
);

const UNIT_WORDS: ReadonlySet<string> = new Set(
  'a an per percentage percent point points second seconds minute minutes hour hours day days sec min'.split(' '),
);

export type WordKind = 'plain' | 'capped' | 'counted' | 'rising' | 'falling' | 'negating' | 'blaming' | 'unknown';

/** What a word of a sentence is, apart from any evidence; the word is given in lower case. */
export function kindOfWord(word: string): WordKind {
  if (COUNTED_NOUNS.has(word)) return 'counted';
  if (PLAIN_WORDS.has(word)) return 'plain';
  if (CAPPED_WORDS.has(word)) return 'capped';
  if (RISING_VERBS.has(word)) return 'rising';
  if (FALLING_VERBS.has(word)) return 'falling';
  if (NEGATING_WORDS.has(word)) return 'negating';
  return BLAMING_WORDS.has(word) ? 'blaming' : 'unknown';
}

/** Whether a word that follows a number belongs to its unit, apart from the names of units themselves. */
export function isUnitFiller(word: string): boolean {
  return UNIT_WORDS.has(word);
}

/** Words that a field's name is made of, in lower case. */
export function wordsOfName(name: string): string[] {
  return name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

// a sign that compares, adds or points is a statement too; `+` and `-` before a digit belong to the number
const SIGN = /[^\p{L}\p{M}\p{N}\p{Z}\s.,;:()[\]\-\u2010-\u2015\u2212'\u2018\u2019"\u201C\u201D`%/_@~\u2248=\u00B0+]|\+(?!\d)/u;

/** The first sign of a sentence that is neither punctuation nor part of a number; null when there is none. */
export function foreignSign(sentence: string): string | null {
  return SIGN.exec(sentence)?.[0] ?? null;
}
