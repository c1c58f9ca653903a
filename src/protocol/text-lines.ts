import type { LineRange } from './raw-path';

const BACKSLASH = 92;
/** The `n` of an escaped line feed. */
const LINE_FEED_LETTER = 110;

/** Index after the closing quote of the JSON string that opens at `start`, or -1 when it never closes. */
export function endOfJsonString(source: string, start: number): number {
  let from = start + 1;
  for (;;) {
    const quote = source.indexOf('"', from);
    if (quote === -1) return -1;
    let back = quote - 1;
    while (source.charCodeAt(back) === BACKSLASH) back -= 1;
    if ((quote - back) % 2 === 1) return quote + 1;
    from = quote + 1;
  }
}

/** Where lines of a string literal stand in its source: still escaped, without the last line's end. */
export interface LineSpan {
  readonly start: number;
  readonly end: number;
}

export interface LocatedLines {
  /** Aligned with the asked ranges; null for a range that the text does not have. */
  readonly spans: readonly (LineSpan | null)[];
  /** Index after the closing quote. */
  readonly end: number;
}

/**
 * Finds line ranges in a JSON string literal in one pass over its source, without decoding it. Lines end at a line feed and
 * are counted from 1 (written `\\n`, as `JSON.stringify` does); a text that ends with a line feed has no further, empty
 * line. It answers null when the literal never closes.
 */
export function locateLines(source: string, start: number, ranges: readonly LineRange[]): LocatedLines | null {
  const order = [...new Set(ranges.flatMap((range) => [range.from, range.to]))].sort((a, b) => a - b);
  const found = new Map<number, LineSpan>();
  let wanted = 0;
  let next = order[0] ?? -1;
  let line = 1;
  let position = start + 1;
  let lineStart = position;
  const quote = closingQuote(source, position);
  if (quote === -1) return null;
  while (next !== -1) {
    // One character is looked for, because engines find that several times faster than two; what it escapes is stepped over.
    const escape = source.indexOf('\\', position);
    if (escape === -1 || escape > quote) {
      if (line === next && (quote > lineStart || line === 1)) found.set(line, { start: lineStart, end: quote });
      break;
    }
    position = escape + 2;
    if (source.charCodeAt(escape + 1) !== LINE_FEED_LETTER) continue;
    if (line === next) {
      found.set(line, { start: lineStart, end: escape });
      wanted += 1;
      next = wanted < order.length ? (order[wanted] as number) : -1;
    }
    line += 1;
    lineStart = position;
  }
  return { spans: ranges.map((range) => spanOf(range, found)), end: quote + 1 };
}

/** Index of the quote that closes a string literal, looked for from inside of it; -1 when there is none. */
function closingQuote(source: string, from: number): number {
  const end = endOfJsonString(source, from - 1);
  return end === -1 ? -1 : end - 1;
}

function spanOf(range: LineRange, found: ReadonlyMap<number, LineSpan>): LineSpan | null {
  const first = found.get(range.from);
  const last = found.get(range.to);
  return first === undefined || last === undefined ? null : { start: first.start, end: last.end };
}

/** Decodes a slice of a JSON string literal's inside; carriage returns before a line's end are dropped. */
export function decodeLines(source: string, span: LineSpan): string {
  return (JSON.parse(`"${source.slice(span.start, span.end)}"`) as string).replace(/\r(?=\n|$)/g, '');
}
