import type { RunnableConfig } from '@langchain/core/runnables';
import { z } from 'zod';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { parseDiagnosisOptions, type DiagnosisOptionsInput } from '../../src/options/diagnosis-options';
import { DiagnosisTool, type ToolExecution } from '../../src/ports/diagnosis-tool.port';
import { ProgressSink, type ProgressEvent } from '../../src/ports/progress-sink.port';
import type { ToolResult } from '../../src/ports/tool-runner.port';
import { isInvocationIdOf } from '../../src/protocol/invocation-id';
import type { JsonObject } from '../../src/protocol/json-value';
import type { ToolOutput } from '../../src/protocol/tool-output';
import { SystemClock } from '../../src/runs/system-clock.service';
import { UuidV7Source } from '../../src/runs/uuid-v7-source.service';
import { CredentialRedactor } from '../../src/tools/credential-redactor.service';
import { RecordingToolRunner } from '../../src/tools/recording-tool-runner.service';
import { codeOf, openStore, startRun, success, type Store } from '../runs/run-fixture';

const argumentsSchema: z.ZodType<JsonObject> = z.strictObject({ q: z.string(), limit: z.number().int().default(5) });

function output(change: Partial<ToolOutput> = {}): ToolOutput {
  return {
    matched_count: 1,
    records_scanned: 10,
    records_rejected: 0,
    complete: true,
    coverage: { from: null, to: null, filter: null },
    fields: { count: { unit: 'count' } },
    server_time: null,
    data: { rows: [{ count: 1 }] },
    ...change,
  };
}

class ScriptedTool extends DiagnosisTool {
  override readonly name: string = 'ask';
  override readonly description = 'Answers by script.';
  override readonly argumentsSchema = argumentsSchema;
  readonly calls: JsonObject[] = [];
  script: (args: JsonObject, execution: ToolExecution) => Promise<ToolOutput> = async () => output();

  override execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    this.calls.push(args);
    return this.script(args, execution);
  }
}

class OtherTool extends ScriptedTool {
  override readonly name = 'other';
}

class Events extends ProgressSink {
  readonly seen: ProgressEvent[] = [];
  override publish(_runId: string, event: ProgressEvent): void {
    this.seen.push(event);
    throw new Error('a sink that breaks its promise');
  }
}

let store: Store;
let tool: ScriptedTool;
let events: Events;

beforeEach(async () => {
  store = await openStore();
  tool = new ScriptedTool();
  events = new Events();
  await startRun(store, 'r1');
});
afterEach(() => store.close());

function runner(tools: DiagnosisOptionsInput['tools'] = {}): RecordingToolRunner {
  const options = parseDiagnosisOptions({ tools });
  const parts = [store.traces, new CredentialRedactor(), events, new SystemClock(), new UuidV7Source()] as const;
  return new RecordingToolRunner([tool, new OtherTool()], ...parts, options);
}

function configOf(runId = 'r1', change: { signal?: AbortSignal; deadline?: AbortSignal; round?: 0 | 1 } = {}): RunnableConfig {
  const run = { runId, deadline: change.deadline ?? new AbortController().signal, round: change.round ?? 0 };
  return { configurable: { thread_id: runId, run }, metadata: { runId }, signal: change.signal };
}

const ask = (q: string, tool_name = 'ask') => ({ tool_name, arguments: { q } });
const errorCode = (result: ToolResult): unknown => (result.data as { error?: { code?: unknown } }).error?.code;

