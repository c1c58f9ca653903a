import type { JsonObject } from '../../src/protocol/json-value';
import { toolOutputSchema } from '../../src/protocol/tool-output';
import { logPatternsDataSchema } from '../../src/protocol/tool-outputs/log-patterns-data';
import { LogPatternsTool } from '../../src/tools/log-patterns.tool';
import { refusal, TelemetryFolder } from '../telemetry/telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
  const long = `2026-05-04T10:05:00Z ERROR ${'x'.repeat(972)}\u{1F600} tail`;
  folder.write(
    'tills.log',
    ['2026-05-04T09:30:00Z INFO paid 1', '2026-05-04T10:04:00Z INFO paid 2', long, '2026-05-04T11:01:00Z INFO paid 3'].join('\n'),
  );
});
afterEach(() => folder.remove());

const execution = (): { signal: AbortSignal; runId: string } => ({ signal: new AbortController().signal, runId: 'r' });
const WINDOW = { from: '2026-05-04T10:00:00Z', to: '2026-05-04T11:00:00Z' };
const BASELINE = { from: '2026-05-04T09:00:00Z', to: '2026-05-04T10:00:00Z' };
const ARGUMENTS: JsonObject = { window: WINDOW, baseline: BASELINE, service: null, contains: null, limit: 100 };

describe('log_patterns', () => {
  it('answers a valid output whose every field is declared', async () => {
    const output = await new LogPatternsTool(folder.source()).execute({ ...ARGUMENTS }, execution());
    expect(toolOutputSchema.safeParse(output).success).toBe(true);
    const data = logPatternsDataSchema.parse(output.data);
    const names = [...Object.keys(data.summary), ...data.patterns.flatMap((row) => Object.keys(row))];
    expect(names.filter((name) => output.fields[name] === undefined)).toEqual([]);
    expect(output.fields['count']).toEqual({ unit: 'count', window: 'incident' });
    expect(output.fields['baseline_share']).toEqual({ unit: 'ratio', window: 'baseline' });
    expect(output.fields['service']).toEqual({ unit: 'text', entity: true });
    expect(output.fields['score']).toEqual({ unit: 'none', concludes: true });
    expect(output.fields['sample']).toEqual({ unit: 'text', text_zone: 'UTC' });
    expect(data.summary).toMatchObject({ matched_count: 2, rows_total: 2, rows_shown: 2, baseline_matched_count: 1 });
    expect(output).toMatchObject({
      matched_count: 2,
      complete: true,
      coverage: { from: '2026-05-04T10:00:00.000Z', to: '2026-05-04T11:00:00.000Z', filter: null },
    });
  });

  it('cuts long samples at a whole character and marks them', async () => {
    const output = await new LogPatternsTool(folder.source()).execute({ ...ARGUMENTS, contains: 'tail' }, execution());
    const [row] = logPatternsDataSchema.parse(output.data).patterns;
    expect(row).toMatchObject({ sample_cut: true });
    expect(row?.sample).toHaveLength(999);
    expect(row?.sample.endsWith('x')).toBe(true);
    expect(output.coverage.filter).toBe('contains=tail');
  });

  it('is incomplete when the limit leaves patterns out, while the summary counts all', async () => {
    const output = await new LogPatternsTool(folder.source()).execute({ ...ARGUMENTS, limit: 1 }, execution());
    expect(output).toMatchObject({ complete: false, matched_count: 2 });
    expect(logPatternsDataSchema.parse(output.data).summary).toMatchObject({ rows_total: 2, rows_shown: 1 });
  });

  it.each([
    [
      'a baseline inside the window',
      { baseline: { from: '2026-05-04T10:30:00Z', to: '2026-05-04T10:40:00Z' } },
      'baseline: the baseline overlaps',
    ],
    ['the window as its own baseline', { baseline: WINDOW }, 'baseline'],
    [
      'an overlap hidden by zones',
      { baseline: { from: '2026-05-04T11:00:00+02:00', to: '2026-05-04T12:30:00+02:00' } },
      'baseline',
    ],
    [
      'a window that ends before it begins',
      { window: { from: '2026-05-04T11:00:00Z', to: '2026-05-04T10:00:00Z' }, baseline: null },
      'window',
    ],
    ['a time without a zone', { window: { from: '2026-05-04T10:00:00', to: '2026-05-04T11:00:00' } }, 'window.from'],
    ['a limit of none', { limit: 0 }, 'limit'],
    ['an unknown argument', { sql: 'select 1' }, 'sql'],
  ])('refuses %s', async (_, change, part) => {
    const refused = await refusal(new LogPatternsTool(folder.source()).execute({ ...ARGUMENTS, ...change }, execution()));
    expect(refused).toMatchObject({ code: 'TOOL_ARGUMENTS_INVALID', message: expect.stringContaining(part) });
  });

  it('gives byte-equal outputs to equal questions', async () => {
    const tool = new LogPatternsTool(folder.source());
    expect(JSON.stringify(await tool.execute({ ...ARGUMENTS }, execution()))).toBe(
      JSON.stringify(await tool.execute({ ...ARGUMENTS }, execution())),
    );
  });
});
