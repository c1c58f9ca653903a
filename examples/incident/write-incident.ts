import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GeneratedIncident } from './incident-generator';

/** Writes a generated incident as a telemetry folder; the truth is not part of it. */
export function writeIncident({ files }: GeneratedIncident, folder: string): void {
  for (const [name, content] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}
