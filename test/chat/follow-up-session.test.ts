import { Test, type TestingModule } from '@nestjs/testing';
import { ChatService } from '../../src/chat/chat.service';
import type { ChatResult } from '../../src/chat/chat-request';
import { RunReader } from '../../src/chat/run-reader.service';
import type { EvidenceView } from '../../src/chat/run-views';
import { DiagnosisModule } from '../../src/diagnosis.module';
import { ToolInvocationStore } from '../../src/ports/tool-invocation-store.port';
import { TelemetryFolder } from '../telemetry/telemetry-folder';
import { temporaryFolder } from './scripted-diagnosis';

const START = Date.parse('2026-05-04T12:00:00Z');
const MINUTES = 120;
/** Stock fails in one region from here to the end. */
const INCIDENT = 90;

function at(minute: number): string {
  return new Date(START + minute * 60_000).toISOString();
}

/** Two hours of three services in two regions, and the changes that were recorded. */
function writeTelemetry(folder: TelemetryFolder): void {
  const lines: string[] = [];
  const log = (minute: number, service: string, region: string, level: string, message: string): void => {
    lines.push(JSON.stringify({ time: at(minute), service, pod: `${service}-${region}-7`, level, message }));
  };
  for (let tick = 0; tick < MINUTES * 6; tick += 1) {
    const minute = tick / 6;
    for (const region of ['eu-west', 'us-east']) {
      log(minute, 'cart', region, 'info', `cart ${tick} opened`);
      log(minute, 'orders-db', region, 'info', `select of cart ${tick} took ${tick % 7} ms`);
      const fails = region === 'eu-west' && minute >= INCIDENT && tick % 2 === 0;
      if (fails) log(minute, 'stock', region, 'error', `cannot reserve item ${tick}: shelf index is missing`);
      else log(minute, 'stock', region, 'info', `item ${tick} reserved`);
      if (tick % 40 === 0) log(minute, 'cart', region, 'warn', `cart ${tick} was slow to open`);
    }
  }
  folder.write('app.jsonl', lines.join('\n'));
  const changes = [
    { time: at(30), service: 'cart', kind: 'deploy', text: 'cart 4.1.0' },
    { time: at(INCIDENT - 6), service: 'stock', kind: 'deploy', text: 'stock 2.8.0' },
    { time: at(INCIDENT + 12), service: 'orders-db', kind: 'config', text: 'pool size 40' },
  ];
  folder.write('changes.jsonl', changes.map((change) => JSON.stringify(change)).join('\n'));
  folder.map({
    logs: [
      {
        files: ['app.jsonl'],
        format: 'jsonl',
        time: { column: 'time' },
        message: 'message',
        level: 'level',
        service: 'service',
        instance: 'pod',
      },
    ],
    changes: [{ files: ['changes.jsonl'], time: { column: 'time' }, service: 'service', kind: 'kind', text: 'text' }],
  });
}

