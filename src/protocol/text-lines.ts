import type { LineRange } from './raw-path';

const QUOTE = 34;
const LETTER_N = 110;
const LETTER_U = 117;

/** Index after the closing quote of the JSON string that opens at `start`, or -1 when it never closes. */
export function endOfJsonString(source: string, start: number): number {
  let from = start + 1;
  for (;;) {
    const quote = source.indexOf('"', from);
    if (quote === -1) return -1;
    let back = quote - 1;
    while (source.charCodeAt(back) === 92) back -= 1;
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
 * are counted from 1; a text that ends with a line feed has no further, empty line. It answers null when the literal never
 * closes.
 */
export function locateLines(source: string, start: number, ranges: readonly LineRange[]): LocatedLines | null {
  const order = [...new Set(ranges.flatMap((range) => [range.from, range.to]))].sort((a, b) => a - b);
  const found = new Map<number, LineSpan>();
  let wanted = 0;
  const lineOrder = [...order, Number.POSITIVE_INFINITY];
  let next = lineOrder[0] as number;
  let line = 1;
  let position = start + 1;
  let lineStart = position;
  let quote = source.indexOf('"', position);
  while (wanted < order.length) {
    const escape = source.indexOf('\\', position);
    if (escape === -1 || quote < escape) {
      if (quote === -1) return null;
      if (line === next && (quote > lineStart || line === 1)) found.set(line, { start: lineStart, end: quote });
      return { spans: ranges.map((range) => spanOf(range, found)), end: quote + 1 };
    }
    const code = source.charCodeAt(escape + 1);
    position = escape + 2;
    if (code === LETTER_U && /^000a$/i.test(source.slice(position, position + 4))) position += 4;
    else if (code !== LETTER_N) {
      if (code === QUOTE) quote = source.indexOf('"', position);
      continue;
    }
    if (line === next) {
      found.set(line, { start: lineStart, end: escape });
      wanted += 1;
      next = lineOrder[wanted] as number;
    }
    line += 1;
    lineStart = position;
  }
  const end = endOfJsonString(source, position - 1);
  return end === -1 ? null : { spans: ranges.map((range) => spanOf(range, found)), end };
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