describe('a call', () => {
  it('is recorded, redacted before it is stored or shown, and answered with a view', async () => {
    tool.script = async () => output({ data: { line: 'login password=hunter2', big: [1.5] } });
    const result = await runner().run({ tool_name: 'ask', arguments: { q: 'token=abc123def' } }, configOf());
    expect(result).toMatchObject({ status: 'OK', matched_count: 1, records_scanned: 10, complete: true, view_truncated: false });
    expect(isInvocationIdOf('r1', result.invocation_id)).toBe(true);
    const [row] = await store.traces.listByRun('r1');
    expect(row).toMatchObject({ invocation_id: result.invocation_id, status: 'OK', ordinal: 1, round: 0, error_code: null });
    expect(row?.arguments).toMatch(/^\{"limit":5,"q":"token=\[redacted:token:[0-9a-f]{10}\]"\}$/);
    const stored = await store.traces.readOutput(row?.id ?? '');
    expect(stored).not.toContain('hunter2');
    expect((JSON.parse(stored) as ToolOutput).data).toEqual(result.data);
    expect(tool.calls).toEqual([{ limit: 5, q: 'token=abc123def' }]);
    expect(events.seen.map((event) => event.type)).toEqual(['tool_started', 'tool_finished']);
  });

  it('is TRUNCATED when its output is not complete, and keeps the stored output whole when the view is cut', async () => {
    const text = 'é'.repeat(1000);
    tool.script = async () => output({ complete: false, data: { text } });
    const result = await runner({ maxViewBytes: 257 }).run(ask('a'), configOf());
    expect(result).toMatchObject({ status: 'TRUNCATED', view_truncated: true });
    expect(typeof result.data).toBe('string');
    expect(Buffer.byteLength(result.data as string)).toBeLessThanOrEqual(257);
    expect(JSON.stringify({ text }).startsWith(result.data as string)).toBe(true);
    const [row] = await store.traces.listByRun('r1');
    expect((JSON.parse(await store.traces.readOutput(row?.id ?? '')) as ToolOutput).data).toEqual({ text });
  });

  it.each<[string, Partial<{ script: ScriptedTool['script']; call: object; tools: DiagnosisOptionsInput['tools'] }>, string]>([
    ['a tool that throws text', { script: () => Promise.reject(new Error('key=abc at /srv')) }, 'TOOL_FAILED'],
    [
      'a tool that throws at once',
      {
        script: () => {
          throw 'x';
        },
      },
      'TOOL_FAILED',
    ],
    [
      'a tool that names its failure',
      { script: () => Promise.reject(new DiagnosisError('TELEMETRY_MISSING', 'No folder.')) },
      'TELEMETRY_MISSING',
    ],
    ['an output that breaks its contract', { script: async () => ({ ...output(), extra: 1 }) as ToolOutput }, 'TOOL_FAILED'],
    ['an output that is no JSON', { script: async () => ({ big: 1n }) as never }, 'TOOL_FAILED'],
    [
      'an output that is too large',
      { script: async () => output({ data: 'x'.repeat(2000) }), tools: { maxOutputBytes: 1024 } },
      'OUTPUT_TOO_LARGE',
    ],
    ['arguments of a wrong type', { call: { q: 7 } }, 'TOOL_ARGUMENTS_INVALID'],
    ['arguments of an unknown name', { call: { q: 'a', x: 1 } }, 'TOOL_ARGUMENTS_INVALID'],
    ['arguments that are too long', { call: { q: 'x'.repeat(20_000) } }, 'TOOL_ARGUMENTS_INVALID'],
    ['a tool that takes too long', { script: () => new Promise(() => undefined), tools: { timeoutMs: 20 } }, 'TOOL_TIMEOUT'],
  ])('of %s is an ERROR with a code, stored like any output', async (_case, { script, call, tools }, code) => {
    if (script !== undefined) tool.script = script;
    const result = await runner(tools).run({ tool_name: 'ask', arguments: (call ?? { q: 'a' }) as JsonObject }, configOf());
    expect(result.status).toBe('ERROR');
    expect(errorCode(result)).toBe(code);
    const [row] = await store.traces.listByRun('r1');
    expect(row).toMatchObject({ status: 'ERROR', error_code: code, invocation_id: result.invocation_id });
    const stored = JSON.parse(await store.traces.readOutput(row?.id ?? '')) as ToolOutput;
    expect(stored).toMatchObject({ complete: false, matched_count: 0, data: result.data });
    expect(JSON.stringify(stored)).not.toContain('/srv');
  });

  it('of a tool that is unknown, not allowed or beyond the budget is DENIED and never runs', async () => {
    const limited = runner({ allow: ['ask'], maxCallsPerRun: 2 });
    const denied = [await limited.run(ask('a', 'nope'), configOf()), await limited.run(ask('a', 'other'), configOf())];
    await limited.run(ask('a'), configOf());
    await limited.run(ask('b'), configOf());
    denied.push(await limited.run(ask('c'), configOf()), await limited.run(ask('d'), configOf()));
    expect(denied.map((result) => [result.status, errorCode(result)])).toEqual(Array(4).fill(['DENIED', 'TOOL_BLOCKED']));
    expect(tool.calls).toHaveLength(2);
    const rows = await store.traces.listByRun('r1');
    // Denials have a budget too: the third and fourth are told under the first one's id.
    expect(rows.map((row) => row.status)).toEqual(['DENIED', 'DENIED', 'OK', 'OK']);
    expect(rows[0]?.error_code).toBe('TOOL_BLOCKED');
    expect(limited.describe().map(({ name }) => name)).toEqual(['ask']);
    expect(limited.describe()[0]?.arguments).toMatchObject({ type: 'object', properties: { q: { type: 'string' } } });
  });

  it('is not cut short by a store that is away: a typed result that nobody can cite', async () => {
    await store.dataSource.destroy();
    const result = await runner().run(ask('a'), configOf());
    expect([result.status, errorCode(result), result.invocation_id]).toEqual(['ERROR', 'STORE_UNAVAILABLE', 'unrecorded']);
  });
});