describe('a session of follow-ups', () => {
  const folder = new TelemetryFolder();
  const store = temporaryFolder();
  let module: TestingModule;
  let first: ChatResult;

  beforeAll(async () => {
    writeTelemetry(folder);
    module = await Test.createTestingModule({
      imports: [
        DiagnosisModule.forRoot({
          database: { url: `sqlite:${store.file('runs.sqlite')}` },
          telemetry: { path: folder.path },
          controllers: false,
        }),
      ],
    }).compile();
    module.useLogger(false);
    await module.init();
    first = await module.get(ChatService).chat({ message: 'Why does stock fail since 13:30?' });
  });
  afterAll(async () => {
    await module.close();
    await folder.remove();
    store.remove();
  });

  async function ask(message: string, sessionId = first.sessionId) {
    const result = await module.get(ChatService).chat({ message, sessionId });
    const reader = module.get(RunReader);
    return { result, run: await reader.run(result.runId), evidence: await reader.evidence(result.runId) };
  }

  /** Claims whose every binding is a recorded output of the run itself. */
  async function ownClaims(evidence: EvidenceView): Promise<EvidenceView['claims']> {
    const calls = await module.get(ToolInvocationStore, { strict: false }).listByRun(evidence.runId);
    const own = new Set(calls.map(({ invocation_id }) => invocation_id));
    for (const { bindings } of evidence.claims) {
      expect(bindings.length).toBeGreaterThan(0);
      expect(bindings.every(({ source_invocation_id }) => own.has(source_invocation_id))).toBe(true);
    }
    return evidence.claims;
  }

  const section = (answer: string, heading: string): string =>
    answer.split(`## ${heading}\n`)[1]?.split('\n## ')[0]?.trim() ?? '';

  it('begins with a question that names its window', () => {
    expect(first.causes[0]).toMatchObject({ subject: 'stock', role: 'cause' });
    expect(first.answer).toContain('(read from the question)');
  });

  it('"only eu-west" narrows what can be narrowed, and says what cannot', async () => {
    const { result, run, evidence } = await ask('only eu-west');
    expect(run.query).toMatchObject({ scope: { text: 'eu-west' }, window: { source: 'session', run_id: first.runId } });
    expect(result.answer).toContain(`taken over from an earlier run of this session, ${first.runId}`);
    expect(result.answer).toContain('- Only: eu-west');
    expect(result.answer).toContain('can be narrowed to this part');
    expect(result.causes[0]).toMatchObject({ subject: 'stock', role: 'cause' });
    // Half of the service's lines in the region are errors, a quarter of them all.
    const statements = (await ownClaims(evidence)).map(({ statement }) => statement).join('\n');
    expect(statements).toMatch(/stock: share of error lines rose from 0 % to 50 %/);
  });

  it('"only us-east" finds the other region healthy', async () => {
    const { result } = await ask('only us-east');
    expect(result.causes.filter(({ role }) => role === 'cause')).toEqual([]);
    expect(result.answer).toContain('Nothing was seen to depart from normal');
  });

  it('"only ap-south" says that there is no such part', async () => {
    const { result, evidence } = await ask('only ap-south');
    expect(result.causes).toEqual([]);
    expect(result.answer).not.toMatch(/depart(?:s|ed)? from normal/);
    const statements = (await ownClaims(evidence)).map(({ statement }) => statement);
    expect(statements).toEqual([
      expect.stringMatching(/all services: no record with “ap-south” in its text or names between 2026-05-04T13:30/),
    ]);
  });

  it('"only Cart" asks every tool about that service alone', async () => {
    const { result, run } = await ask('only Cart');
    expect(run.query).toMatchObject({ scope: { text: 'Cart', service: 'cart' } });
    expect(result.causes.filter(({ role }) => role === 'cause')).toEqual([]);
    expect(result.answer).not.toContain('can be narrowed to this part');
    expect(result.answer).not.toMatch(/stock|orders-db/);
    const calls = await module.get(ToolInvocationStore, { strict: false }).listByRun(result.runId);
    const asked = calls.map((call) => ({ tool: call.tool_name, ...(JSON.parse(call.arguments) as { service?: string }) }));
    expect(asked.length).toBeGreaterThan(3);
    for (const { tool, service } of asked) expect([tool, service]).toEqual([tool, /graph|changes/.test(tool) ? null : 'cart']);
  });

  it('"why not the database?" shows what clears it', async () => {
    const { result, run, evidence } = await ask('why not the database?');
    expect(run.query).toMatchObject({ focus: { ask: 'why_not', subject: 'database' } });
    const cleared = result.causes.find(({ subject }) => subject === 'orders-db');
    expect(cleared?.role).toBe('ruled_out');
    expect(result.answer).toContain('Ruled out: orders-db');
    const claims = await ownClaims(evidence);
    const clearing = claims.filter(({ claim_id }) => cleared?.claimIds.includes(claim_id));
    expect(clearing.map(({ statement }) => statement)).toContainEqual(expect.stringMatching(/share of error lines is unchanged/));
  });

  it('"why not stock?" does not clear what is to blame', async () => {
    const { result } = await ask('why not stock?');
    expect(result.causes.find(({ subject }) => subject === 'stock')).toMatchObject({ role: 'cause' });
    expect(result.answer).toContain('Most likely cause: stock');
  });

  it('"why not the mainframe?" says that nothing has that name', async () => {
    const { result } = await ask('why not the mainframe?');
    expect(result.answer).toContain('no record with `mainframe`');
    expect(result.answer).toContain('has no records under this name');
    expect(result.causes.filter(({ role }) => role === 'ruled_out').map(({ subject }) => subject)).not.toContain('mainframe');
  });

  it('"what changed before that?" tells the changes before the window and no other', async () => {
    const { result, run, evidence } = await ask('what changed before that?');
    expect(run.query).toMatchObject({ focus: { ask: 'changes', before: true } });
    await ownClaims(evidence);
    const told = section(result.answer, 'What changed').split('\n');
    expect(told).toEqual([expect.stringMatching(/^- stock: .* is 6 min .*`stock 2\.8\.0`\) \[\d+\]$/)]);
  });

  it('"what changed?" tells those in the window too', async () => {
    const { result } = await ask('what changed?');
    const told = section(result.answer, 'What changed');
    expect(told).toContain('stock 2.8.0');
    expect(told).toContain('pool size 40');
    expect(result.answer).not.toContain('cart 4.1.0');
  });

  it('"what changed before that?" says, checked, when nothing did', async () => {
    const { sessionId } = await module.get(ChatService).chat({ message: 'What happened between 13:10 and 13:20?' });
    const { evidence } = await ask('what changed before that?', sessionId);
    const absent = (await ownClaims(evidence)).filter(({ kind }) => kind === 'absence').map(({ statement }) => statement);
    expect(absent).toContainEqual(
      expect.stringMatching(/all services: no record between 2026-05-04T12:55:00.000Z and 2026-05-04T13:10:00.000Z/),
    );
  });

  it('"show me the lines" counts the kinds of lines of the cause, each with a line that can be opened', async () => {
    const { result, run, evidence } = await ask('show me the lines');
    expect(run.query).toMatchObject({ focus: { ask: 'lines' }, window: { source: 'session' } });
    const lines = section(result.answer, 'Lines');
    expect(lines.split('\n')).toHaveLength(2);
    expect(lines).toMatch(/stock: number of lines like this is 90 .*shelf index is missing/);
    const claims = (await ownClaims(evidence)).filter(({ claim_id }) => claim_id.startsWith('line-'));
    const samples = claims.flatMap(({ bindings }) => bindings.filter(({ raw_path }) => raw_path.endsWith('/sample')));
    expect(samples).toHaveLength(2);
    for (const { context } of samples) expect(context?.some(({ matched }) => matched)).toBe(true);
  });

  it('"show me the lines of cart" tells those of another service', async () => {
    const { result } = await ask('show me the lines of cart');
    expect(section(result.answer, 'Lines')).toMatch(/cart: number of lines like this is 8 .*was slow to open/);
  });

  it('leaves a new window to a question that names one', async () => {
    const { run } = await ask('and between 12:30 and 12:45?');
    expect(run.query).toMatchObject({ window: { source: 'question', from: '2026-05-04T12:30:00.000Z' } });
    expect(run.query?.focus).toBeUndefined();
  });

  it('finds the window in the telemetry when nobody ever named one', async () => {
    const result = await module.get(ChatService).chat({ message: 'What is wrong?' });
    expect(result.answer).toContain('(found in the telemetry: the stretch that departs most from the rest)');
    expect(result.answer).toContain('(found in the telemetry: everything before the window)');
    expect(result.causes[0]).toMatchObject({ subject: 'stock', role: 'cause' });
  });
});
