import { MARK_AT, isHarmlessValue, isSentenceWord, kindOfName, type CredentialKind } from './credential-names';
import type { Mask } from './credential-patterns';

/** A telling word, an optional closing quote of the name, and what separates a name from its value. */
const NAME_END =
  /(?:passw(?:or)?d|passphrase|passcode|pwd|pass|pw|secret|token|key(?:[_-]?id)?|authorization|cookie|jsessionid|phpsessid|connect\.sid|signature|credential|hash)((\\{0,15})["'`])?(\]?\s{0,3}(?:=>|:=|==?|:(?!\/\/)|%3D|>)\s{0,3})/gi;
const NAME_CHARACTER = /[A-Za-z0-9_.-]/;
const MAX_NAME = 96;
const MAX_BARE_VALUE = 8_192;
const MAX_QUOTED_VALUE = 32_768;
const OPENING_QUOTE = /(\\{0,15})(["'`])/y;
const BARE_SCALAR = /[^\s,}\]"'\\[{]{1,8192}/y;
const NEXT_PAIR = /\s{0,2}[A-Za-z_][\w.-]{0,63}\\{0,15}["']?\s{0,2}[=:]/y;
const SCHEME = /(?:Bearer|Basic|Token|ApiKey|Api-Key|Negotiate|NTLM|GoogleLogin|[A-Za-z][A-Za-z0-9-]{2,23})(?:\s{1,3}|%20)/y;
const HEADER_PARAMETERS =
  /[\w-]{1,40}=(?:\\{0,15}"[^"\n]{0,2048}"|[^\s,;"']{1,2048})(?:[,;]\s{0,2}[\w-]{1,40}(?:=(?:\\{0,15}"[^"\n]{0,2048}"|[^\s,;"'\\]{0,2048}))?){0,64}/y;

/** Takes out the values of names that announce a secret: logfmt, query strings, headers, JSON within text, YAML, XML. */
export function maskPairs(text: string, mask: Mask): string {
  let out = '';
  let from = 0;
  NAME_END.lastIndex = 0;
  for (let match = NAME_END.exec(text); match !== null; match = NAME_END.exec(text)) {
    const nameEnd = match.index + match[0].length - (match[1]?.length ?? 0) - (match[3]?.length ?? 0);
    const name = nameEndingAt(text, nameEnd);
    const kind = kindOfName(name);
    if (kind === null || text.endsWith('[redacted:', nameEnd - name.length)) continue;
    const isQuotedName = match[1] !== undefined;
    const at = match.index + match[0].length;
    const separator = (match[3] ?? '').trim();
    if (separator === '>' && text[nameEnd - name.length - 1] !== '<') continue;
    if (isEmptyBefore(text, at, match[3] ?? '')) continue;
    const value = valueAt(text, at, kind, { isQuotedName, separator, isSentence: /^:\s/.test(match[3] ?? '') && !isQuotedName });
    if (value === null) continue;
    const secret = text.slice(value.from, value.to);
    const mark = mask(kind, secret);
    // A bare value of a quoted name is a JSON number or a word: its mark needs the quotes that its name has.
    const quote = isQuotedName && value.isBare ? (match[1] ?? '') : '';
    out += text.slice(from, value.from) + quote + mark + quote;
    from = value.to;
    NAME_END.lastIndex = value.to;
  }
  return out + text.slice(from);
}

/** Whether the value is empty and the next pair begins: `password= user=bob`, or a line that ends with the name. */
function isEmptyBefore(text: string, at: number, separator: string): boolean {
  if (!/^==?\s/.test(separator) && !separator.includes('\n')) return false;
  NEXT_PAIR.lastIndex = at;
  return NEXT_PAIR.test(text);
}

interface Found {
  readonly from: number;
  readonly to: number;
  readonly isBare: boolean;
}

interface Place {
  readonly isQuotedName: boolean;
  readonly isSentence: boolean;
  readonly separator: string;
}

function nameEndingAt(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start < MAX_NAME && NAME_CHARACTER.test(text[start - 1] as string)) start -= 1;
  const name = text.slice(start, end);
  // `\nPASSWORD=` in escaped text: the letter belongs to the line break.
  return text[start - 1] === '\\' && /^[nrt]/.test(name) ? name.slice(1) : name;
}

