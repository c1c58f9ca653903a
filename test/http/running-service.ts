import { Writable } from 'node:stream';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { PARAMS_PROVIDER_TOKEN } from 'nestjs-pino';
import { AppModule } from '../../src/app.module';
import { configureService } from '../../src/main';
import { ComposerAgent, ExecutorAgent, PlannerAgent, VerifierAgent } from '../../src/ports/agent-invoker.port';
import { DIAGNOSIS_TOOLS } from '../../src/ports/diagnosis-tool.port';
import { requestLogging } from '../../src/request-logging';
import {
  ScriptedComposer,
  ScriptedExecutor,
  ScriptedPlanner,
  ScriptedVerifier,
  UnitCountsTool,
} from '../chat/scripted-diagnosis';

export interface RunningService {
  readonly app: NestExpressApplication;
  readonly url: string;
  /** Everything that the service logged. */
  log(): string;
  post(path: string, body: unknown): Promise<Response>;
  get(path: string): Promise<Response>;
}

/** The service itself over real HTTP on a free port of 127.0.0.1, with scripted agents and a scripted tool. */
export async function startService(environment: {
  readonly DATABASE_URL: string;
  readonly DIAGNOSIS_TELEMETRY?: string;
}): Promise<RunningService> {
  process.env['DATABASE_URL'] = environment.DATABASE_URL;
  process.env['DIAGNOSIS_TELEMETRY'] = environment.DIAGNOSIS_TELEMETRY ?? '';
  const lines: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString('utf8'));
      done();
    },
  });
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(PARAMS_PROVIDER_TOKEN)
    .useValue({ pinoHttp: { ...requestLogging('info').pinoHttp, stream } })
    .overrideProvider(PlannerAgent)
    .useClass(ScriptedPlanner)
    .overrideProvider(ExecutorAgent)
    .useClass(ScriptedExecutor)
    .overrideProvider(VerifierAgent)
    .useClass(ScriptedVerifier)
    .overrideProvider(ComposerAgent)
    .useClass(ScriptedComposer)
    .overrideProvider(DIAGNOSIS_TOOLS)
    .useValue([new UnitCountsTool()])
    .compile();
  const app = await configureService(
    module.createNestApplication<NestExpressApplication>({ bodyParser: false, bufferLogs: true }),
  );
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return {
    app,
    url,
    log: () => lines.join(''),
    post: (path, body) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer token-of-a-caller' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path) => fetch(`${url}${path}`),
  };
}

export interface StreamedEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads server-sent events as they arrive; comments are left out. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder();
  let waiting = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    waiting += decoder.decode(chunk, { stream: true });
    const frames = waiting.split('\n\n');
    waiting = frames.pop() ?? '';
    for (const frame of frames) {
      const event = /^event: (.*)$/m.exec(frame)?.[1];
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) as Record<string, unknown> };
    }
  }
}

export async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}
