import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { ChatRequest, ChatResult } from '../src/chat/chat-request';
import { ChatService } from '../src/chat/chat.service';
import { DiagnosisModule } from '../src/diagnosis.module';
import { ToolInvocationStore } from '../src/ports/tool-invocation-store.port';
import { RunReader } from '../src/chat/run-reader.service';

/** Asks one question through the public chat. */
export type AnswerOf = (request: ChatRequest) => Promise<ChatResult>;

/** What a bench may look at beside the answer. */
export interface Inside {
  readonly invocations: ToolInvocationStore;
  readonly runs: RunReader;
}

/**
 * Starts the module in this process over one telemetry path and a database in memory, lends its chat, and closes it. It
 * brings no HTTP.
 */
export async function withDiagnosis<T>(telemetryPath: string, work: (ask: AnswerOf, inside: Inside) => Promise<T>): Promise<T> {
  const module = DiagnosisModule.forRoot({
    telemetry: { path: telemetryPath },
    database: { url: 'sqlite::memory:' },
    run: { deadlineMs: 300_000 },
    tools: { timeoutMs: 120_000 },
    http: { controllers: false },
  });
  const app = await NestFactory.createApplicationContext(module, { logger: ['error'] });
  app.enableShutdownHooks();
  try {
    const chat = app.get(ChatService);
    return await work((request) => chat.chat(request), { invocations: app.get(ToolInvocationStore), runs: app.get(RunReader) });
  } finally {
    await app.close();
  }
}
