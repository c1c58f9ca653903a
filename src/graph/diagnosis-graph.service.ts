import { GraphRecursionError } from '@langchain/langgraph';
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { RECURSION_LIMIT } from '../blueprint/routing-table';
import type { DiagnosisState, IntakeFields } from '../blueprint/state-fields';
import { DiagnosisError } from '../errors/diagnosis-error';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { AgentStepStore } from '../ports/agent-step-store.port';
import { CheckpointStore } from '../ports/checkpoint-store.port';
import { Clock } from '../ports/clock.port';
import { DIAGNOSIS_NODES, type AnyGraphNode } from '../ports/graph-node.port';
import { IdSource } from '../ports/id-source.port';
import { ProgressSink, type ProgressEvent } from '../ports/progress-sink.port';
import type { RunContext } from '../ports/run-context';
import type { NodeName } from '../vocabulary/node-names';
import type { RunFailureCode } from '../vocabulary/run-lifecycle';
import type { AttemptObserver, HandledAttempt } from './contract-guard';
import { compileDiagnosisGraph, type DiagnosisGraph } from './diagnosis-graph';
import { newDiagnosisState } from './diagnosis-state';
import { abortReasonOf } from './run-abort';
import { RunCheckpointSaver } from './run-checkpoint-saver';
import { StepRecorder, type AttemptStart } from './step-recorder';

/** What a run of the graph is given. */
export interface GraphRunRequest {
  readonly runId: string;
  readonly sessionId: string;
  readonly intake: IntakeFields;
  /** Aborted with reason CANCELLED, LEASE_LOST or DRAIN when the run must end from outside. */
  readonly signal: AbortSignal;
  /** Aborted with reason RUN_DEADLINE when the run's time is over; the run then still answers by its fallback. */
  readonly deadline: AbortSignal;
}

/**
 * How a run of the graph ended. With a failure, `state` is the real state after the last handled attempt, so that a
 * partial trace can be stored; it is null only when the intake was refused.
 */
export interface GraphRunResult {
  readonly state: DiagnosisState | null;
  readonly failure: RunFailureCode | null;
}

/** What the service keeps of a run while it works; nodes cannot reach it. */
interface RunWatch {
  state: DiagnosisState;
  readonly recorder: StepRecorder | null;
  start: AttemptStart | null;
}

/** Longest wait for the stores of steps and checkpoints once a run is over. */
const FLUSH_LIMIT_MS = 5_000;

/**
 * Runs the diagnosis graph. It refuses to judge, to store the run, and to throw: every ending is a state, a failure code,
 * or both. Compiled once; each run has its own thread (the run id), its own signal and its own deadline.
 *
 * With an `AgentStepStore` each handled attempt is recorded beside the run. Steps that the store refuses twice are lost:
 * their number is logged, the run and its events stay as they are. After LEASE_LOST nothing more is offered to the store.
 *
 * With `checkpoints.keep` and a `CheckpointStore` the run's thread holds its state after each node while the run works, and
 * is deleted when it ends. A store that fails costs the run its checkpoints and nothing else.
 */
@Injectable()
export class DiagnosisGraphService {
  /** Supersteps that the engine allows a run. */
  protected readonly recursionLimit: number = RECURSION_LIMIT;
  private readonly logger = new Logger(DiagnosisGraphService.name);
  private readonly graph: DiagnosisGraph;
  private readonly checkpoints: RunCheckpointSaver | undefined;
  private readonly watches = new WeakMap<RunContext, RunWatch>();

  constructor(
    @Inject(DIAGNOSIS_NODES) nodes: AnyGraphNode[],
    @Optional() private readonly progress?: ProgressSink,
    @Optional() private readonly steps?: AgentStepStore,
    @Optional() private readonly ids?: IdSource,
    @Optional() private readonly clock?: Clock,
    @Optional() checkpoints?: CheckpointStore,
    @Optional() @Inject(DIAGNOSIS_OPTIONS) private readonly options?: Pick<DiagnosisOptions, 'checkpoints'>,
  ) {
    if (checkpoints && options?.checkpoints.keep) this.checkpoints = new RunCheckpointSaver(checkpoints);
    this.graph = compileDiagnosisGraph(nodes, this.observer(), this.checkpoints);
  }

