import type { JsonObject } from '../../src/protocol/json-value';
import { toolOutputSchema, type ToolOutput } from '../../src/protocol/tool-output';
import { changesDataSchema } from '../../src/protocol/tool-outputs/changes-data';
import { metricAnomaliesDataSchema } from '../../src/protocol/tool-outputs/metric-anomalies-data';
import { serviceGraphDataSchema } from '../../src/protocol/tool-outputs/service-graph-data';
import { spanAnalysisDataSchema } from '../../src/protocol/tool-outputs/span-analysis-data';
import { ChangesTool } from '../../src/tools/changes.tool';
import { MetricAnomaliesTool } from '../../src/tools/metric-anomalies.tool';
import { ServiceGraphTool } from '../../src/tools/service-graph.tool';
import { SpanAnalysisTool } from '../../src/tools/span-analysis.tool';
import { refusal, TelemetryFolder } from '../telemetry/telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
  const minutes = Array.from({ length: 66 }, (_, at) => new Date(Date.parse('2026-05-04T09:00:00Z') + at * 60_000).toISOString());
  folder.write(
    'm.csv',
    `time,service,metric,value\n${minutes.flatMap((time, at) => ['a', 'b'].map((s) => `${time},${s},cpu,${10 + (at % 4) + (at > 62 ? 50 : 0)}`)).join('\n')}\n`,
  );
  folder.write(
    's.csv',
    `trace,span,parent,service,start,end\n${minutes.flatMap((time, at) => [`${at},1,,a,${time},${time.replace('00.000', '02.000')}`, `${at},2,1,b,${time},${time.replace('00.000', '01.000')}`]).join('\n')}\n`,
  );
  const changes = [
    ['09:50', 'deploy', 'a'],
    ['10:03', 'flag', 'b'],
    ['08:00', 'deploy', 'a'],
  ];
  folder.write(
    'c.jsonl',
    changes
      .map(([at, kind, service]) => JSON.stringify({ time: `2026-05-04T${at ?? ''}:00Z`, kind, service, text: 'v2' }))
      .join('\n'),
  );
  folder.map({
    metrics: [
      { files: ['m.csv'], layout: 'long', time: { column: 'time' }, service: 'service', metric: 'metric', value: 'value' },
    ],
    spans: [
      {
        files: ['s.csv'],
        trace: 'trace',
        span: 'span',
        parent: 'parent',
        service: 'service',
        start: { column: 'start' },
        end: { column: 'end' },
      },
    ],
    changes: [{ files: ['c.jsonl'], time: { column: 'time' }, service: 'service', kind: 'kind', text: 'text' }],
  });
});
afterEach(() => folder.remove());

const WINDOW = { from: '2026-05-04T10:00:00Z', to: '2026-05-04T10:06:00Z' };
const BASELINE = { from: '2026-05-04T09:00:00Z', to: '2026-05-04T10:00:00Z' };
const COMPARED: JsonObject = { window: WINDOW, baseline: BASELINE, service: null, limit: 100 };
const NEAR: JsonObject = { window: WINDOW, lookback_minutes: 60, service: null, limit: 100 };
const execution = (): { signal: AbortSignal; runId: string } => ({ signal: new AbortController().signal, runId: 'r' });

const TOOLS = [
  { name: 'metric_anomalies', tool: MetricAnomaliesTool, args: COMPARED, schema: metricAnomaliesDataSchema, list: 'metrics' },
  { name: 'span_analysis', tool: SpanAnalysisTool, args: COMPARED, schema: spanAnalysisDataSchema, list: 'services' },
  {
    name: 'service_graph',
    tool: ServiceGraphTool,
    args: { ...COMPARED, limit: 1 },
    schema: serviceGraphDataSchema,
    list: 'edges',
  },
  { name: 'changes', tool: ChangesTool, args: NEAR, schema: changesDataSchema, list: 'changes' },
] as const;

function rowsOf(output: ToolOutput, list: string): JsonObject[] {
  return (output.data as Record<string, JsonObject[]>)[list] ?? [];
}

describe.each(TOOLS)('$name', ({ tool, args, schema, list }) => {
  it('gives equal bytes twice, by its schema, with every field declared', async () => {
    const output = await new tool(folder.source()).execute({ ...args }, execution());
    const again = await new tool(folder.source()).execute({ ...args }, execution());
    expect(JSON.stringify(again)).toBe(JSON.stringify(output));
    expect(toolOutputSchema.safeParse(output).success).toBe(true);
    expect(schema.safeParse(output.data).success).toBe(true);
    const rows = rowsOf(output, list);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.flatMap((row) => Object.keys(row)).filter((name) => output.fields[name] === undefined)).toEqual([]);
    expect(output.complete).toBe(true);
  });

  it('says that it is not complete when the limit left rows out, and ends when it is aborted', async () => {
    const cut = await new tool(folder.source()).execute({ ...args, limit: 1 }, execution());
    expect(rowsOf(cut, list)).toHaveLength(1);
    expect(cut.complete).toBe(list === 'edges');
    const stopped = new tool(folder.source()).execute({ ...args }, { signal: AbortSignal.abort(), runId: 'r' });
    expect((await refusal(stopped)).code).toBe('CANCELLED');
  });
});

it.each(TOOLS.slice(0, 3))('$name refuses a window as its own baseline', async ({ tool, args }) => {
  const call = new tool(folder.source()).execute({ ...args, baseline: WINDOW }, execution());
  expect((await refusal(call)).code).toBe('TOOL_ARGUMENTS_INVALID');
});

describe('changes', () => {
  it('lists the nearest to the start of the window first, and nothing before the lookback', async () => {
    const output = await new ChangesTool(folder.source()).execute({ ...NEAR }, execution());
    expect(rowsOf(output, 'changes')).toEqual([
      { service: 'b', kind: 'flag', text: 'v2', time: '2026-05-04T10:03:00.000Z', minutes_before: -3 },
      { service: 'a', kind: 'deploy', text: 'v2', time: '2026-05-04T09:50:00.000Z', minutes_before: 10 },
    ]);
  });

  it('shows that nothing changed where there is a record, and covers nothing where there is none', async () => {
    const none = await new ChangesTool(folder.source()).execute({ ...NEAR, service: 'c' }, execution());
    expect(none).toMatchObject({ matched_count: 0, records_scanned: 3, complete: true });
    expect(none.coverage).toEqual({ from: '2026-05-04T09:00:00.000Z', to: '2026-05-04T10:05:00.001Z', filter: 'service=c' });
    folder.map({ metrics: [{ files: ['m.csv'], layout: 'long', time: { column: 'time' }, metric: 'metric', value: 'value' }] });
    const blind = await new ChangesTool(folder.source()).execute({ ...NEAR }, execution());
    expect(blind.coverage).toEqual({ from: null, to: null, filter: null });
  });
});
