import { isUtf8 } from 'node:buffer';

const NEWLINE = 0x0a;

/** One record of a CSV that grows by physical lines. */
class GrowingRecord {
  readonly fields: string[] = [];
  private field = '';
  private quoted = false;

  constructor(private readonly delimiter: string) {}

  /** `whole` when the record ends with this line, `open` inside quotes, `broken` when a closing quote is followed by text. */
  take(line: string): 'whole' | 'open' | 'broken' {
    let at = 0;
    if (this.quoted) {
      this.field += '\n';
      at = this.quotedPart(line, 0);
      if (at < 0) return 'broken';
      if (this.quoted) return 'open';
    }
    for (;;) {
      if (line[at] === '"' && this.field === '') {
        this.quoted = true;
        at = this.quotedPart(line, at + 1);
        if (at < 0) return 'broken';
        if (this.quoted) return 'open';
      } else {
        const end = line.indexOf(this.delimiter, at);
        this.field = this.field + line.slice(at, end < 0 ? line.length : end);
        at = end < 0 ? line.length : end;
      }
      this.fields.push(this.field);
      this.field = '';
      if (at >= line.length) return 'whole';
      at += this.delimiter.length;
      if (at >= line.length) {
        this.fields.push('');
        return 'whole';
      }
    }
  }

  /** Goes on inside quotes; answers where the delimiter or the end of the line follows the closing quote, -1 when neither does. */
  private quotedPart(line: string, from: number): number {
    let at = from;
    for (;;) {
      const quote = line.indexOf('"', at);
      if (quote < 0) {
        this.field += line.slice(at);
        return line.length;
      }
      this.field += line.slice(at, quote);
      at = quote + 1;
      if (line[at] === '"') {
        this.field += '"';
        at += 1;
        continue;
      }
      this.quoted = false;
      return at === line.length || line.startsWith(this.delimiter, at) ? at : -1;
    }
  }
}

/**
 * Reads a CSV whose quotes are broken: what is a record by itself is kept, and of what is none only the first line is given
 * up and counted, then reading goes on with the next line. A record that never ends, or grows beyond `maxBytes`, is none.
 */
export class CsvRecovery {
  rejected = 0;
  private open: string[] = [];
  private size = 0;
  private record: GrowingRecord;

  constructor(
    private readonly delimiter: string,
    private readonly width: number,
    private readonly maxBytes: number,
    private headerRows = 1,
  ) {
    this.record = new GrowingRecord(delimiter);
  }

  /** The records below the header, in file order. */
  async *records(content: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
    let rest: Buffer[] = [];
    let size = 0;
    for await (const bytes of content) {
      let from = 0;
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
        const piece = bytes.subarray(from, at);
        yield* this.physical(rest.length === 0 ? piece : Buffer.concat([...rest, piece]), size + piece.length);
        rest = [];
        size = 0;
        from = at + 1;
      }
      size += bytes.length - from;
      // What is too long anyway needs no memory.
      if (size <= this.maxBytes && from < bytes.length) rest.push(bytes.subarray(from));
    }
    if (size > 0) yield* this.physical(Buffer.concat(rest), size);
    while (this.open.length > 0) yield* this.lines(this.giveUp());
  }

  private *physical(bytes: Buffer, size: number): Generator<readonly string[]> {
    if (size > this.maxBytes || !isUtf8(bytes)) {
      while (this.open.length > 0) yield* this.lines(this.giveUp());
      this.rejected += 1;
      return;
    }
    const line = bytes.toString('utf8').replace(/\r$/, '');
    if (this.open.length === 0 && line === '') return;
    if (this.headerRows > 0) this.headerRows -= 1;
    else yield* this.lines([line]);
  }

  private *lines(lines: readonly string[]): Generator<readonly string[]> {
    const waiting = [...lines].reverse();
    for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
      if (this.open.length === 0 && line === '') continue;
      this.open.push(line);
      this.size += line.length + 1;
      const state = this.record.take(line);
      if (state === 'open' && this.size <= this.maxBytes) continue;
      if (state === 'whole' && this.record.fields.length === this.width) {
        const { fields } = this.record;
        this.begin();
        yield fields;
      } else for (const again of this.giveUp().reverse()) waiting.push(again);
    }
  }

  /** Rejects the first line of the open record and answers the others. */
  private giveUp(): string[] {
    const others = this.open.slice(1);
    this.rejected += 1;
    this.begin();
    return others;
  }

  private begin(): void {
    this.open = [];
    this.size = 0;
    this.record = new GrowingRecord(this.delimiter);
  }
}
