import { DiagnosisError } from '../errors/diagnosis-error';
import { formatPointer, type LineRange } from './raw-path';
import { endOfJsonString, locateLines, type LineSpan } from './text-lines';

export type SourceKind = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array';

/** A scalar member of an object on the way to a place: its name and its source slice. */
interface ContextScalar {
  readonly name: string;
  readonly kind: SourceKind;
  readonly start: number;
  readonly end: number;
}

/** An object on the way from the root to a place, with those of its scalar members that were asked for. */
interface ContextObject {
  readonly pointer: string;
  readonly scalars: readonly ContextScalar[];
}

/** Where a value stands in the source text, and the objects it stands in, outermost first. */
export interface SourcePlace {
  readonly kind: SourceKind;
  readonly start: number;
  readonly end: number;
  readonly objects: readonly ContextObject[];
  /** Member names on the way, array indexes left out. */
  readonly names: readonly string[];
}

interface WantedNode {
  readonly children: Map<string, WantedNode>;
  wanted: boolean;
  place: SourcePlace | null;
  readonly ranges: LineRange[];
  spans: readonly (LineSpan | null)[];
}

/** Paths that one pass over a source text shall find. */
export class WantedPaths {
  readonly root: WantedNode = newNode();

  /** Adds a path; the answer reads what the pass found for it. Lines are asked for only where the place is a string. */
  add(tokens: readonly string[], lines: LineRange | null): () => { place: SourcePlace | null; span: LineSpan | null } {
    let node = this.root;
    for (const token of tokens) {
      let child = node.children.get(token);
      if (child === undefined) node.children.set(token, (child = newNode()));
      node = child;
    }
    node.wanted = true;
    const found = node;
    const index = lines === null ? -1 : node.ranges.push(lines) - 1;
    return () => ({ place: found.place, span: found.spans[index] ?? null });
  }
}

function newNode(): WantedNode {
  return { children: new Map(), wanted: false, place: null, ranges: [], spans: [] };
}

function corrupt(): never {
  throw new DiagnosisError('OUTPUT_CORRUPT', 'The stored output is no JSON text.');
}

function skipBlank(source: string, from: number): number {
  let at = from;
  for (;;) {
    const code = source.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at += 1;
  }
}

const CODE_KINDS: Readonly<Record<string, SourceKind>> = {
  '"': 'string',
  '{': 'object',
  '[': 'array',
  t: 'boolean',
  f: 'boolean',
  n: 'null',
};

function kindAt(source: string, at: number): SourceKind {
  const kind = CODE_KINDS[source.charAt(at)];
  if (kind !== undefined) return kind;
  const code = source.charCodeAt(at);
  return code === 45 || (code >= 48 && code <= 57) ? 'number' : corrupt();
}

/** Index after the value that starts at `at`; nothing of it is decoded. */
export function skipValue(source: string, at: number): number {
  const first = source.charCodeAt(at);
  if (first === 34) {
    const end = endOfJsonString(source, at);
    return end === -1 ? corrupt() : end;
  }
  if (first === 123 || first === 91) return skipContainer(source, at);
  let end = at;
  for (;;) {
    const code = source.charCodeAt(end);
    if (code === 44 || code === 125 || code === 93 || code === 32 || code === 10 || code === 13 || code === 9 || code !== code)
      break;
    end += 1;
  }
  return end === at ? corrupt() : end;
}

function skipContainer(source: string, start: number): number {
  let depth = 1;
  let at = start + 1;
  for (;;) {
    const code = source.charCodeAt(at);
    if (code === 34) {
      at = source.indexOf('"', at + 1) + 1;
      if (at === 0) return corrupt();
      while (source.charCodeAt(at - 2) === 92 && isEscapedQuote(source, at - 1)) {
        at = source.indexOf('"', at) + 1;
        if (at === 0) return corrupt();
      }
      continue;
    }
    at += 1;
    if (code === 123 || code === 91) depth += 1;
    else if (code === 125 || code === 93) {
      depth -= 1;
      if (depth === 0) return at;
    } else if (code !== code) return corrupt();
  }
}

function isEscapedQuote(source: string, quote: number): boolean {
  let back = quote - 1;
  while (source.charCodeAt(back) === 92) back -= 1;
  return (quote - back) % 2 === 0;
}

function decodeString(source: string, start: number, end: number): string {
  const inside = source.slice(start + 1, end - 1);
  if (!inside.includes('\\')) return inside;
  try {
    return JSON.parse(source.slice(start, end)) as string;
  } catch {
    return corrupt();
  }
}

/** Text of a scalar place: a string decoded, everything else as it is written in the source. */
export function scalarText(source: string, place: Pick<SourcePlace, 'kind' | 'start' | 'end'>): string {
  return place.kind === 'string' ? decodeString(source, place.start, place.end) : source.slice(place.start, place.end);
}