function valueAt(text: string, at: number, kind: CredentialKind, place: Place): Found | null {
  OPENING_QUOTE.lastIndex = at;
  const quote = OPENING_QUOTE.exec(text);
  if (quote !== null) {
    const slashes = (quote[1] ?? '').length;
    const from = at + quote[0].length;
    const to = quotedEnd(text, from, quote[2] as string, slashes);
    if (to !== null) return secretIn(text, from, to, kind, false);
    return place.isQuotedName ? null : secretIn(text, from, bareEnd(text, from), kind, true);
  }
  if (place.isQuotedName && place.separator === ':') {
    BARE_SCALAR.lastIndex = at;
    const scalar = BARE_SCALAR.exec(text)?.[0] ?? '';
    return secretIn(text, at, at + scalar.length, kind, true);
  }
  if (place.separator === '>') return secretIn(text, at, bareEnd(text, at), kind, true);
  if (kind === 'authorization') return authorizationAt(text, at);
  if (kind === 'cookie') return cookieAt(text, at, place);
  const to = bareEnd(text, at);
  const word = text.slice(at, to);
  if (place.isSentence && isSentenceWord(word, kind, /^\s*(?:$|[\r\n"'\\,])/.test(text.slice(to, to + 4)))) return null;
  return secretIn(text, at, to, kind, true);
}

function secretIn(text: string, from: number, to: number, kind: CredentialKind, isBare: boolean): Found | null {
  const value = text.slice(from, to);
  if (isHarmlessValue(value, kind)) return null;
  if (kind === 'authorization') {
    SCHEME.lastIndex = 0;
    const scheme = SCHEME.exec(value)?.[0] ?? '';
    if (scheme !== '' && scheme.length < value.length) return { from: from + scheme.length, to, isBare };
  }
  return { from, to, isBare };
}

function authorizationAt(text: string, at: number): Found | null {
  SCHEME.lastIndex = at;
  const scheme = SCHEME.exec(text)?.[0] ?? '';
  const from = at + scheme.length;
  HEADER_PARAMETERS.lastIndex = from;
  const parameters = scheme === '' ? null : HEADER_PARAMETERS.exec(text);
  const to = parameters === null ? bareEnd(text, from) : from + trimSlashes(parameters[0]).length;
  const secret = text.slice(from, to);
  const isKnown = /^(?:bearer|basic|token|api-?key|negotiate|ntlm)\s/i.test(scheme);
  // "authorization: denied by policy" is a sentence.
  if (/^[A-Za-z-]{1,15}$/.test(secret) && (!isKnown || isSentenceWord(secret, 'token', false))) return null;
  return secretIn(text, from, to, 'token', true);
}

function cookieAt(text: string, at: number, place: Place): Found | null {
  HEADER_PARAMETERS.lastIndex = at;
  const pairs = HEADER_PARAMETERS.exec(text);
  if (pairs !== null) return secretIn(text, at, at + trimSlashes(pairs[0]).length, 'cookie', true);
  return place.isSentence ? null : secretIn(text, at, bareEnd(text, at), 'cookie', true);
}

function trimSlashes(text: string): string {
  return text.replace(/\\+$/, '');
}

/**
 * Where a quoted value ends whose opening quote stands behind `slashes` backslashes (1 in JSON within JSON, 3 one level
 * deeper). A quote behind fewer ends the text around it, which ends the value too. Null when the line ends before.
 */
function quotedEnd(text: string, from: number, quote: string, slashes: number): number | null {
  let run = 0;
  const limit = Math.min(text.length, from + MAX_QUOTED_VALUE);
  for (let at = from; at < limit; at += 1) {
    const character = text[at];
    if (character === '\\') run += 1;
    else if (character === '\n') return null;
    else {
      if (character === quote && (run < slashes || (run - slashes) % (2 * (slashes + 1)) === 0))
        return at - Math.min(run, slashes);
      run = 0;
    }
  }
  return null;
}

/** Where a value without quotes ends: at white space, a quote, an escaped line break, or punctuation that starts something else. */
function bareEnd(text: string, from: number): number {
  const limit = Math.min(text.length, from + MAX_BARE_VALUE);
  MARK_AT.lastIndex = from;
  let at = from + (MARK_AT.exec(text)?.[0].length ?? 0);
  while (at < limit) {
    const character = text[at] as string;
    if (/[\s"<`]/.test(character)) break;
    if (character === '\\') {
      const run = /\\*/.exec(text.slice(at, at + 64))?.[0].length ?? 1;
      const next = text.slice(at + run, at + run + 5);
      if (next === '' || /^["'nrt]|^u00(?:26|3[ce]|22|27|0a)/i.test(next)) break;
      at += run + 1;
    } else if (/[,;&)}\]|']/.test(character) && startsSomethingElse(text, at)) break;
    else at += 1;
  }
  return Math.min(at, text.length);
}

function startsSomethingElse(text: string, at: number): boolean {
  const next = text[at + 1];
  if (next === undefined || /[^A-Za-z0-9_%!@#$^*+~]/.test(next)) return true;
  NEXT_PAIR.lastIndex = at + 1;
  return /[,;&|]/.test(text[at] as string) && NEXT_PAIR.test(text);
}
