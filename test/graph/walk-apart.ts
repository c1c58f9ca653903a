import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Walk } from './sequence-walk';

/** Walks one part of the outcome sequences in a process of its own; see `walk-part.cjs`. A walk that fails there fails here. */
export async function walkApart(part: number, of: number): Promise<Walk> {
  const script = join(__dirname, 'walk-part.cjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(part), String(of)], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout) as Walk;
}
