import type { JsonObject } from '../../src/protocol/json-value';
import { toolOutputSchema } from '../../src/protocol/tool-output';
import { errorShareDataSchema } from '../../src/protocol/tool-outputs/error-share-data';
import { ErrorShareTool } from '../../src/tools/error-share.tool';
import { refusal, TelemetryFolder } from '../telemetry/telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
  const rows = [
    '2026-05-04T09:30:00Z,a,INFO,fine',
    '2026-05-04T09:31:00Z,b,ERROR,bad',
    '2026-05-04T10:01:00Z,a,FATAL,down',
    '2026-05-04T10:02:00Z,a,info,fine',
    '2026-05-04T10:03:00Z,b,ERROR,bad',
    'broken',
  ];
  folder.write('s.csv', `time,service,level,message\n${rows.join('\n')}\n`);
});
afterEach(() => folder.remove());

const WINDOW = { from: '2026-05-04T10:00:00Z', to: '2026-05-04T11:00:00Z' };
const BASELINE = { from: '2026-05-04T09:00:00Z', to: '2026-05-04T10:00:00Z' };
const ARGUMENTS: JsonObject = { window: WINDOW, baseline: BASELINE, service: null, limit: 100 };
const execution = (): { signal: AbortSignal; runId: string } => ({ signal: new AbortController().signal, runId: 'r' });

describe('error_share', () => {
  it('shows the largest rise first, with every field declared and rejected rows counted', async () => {
    const output = await new ErrorShareTool(folder.source()).execute({ ...ARGUMENTS }, execution());
    expect(toolOutputSchema.safeParse(output).success).toBe(true);
    const data = errorShareDataSchema.parse(output.data);
    expect(data.services[0]).toMatchObject({ service: 'a', lines: 2, error_lines: 1, error_share: 0.5, baseline_error_share: 0 });
    expect(data.services[1]).toMatchObject({ service: 'b', error_share: 1, baseline_error_share: 1 });
    const names = [...Object.keys(data.summary), ...data.services.flatMap((row) => Object.keys(row))];
    expect(names.filter((name) => output.fields[name] === undefined)).toEqual([]);
    expect(output).toMatchObject({ matched_count: 2, records_scanned: 3, records_rejected: 1, complete: true });
    expect(output.coverage).toEqual({ from: '2026-05-04T10:00:00.000Z', to: '2026-05-04T10:03:00.001Z', filter: 'error lines' });
  });

  it('without a baseline leaves its values null, and looks at one service when asked', async () => {
    const output = await new ErrorShareTool(folder.source()).execute({ ...ARGUMENTS, baseline: null, service: 'b' }, execution());
    expect(errorShareDataSchema.parse(output.data).services).toEqual([
      expect.objectContaining({ service: 'b', lines: 1, baseline_lines: null, baseline_rate_per_min: null }),
    ]);
    expect(output.coverage.filter).toBe('error lines; service=b');
  });

  it('refuses text to look for, and a baseline that overlaps', async () => {
    const tool = new ErrorShareTool(folder.source());
    expect((await refusal(tool.execute({ ...ARGUMENTS, contains: 'x' }, execution()))).code).toBe('TOOL_ARGUMENTS_INVALID');
    expect((await refusal(tool.execute({ ...ARGUMENTS, baseline: WINDOW }, execution()))).code).toBe('TOOL_ARGUMENTS_INVALID');
  });
});
