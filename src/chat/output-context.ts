import { WantedPaths, findPaths, scalarText, skipValue, walkObject, type SourcePlace } from '../protocol/json-source';
import { parseRawPath, type LineRange } from '../protocol/raw-path';
import type { ContextLine } from './run-views';

/** Lines shown before and after a cited place. */
const LINES_AROUND = 3;
/** Largest container around a place that is laid out, in characters; a larger one is shown by the place alone. */
const MAX_HOLDER_CHARS = 64 * 1024;
/** Longest line that is shown whole. */
const MAX_LINE_CHARS = 400;

const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * The lines around a cited place of a stored output. A place in JSON is shown within the row that holds it, one member a
 * line, letter by letter as stored; lines of a text within their neighbours. It never re-reads a number.
 * @param output a stored `ToolOutput` as text
 * @param rawPath relative to its `data`
 * @returns null when there is no such place; throws `DiagnosisError` OUTPUT_CORRUPT when the text is no JSON
 */
export function contextOf(output: string, rawPath: string): ContextLine[] | null {
  const path = parseRawPath(rawPath);
  if (path === null) return null;
  const tokens = ['data', ...path.tokens];
  const wanted = new WantedPaths();
  const found = wanted.add(tokens, null);
  const holder = wanted.add(tokens.slice(0, -1), null);
  findPaths(output, 0, wanted, NO_NAMES);
  const place = found().place;
  if (place === null) return null;
  if (path.lines !== null) return place.kind === 'string' ? neighbours(scalarText(output, place), path.lines) : null;
  return rowAround(output, place, path.tokens.length === 0 ? null : holder().place);
}

function neighbours(text: string, cited: LineRange): ContextLine[] | null {
  const all = text.split('\n');
  if (cited.to > all.length) return null;
  const from = Math.max(1, cited.from - LINES_AROUND);
  return all.slice(from - 1, cited.to + LINES_AROUND).map((line, index) => ({
    number: from + index,
    text: shorten(line),
    matched: from + index >= cited.from && from + index <= cited.to,
  }));
}

function rowAround(output: string, place: SourcePlace, holder: SourcePlace | null): ContextLine[] {
  if (holder === null || holder.end - holder.start > MAX_HOLDER_CHARS) {
    return [
      {
        number: 1,
        text: shorten(output.slice(place.start, Math.min(place.end, place.start + MAX_LINE_CHARS + 1))),
        matched: true,
      },
    ];
  }
  const rows = layOut(output, holder);
  const cited = rows.findIndex((row) => row.valueAt === place.start);
  const from = Math.max(0, cited - LINES_AROUND);
  return rows.slice(from, cited + LINES_AROUND + 1).map((row, index) => ({
    number: from + index + 1,
    text: shorten(row.text),
    matched: from + index === cited,
  }));
}

/** One member or element a line; deeper values stay on their line. */
function layOut(output: string, holder: SourcePlace): { readonly text: string; readonly valueAt: number }[] {
  const members: { readonly text: string; readonly valueAt: number }[] = [];
  if (holder.kind === 'object') {
    walkObject(output, holder.start, (name, valueAt) => {
      const end = skipValue(output, valueAt);
      members.push({ text: `${JSON.stringify(name)}: ${output.slice(valueAt, end)}`, valueAt });
      return end;
    });
  } else {
    let at = skipBlank(output, holder.start + 1);
    while (output[at] !== ']') {
      const end = skipValue(output, at);
      members.push({ text: output.slice(at, end), valueAt: at });
      at = skipBlank(output, end);
      if (output[at] === ',') at = skipBlank(output, at + 1);
    }
  }
  return [
    { text: output[holder.start] as string, valueAt: -1 },
    ...members.map(({ text, valueAt }, index) => ({ text: `  ${text}${index < members.length - 1 ? ',' : ''}`, valueAt })),
    { text: output[holder.end - 1] as string, valueAt: -1 },
  ];
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text.charAt(at))) at += 1;
  return at;
}

function shorten(text: string): string {
  return text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text;
}