  /** Runs one question to its end. It never throws; see `GraphRunResult` for what it answers. */
  async run(request: GraphRunRequest): Promise<GraphRunResult> {
    let state: DiagnosisState;
    try {
      state = newDiagnosisState(request.intake);
    } catch (error) {
      this.logFailure(request.runId, error);
      return { state: null, failure: 'GRAPH_FAILED' };
    }
    const run: RunContext = { runId: request.runId, deadline: request.deadline, round: 0 };
    const watch: RunWatch = { state, recorder: this.recorderOf(request.runId), start: null };
    this.watches.set(run, watch);
    this.checkpoints?.begin(request.runId);
    let failure: RunFailureCode | null = null;
    try {
      const end: DiagnosisState | undefined = await this.graph.invoke(state, {
        configurable: { thread_id: request.runId, run },
        metadata: { runId: request.runId, sessionId: request.sessionId },
        signal: request.signal,
        recursionLimit: this.recursionLimit,
        durability: this.options?.checkpoints.durability,
      });
      if (end === undefined) failure = 'STATE_MISSING';
      else watch.state = end;
    } catch (error) {
      failure = this.failureOf(request, error);
    }
    const final = watch.state;
    // An attempt that outlives its aborted run must find nobody to tell.
    this.watches.delete(run);
    await Promise.all([
      this.flushSteps(request.runId, watch.recorder, failure),
      this.checkpoints?.end(request.runId, FLUSH_LIMIT_MS),
    ]);
    return { state: final, failure };
  }

  private failureOf(request: GraphRunRequest, error: unknown): RunFailureCode {
    const reason = abortReasonOf(request.signal);
    if (reason !== null && reason !== 'RUN_DEADLINE') return reason;
    if (error instanceof GraphRecursionError) return 'GRAPH_RECURSION_LIMIT';
    this.logFailure(request.runId, error);
    return 'GRAPH_FAILED';
  }

  private logFailure(runId: string, error: unknown): void {
    const code = DiagnosisError.is(error) ? error.code : error instanceof Error ? error.name : typeof error;
    this.logger.error(`The graph of run ${runId} failed: ${code}`);
  }

  private recorderOf(runId: string): StepRecorder | null {
    const { steps, ids, clock } = this;
    return steps && ids && clock ? new StepRecorder(runId, steps, ids, clock) : null;
  }

  private async flushSteps(runId: string, recorder: StepRecorder | null, failure: RunFailureCode | null): Promise<void> {
    if (recorder === null || failure === 'LEASE_LOST') return;
    const lost = await recorder.flush(FLUSH_LIMIT_MS);
    if (lost > 0) this.logger.warn(`Run ${runId} lost ${lost} step records: the step store did not take them.`);
  }

  private observer(): AttemptObserver {
    return {
      started: (run, node, round, attempt) => {
        const watch = this.watches.get(run);
        if (watch === undefined) return;
        watch.start = null;
        this.quietly(() => {
          watch.start = watch.recorder?.start() ?? null;
        });
        this.publish(run.runId, { type: 'node_started', node, round, attempt });
      },
      handled: (run, attempt) => {
        const watch = this.watches.get(run);
        if (watch === undefined) return;
        watch.state = attempt.state;
        this.quietly(() => this.record(watch, attempt));
        const { node, outcome, attempt: count } = attempt.event;
        this.publish(run.runId, { type: 'node_finished', node, round: count.round, attempt: count.attempt, outcome });
      },
    };
  }

  private record(watch: RunWatch, attempt: HandledAttempt): void {
    if (watch.recorder === null || watch.start === null) return;
    watch.recorder.handled(attempt.event, watch.start, attempt);
  }

  private publish(runId: string, event: ProgressEvent & { node: NodeName }): void {
    const { progress } = this;
    if (progress !== undefined) this.quietly(() => progress.publish(runId, event));
  }

  /** Whoever only listens must not change a run, by a throw or by a promise that it never promised. */
  private quietly(tell: () => unknown): void {
    try {
      const told: unknown = tell();
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      this.logger.warn('A listener of the graph threw; the run goes on.');
    }
  }
}
