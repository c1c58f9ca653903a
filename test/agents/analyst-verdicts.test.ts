import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunnableConfig } from '@langchain/core/runnables';
import { Inject, Injectable, type Type } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { generateIncident, type GeneratedIncident } from '../../examples/incident/incident-generator';
import { writeIncident } from '../../examples/incident/write-incident';
import { AnalystExecutorAgent } from '../../src/agents/analyst/analyst-executor.agent';
import type { ChatRequest, ChatResult } from '../../src/chat/chat-request';
import { ChatService } from '../../src/chat/chat.service';
import { DiagnosisModule } from '../../src/diagnosis.module';
import type { ExecutorAgent } from '../../src/ports/agent-invoker.port';
import { ToolRunner } from '../../src/ports/tool-runner.port';
import { executorEvidenceSchema } from '../../src/protocol/executor-evidence';
import { DIAGNOSIS_DATA_SOURCE } from '../../src/runs/diagnosis-data-source';
import { ToolInvocation } from '../../src/runs/tool-invocation.entity';
import { ToolOutputChunk } from '../../src/runs/tool-output-chunk.entity';

const MINUTE = 60_000;

/** The analyst, after whose work somebody flips a byte of the output that its strongest claim points at. */
@Injectable()
class TamperedStoreExecutor extends AnalystExecutorAgent {
  constructor(
    tools: ToolRunner,
    @Inject(DIAGNOSIS_DATA_SOURCE) private readonly database: DataSource,
  ) {
    super(tools);
  }

  override async invoke(input: string, config: RunnableConfig): Promise<string> {
    const raw = await super.invoke(input, config);
    const cited = executorEvidenceSchema.parse(JSON.parse(raw)).claims[0]?.bindings[0]?.source_invocation_id ?? '';
    const row = await this.database.manager.findOneByOrFail(ToolInvocation, { invocation_id: cited });
    const chunk = await this.database.manager.findOneByOrFail(ToolOutputChunk, { invocation_row_id: row.id, seq: 0 });
    const bytes = Buffer.from(chunk.bytes);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
    await this.database.manager.update(ToolOutputChunk, { invocation_row_id: row.id, seq: 0 }, { bytes });
    return raw;
  }
}

/** The analyst, one of whose claims says the opposite of what was recorded. */
@Injectable()
class FlippedClaimExecutor extends AnalystExecutorAgent {
  override async invoke(input: string, config: RunnableConfig): Promise<string> {
    const evidence = executorEvidenceSchema.parse(JSON.parse(await super.invoke(input, config)));
    const [first] = evidence.claims;
    if (first?.assertion !== undefined) first.assertion.op = 'fell';
    return JSON.stringify(evidence);
  }
}

describe('verdicts of the analyst through the whole house', () => {
  const folder = mkdtempSync(join(tmpdir(), 'analyst-verdicts-'));
  const incident: GeneratedIncident = generateIncident(1, 'error_burst');
  const { truth } = incident;

  const apps = new Map<Type<ExecutorAgent>, TestingModule>();

  beforeAll(() => writeIncident(incident, folder));
  afterAll(async () => {
    for (const app of apps.values()) await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The module with one executor; started once, because it imports the telemetry once. */
  async function appWith(executor: Type<ExecutorAgent>): Promise<TestingModule> {
    const started = apps.get(executor);
    if (started !== undefined) return started;
    const options = {
      telemetry: { path: folder },
      database: { url: 'sqlite::memory:' },
      hostAgents: { executor },
      controllers: false,
    };
    const app = await Test.createTestingModule({ imports: [DiagnosisModule.forRoot(options)] }).compile();
    apps.set(executor, app);
    return app.init();
  }

  async function ask(
    request: Omit<ChatRequest, 'message'>,
    executor: Type<ExecutorAgent> = AnalystExecutorAgent,
  ): Promise<ChatResult> {
    return (await appWith(executor)).get(ChatService).chat({ message: 'What went wrong?', ...request });
  }

  const shifted = (minutes: number): string => new Date(Date.parse(truth.window.from) + minutes * MINUTE).toISOString();
  const subjects = (result: ChatResult, role: string): string[] =>
    result.causes.filter((cause) => cause.role === role).map(({ subject }) => subject);

  it('passes the true cause against a clean baseline and clears the red herrings', async () => {
    const result = await ask({ window: truth.window, baseline: truth.baseline });
    expect(result).toMatchObject({ verdict: 'PASS', degraded: false });
    expect(subjects(result, 'cause')).toEqual([truth.cause]);
    expect(subjects(result, 'ruled_out')).toContain(truth.noisy_service);
  });

  it('passes a healthy stretch with nothing wrong', async () => {
    const result = await ask({ window: truth.healthy, baseline: { from: truth.baseline.from, to: truth.healthy.from } });
    expect(result).toMatchObject({ verdict: 'PASS', degraded: false });
    expect(result.causes.every(({ role }) => role === 'ruled_out')).toBe(true);
    expect(result.answer).toContain('Nothing departs from normal');
  });

  it('gives no more than LOW_CONFID when only the preceding stretch is there to compare with', async () => {
    expect(await ask({ window: truth.window })).toMatchObject({ verdict: 'LOW_CONFID', degraded: false });
  });

  it('[A10] rejects a cause whose change the baseline holds as well, and shows none of it', async () => {
    const request = { window: { from: shifted(5), to: truth.window.to }, baseline: { from: shifted(-10), to: shifted(5) } };
    const result = await ask(request);
    expect(result).toMatchObject({ verdict: 'REJECT', degraded: true, causes: [] });
    expect(result.answer).not.toContain(truth.cause);
  });

  it.each([
    ['a byte of a cited output is flipped in the store', TamperedStoreExecutor],
    ['one claim says the opposite of what was recorded', FlippedClaimExecutor],
  ])('[A11] lowers the verdict when %s', async (_name, executor) => {
    const result = await ask({ window: truth.window, baseline: truth.baseline }, executor);
    expect(result.verdict).not.toBe('PASS');
  });
});
