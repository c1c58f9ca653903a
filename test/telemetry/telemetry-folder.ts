import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import type { LogPatternQuery } from '../../src/ports/telemetry-source.port';
import { DuckdbTelemetrySource } from '../../src/telemetry/duckdb-telemetry-source';

/** A folder of telemetry in the temporary directory, with the sources opened over it. */
export class TelemetryFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'telemetry-test-'));
  private readonly sources: DuckdbTelemetrySource[] = [];

  write(name: string, content: string | Buffer): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  map(mapping: Record<string, unknown>): string {
    return this.write('mapping.json', JSON.stringify({ schema: 'telemetry_mapping_v1', ...mapping }));
  }

  source(path: string | null = this.path, memoryLimitMb = 128): DuckdbTelemetrySource {
    const source = new DuckdbTelemetrySource({ path, mapping: null, memoryLimitMb, spillLimitMb: 256, maxConcurrentQueries: 2 });
    this.sources.push(source);
    return source;
  }

  async remove(): Promise<void> {
    for (const source of this.sources) await source.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A question over an hour of one day, with changes on demand. */
export function question(changes: Partial<LogPatternQuery> = {}): LogPatternQuery {
  return {
    window: { from: '2026-05-04T10:00:00Z', to: '2026-05-04T11:00:00Z' },
    baseline: null,
    service: null,
    contains: null,
    limit: 100,
    ...changes,
  };
}

/** Code and message of the refusal; fails when there is none. */
export async function refusal(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DiagnosisError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('expected a refusal');
}
