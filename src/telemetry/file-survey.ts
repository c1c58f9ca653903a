import { createReadStream } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const QUOTE = 0x22;

/** What a file holds by its bytes alone. */
export interface FileSurvey {
  /** Physical lines; 0 where no line ends with a line feed. */
  readonly lines: number;
  readonly quoted: boolean;
  /** Packed data that ends too early or is damaged. */
  readonly cut: boolean;
}

/** The content of a file in pieces, unpacked when its name ends in `.gz`; stop it with `destroy`. */
export function contentOf(path: string): Readable {
  const raw = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (!path.endsWith('.gz')) return raw;
  // The failure comes out of the last stream as well, where it is read.
  return pipeline(raw, createGunzip({ chunkSize: CHUNK_BYTES / 4 }), () => undefined);
}

function isPackedDamage(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && /^Z_/.test(String(error.code));
}

/** Reads a file once from end to end. Errors of the file system come through as they are. */
export async function surveyFile(path: string, signal: AbortSignal): Promise<FileSurvey> {
  let newlines = 0;
  let last = NEWLINE;
  let quoted = false;
  let cut = false;
  const content = contentOf(path);
  const stop = (): void => void content.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const piece of content) {
      const bytes = piece as Buffer;
      quoted ||= bytes.includes(QUOTE);
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) newlines += 1;
      last = bytes[bytes.length - 1] ?? last;
    }
  } catch (error) {
    if (!isPackedDamage(error)) throw error;
    cut = true;
  } finally {
    signal.removeEventListener('abort', stop);
    content.destroy();
  }
  return { lines: newlines === 0 ? 0 : newlines + (last === NEWLINE ? 0 : 1), quoted, cut };
}
