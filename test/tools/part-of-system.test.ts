import type { JsonObject } from '../../src/protocol/json-value';
import type { ToolOutput } from '../../src/protocol/tool-output';
import { ErrorShareTool } from '../../src/tools/error-share.tool';
import { LogPatternsTool } from '../../src/tools/log-patterns.tool';
import { refusal, TelemetryFolder } from '../telemetry/telemetry-folder';

const folder = new TelemetryFolder();
afterAll(() => folder.remove());

const ASKED: JsonObject = {
  window: { from: '2026-05-04T10:00:00Z', to: '2026-05-04T11:00:00Z' },
  baseline: null,
  service: null,
  limit: 100,
};
const execution = (): { signal: AbortSignal; runId: string } => ({ signal: new AbortController().signal, runId: 'r' });

beforeAll(() => {
  const line = (minute: number, service: string, pod: string, level: string, message: string): string =>
    JSON.stringify({ time: `2026-05-04T10:${String(minute).padStart(2, '0')}:00Z`, service, pod, level, message });
  folder.write(
    'app.jsonl',
    [
      ...Array.from({ length: 10 }, (_, at) => line(at, 'cart', 'cart-eu-west-1', at < 4 ? 'error' : 'info', 'reserve failed')),
      ...Array.from({ length: 10 }, (_, at) => line(at, 'cart', 'cart-us-east-1', 'info', 'reserve done for tenant blue')),
      ...Array.from({ length: 5 }, (_, at) => line(at, 'queue', 'queue-us-east-1', 'error', 'cannot reach eu-west')),
    ].join('\n'),
  );
});

async function patterns(part: string | null): Promise<ToolOutput> {
  return new LogPatternsTool(folder.source()).execute({ ...ASKED, contains: null, part }, execution());
}

function summaryOf(output: ToolOutput): JsonObject {
  return (output.data as JsonObject)['summary'] as JsonObject;
}

describe('the part of the system', () => {
  it('counts the lines of instances whose name holds the words, and leaves others out that only speak of it', async () => {
    const output = await patterns('EU-West');
    expect(output.matched_count).toBe(10);
    expect(output.records_scanned).toBe(25);
    expect(output.coverage).toMatchObject({ filter: 'part=EU-West' });
    const rows = (output.data as { patterns: { service: string; share: number }[] }).patterns;
    expect(new Set(rows.map(({ service }) => service))).toEqual(new Set(['cart']));
    expect(rows.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });

  it('counts shares within the part alone', async () => {
    const tool = new ErrorShareTool(folder.source());
    const output = await tool.execute({ ...ASKED, part: 'eu-west' }, execution());
    expect((output.data as JsonObject)['services']).toMatchObject([{ service: 'cart', lines: 10, error_share: 0.4 }]);
    const whole = await tool.execute(ASKED, execution());
    expect((whole.data as { services: JsonObject[] }).services.find(({ service }) => service === 'cart')).toMatchObject({
      lines: 20,
      error_share: 0.2,
    });
  });

  it('goes by the words of the line where no name holds them', async () => {
    expect((await patterns('tenant blue')).matched_count).toBe(10);
  });

  it('takes whole words, and no pattern', async () => {
    expect((await patterns('eu')).matched_count).toBe(10);
    expect((await patterns('e')).matched_count).toBe(0);
    expect((await patterns('eu.west')).matched_count).toBe(0);
    expect((await patterns("eu' OR '1'='1")).matched_count).toBe(0);
  });

  it('counts nothing of a part that is not there, having looked through all', async () => {
    const output = await patterns('ap-south');
    expect(output).toMatchObject({ matched_count: 0, records_scanned: 25, complete: true });
    expect(summaryOf(output)['matched_count']).toBe(0);
  });

  it('looks through everything when it is left out, and refuses a part without words', async () => {
    expect((await patterns(null)).coverage).toMatchObject({ filter: null });
    expect((await refusal(patterns(''))).code).toBe('TOOL_ARGUMENTS_INVALID');
  });
});
