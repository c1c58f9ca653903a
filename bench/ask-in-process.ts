import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { ChatRequest, ChatResult } from '../src/chat/chat-request';
import { ChatService } from '../src/chat/chat.service';
import { DiagnosisModule, type DiagnosisModuleExtras } from '../src/diagnosis.module';
import { TelemetrySource } from '../src/ports/telemetry-source.port';
import { ToolInvocationStore } from '../src/ports/tool-invocation-store.port';
import { RunReader } from '../src/chat/run-reader.service';

/** Asks one question through the public chat. */
export type AnswerOf = (request: ChatRequest) => Promise<ChatResult>;

/** What a bench may look at beside the answer. */
export interface Inside {
  readonly invocations: ToolInvocationStore;
  readonly runs: RunReader;
}

/** What a bench may set beside the telemetry. */
export interface Setting {
  readonly hostAgents?: DiagnosisModuleExtras['hostAgents'];
  /** Whether a question that was asked before is answered from memory: files do not change while a bench runs. @default false */
  readonly remembersTelemetry?: boolean;
}

const QUESTIONS = [
  'logPatterns',
  'errorShare',
  'logSequences',
  'metricAnomalies',
  'spanAnalysis',
  'serviceGraph',
  'changes',
] as const;

/** Makes a source answer each of its closed questions once. */
function remember(source: TelemetrySource): void {
  for (const question of QUESTIONS) {
    const ask = source[question].bind(source) as (query: unknown) => Promise<unknown>;
    const answers = new Map<string, Promise<unknown>>();
    Object.assign(source, {
      [question]: (query: unknown) => {
        const key = JSON.stringify(query);
        const answer = answers.get(key) ?? ask(query);
        answers.set(key, answer);
        return answer;
      },
    });
  }
}

/**
 * Starts the module in this process over one telemetry path and a database in memory, lends its chat, and closes it. It
 * brings no HTTP.
 */
export async function withDiagnosis<T>(
  telemetryPath: string,
  work: (ask: AnswerOf, inside: Inside) => Promise<T>,
  { hostAgents = {}, remembersTelemetry = false }: Setting = {},
): Promise<T> {
  const module = DiagnosisModule.forRoot({
    telemetry: { path: telemetryPath },
    database: { url: 'sqlite::memory:' },
    run: { deadlineMs: 300_000 },
    tools: { timeoutMs: 120_000 },
    http: { controllers: false },
    hostAgents,
  });
  const app = await NestFactory.createApplicationContext(module, { logger: ['error'] });
  app.enableShutdownHooks();
  if (remembersTelemetry) remember(app.get(TelemetrySource));
  try {
    const chat = app.get(ChatService);
    return await work((request) => chat.chat(request), { invocations: app.get(ToolInvocationStore), runs: app.get(RunReader) });
  } finally {
    await app.close();
  }
}
