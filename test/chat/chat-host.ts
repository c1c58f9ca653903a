import { Test, type TestingModule } from '@nestjs/testing';
import type { DataSource } from 'typeorm';
import { ChatService } from '../../src/chat/chat.service';
import type { ChatRequest, ChatResult } from '../../src/chat/chat-request';
import { RunReader } from '../../src/chat/run-reader.service';
import { DiagnosisModule } from '../../src/diagnosis.module';
import { DiagnosisError } from '../../src/errors/diagnosis-error';
import type { DiagnosisOptionsInput } from '../../src/options/diagnosis-options';
import { RunEvaluator } from '../../src/ports/run-evaluator.port';
import { RunStore } from '../../src/ports/run-store.port';
import { DIAGNOSIS_DATA_SOURCE } from '../../src/runs/diagnosis-data-source';
import { SCRIPTED_HOST } from './scripted-diagnosis';

export const REQUEST: ChatRequest = {
  message: 'Which unit fails?',
  window: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z' },
  baseline: { from: '2026-05-04T13:00:00Z', to: '2026-05-04T14:00:00Z' },
};

/** The module with scripted agents over a real database, and a watch on its evaluator. */
export class ChatHost {
  readonly chat: ChatService;
  readonly runs: RunStore;
  readonly reader: RunReader;
  /** Runs that the evaluator was asked about. */
  readonly evaluated: string[] = [];
  /** What the evaluator does; the real one unless a test sets another. */
  evaluation: (runId: string) => Promise<void>;

  private constructor(readonly module: TestingModule) {
    this.chat = module.get(ChatService);
    this.runs = module.get(RunStore);
    this.reader = module.get(RunReader);
    const evaluator = module.get(RunEvaluator, { strict: false });
    this.evaluation = evaluator.evaluate.bind(evaluator);
    jest.spyOn(evaluator, 'evaluate').mockImplementation(async (runId) => {
      this.evaluated.push(runId);
      await this.evaluation(runId);
    });
  }

  /** Over a file of SQLite, or the database of a URL. */
  static async open(place: string, options: DiagnosisOptionsInput = {}): Promise<ChatHost> {
    const url = /^[a-z]+:/.test(place) ? place : `sqlite:${place}`;
    const module = await Test.createTestingModule({
      imports: [DiagnosisModule.forRoot({ database: { url }, ...options, ...SCRIPTED_HOST, controllers: false })],
    }).compile();
    module.useLogger(false);
    return new ChatHost(await module.init());
  }

  /** Statuses of all runs, oldest first. */
  async statuses(): Promise<string[]> {
    const rows: { status: string }[] = await this.query('SELECT status FROM diagnosis_run ORDER BY created_at');
    return rows.map(({ status }) => status);
  }

  query<T>(sql: string): Promise<T> {
    return this.module.get<DataSource>(DIAGNOSIS_DATA_SOURCE, { strict: false }).query<T>(sql);
  }

  close(): Promise<void> {
    return this.module.close();
  }
}

/** The error with which a chat ends. */
export async function failureOf(asked: Promise<ChatResult>): Promise<DiagnosisError> {
  const error: unknown = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!DiagnosisError.is(error)) throw new Error('expected a DiagnosisError');
  return error;
}
