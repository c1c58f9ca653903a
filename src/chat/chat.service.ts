import { Inject, Injectable, Logger } from '@nestjs/common';
import { buildOrchestrationTrace } from '../blueprint/orchestration-trace-builder';
import type { DiagnosisState, IntakeFields } from '../blueprint/state-fields';
import { DiagnosisError, type DiagnosisErrorCode } from '../errors/diagnosis-error';
import { DiagnosisGraphService } from '../graph/diagnosis-graph.service';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { AgentStepStore, type AgentStepRecord } from '../ports/agent-step-store.port';
import { Clock } from '../ports/clock.port';
import { IdSource } from '../ports/id-source.port';
import type { ProgressEvent } from '../ports/progress-sink.port';
import { Redactor } from '../ports/redactor.port';
import { RunEvaluator } from '../ports/run-evaluator.port';
import { RunEraser } from '../ports/run-eraser.port';
import { RunStore, type RunMetrics, type RunTerminal } from '../ports/run-store.port';
import { SessionStore } from '../ports/session-store.port';
import { ToolInvocationStore } from '../ports/tool-invocation-store.port';
import { ToolRunner } from '../ports/tool-runner.port';
import type { AgentFlow, RunFailureCode } from '../vocabulary/run-lifecycle';
import { ActiveRuns, type ActiveRun } from './active-runs.service';
import { agentFlowOf, asksToRepeat, quoteEarlierAnswer } from './agent-flow';
import { parseChatRequest, type ChatRequest, type ChatResult } from './chat-request';
import { ProgressHub } from './progress-hub.service';
import { QueryIntakeService } from './query-intake.service';
import { metricsOf, readAnswer, selfEvaluationOf } from './run-outcome';

/** What a watcher of a chat sees while it works: the run's ids first, then nodes and tools; never a claim, never an output. */
export type ChatProgress = { readonly type: 'run'; readonly runId: string; readonly sessionId: string } | ProgressEvent;

export interface ChatOptions {
  /** Cancels the run: it ends CANCELLED, and the caller gets `DiagnosisError` CANCELLED. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: ChatProgress) => void;
}

/** Errors of telemetry that end a run before its graph starts. */
const TELEMETRY_CODES: readonly DiagnosisErrorCode[] = [
  'TELEMETRY_MISSING',
  'TELEMETRY_UNREADABLE',
  'TELEMETRY_EMPTY',
  'MAPPING_INVALID',
  'DEPENDENCY_MISSING',
];

interface ChatRun {
  readonly id: string;
  readonly sessionId: string;
  readonly isNewSession: boolean;
  readonly message: string;
  readonly startedAt: Date;
  readonly active: ActiveRun;
  readonly notify: (event: ChatProgress) => void;
}

/**
 * From a message to an answer with a run behind it: the in-process API. Every question gets a run of its own, which ends in
 * one terminal write; a safe answer is SUCCESS, fallbacks included. It refuses to leave a run RUNNING, to answer from
 * anything that was not allowed, and to let the evaluation change a result.
 */
@Injectable()
export class ChatService {
  private readonly logger = new Logger(ChatService.name);

  constructor(
    private readonly graph: DiagnosisGraphService,
    private readonly intake: QueryIntakeService,
    private readonly activeRuns: ActiveRuns,
    private readonly progress: ProgressHub,
    private readonly runs: RunStore,
    private readonly eraser: RunEraser,
    private readonly sessions: SessionStore,
    private readonly steps: AgentStepStore,
    private readonly invocations: ToolInvocationStore,
    private readonly tools: ToolRunner,
    private readonly evaluator: RunEvaluator,
    private readonly redactor: Redactor,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    @Inject(DIAGNOSIS_OPTIONS) private readonly options: DiagnosisOptions,
  ) {}

  /**
   * Answers one question.
   * @throws DiagnosisError REQUEST_INVALID, REQUEST_TOO_LARGE, NOT_FOUND (session) or OVERLOADED before a run exists;
   * TELEMETRY_*, MAPPING_INVALID, CANCELLED or RUN_FAILED with `detail.runId` once there is one; STORE_UNAVAILABLE
   */
  async chat(request: ChatRequest, options: ChatOptions = {}): Promise<ChatResult> {
    const checked = parseChatRequest(request, this.options.run.maxMessageBytes);
    if (checked.sessionId !== undefined && !(await this.sessions.exists(checked.sessionId))) {
      throw new DiagnosisError('NOT_FOUND', 'sessionId: there is no such session; leave it out to start one.', {
        field: 'sessionId',
      });
    }
    const id = this.ids.next();
    const active = this.activeRuns.begin(id, options.signal);
    const run: ChatRun = {
      id,
      sessionId: checked.sessionId ?? this.ids.next(),
      isNewSession: checked.sessionId === undefined,
      message: this.redactor.redact(checked.message),
      startedAt: this.clock.now(),
      active,
      notify: (event) => this.notify(event, options.onProgress),
    };
    const watching = this.progress.watch(id).subscribe(run.notify);
    try {
      return await this.answer(run, checked);
    } finally {
      watching.unsubscribe();
      this.progress.release(id);
      this.tools.release?.(id);
      active.end();
    }
  }