describe('a repeated call', () => {
  it('[B11] gets the stored result, also when both are under way at once, and in the evidence round', async () => {
    const one = runner();
    const [a, b] = await Promise.all([
      one.run(ask('a'), configOf()),
      one.run({ tool_name: 'ask', arguments: { limit: 5, q: 'a' } }, configOf()),
    ]);
    const c = await one.run(ask('a'), configOf());
    const d = await one.run(ask('a'), configOf('r1', { round: 1 }));
    expect([b, c, d]).toEqual([a, a, a]);
    expect(tool.calls).toHaveLength(1);
  });

  it('[B11] runs anew in the evidence round when it failed in the first one', async () => {
    const one = runner();
    tool.script = async () => {
      throw new Error('down');
    };
    const a = await one.run(ask('a'), configOf());
    tool.script = async () => output({ data: 'up again' });
    const b = await one.run(ask('a'), configOf('r1', { round: 1 }));
    expect([a.status, b.status]).toEqual(['ERROR', 'OK']);
    expect(b.invocation_id).not.toBe(a.invocation_id);
  });

  it('of a resumed run gets its stored result in any order, goes on counting, and asks anew what was left open', async () => {
    const first = runner({ maxCallsPerRun: 4 });
    const a = await first.run(ask('a'), configOf());
    const b = await first.run(ask('b'), configOf());
    tool.script = () => new Promise(() => undefined);
    void first.run(ask('c'), configOf());
    while (tool.calls.length < 3) await new Promise((resolve) => setImmediate(resolve));
    tool.script = async () => output({ data: 'anew' });
    const resumed = runner({ maxCallsPerRun: 4 });
    expect([await resumed.run(ask('b'), configOf()), await resumed.run(ask('a'), configOf())]).toEqual([b, a]);
    const c = await resumed.run(ask('c'), configOf());
    expect(c).toMatchObject({ status: 'OK', data: 'anew' });
    expect((await resumed.run(ask('d'), configOf())).status).toBe('DENIED');
    const rows = await store.traces.listByRun('r1');
    expect(rows.map((row) => [row.ordinal, row.status])).toEqual([
      [1, 'OK'],
      [2, 'OK'],
      [3, 'ABANDONED'],
      [4, 'OK'],
      [5, 'DENIED'],
    ]);
  });

  it('is found after the bookkeeping was released', async () => {
    const one = runner();
    const a = await one.run(ask('a'), configOf());
    one.release('r1');
    expect(await one.run(ask('a'), configOf())).toEqual(a);
    expect(tool.calls).toHaveLength(1);
  });
});

describe('a run that ends', () => {
  it.each(['CANCELLED', 'DRAIN', 'LEASE_LOST'])(
    'with %s rejects at once with CANCELLED and drops the late result',
    async (reason) => {
      const controller = new AbortController();
      let late: (value: ToolOutput) => void = () => undefined;
      tool.script = () =>
        new Promise((resolve) => {
          late = resolve;
        });
      const one = runner();
      const call = one.run(ask('a'), configOf('r1', { signal: controller.signal }));
      while (tool.calls.length < 1) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(reason);
      expect(await codeOf(call)).toBe('CANCELLED');
      late(output());
      await new Promise((resolve) => setImmediate(resolve));
      const [row] = await store.traces.listByRun('r1');
      // A run that is somebody else's by now is not written at all.
      expect(row).toMatchObject({ status: reason === 'LEASE_LOST' ? 'RUNNING' : 'ABANDONED', output_sha256: null });
      expect(await codeOf(one.run(ask('b'), configOf('r1', { signal: controller.signal })))).toBe('CANCELLED');
      expect(tool.calls).toHaveLength(1);
    },
  );

  it('by its deadline gives an ERROR, before and during a call, and the tool is told to stop', async () => {
    const controller = new AbortController();
    let told: unknown = null;
    tool.script = (_args, { signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          told = signal.aborted;
          reject(new Error('stopped'));
        }),
      );
    const one = runner();
    const call = one.run(ask('a'), configOf('r1', { deadline: controller.signal }));
    while (tool.calls.length < 1) await new Promise((resolve) => setImmediate(resolve));
    controller.abort('RUN_DEADLINE');
    expect(errorCode(await call)).toBe('TOOL_TIMEOUT');
    expect(told).toBe(true);
    expect(errorCode(await one.run(ask('b'), configOf('r1', { deadline: controller.signal })))).toBe('TOOL_TIMEOUT');
    expect(tool.calls).toHaveLength(1);
  });

  it('takes no further call, whoever asks', async () => {
    await store.runs.finish('r1', 'me', success());
    expect(await codeOf(runner().run(ask('a'), configOf()))).toBe('CANCELLED');
    expect(await store.traces.listByRun('r1')).toEqual([]);
  });
});

describe('the recorder', () => {
  it('[A17] refuses a config whose thread is not its run', async () => {
    const config = { ...configOf(), configurable: { ...configOf().configurable, thread_id: 'r2' } };
    expect(await codeOf(runner().run(ask('a'), config))).toBe('STATE_INVALID');
  });

  it('refuses two tools of one name', () => {
    const parts = [store.traces, new CredentialRedactor(), events, new SystemClock(), new UuidV7Source()] as const;
    expect(() => new RecordingToolRunner([tool, new ScriptedTool()], ...parts, parseDiagnosisOptions({}))).toThrow('Two tools');
  });
});