/** Walks the members of the object at `at`; `member` answers the index after the value that it was given. */
export function walkObject(source: string, at: number, member: (name: string, valueAt: number) => number): number {
  let position = skipBlank(source, at + 1);
  if (source.charCodeAt(position) === 125) return position + 1;
  for (;;) {
    if (source.charCodeAt(position) !== 34) corrupt();
    const keyEnd = endOfJsonString(source, position);
    if (keyEnd === -1) corrupt();
    const name = decodeString(source, position, keyEnd);
    position = skipBlank(source, keyEnd);
    if (source.charCodeAt(position) !== 58) corrupt();
    position = skipBlank(source, member(name, skipBlank(source, position + 1)));
    const code = source.charCodeAt(position);
    if (code === 125) return position + 1;
    if (code !== 44) corrupt();
    position = skipBlank(source, position + 1);
  }
}

function walkArray(source: string, at: number, element: (index: number, valueAt: number) => number): number {
  let position = skipBlank(source, at + 1);
  if (source.charCodeAt(position) === 93) return position + 1;
  for (let index = 0; ; index += 1) {
    position = skipBlank(source, element(index, position));
    const code = source.charCodeAt(position);
    if (code === 93) return position + 1;
    if (code !== 44) corrupt();
    position = skipBlank(source, position + 1);
  }
}

/**
 * Finds all wanted paths below the value at `at` in one pass, own members only (an index is `0` or has no leading zero), and
 * notes the scalar members named in `contextNames` of every object on the way. Subtrees that nobody asked for are skipped.
 * Answers the index after the value. Throws `DiagnosisError` OUTPUT_CORRUPT when the text is no JSON.
 */
export function findPaths(source: string, at: number, wanted: WantedPaths, contextNames: ReadonlySet<string>): number {
  const visit = (
    start: number,
    node: WantedNode,
    pointer: string,
    objects: readonly ContextObject[],
    names: readonly string[],
  ): number => {
    const kind = kindAt(source, start);
    let end: number;
    if (kind === 'object' && node.children.size > 0) {
      const scalars: ContextScalar[] = [];
      const own = [...objects, { pointer, scalars }];
      end = walkObject(source, start, (name, valueAt) => {
        const child = node.children.get(name);
        const valueEnd =
          child === undefined
            ? skipValue(source, valueAt)
            : visit(valueAt, child, pointer + formatPointer([name]), own, [...names, name]);
        if (contextNames.has(name)) scalars.push({ name, kind: kindAt(source, valueAt), start: valueAt, end: valueEnd });
        return valueEnd;
      });
    } else if (kind === 'array' && node.children.size > 0) {
      end = walkArray(source, start, (index, valueAt) => {
        const child = node.children.get(String(index));
        return child === undefined ? skipValue(source, valueAt) : visit(valueAt, child, `${pointer}/${index}`, objects, names);
      });
    } else if (kind === 'string' && node.ranges.length > 0) {
      const located = locateLines(source, start, node.ranges);
      if (located === null) return corrupt();
      node.spans = located.spans;
      end = located.end;
    } else {
      end = skipValue(source, start);
    }
    if (node.wanted) node.place = { kind, start, end, objects, names };
    return end;
  };
  return visit(skipBlank(source, at), wanted.root, '', [], []);
}

/** Walks the members of a stored output's envelope; `member` answers the index after the value. It refuses anything after it. */
export function walkEnvelope(source: string, member: (name: string, valueAt: number) => number): void {
  const at = skipBlank(source, 0);
  if (source.charCodeAt(at) !== 123) corrupt();
  if (skipBlank(source, walkObject(source, at, member)) < source.length) corrupt();
}

/**
 * Values of all members with one of these names, wherever they stand: strings, and the strings of an array. Finds the names
 * by native search, so that a large text is not parsed for it.
 */
export function stringsOfMembers(source: string, names: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const name of names) {
    const key = JSON.stringify(name);
    for (let at = source.indexOf(key); at !== -1; at = source.indexOf(key, at + key.length)) {
      let before = at - 1;
      while (before >= 0 && ' \n\r\t'.includes(source.charAt(before))) before -= 1;
      const previous = source.charCodeAt(before);
      if (previous !== 123 && previous !== 44) continue;
      let position = skipBlank(source, at + key.length);
      if (source.charCodeAt(position) !== 58) continue;
      position = skipBlank(source, position + 1);
      const code = source.charCodeAt(position);
      if (code === 34) found.add(decodeString(source, position, skipValue(source, position)));
      else if (code === 91) {
        walkArray(source, position, (_index, valueAt) => {
          const end = skipValue(source, valueAt);
          if (source.charCodeAt(valueAt) === 34) found.add(decodeString(source, valueAt, end));
          return end;
        });
      }
    }
  }
  found.delete('');
  return found;
}
