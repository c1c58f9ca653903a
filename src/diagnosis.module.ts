import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type DynamicModule,
  type InjectionToken,
  type OnApplicationShutdown,
  type Provider,
  type Type,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AnalystComposerAgent } from './agents/analyst/analyst-composer.agent';
import { AnalystExecutorAgent } from './agents/analyst/analyst-executor.agent';
import { AnalystPlannerAgent } from './agents/analyst/analyst-planner.agent';
import { AnalystVerifierAgent } from './agents/analyst/analyst-verifier.agent';
import { ActiveRuns } from './chat/active-runs.service';
import { ChatService } from './chat/chat.service';
import { ProgressHub } from './chat/progress-hub.service';
import { QueryIntakeService } from './chat/query-intake.service';
import { RetentionService } from './chat/retention.service';
import { RunErasure } from './chat/run-erasure.service';
import { RunOutcomes } from './chat/run-outcomes.service';
import { RunQueries } from './chat/run-queries.service';
import { RunReader } from './chat/run-reader.service';
import { RunStats } from './chat/run-stats.service';
import { DiagnosisError } from './errors/diagnosis-error';
import { ExpectedLabelEvaluator, EXPECTED_LABELS, type ExpectedLabels } from './evaluation/expected-label.evaluator';
import { OutcomeEvaluator } from './evaluation/outcome.evaluator';
import { ExecutorGatekeeperService } from './gatekeeper/executor-gatekeeper.service';
import { DiagnosisGraphService } from './graph/diagnosis-graph.service';
import { ChatController } from './http/chat.controller';
import { OutcomeController } from './http/outcome.controller';
import { RunErasureController } from './http/run-erasure.controller';
import { RunListsController } from './http/run-lists.controller';
import { RunsController } from './http/runs.controller';
import { SessionsController } from './http/sessions.controller';
import { StatsController } from './http/stats.controller';
import { ComposerNode } from './nodes/composer.node';
import { ExecutorNode } from './nodes/executor.node';
import { FallbackNode } from './nodes/fallback.node';
import { GatekeeperNode } from './nodes/gatekeeper.node';
import { PlannerNode } from './nodes/planner.node';
import { RetryPrepareNode } from './nodes/retry-prepare.node';
import { VerifiedInputNode } from './nodes/verified-input.node';
import { VerifierNode } from './nodes/verifier.node';
import {
  DIAGNOSIS_OPTIONS,
  parseDiagnosisOptions,
  type DiagnosisOptions,
  type DiagnosisOptionsInput,
} from './options/diagnosis-options';
import { ComposerAgent, ExecutorAgent, PlannerAgent, VerifierAgent, type AgentInvoker } from './ports/agent-invoker.port';
import { AgentStepStore } from './ports/agent-step-store.port';
import { CheckpointStore } from './ports/checkpoint-store.port';
import { Clock } from './ports/clock.port';
import { DIAGNOSIS_TOOLS, type DiagnosisTool } from './ports/diagnosis-tool.port';
import { EvaluationStore } from './ports/evaluation-store.port';
import { DIAGNOSIS_NODES, type AnyGraphNode } from './ports/graph-node.port';
import { IdSource } from './ports/id-source.port';
import { ProgressSink } from './ports/progress-sink.port';
import { Redactor } from './ports/redactor.port';
import { RunEvaluator } from './ports/run-evaluator.port';
import { RunEraser } from './ports/run-eraser.port';
import { RunOutcomeStore } from './ports/run-outcome-store.port';
import { RunStatsStore } from './ports/run-stats-store.port';
import { RunQueryStore } from './ports/run-query-store.port';
import { RunStore } from './ports/run-store.port';
import { SessionStore } from './ports/session-store.port';
import { TelemetrySource } from './ports/telemetry-source.port';
import { ToolInvocationStore } from './ports/tool-invocation-store.port';
import { ToolRunner } from './ports/tool-runner.port';
import { assertGivenDataSource } from './runs/data-source-options';
import { DIAGNOSIS_DATA_SOURCE, openDiagnosisDataSource } from './runs/diagnosis-data-source';
import { runStoreProviders } from './runs/run-store.providers';
import { DuckdbTelemetrySource } from './telemetry/duckdb-telemetry-source';
import { ChangesTool } from './tools/changes.tool';
import { CredentialRedactor } from './tools/credential-redactor.service';
import { ErrorShareTool } from './tools/error-share.tool';
import { LogPatternsTool } from './tools/log-patterns.tool';
import { LogSequencesTool } from './tools/log-sequences.tool';
import { MetricAnomaliesTool } from './tools/metric-anomalies.tool';
import { ReadOutputTool } from './tools/read-output.tool';
import { RecordingToolRunner } from './tools/recording-tool-runner.service';
import { ServiceGraphTool } from './tools/service-graph.tool';
import { SpanAnalysisTool } from './tools/span-analysis.tool';
import { TelemetryOverviewTool } from './tools/telemetry-overview.tool';

