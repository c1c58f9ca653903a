/** Lines of a text, counted from 1, both ends included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** A parsed `raw_path`: the reference tokens of an RFC 6901 pointer, and a line range within the string they lead to. */
export interface RawPath {
  readonly tokens: readonly string[];
  readonly lines: LineRange | null;
}

const LINE_SUFFIX = /#L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?$/;
const BAD_ESCAPE = /~(?![01])/;

/**
 * Reads a `raw_path`: an RFC 6901 pointer, or an RFC 9535 singular query that starts with `$`, either of them with an
 * optional `#L12-L14` for lines of the string it leads to (alone, when `data` itself is a text). A pointer whose last key
 * ends like a line range is written as a query (`$['a#L3']`). It refuses everything else, negative indexes included, because
 * they have no pointer: null.
 */
export function parseRawPath(rawPath: string): RawPath | null {
  let path = rawPath;
  let lines: LineRange | null = null;
  const suffix = LINE_SUFFIX.exec(rawPath);
  if (suffix !== null) {
    lines = { from: Number(suffix[1]), to: Number(suffix[2] ?? suffix[1]) };
    if (lines.from > lines.to) return null;
    path = rawPath.slice(0, suffix.index);
  }
  const tokens = path.startsWith('$') ? parseSingularQuery(path) : parsePointer(path);
  return tokens === null ? null : { tokens, lines };
}

/** The reference tokens of an RFC 6901 pointer, or null when it is none. */
function parsePointer(pointer: string): string[] | null {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || BAD_ESCAPE.test(pointer)) return null;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replace(/~1/g, '/').replace(/~0/g, '~'));
}

/** Writes reference tokens as an RFC 6901 pointer. */
export function formatPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
}

const DOT_NAME =
  /\.([A-Za-z_\u0080-\uD7FF\uE000-\uFFFF\u{10000}-\u{10FFFF}][\w\u0080-\uD7FF\uE000-\uFFFF\u{10000}-\u{10FFFF}]*)/uy;
const INDEX = /\[[ \t\n\r]*(0|[1-9]\d{0,15})[ \t\n\r]*\]/y;
const SINGLE_QUOTED = /\[[ \t\n\r]*'((?:[^'\\\u0000-\u001F]|\\(?:[bfnrt/\\']|u[0-9A-Fa-f]{4}))*)'[ \t\n\r]*\]/y;
const DOUBLE_QUOTED = /\[[ \t\n\r]*"((?:[^"\\\u0000-\u001F]|\\(?:[bfnrt/\\"]|u[0-9A-Fa-f]{4}))*)"[ \t\n\r]*\]/y;
const BLANK = /[ \t\n\r]*/y;

function parseSingularQuery(query: string): string[] | null {
  const tokens: string[] = [];
  let position = 1;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = position;
    const match = pattern.exec(query);
    if (match === null) return null;
    position = pattern.lastIndex;
    return match[1] ?? '';
  };
  while (position < query.length) {
    BLANK.lastIndex = position;
    BLANK.exec(query);
    const next = BLANK.lastIndex;
    if (next >= query.length) return null;
    position = next;
    const plain = take(DOT_NAME) ?? take(INDEX);
    const single = plain === null ? take(SINGLE_QUOTED) : null;
    const double = plain === null && single === null ? take(DOUBLE_QUOTED) : null;
    if (plain !== null) tokens.push(plain);
    else if (single !== null) tokens.push(unescapeName(single.replace(/\\'/g, "'").replace(/"/g, '\\"')));
    else if (double !== null) tokens.push(unescapeName(double));
    else return null;
  }
  return tokens;
}

function unescapeName(name: string): string {
  return JSON.parse(`"${name}"`) as string;
}
