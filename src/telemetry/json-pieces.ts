const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const NOT_ASCII = 0x80;
const MAX_KEY = 64;

/** A value that is cut out of a document: its members by name, `*` for each element of an array. */
export interface PiecePath {
  readonly kind: string;
  readonly path: readonly string[];
}

/** The text of one value, and the number of the container that owns it. */
export interface JsonPiece {
  readonly kind: string;
  readonly owner: number;
  readonly text: string;
}

interface PathNode {
  readonly next: Map<string, PathNode>;
  kind: string | null;
  isOwner: boolean;
}

interface Level {
  readonly node: PathNode;
  readonly isArray: boolean;
  readonly owner: number;
}

function newNode(): PathNode {
  return { next: new Map(), kind: null, isOwner: false };
}

/**
 * Cuts values out of JSON documents that come in pieces of bytes, one document after another or each on a line, so that no
 * document is ever in memory whole. Nothing is checked but that brackets and quotes close: whether a piece is valid JSON is
 * for its reader. A value over `maxBytes` and a document that does not close are given up and counted.
 */
export class JsonPieces {
  rejected = 0;
  private readonly root = newNode();
  private readonly levels: Level[] = [];
  private key = '';
  private readingKey = false;
  private inString = false;
  private escaped = false;
  private isStray = false;
  private owners = 0;
  /** Brackets open inside a value that is cut out or passed over; 0 outside. */
  private depth = 0;
  private kept: Buffer[] | null = null;
  private size = 0;
  private kind = '';

  /**
   * @param owners paths whose values own the pieces inside; the root always does.
   * @param byLine a line feed ends a document, so that a broken one costs no other.
   */
  constructor(
    paths: readonly PiecePath[],
    owners: readonly (readonly string[])[],
    private readonly byLine: boolean,
    private readonly maxBytes: number,
  ) {
    this.root.isOwner = true;
    // An array of documents is read as its documents.
    this.root.next.set('*', this.root);
    for (const { kind, path } of paths) this.nodeAt(path).kind = kind;
    for (const path of owners) this.nodeAt(path).isOwner = true;
  }

  *push(bytes: Buffer): Generator<JsonPiece> {
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.depth > 0) {
        at = this.within(bytes, at);
        if (at >= bytes.length) break;
      }
      const byte = bytes[at] as number;
      if (this.byLine && byte === NEWLINE) this.reset();
      else if (this.inString) this.keyByte(byte);
      else if (byte === QUOTE) {
        this.inString = true;
        this.readingKey = this.depth === 0 && this.key === '' && this.levels.at(-1)?.isArray === false;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.enter(byte === OPEN_ARRAY)) from = at;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (this.depth > 0) {
          this.depth = 0;
          if (this.kept !== null) yield* this.cut(bytes.subarray(from, at + 1));
        } else {
          if (this.levels.pop() === undefined) this.isStray = true;
          this.key = '';
        }
      } else if (byte === COMMA) this.key = '';
      else if (this.levels.length === 0 && byte > SPACE && byte < NOT_ASCII) this.isStray = true;
    }
    if (this.depth > 0 && this.kept !== null) this.keep(bytes.subarray(from));
  }

  /** Ends the last document. */
  end(): void {
    this.reset();
  }

  /** Goes on inside a value that is cut out or passed over, to the bracket that closes it or to the end of its line. */
  private within(bytes: Buffer, from: number): number {
    let { depth, inString, escaped } = this;
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (byte === NEWLINE && this.byLine) break;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (depth === 1) break;
        depth -= 1;
      }
    }
    this.depth = depth;
    this.inString = inString;
    this.escaped = escaped;
    return at;
  }

  private keyByte(byte: number): void {
    const wasEscaped = this.escaped;
    this.escaped = !wasEscaped && byte === BACKSLASH;
    if (!wasEscaped && byte === QUOTE) this.inString = this.readingKey = false;
    // A key with an escape is none that is looked for, and must not look like one.
    else if (this.readingKey && this.key.length < MAX_KEY) this.key += String.fromCharCode(byte);
  }

  private nodeAt(path: readonly string[]): PathNode {
    let node = this.root;
    for (const name of path) {
      const known = node.next.get(name);
      const next = known ?? newNode();
      if (known === undefined) node.next.set(name, next);
      node = next;
    }
    return node;
  }

  /** Goes into a value on the way to a piece; else begins to pass over it or to cut it out. True when it is cut out. */
  private enter(isArray: boolean): boolean {
    const above = this.levels.at(-1);
    const node = above === undefined ? this.root : above.node.next.get(above.isArray ? '*' : this.key);
    if (node === undefined || node.kind !== null) {
      this.depth = 1;
      this.kept = node === undefined ? null : [];
      this.size = 0;
      this.kind = node?.kind ?? '';
      return this.kept !== null;
    }
    if (node.isOwner) this.owners += 1;
    this.levels.push({ node, isArray, owner: node.isOwner ? this.owners : (above?.owner ?? 0) });
    this.key = '';
    return false;
  }

  private keep(bytes: Buffer): void {
    this.size += bytes.length;
    if (this.size <= this.maxBytes) this.kept?.push(bytes);
    else this.kept = [];
  }

  private *cut(bytes: Buffer): Generator<JsonPiece> {
    this.keep(bytes);
    const { kept, kind } = this;
    this.kept = null;
    if (this.size > this.maxBytes || kept === null) this.rejected += 1;
    else yield { kind, owner: this.levels.at(-1)?.owner ?? 0, text: Buffer.concat(kept).toString('utf8') };
  }

  private reset(): void {
    if (this.levels.length > 0 || this.depth > 0 || this.inString || this.isStray) this.rejected += 1;
    this.isStray = false;
    this.levels.length = 0;
    this.key = '';
    this.depth = 0;
    this.kept = null;
    this.inString = this.escaped = this.readingKey = false;
  }
}