  private async answer(run: ChatRun, request: ChatRequest): Promise<ChatResult> {
    if (asksToRepeat(run.message) && !run.isNewSession) {
      const [newest] = await this.runs.passedAnswers(run.sessionId, 1);
      if (newest !== undefined && newest.answer !== null && agentFlowOf(run.message, true) === 'DIRECT') {
        return this.quote(run, { ...newest, answer: newest.answer });
      }
    }
    let intake: IntakeFields;
    try {
      intake = await this.intake.read(
        { request, question: run.message, sessionId: run.sessionId, now: run.startedAt },
        run.active.signal,
      );
    } catch (error) {
      if (DiagnosisError.is(error, 'REQUEST_INVALID')) throw error;
      return this.failBeforeGraph(run, error);
    }
    await this.start(run, 'DIAGNOSIS_GRAPH', intake);
    return this.diagnose(run, intake);
  }

  private async diagnose(run: ChatRun, intake: IntakeFields): Promise<ChatResult> {
    let state: DiagnosisState | null = null;
    let failure: RunFailureCode | null = null;
    try {
      ({ state, failure } = await this.graph.run({
        runId: run.id,
        sessionId: run.sessionId,
        intake,
        signal: run.active.signal,
        deadline: run.active.deadline,
      }));
    } catch (error) {
      this.logger.error({ msg: 'graph failed', runId: run.id, code: codeOf(error) });
      failure = 'GRAPH_FAILED';
    }
    // An abort of the run's own signal tells more than whatever the graph made of it; an answer that is complete stands.
    const answered = state !== null && failure === null ? readAnswer(state) : null;
    if (state === null || answered === null) {
      const code = abortFailureOf(run.active.signal) ?? failure ?? (state === null ? 'STATE_MISSING' : 'ANSWER_BLANK');
      return this.fail(run, code, state);
    }
    const { steps, calls, failures } = await this.recorded(run.id);
    const finishedAt = this.clock.now();
    const duration = finishedAt.getTime() - run.startedAt.getTime();
    const terminal: RunTerminal = {
      status: 'SUCCESS',
      answer: answered.answer,
      verdict: state.effective_verdict,
      degraded: answered.degraded,
      causes: answered.causes,
      trace: buildOrchestrationTrace(state),
      metrics: metricsOf(steps, calls, duration),
      self_evaluation: selfEvaluationOf(state, calls),
      evidence: answered.evidence,
      duration_ms: duration,
      tool_failures: failures,
      finished_at: finishedAt,
    };
    if (await this.finish(run, terminal)) await this.evaluate(run.id);
    return {
      answer: answered.answer,
      sessionId: run.sessionId,
      runId: run.id,
      verdict: state.effective_verdict,
      degraded: answered.degraded,
      causes: answered.causes,
    };
  }

  private async quote(
    run: ChatRun,
    earlier: { readonly id: string; readonly message: string; readonly answer: string; readonly verdict: string | null },
  ): Promise<ChatResult> {
    await this.start(run, 'DIRECT', null);
    const answer = quoteEarlierAnswer(earlier);
    await this.finish(run, {
      status: 'SUCCESS',
      answer,
      verdict: null,
      degraded: false,
      causes: [],
      trace: null,
      metrics: null,
      self_evaluation: null,
      evidence: null,
      ...this.endOf(run),
      tool_failures: 0,
    });
    return { answer, sessionId: run.sessionId, runId: run.id, verdict: null, degraded: false, causes: [] };
  }

  private async start(run: ChatRun, flow: AgentFlow, intake: IntakeFields | null): Promise<void> {
    // A session goes with its last run, so that one that was there a moment ago need not be.
    await this.sessions.ensure(run.sessionId, run.startedAt);
    await this.runs.create({
      id: run.id,
      session_id: run.sessionId,
      message: run.message,
      agent_flow: flow,
      created_at: this.clock.now(),
    });
    run.notify({ type: 'run', runId: run.id, sessionId: run.sessionId });
    const running = await this.runs.markRunning(run.id, intake?.diagnosis_query ?? null, run.active.lease(), this.clock.now());
    if (!running) throw failedRun(run.id, 'LEASE_LOST');
    run.active.keepLease();
  }

