import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';
import { DiagnosisError } from '../errors/diagnosis-error';

/** Largest piece of compressed bytes in one row: a blob column of MySQL and MariaDB ends at 65,535. */
export const CHUNK_BYTES = 60_000;

const compress = promisify(gzip);
const decompress = promisify(gunzip);
/** Bytes up to which the way to another thread costs more than the work. */
const AT_ONCE_BYTES = 64 * 1024;

/** An output as it is stored: gzip of its UTF-8 bytes in pieces, with length and SHA-256 of the bytes before compression. */
export interface PackedOutput {
  readonly sha256: string;
  readonly bytes: number;
  readonly chunks: readonly Buffer[];
}

/** Packs an output's text; it refuses one above `maxBytes` of UTF-8 with OUTPUT_TOO_LARGE. */
export async function packOutput(text: string, maxBytes: number): Promise<PackedOutput> {
  const size = Buffer.byteLength(text, 'utf8');
  if (size > maxBytes) {
    throw new DiagnosisError('OUTPUT_TOO_LARGE', `The output is larger than the ${maxBytes} bytes that are stored.`, {
      bytes: size,
      limit: maxBytes,
    });
  }
  const raw = Buffer.from(text, 'utf8');
  const packed = raw.length <= AT_ONCE_BYTES ? gzipSync(raw) : await compress(raw);
  const chunks: Buffer[] = [];
  for (let at = 0; at < packed.length; at += CHUNK_BYTES) chunks.push(packed.subarray(at, at + CHUNK_BYTES));
  return { sha256: createHash('sha256').update(raw).digest('hex'), bytes: raw.length, chunks };
}

/** The text of a packed output; bytes that do not match length and hash are refused with OUTPUT_CORRUPT. */
export async function unpackOutput(packed: PackedOutput): Promise<string> {
  let raw: Buffer;
  try {
    const bytes = Buffer.concat(packed.chunks);
    const limits = { maxOutputLength: Math.max(packed.bytes, 1) };
    raw = packed.bytes <= AT_ONCE_BYTES ? gunzipSync(bytes, limits) : await decompress(bytes, limits);
  } catch {
    throw corrupt();
  }
  if (raw.length !== packed.bytes || createHash('sha256').update(raw).digest('hex') !== packed.sha256) throw corrupt();
  return raw.toString('utf8');
}

function corrupt(): DiagnosisError {
  return new DiagnosisError('OUTPUT_CORRUPT', 'The stored output no longer matches its SHA-256.');
}