/** What a host decides when the module is put together, beside the options. */
export interface DiagnosisModuleExtras {
  /** Whether every module of the host can inject what is exported. @default false */
  isGlobal?: boolean;
  /** Whether the module brings its HTTP controllers. @default true, or `http.controllers` of the options given to `forRoot` */
  controllers?: boolean;
  /** Tools of the host, beside the built-in ones; each `@Injectable()`. @default [] */
  hostTools?: Type<DiagnosisTool>[];
  /** Agents of the host in place of the built-in analyst. @default {} */
  hostAgents?: {
    readonly planner?: Type<AgentInvoker>;
    readonly executor?: Type<AgentInvoker>;
    readonly verifier?: Type<AgentInvoker>;
    readonly composer?: Type<AgentInvoker>;
  };
  /**
   * The host's data source, or the token of one, with `DIAGNOSIS_ENTITIES` among its entities and `DIAGNOSIS_MIGRATIONS`
   * applied; the host closes it. @default null: the module opens `database.url` itself
   */
  dataSource?: DataSource | InjectionToken<DataSource> | null;
  /** Known causes that evaluations score against. @default null */
  expectedLabels?: ExpectedLabels | null;
}

const RAW_OPTIONS = Symbol('DIAGNOSIS_RAW_OPTIONS');
const GIVEN_DATA_SOURCE = Symbol('DIAGNOSIS_GIVEN_DATA_SOURCE');

const NODES: Type<AnyGraphNode>[] = [
  PlannerNode,
  ExecutorNode,
  GatekeeperNode,
  VerifiedInputNode,
  VerifierNode,
  RetryPrepareNode,
  ComposerNode,
  FallbackNode,
];

const nodes: Provider[] = [
  ...NODES,
  { provide: DIAGNOSIS_NODES, useFactory: (...all: AnyGraphNode[]) => all, inject: NODES },
  ExecutorGatekeeperService,
];

const stores: Provider[] = [
  ...runStoreProviders,
  {
    provide: DIAGNOSIS_DATA_SOURCE,
    useFactory: (given: DataSource | null, options: DiagnosisOptions) =>
      given === null ? openDiagnosisDataSource(options) : readyDataSource(given),
    inject: [GIVEN_DATA_SOURCE, DIAGNOSIS_OPTIONS],
  },
];

const BUILT_IN_TOOLS: Type<DiagnosisTool>[] = [
  LogPatternsTool,
  ErrorShareTool,
  LogSequencesTool,
  MetricAnomaliesTool,
  SpanAnalysisTool,
  ServiceGraphTool,
  ChangesTool,
  TelemetryOverviewTool,
  ReadOutputTool,
];

function tools(own: readonly Type<DiagnosisTool>[]): Provider[] {
  const all = [...BUILT_IN_TOOLS, ...own];
  return [
    ...all,
    { provide: DIAGNOSIS_TOOLS, useFactory: (...found: DiagnosisTool[]) => found, inject: all },
    { provide: ToolRunner, useClass: RecordingToolRunner },
    { provide: Redactor, useClass: CredentialRedactor },
    {
      provide: TelemetrySource,
      useFactory: (options: DiagnosisOptions) => new DuckdbTelemetrySource(options.telemetry),
      inject: [DIAGNOSIS_OPTIONS],
    },
  ];
}

function agents(own: NonNullable<DiagnosisModuleExtras['hostAgents']>): Provider[] {
  return [
    { provide: PlannerAgent, useClass: own.planner ?? AnalystPlannerAgent },
    { provide: ExecutorAgent, useClass: own.executor ?? AnalystExecutorAgent },
    { provide: VerifierAgent, useClass: own.verifier ?? AnalystVerifierAgent },
    { provide: ComposerAgent, useClass: own.composer ?? AnalystComposerAgent },
  ];
}

