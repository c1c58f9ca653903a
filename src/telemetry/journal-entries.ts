const NEWLINE = 0x0a;
const EQUALS = 0x3d;
const SIZE_BYTES = 8;

/** Fields of an entry that are kept, in the order of the answered columns. */
export const JOURNAL_FIELDS = [
  '__REALTIME_TIMESTAMP',
  'MESSAGE',
  'PRIORITY',
  'SYSLOG_IDENTIFIER',
  '_SYSTEMD_UNIT',
  'CONTAINER_NAME',
  '_HOSTNAME',
] as const;

/**
 * Reads entries of `journalctl -o export` from pieces of bytes: fields as `KEY=value` lines or, where a value holds line
 * feeds, as the key, its length in eight bytes and the value; an empty line ends an entry
 * (systemd.io/JOURNAL_EXPORT_FORMATS). An entry with a line that is neither, or that is cut off, is counted; so is a field longer than
 * `maxBytes`.
 */
export class JournalEntries {
  rejected = 0;
  private rest: Buffer = Buffer.alloc(0);
  private fields = new Map<string, string>();
  private isBroken = false;

  constructor(private readonly maxBytes: number) {}

  async *records(content: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
    for await (const bytes of content) {
      this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
      yield* this.whole();
      if (this.rest.length > this.maxBytes) {
        this.rest = Buffer.alloc(0);
        this.isBroken = true;
      }
    }
    if (this.rest.length > 0) {
      this.rest = Buffer.concat([this.rest, Buffer.from('\n')]);
      yield* this.whole();
      if (this.rest.length > 0) this.isBroken = true;
    }
    yield* this.entry();
  }

  /** Takes every whole field of `rest`. */
  private *whole(): Generator<readonly string[]> {
    let at = 0;
    for (let end = this.rest.indexOf(NEWLINE, at); end >= 0; end = this.rest.indexOf(NEWLINE, at)) {
      const line = this.rest.subarray(at, end);
      const equals = line.indexOf(EQUALS);
      if (line.length === 0) yield* this.entry();
      else if (equals > 0) this.fields.set(line.toString('latin1', 0, equals), line.toString('utf8', equals + 1));
      else {
        const from = end + 1 + SIZE_BYTES;
        if (from > this.rest.length) break;
        const size = Number(this.rest.readBigUInt64LE(end + 1));
        if (size > this.maxBytes) this.isBroken = true;
        else if (from + size >= this.rest.length) break;
        else {
          this.fields.set(line.toString('latin1'), this.rest.toString('utf8', from, from + size));
          at = from + size + 1;
          continue;
        }
      }
      at = end + 1;
    }
    this.rest = this.rest.subarray(at);
  }

  private *entry(): Generator<readonly string[]> {
    const { fields, isBroken } = this;
    this.fields = new Map();
    this.isBroken = false;
    if (isBroken) this.rejected += 1;
    else if (fields.size > 0) yield JOURNAL_FIELDS.map((name) => fields.get(name) ?? '');
  }
}