  private async failBeforeGraph(run: ChatRun, error: unknown): Promise<never> {
    await this.start(run, 'DIAGNOSIS_GRAPH', null);
    const isTelemetry = DiagnosisError.is(error) && TELEMETRY_CODES.includes(error.code);
    const code = abortFailureOf(run.active.signal) ?? (isTelemetry ? 'TELEMETRY_UNAVAILABLE' : 'GRAPH_FAILED');
    if (code !== 'TELEMETRY_UNAVAILABLE' || !DiagnosisError.is(error)) {
      this.logger.error({ msg: 'intake failed', runId: run.id, code: codeOf(error) });
      return this.fail(run, code, null);
    }
    await this.finish(run, this.failed(run, code, null, null, 0));
    throw new DiagnosisError(error.code, error.message, { ...error.detail, runId: run.id });
  }

  private async fail(run: ChatRun, code: RunFailureCode, state: DiagnosisState | null): Promise<never> {
    const { steps, calls, failures } = await this.recorded(run.id);
    const metrics = metricsOf(steps, calls, this.clock.now().getTime() - run.startedAt.getTime());
    await this.finish(run, this.failed(run, code, state, metrics, failures));
    throw failedRun(run.id, code);
  }

  private failed(
    run: ChatRun,
    code: RunFailureCode,
    state: DiagnosisState | null,
    metrics: RunMetrics | null,
    failures: number,
  ): RunTerminal {
    return {
      status: code === 'CANCELLED' ? 'CANCELLED' : 'FAILED',
      failure_code: code,
      trace: state === null ? null : buildOrchestrationTrace(state),
      metrics,
      ...this.endOf(run),
      tool_failures: failures,
    };
  }

  private endOf(run: ChatRun): { readonly finished_at: Date; readonly duration_ms: number } {
    const finished_at = this.clock.now();
    return { finished_at, duration_ms: Math.max(0, finished_at.getTime() - run.startedAt.getTime()) };
  }

  /** Answers whether the run is still there: one that somebody asked to erase goes now. */
  private async finish(run: ChatRun, terminal: RunTerminal): Promise<boolean> {
    const written = await this.runs.finish(run.id, this.activeRuns.owner, terminal);
    if (!written) throw failedRun(run.id, 'LEASE_LOST');
    try {
      if (!(await this.eraser.isRequested(run.id))) return true;
      await this.eraser.erase([run.id], this.clock.now());
    } catch (error) {
      this.logger.warn({ msg: 'erasure failed; the next sweep goes on with it', runId: run.id, code: codeOf(error) });
    }
    return false;
  }

  private async evaluate(runId: string): Promise<void> {
    try {
      await this.evaluator.evaluate(runId);
    } catch (error) {
      this.logger.warn({ msg: 'evaluation failed', runId, code: codeOf(error) });
    }
  }

  private async recorded(runId: string): Promise<{ steps: AgentStepRecord[]; calls: number; failures: number }> {
    const [steps, invocations] = await Promise.all([this.steps.listByRun(runId), this.invocations.listByRun(runId)]);
    const failures = invocations.filter(({ status }) => status !== 'OK' && status !== 'TRUNCATED').length;
    return { steps, calls: invocations.length, failures };
  }

  private notify(event: ChatProgress, watcher: ChatOptions['onProgress']): void {
    try {
      watcher?.(event);
    } catch {
      // A watcher's own failure is no concern of the run, and its text is unknown.
      this.logger.warn({ msg: 'progress watcher threw' });
    }
  }
}

function abortFailureOf(signal: AbortSignal): RunFailureCode | null {
  if (!signal.aborted) return null;
  const reason: unknown = signal.reason;
  return reason === 'DRAIN' || reason === 'LEASE_LOST' ? reason : 'CANCELLED';
}

function failedRun(runId: string, code: RunFailureCode): DiagnosisError {
  if (code === 'CANCELLED') return new DiagnosisError('CANCELLED', 'The run was cancelled.', { runId });
  const why = code === 'DRAIN' ? 'the service is shutting down; ask again once it is back' : `it ended with ${code}`;
  return new DiagnosisError('RUN_FAILED', `The run has no answer: ${why}.`, { runId, failure: code });
}

function codeOf(error: unknown): string {
  return DiagnosisError.is(error) ? error.code : 'INTERNAL';
}
