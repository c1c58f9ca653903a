import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedIncident } from './incident-generator';

/** Writes a generated incident as a telemetry folder; the truth is not part of it. */
export function writeIncident(incident: GeneratedIncident, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of incident.files) writeFileSync(join(folder, name), content);
}
