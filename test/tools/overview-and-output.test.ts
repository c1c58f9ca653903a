import type { JsonObject } from '../../src/protocol/json-value';
import { toolOutputSchema } from '../../src/protocol/tool-output';
import { readOutputDataSchema, type ReadOutputData } from '../../src/protocol/tool-outputs/read-output-data';
import { telemetryOverviewDataSchema } from '../../src/protocol/tool-outputs/telemetry-overview-data';
import { ReadOutputTool } from '../../src/tools/read-output.tool';
import { TelemetryOverviewTool } from '../../src/tools/telemetry-overview.tool';
import { openStore, startRun, type Store } from '../runs/run-fixture';
import { refusal, TelemetryFolder } from '../telemetry/telemetry-folder';

const execution = (runId: string): { signal: AbortSignal; runId: string } => ({ signal: new AbortController().signal, runId });

describe('telemetry_overview', () => {
  let folder: TelemetryFolder;
  beforeEach(() => {
    folder = new TelemetryFolder();
    folder.write(
      'app.jsonl',
      [
        { time: '2026-05-04T10:00:00Z', service: 'cart', msg: 'a' },
        { time: '2026-05-04T10:01:00Z', service: 'cart', msg: 'b' },
        { time: '2026-05-04T10:02:00Z', service: 'payment', msg: 'c' },
        { time: 'never', service: 'payment', msg: 'd' },
      ]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    );
    folder.write('deploys.jsonl', JSON.stringify({ time: '2026-05-04T09:59:00Z', service: 'cart', kind: 'deploy', text: 'v2' }));
  });
  afterEach(() => folder.remove());

  it('[B1] lists families and services with their records and times, the ones with the most records first', async () => {
    const output = toolOutputSchema.parse(
      await new TelemetryOverviewTool(folder.source()).execute({ service: null, limit: 10 }, execution('r')),
    );
    const data = telemetryOverviewDataSchema.parse(output.data);
    expect(data.families).toEqual([
      {
        family: 'logs',
        records: 3,
        records_rejected: 1,
        services_total: 2,
        first_seen: '2026-05-04T10:00:00.000Z',
        last_seen: '2026-05-04T10:02:00.000Z',
      },
      expect.objectContaining({ family: 'changes', records: 1, services_total: 1 }),
    ]);
    expect(data.services.map(({ service, family, records }) => [service, family, records])).toEqual([
      ['cart', 'logs', 2],
      ['cart', 'changes', 1],
      ['payment', 'logs', 1],
    ]);
    expect(output).toMatchObject({ complete: true, records_scanned: 4, records_rejected: 1 });
    expect(output.coverage).toEqual({ from: '2026-05-04T09:59:00.000Z', to: '2026-05-04T10:02:00.001Z', filter: null });
  });

  it('[B1] says when the limit left services out, and asks about one service alone', async () => {
    const tool = new TelemetryOverviewTool(folder.source());
    const cut = await tool.execute({ service: null, limit: 1 }, execution('r'));
    expect(cut.complete).toBe(false);
    expect(telemetryOverviewDataSchema.parse(cut.data)).toMatchObject({ rows_total: 3, services: [{ service: 'cart' }] });
    const one = await tool.execute({ service: 'payment', limit: 10 }, execution('r'));
    expect(telemetryOverviewDataSchema.parse(one.data).services).toHaveLength(1);
    expect(one.coverage.filter).toBe('service=payment');
  });
});

describe('read_output', () => {
  let store: Store;
  const output = `{"matched_count":1,"records_scanned":1,"records_rejected":0,"complete":true,"coverage":{"from":null,"to":null,"filter":null},"fields":{},"server_time":null,"data":{"rows":[{"n":10000000000000000001,"a/b":1.50}],"text":${JSON.stringify('one\ntwo\nthree')}}}`;

  beforeEach(async () => {
    store = await openStore();
    for (const run of ['r1', 'r2']) await startRun(store, run);
    await record('r1', 'i1', 'log_patterns', output);
    await record('r1', 'i2', 'log_patterns', null);
    await record('r2', 'i3', 'log_patterns', output);
  });
  afterEach(() => store.close());

  async function record(runId: string, id: string, tool: string, text: string | null): Promise<void> {
    await store.traces.begin({
      id: `${runId}-${id}`,
      run_id: runId,
      invocation_id: id,
      call_key: `${runId}${id}`,
      round: 0,
      ordinal: 0,
      tool_name: tool,
      arguments: '{}',
      started_at: new Date(),
      status: 'RUNNING',
    });
    if (text === null) return;
    await store.traces.finish(`${runId}-${id}`, { status: 'OK', output: text, error_code: null, duration_ms: 1 });
  }

  async function part(args: Partial<JsonObject>): Promise<ReadOutputData> {
    const answer = await new ReadOutputTool(store.traces).execute(
      { invocation_id: 'i1', path: '', offset: 0, limit: 1000, ...args },
      execution('r1'),
    );
    return readOutputDataSchema.parse(toolOutputSchema.parse(answer).data);
  }

  it('[A1] shows a part as it is recorded, numbers to the last digit, with the call that it is evidence of', async () => {
    expect(await part({ path: '/rows/0' })).toMatchObject({
      source_invocation_id: 'i1',
      source_tool: 'log_patterns',
      text: '{"n":10000000000000000001,"a/b":1.50}',
    });
    expect((await part({ path: '/rows/0/a~1b' })).text).toBe('1.50');
    expect((await part({ path: '/text#L2-L3' })).text).toBe('two\nthree');
  });

  it('[A1] pages through a long part and marks what was left out', async () => {
    const first = await part({ path: '/text', limit: 4 });
    expect(first).toMatchObject({ text: 'one\n', characters_shown: 4, characters_total: 13 });
    expect((await part({ path: '/text', offset: 4, limit: 100 })).text).toBe('two\nthree');
    const tool = new ReadOutputTool(store.traces);
    const args = { invocation_id: 'i1', path: '/text', offset: 0, limit: 4 };
    expect((await tool.execute(args, execution('r1'))).complete).toBe(false);
  });

  it.each([
    ['another run', { invocation_id: 'i3' }, /no earlier call/],
    ['a call without an output', { invocation_id: 'i2' }, /no earlier call/],
    ['a path that leads nowhere', { path: '/rows/7' }, /leads nowhere/],
    ['lines that are not there', { path: '/text#L9' }, /lines/],
    ['lines of something that is no text', { path: '/rows#L1' }, /lines/],
    ['something that is no path', { path: 'rows' }, /neither/],
    ['a limit beyond the most', { limit: 1_000_000 }, /limit/],
  ])('[A1] refuses %s', async (_name, args, words) => {
    const error = await refusal(part(args));
    expect(error.code).toBe('TOOL_ARGUMENTS_INVALID');
    expect(error.message).toMatch(words);
  });

  it('[A5] declares everything that it shows as not citeable', async () => {
    const args = { invocation_id: 'i1', path: '', offset: 0, limit: 10 };
    const { fields, data: shown } = await new ReadOutputTool(store.traces).execute(args, execution('r1'));
    const citeable = Object.keys(shown as JsonObject).filter((name) => fields[name]?.concludes !== true);
    expect(citeable).toEqual([]);
  });
});
