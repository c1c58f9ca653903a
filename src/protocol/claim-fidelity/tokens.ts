/** A token of a text with its place in it. */
export interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const WORD = '[\\p{L}\\p{N}\\p{M}_\\u00AD\\u200B-\\u200D\\u2060\\uFEFF]';
const JOINER = '[-./:@]';
const GROUPED = `(?<!${WORD}|${JOINER}|,)[-+\\u2212]?\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?(?!${WORD}|,\\d)`;
const PLAIN = `(?:(?<!${WORD}|${JOINER})[-+\\u2212](?=\\d)|(?<!${WORD}|${JOINER})[/.](?=${WORD}))?${WORD}+(?:${JOINER}+${WORD}+)*`;
const TOKEN = new RegExp(`${GROUPED}|${PLAIN}`, 'gu');

/**
 * Tokens of a text: runs of letters, digits and `_`, joined inside by `- . / : @`; a sign belongs to a number that follows
 * it, and `1,500` is one token. Invisible characters belong to the token, so that they cannot split a name unseen.
 */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(TOKEN))
    tokens.push({ text: match[0], start: match.index, end: match.index + match[0].length });
  return tokens;
}

const HOST_AND_PORT = /^([^:/@]+):\d{1,5}$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/([^/:@]+)(?::\d{1,5})?(?:[/].*)?$/i;

/** Names that a text holds as whole tokens; the host of `host:port` and of `scheme://host:port/path` counts as one too. */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  for (const token of tokensOf(text)) {
    names.add(token.text);
    const host = HOST_AND_PORT.exec(token.text)?.[1] ?? ADDRESS.exec(token.text)?.[1];
    if (host !== undefined) names.add(host);
  }
  return names;
}

const SHAPED = /[\p{N}_\-./:@]|[\p{L}\p{N}].*\p{Lu}|^[〇零一二三四五六七八九十百千万萬亿億兆两兩]+$/u;

/** Whether a token looks like a name: it has a digit of any script or is a number in Han characters, has one of `_ - . / : @`, or a capital behind its first letter. */
export function isNameShaped(token: string): boolean {
  return SHAPED.test(token);
}

/** Whether a place in a text is no inside of a token, so that a span may begin or end there. */
export function isTokenEdge(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return true;
  let start = index;
  while (start > 0 && index - start < 4096 && !isBlank(text, start - 1)) start -= 1;
  let end = index;
  while (end < text.length && end - index < 4096 && !isBlank(text, end)) end += 1;
  const within = index - start;
  return !tokensOf(text.slice(start, end)).some((token) => token.start < within && within < token.end);
}

function isBlank(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code === 32 || (code >= 9 && code <= 13) || code === 160 || code === 0x2028 || code === 0x2029;
}

const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [...'аaеeоoрpсcуyхxіiјjѕsԁdһhӏlвbкkмmнhтtαaοoρpνvιiκkτtυuεeгr'.matchAll(/../gu)].map(([pair]) => [...pair] as [string, string]),
);

/** Lower case without invisible characters and with look-alike letters of other alphabets replaced by Latin ones. */
export function skeletonOf(token: string): string {
  const plain = token.normalize('NFKD').replace(/[\p{M}\u00AD\u200B-\u200D\u2060\uFEFF]/gu, '');
  return [...plain.toLowerCase()].map((letter) => LOOK_ALIKES[letter] ?? letter).join('');
}

const LATIN = /\p{Script=Latin}/u;
const OTHER_ALPHABET = /\p{Script=Cyrillic}|\p{Script=Greek}|[\u00AD\u200B-\u200D\u2060\uFEFF\uFF01-\uFF5E]/u;

/** Whether a token mixes Latin letters with look-alike alphabets or hides invisible characters. */
export function isDisguised(token: string): boolean {
  return /[\u00AD\u200B-\u200D\u2060\uFEFF\uFF01-\uFF5E]/u.test(token) || (LATIN.test(token) && OTHER_ALPHABET.test(token));
}
