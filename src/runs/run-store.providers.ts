import type { Provider } from '@nestjs/common';
import { AgentStepStore } from '../ports/agent-step-store.port';
import { CheckpointStore } from '../ports/checkpoint-store.port';
import { Clock } from '../ports/clock.port';
import { EvaluationStore } from '../ports/evaluation-store.port';
import { IdSource } from '../ports/id-source.port';
import { RunOutcomeStore } from '../ports/run-outcome-store.port';
import { RunStatsStore } from '../ports/run-stats-store.port';
import { RunEraser } from '../ports/run-eraser.port';
import { RunQueryStore } from '../ports/run-query-store.port';
import { RunStore } from '../ports/run-store.port';
import { SessionStore } from '../ports/session-store.port';
import { ToolInvocationStore } from '../ports/tool-invocation-store.port';
import { AgentStepRepository } from './agent-step.repository';
import { CheckpointRepository } from './checkpoint.repository';
import { EvaluationRepository } from './evaluation.repository';
import { RunEraserRepository } from './run-eraser.repository';
import { RunOutcomeRepository } from './run-outcome.repository';
import { RunStatsRepository } from './run-stats.repository';
import { RunQueryRepository } from './run-query.repository';
import { RunRepository } from './run.repository';
import { SessionRepository } from './session.repository';
import { SystemClock } from './system-clock.service';
import { TraceRepository } from './trace.repository';
import { UuidV7Source } from './uuid-v7-source.service';

/**
 * The stores, clock and id source behind their ports. They need `DIAGNOSIS_DATA_SOURCE` (an open data source, see
 * `openDiagnosisDataSource`) and `DIAGNOSIS_OPTIONS` in the same module.
 */
export const runStoreProviders: Provider[] = [
  RunRepository,
  TraceRepository,
  AgentStepRepository,
  SessionRepository,
  EvaluationRepository,
  CheckpointRepository,
  { provide: RunStore, useExisting: RunRepository },
  { provide: ToolInvocationStore, useExisting: TraceRepository },
  { provide: AgentStepStore, useExisting: AgentStepRepository },
  { provide: SessionStore, useExisting: SessionRepository },
  { provide: EvaluationStore, useExisting: EvaluationRepository },
  { provide: RunQueryStore, useClass: RunQueryRepository },
  { provide: CheckpointStore, useExisting: CheckpointRepository },
  { provide: RunStatsStore, useClass: RunStatsRepository },
  { provide: RunEraser, useClass: RunEraserRepository },
  { provide: RunOutcomeStore, useClass: RunOutcomeRepository },
  { provide: Clock, useClass: SystemClock },
  { provide: IdSource, useClass: UuidV7Source },
];