const services: Provider[] = [
  DiagnosisGraphService,
  QueryIntakeService,
  ActiveRuns,
  ProgressHub,
  { provide: ProgressSink, useExisting: ProgressHub },
  { provide: RunEvaluator, useClass: ExpectedLabelEvaluator },
  ChatService,
  RunErasure,
  RetentionService,
  OutcomeEvaluator,
  RunOutcomes,
  RunStats,
  RunReader,
  RunQueries,
];

const CONTROLLERS: Type<object>[] = [
  ChatController,
  RunsController,
  RunErasureController,
  RunListsController,
  SessionsController,
  OutcomeController,
  StatsController,
];

const SHARED: InjectionToken[] = [
  ChatService,
  RunErasure,
  RetentionService,
  RunOutcomes,
  RunStats,
  RunReader,
  RunQueries,
  ProgressHub,
  ActiveRuns,
  ToolRunner,
  TelemetrySource,
  Redactor,
  RunStore,
  RunEraser,
  RunQueryStore,
  AgentStepStore,
  ToolInvocationStore,
  SessionStore,
  EvaluationStore,
  RunOutcomeStore,
  RunStatsStore,
  CheckpointStore,
  Clock,
  IdSource,
  DIAGNOSIS_OPTIONS,
];

function givenDataSource(given: DiagnosisModuleExtras['dataSource']): Provider {
  if (given === null || given === undefined || given instanceof DataSource)
    return { provide: GIVEN_DATA_SOURCE, useValue: given ?? null };
  return { provide: GIVEN_DATA_SOURCE, useExisting: given };
}

async function readyDataSource(given: DataSource): Promise<DataSource> {
  if (!given.isInitialized) await given.initialize();
  assertGivenDataSource(given);
  return given;
}

function parsedOptions(raw: DiagnosisOptionsInput, withControllers: boolean): DiagnosisOptions {
  const options = parseDiagnosisOptions(raw);
  if (withControllers && !options.http.controllers) {
    throw new DiagnosisError(
      'OPTIONS_INVALID',
      'http.controllers: is false, but controllers are fixed before asynchronous options are known; say controllers: false beside useFactory.',
    );
  }
  return options;
}

const built = new ConfigurableModuleBuilder<DiagnosisOptionsInput>({
  optionsInjectionToken: RAW_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setExtras<DiagnosisModuleExtras>(
    { isGlobal: false, controllers: true, hostTools: [], hostAgents: {}, dataSource: null, expectedLabels: null },
    (definition, extras) => {
      const withControllers = extras.controllers ?? true;
      return {
        ...definition,
        global: extras.isGlobal ?? false,
        providers: [
          ...(definition.providers ?? []),
          {
            provide: DIAGNOSIS_OPTIONS,
            useFactory: (raw: DiagnosisOptionsInput) => parsedOptions(raw, withControllers),
            inject: [RAW_OPTIONS],
          },
          givenDataSource(extras.dataSource),
          { provide: EXPECTED_LABELS, useValue: extras.expectedLabels ?? null },
          ...nodes,
          ...stores,
          ...tools(extras.hostTools ?? []),
          ...agents(extras.hostAgents ?? {}),
          ...services,
        ],
        controllers: withControllers ? CONTROLLERS : [],
        exports: SHARED,
      };
    },
  )
  .build();

type ModuleOptions = (typeof built)['OPTIONS_TYPE'];
type AsyncModuleOptions = (typeof built)['ASYNC_OPTIONS_TYPE'];

/**
 * The diagnosis as a Nest module, for the service and for any host: options in, `ChatService` and `RunReader` out. It reads
 * no environment variable, keeps to its own tables, and closes only what it opened itself.
 */
@Module({})
export class DiagnosisModule extends built.ConfigurableModuleClass implements OnApplicationShutdown {
  constructor(
    @Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(GIVEN_DATA_SOURCE) private readonly givenDataSource: DataSource | null,
    private readonly telemetry: TelemetrySource,
  ) {
    super();
  }

  /** With options that are known now. */
  static override forRoot(options: ModuleOptions = {}): DynamicModule {
    return super.forRoot({ ...options, controllers: options.controllers ?? options.http?.controllers ?? true });
  }

  /** With options from a factory; what shapes the module itself (`controllers`, `hostTools`, `hostAgents`, …) stands beside it. */
  static override forRootAsync(options: AsyncModuleOptions): DynamicModule {
    return super.forRootAsync(options);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.telemetry.close();
    if (this.givenDataSource === null && this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
