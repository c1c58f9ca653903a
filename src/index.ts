export { DiagnosisModule, type DiagnosisModuleExtras } from './diagnosis.module';
export {
  DIAGNOSIS_OPTIONS,
  parseDiagnosisOptions,
  type DiagnosisOptions,
  type DiagnosisOptionsInput,
} from './options/diagnosis-options';
export { DIAGNOSIS_ERROR_CODES, DiagnosisError, type DiagnosisErrorCode } from './errors/diagnosis-error';

export { ActiveRuns } from './chat/active-runs.service';
export type { ChatRequest, ChatResult } from './chat/chat-request';
export { ChatService, type ChatOptions, type ChatProgress } from './chat/chat.service';
export { ProgressHub } from './chat/progress-hub.service';
export { RetentionService, type SweepReport, type SweepRequest } from './chat/retention.service';
export { RunErasure, type Erasure } from './chat/run-erasure.service';
export { RunOutcomes, type OutcomeView, type ToldOutcome } from './chat/run-outcomes.service';
export { RunQueries } from './chat/run-queries.service';
export type { PageQuery, RunListQuery } from './chat/run-list-query';
export type {
  EvaluationListItem,
  EvaluationView,
  InvocationListItem,
  Page,
  RunListItem,
  SessionListItem,
  SessionView,
  StepView,
} from './chat/run-list-views';
export { RunReader } from './chat/run-reader.service';
export { RunStats, type RunNumbers, type RunStatsView, type Share, type StatsRequest } from './chat/run-stats.service';
export type {
  BindingView,
  ContextLine,
  EvidenceClaimView,
  EvidenceView,
  InvocationAnswer,
  InvocationView,
  OutputPart,
  RunView,
} from './chat/run-views';
export { DiagnosisCheckpointSaver, type CheckpointSaverOptions } from './graph/checkpoint-saver';
export { DiagnosisErrorFilter } from './http/diagnosis-error.filter';
export { publishOpenApi } from './http/openapi';
export type { ProblemDocument } from './http/problem-document';

export { AgentInvoker, ComposerAgent, ExecutorAgent, PlannerAgent, VerifierAgent } from './ports/agent-invoker.port';
export { AgentStepStore, type AgentStepRecord } from './ports/agent-step-store.port';
export {
  CheckpointStore,
  RUN_REALM,
  type ChannelVersion,
  type CheckpointAddress,
  type CheckpointPlace,
  type CheckpointQuery,
  type CheckpointThread,
  type NewCheckpoint,
  type PendingChannelWrite,
  type StoredCheckpoint,
  type TypedBytes,
} from './ports/checkpoint-store.port';
export { Clock } from './ports/clock.port';
export { DiagnosisTool, type ToolExecution } from './ports/diagnosis-tool.port';
export { EvaluationStore, type EvaluationRecord } from './ports/evaluation-store.port';
export { IdSource } from './ports/id-source.port';
export { ProgressSink, type ProgressEvent } from './ports/progress-sink.port';
export { Redactor } from './ports/redactor.port';
export { runContextOf, runIdOf, type RunContext } from './ports/run-context';
export { RunEvaluator } from './ports/run-evaluator.port';
export { RunEraser, type RunPosition } from './ports/run-eraser.port';
export { RunOutcomeStore, type RunOutcomeRecord } from './ports/run-outcome-store.port';
export {
  RunStatsStore,
  type CountedRanges,
  type DurationPercentiles,
  type FailedCalls,
  type RunCounts,
} from './ports/run-stats-store.port';
export { RunQueryStore, type ListPosition, type ListSlice, type RunFilter, type RunSummary } from './ports/run-query-store.port';
export { RunStore, type RunMetrics, type RunRecord, type SelfEvaluation } from './ports/run-store.port';
export { SessionStore } from './ports/session-store.port';
export { TelemetrySource } from './ports/telemetry-source.port';
export { ToolInvocationStore, type InvocationRecord } from './ports/tool-invocation-store.port';
export { ToolRunner, type ToolCall, type ToolDescription, type ToolResult } from './ports/tool-runner.port';

export type { AllowedMaterial, VerifiedClaim, VerifiedEvidence } from './protocol/verified-material';
export type { ComposerAnswer } from './protocol/composer-answer';
export type { DiagnosisPlan } from './protocol/diagnosis-plan';
export type { DiagnosisQuery } from './protocol/diagnosis-query';
export type { Assertion, Assessment, Binding, Claim, ExecutorEvidence } from './protocol/executor-evidence';
export type { GatekeeperResult } from './protocol/gatekeeper-result';
export type { JsonObject, JsonValue } from './protocol/json-value';
export type { OrchestrationTrace } from './protocol/orchestration-trace';
export { parseComposerAnswer } from './protocol/parse-composer-answer';
export { parseDiagnosisPlan } from './protocol/parse-diagnosis-plan';
export { parseExecutorEvidence } from './protocol/parse-executor-evidence';
export { parseVerifierVerdict } from './protocol/parse-verifier-verdict';
export type { Parsed } from './protocol/parsed';
export type { RankedCause, RunEvidence } from './protocol/run-evidence';
export { toolOutputSchema, type ToolOutput } from './protocol/tool-output';
export type { VerifierVerdict } from './protocol/verifier-verdict';

export { EXPECTED_LABELS, type ExpectedLabels } from './evaluation/expected-label.evaluator';
export { ExecutorGatekeeperService } from './gatekeeper/executor-gatekeeper.service';
export { DIAGNOSIS_ENTITIES, DIAGNOSIS_MIGRATIONS } from './runs/data-source-options';

export type { AgentFlow, InvocationStatus, RunFailureCode, RunStatus } from './vocabulary/run-lifecycle';
export type { Verdict } from './vocabulary/verdicts';
