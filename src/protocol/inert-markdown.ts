const RISKY_TOKEN = /:\/|^\W*www\.|@|(?:mailto|xmpp|javascript|data|file):|[\p{L}\p{N}]\.[\p{L}]{2,}/iu;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;
/** What stands between curly marks, with marks inside that pair up. */
const QUOTATION = /\u201C((?:[^\u201C\u201D]|\u201C[^\u201C\u201D]*\u201D)+)\u201D/u;
const LINE_START = /^(?:[#+=>:|~-]|\d+(?=[.)]))/;

/**
 * Foreign text as one line of Markdown that shows the text and does nothing: no link, image, HTML, heading, list, emphasis,
 * code fence or automatic link comes of it. Line breaks, control and invisible characters show as visible signs.
 */
export function inertText(text: string): string {
  return inertInline(text).trim().replace(LINE_START, escapeLineStart);
}

/** As `inertText`, for a text that does not stand at the start of a line; blanks at its ends are kept. */
export function inertInline(text: string): string {
  return visible(text)
    .split(/( +)/)
    .map((token) => (RISKY_TOKEN.test(token) ? codeSpan(token) : escapeToken(token)))
    .join('');
}

/**
 * A sentence about telemetry as one inert line: what it quotes in curly marks stands whole and verbatim in a code span of its
 * own, everything else as of `inertText`.
 */
export function inertSentence(text: string): string {
  const parts = text
    .trim()
    .split(QUOTATION)
    .map((part, index) => (index % 2 === 1 ? codeSpan(part) : inertInline(part)))
    .filter((part) => part !== '');
  // Two spans side by side would be read as one.
  const line = parts.reduce((left, right) => left + (left.endsWith('`') && right.startsWith('`') ? ' ' : '') + right, '');
  return line.replace(LINE_START, escapeLineStart);
}

/** Foreign text verbatim in a code span, on one line; control and invisible characters show as visible signs. */
export function codeSpan(text: string): string {
  const shown = visible(text);
  const longestRun = Math.max(0, ...Array.from(shown.matchAll(/`+/g), (run) => run[0].length));
  const fence = '`'.repeat(longestRun + 1);
  const pad = /^[` ]|[` ]$/.test(shown) ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** The head of a text of more than `limit` characters, and how many were left out; it never splits a surrogate pair. */
export function headOf(text: string, limit: number): { readonly head: string; readonly omitted: number } {
  const characters = Array.from(text);
  return characters.length <= limit
    ? { head: text, omitted: 0 }
    : { head: characters.slice(0, limit).join(''), omitted: characters.length - limit };
}

function visible(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(INVISIBLE, (char) => {
    const code = char.codePointAt(0) as number;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '\u2421' : `(U+${code.toString(16).toUpperCase().padStart(4, '0')})`;
  });
}

function escapeToken(token: string): string {
  return token
    .replace(/[\\`*[\]~|$]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/&(?=[#A-Za-z])/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;');
}

function escapeLineStart(start: string): string {
  return /^\d/.test(start) ? `${start}\\` : `\\${start}`;
}
