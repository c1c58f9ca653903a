import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateIncident } from '../../examples/incident/incident-generator';
import { writeIncident } from '../../examples/incident/write-incident';
import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import type { JsonObject } from '../../src/protocol/json-value';
import { toolOutputSchema } from '../../src/protocol/tool-output';
import { logSequencesDataSchema } from '../../src/protocol/tool-outputs/log-sequences-data';
import { DuckdbTelemetrySource } from '../../src/telemetry/duckdb-telemetry-source';
import { LogSequencesTool } from '../../src/tools/log-sequences.tool';

describe('log_sequences', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sequences-'));
  const { files, truth } = generateIncident(11, 'pool_exhaustion');
  const telemetry = new DuckdbTelemetrySource(parseDiagnosisOptions({ telemetry: { path: folder } }).telemetry);
  const tool = new LogSequencesTool(telemetry);
  const execution = { signal: new AbortController().signal, runId: 'run' };

  beforeAll(() => writeIncident({ files, truth }, folder));
  afterAll(async () => {
    await telemetry.close();
    rmSync(folder, { recursive: true });
  });

  function question(over: JsonObject = {}): JsonObject {
    return { window: { ...truth.window }, baseline: { ...truth.baseline }, service: null, limit: 20, ...over };
  }

  it('shows the guilty service cut short, as an output that keeps its schema', async () => {
    const output = toolOutputSchema.parse(await tool.execute(question(), execution));
    const data = logSequencesDataSchema.parse(output.data);
    expect(data.summary.by_trace).toBe(true);
    expect(data.sequences[0]).toMatchObject({ service: truth.cause, baseline_count: 0 });
    const [first] = data.sequences;
    expect(first?.share).toBeCloseTo((first?.count ?? 0) / (first?.total ?? 1), 4);
    for (const field of Object.keys(data.sequences[0] ?? {})) expect(output.fields).toHaveProperty([field]);
    expect(output.fields['votes']).toMatchObject({ concludes: true });
    expect(output.fields['score']).toMatchObject({ concludes: true });
  });

  it('finds nothing between two healthy stretches', async () => {
    const output = await tool.execute(
      question({ window: { ...truth.healthy }, baseline: { from: truth.baseline.from, to: truth.healthy.from } }),
      execution,
    );
    expect(logSequencesDataSchema.parse(output.data).sequences).toEqual([]);
    expect(output).toMatchObject({ matched_count: 0, complete: true });
  });

  it('says so when its limit left rows out, and shows only the service that was asked for', async () => {
    const one = await tool.execute(question({ limit: 1 }), execution);
    expect(one.complete).toBe(false);
    const ofCause = await tool.execute(question({ service: truth.cause }), execution);
    const { sequences } = logSequencesDataSchema.parse(ofCause.data);
    expect(new Set(sequences.map((row) => row.service))).toEqual(new Set([truth.cause]));
  });

  it('refuses a question without a baseline, and a baseline that overlaps the window', async () => {
    await expect(tool.execute(question({ baseline: null }), execution)).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS_INVALID' });
    await expect(tool.execute(question({ baseline: { ...truth.window } }), execution)).rejects.toMatchObject({
      code: 'TOOL_ARGUMENTS_INVALID',
    });
  });
});
