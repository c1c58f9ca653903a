/** Deepest nesting of objects and arrays that a document may have. */
export const MAX_JSON_DEPTH = 64;

/** Where a strict JSON object ends (exclusive), or why the text at its start is none. */
export type JsonObjectExtent = { readonly end: number } | { readonly problem: string };

class ScanProblem extends Error {}

const SIMPLE_ESCAPES = '"\\/bfnrt';
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const FOUR_HEX = /^[0-9a-fA-F]{4}$/;
const LITERALS = ['true', 'false', 'null'] as const;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/**
 * Finds the extent of the JSON object that starts at `start`, by RFC 8259 to the letter. It repairs nothing and refuses
 * what `JSON.parse` lets through: keys that occur twice in one object (compared after their escapes), `__proto__`, a
 * `prototype` under `constructor`, lone surrogates, numbers too large for a finite double, nesting beyond `MAX_JSON_DEPTH`.
 */
export function scanJsonObject(text: string, start: number): JsonObjectExtent {
  try {
    return { end: new Scanner(text).object(start, 1) };
  } catch (thrown) {
    if (thrown instanceof ScanProblem) return { problem: thrown.message };
    throw thrown;
  }
}

class Scanner {
  constructor(private readonly text: string) {}

  object(start: number, depth: number, underConstructor = false): number {
    this.checkDepth(depth);
    let at = this.blanks(start + 1);
    if (this.text[at] === '}') return at + 1;
    const keys = new Set<string>();
    for (;;) {
      if (this.text[at] !== '"') throw this.unexpected(at);
      const keyEnd = this.string(at);
      const key = JSON.parse(this.text.slice(at, keyEnd)) as string;
      if (key === '__proto__' || (underConstructor && key === 'prototype'))
        throw new ScanProblem('a key that reaches a prototype');
      if (keys.has(key)) throw new ScanProblem('a key occurs twice in one object');
      keys.add(key);
      at = this.blanks(keyEnd);
      if (this.text[at] !== ':') throw this.unexpected(at);
      at = this.blanks(this.value(this.blanks(at + 1), depth, key === 'constructor'));
      if (this.text[at] === '}') return at + 1;
      if (this.text[at] !== ',') throw this.unexpected(at);
      at = this.blanks(at + 1);
    }
  }

  private array(start: number, depth: number): number {
    this.checkDepth(depth);
    let at = this.blanks(start + 1);
    if (this.text[at] === ']') return at + 1;
    for (;;) {
      at = this.blanks(this.value(at, depth, false));
      if (this.text[at] === ']') return at + 1;
      if (this.text[at] !== ',') throw this.unexpected(at);
      at = this.blanks(at + 1);
    }
  }

  private value(at: number, depth: number, underConstructor: boolean): number {
    switch (this.text[at]) {
      case '{':
        return this.object(at, depth + 1, underConstructor);
      case '[':
        return this.array(at, depth + 1);
      case '"':
        return this.string(at);
      default: {
        const literal = LITERALS.find((word) => this.text.startsWith(word, at));
        return literal === undefined ? this.number(at) : at + literal.length;
      }
    }
  }

  private number(at: number): number {
    NUMBER.lastIndex = at;
    const match = NUMBER.exec(this.text);
    if (match === null) throw this.unexpected(at);
    if (!Number.isFinite(Number(match[0]))) throw new ScanProblem('a number is too large');
    return at + match[0].length;
  }

  private string(start: number): number {
    let escaped = false;
    for (let at = start + 1; at < this.text.length; at += 1) {
      const char = this.text[at] as string;
      if (char === '"') {
        const source = this.text.slice(start, at + 1);
        if (LONE_SURROGATE.test(escaped ? (JSON.parse(source) as string) : source))
          throw new ScanProblem('a lone surrogate in a string');
        return at + 1;
      }
      if (char < ' ') throw new ScanProblem('a control character in a string');
      if (char !== '\\') continue;
      escaped = true;
      at += 1;
      if (this.text[at] === 'u') {
        if (!FOUR_HEX.test(this.text.slice(at + 1, at + 5))) throw new ScanProblem('a bad escape in a string');
        at += 4;
      } else if (!SIMPLE_ESCAPES.includes(this.text[at] ?? 'end')) {
        throw new ScanProblem('a bad escape in a string');
      }
    }
    throw new ScanProblem('a string does not end');
  }

  private blanks(start: number): number {
    let at = start;
    for (let char = this.text[at]; char === ' ' || char === '\n' || char === '\r' || char === '\t'; char = this.text[at]) at += 1;
    return at;
  }

  private checkDepth(depth: number): void {
    if (depth > MAX_JSON_DEPTH) throw new ScanProblem(`nesting is deeper than ${MAX_JSON_DEPTH}`);
  }

  private unexpected(at: number): ScanProblem {
    return new ScanProblem(at >= this.text.length ? 'the object does not end' : `not JSON at character ${at}`);
  }
}
