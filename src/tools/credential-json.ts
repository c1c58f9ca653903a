import { isHarmlessValue, kindOfName, type CredentialKind } from './credential-names';
import type { Mask } from './credential-patterns';

const SCALAR = /[^\s,}\]]+/y;

interface Frame {
  readonly isObject: boolean;
  /** Kind that the name of this container announced for the values in it. */
  readonly inherited: CredentialKind | null;
  /** Kind that the last name in this object announced. */
  named: CredentialKind | null;
  /** Kind that a sibling `name` or `key` announced for `value`, as in lists of attributes. */
  paired: CredentialKind | null;
  lastName: string;
  expectsName: boolean;
}

/**
 * Walks valid JSON and takes secrets out of it without touching anything else: names announce the secrets beneath them, and
 * `maskText` looks into every string. Order, white space and numbers stay as they are written; the result is valid JSON.
 */
export function maskJson(json: string, mask: Mask, maskText: (text: string) => string): string {
  const out: string[] = [];
  const frames: Frame[] = [];
  let from = 0;
  let at = 0;
  const replace = (start: number, end: number, by: string): void => {
    out.push(json.slice(from, start), by);
    from = end;
  };
  while (at < json.length) {
    const character = json[at] as string;
    const frame = frames[frames.length - 1];
    if (character === '"') {
      const literal = json.slice(at, literalEnd(json, at));
      const text = decoded(literal);
      const isName = frame !== undefined && frame.isObject && frame.expectsName;
      const kind = isName ? null : announced(frame);
      const masked = kind !== null ? maskValue(text, kind, mask, maskText) : maskText(text);
      if (masked !== text) replace(at, at + literal.length, JSON.stringify(masked));
      if (isName) nameRead(frame, text);
      else if (frame !== undefined && frame.isObject && /^(?:name|key)$/i.test(frame.lastName)) frame.paired = kindOfName(text);
      at += literal.length;
    } else if (character === '{' || character === '[') {
      const inherited = character === '[' || frame?.paired ? announced(frame) : null;
      const isObject = character === '{';
      frames.push({ isObject, inherited, named: null, paired: null, lastName: '', expectsName: isObject });
      at += 1;
    } else if (character === '}' || character === ']') {
      frames.pop();
      at += 1;
    } else if (character === ',') {
      if (frame !== undefined) frame.expectsName = frame.isObject;
      at += 1;
    } else if (character === ':' || /\s/.test(character)) at += 1;
    else {
      SCALAR.lastIndex = at;
      const scalar = SCALAR.exec(json)?.[0] ?? character;
      const kind = announced(frame);
      if (kind !== null && !isHarmlessValue(scalar, kind)) replace(at, at + scalar.length, JSON.stringify(mask(kind, scalar)));
      at += scalar.length;
    }
  }
  out.push(json.slice(from));
  return out.join('');
}

function announced(frame: Frame | undefined): CredentialKind | null {
  if (frame === undefined) return null;
  return frame.named ?? frame.inherited;
}

function nameRead(frame: Frame, name: string): void {
  frame.expectsName = false;
  frame.lastName = name;
  frame.named = kindOfName(name) ?? (frame.paired !== null && /^value/i.test(name) ? frame.paired : null);
}

function maskValue(text: string, kind: CredentialKind, mask: Mask, maskText: (text: string) => string): string {
  if (isHarmlessValue(text, kind)) return text;
  if (kind === 'authorization') {
    const scheme = /^[A-Za-z][A-Za-z0-9-]{2,23}\s{1,3}(?=\S)/.exec(text)?.[0] ?? '';
    const rest = text.slice(scheme.length);
    return scheme !== '' && isHarmlessValue(rest, kind) ? text : scheme + mask(kind, rest);
  }
  // What looks like JSON beneath a telling name is looked into rather than hidden whole.
  if (/^\s*[[{]/.test(text) && !/^\[redacted:/.test(text)) {
    const looked = maskText(text);
    if (looked !== text) return looked;
  }
  return mask(kind, text);
}

function decoded(literal: string): string {
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
}

/** End of the string literal that starts at `at`, behind its closing quote. */
function literalEnd(json: string, at: number): number {
  for (let quote = json.indexOf('"', at + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (json[quote - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return json.length;
}
