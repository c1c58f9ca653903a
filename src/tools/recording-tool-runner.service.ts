import { Inject, Injectable } from '@nestjs/common';
import type { RunnableConfig } from '@langchain/core/runnables';
import { z } from 'zod';
import { DiagnosisError } from '../errors/diagnosis-error';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { Clock } from '../ports/clock.port';
import { DIAGNOSIS_TOOLS, type DiagnosisTool } from '../ports/diagnosis-tool.port';
import { IdSource } from '../ports/id-source.port';
import { ProgressSink, type ProgressEvent } from '../ports/progress-sink.port';
import { Redactor } from '../ports/redactor.port';
import { runContextOf, type RunContext } from '../ports/run-context';
import { ToolInvocationStore, type InvocationRecord } from '../ports/tool-invocation-store.port';
import { ToolRunner, type ToolCall, type ToolDescription, type ToolResult } from '../ports/tool-runner.port';
import { mintInvocationId } from '../protocol/invocation-id';
import { jsonObjectSchema, type JsonObject } from '../protocol/json-value';
import { toolOutputSchema, type ToolOutput } from '../protocol/tool-output';
import { callKeyOf, canonicalJson } from './call-key';
import { CallSignal, isDeadline } from './call-signal';
import { RunBudget, RunBudgets } from './run-budget';
import { errorOutput, refusalOf, viewOf } from './tool-view';

/** Code of a call whose own time, or whose run's time, was over. */
export const TOOL_TIMEOUT = 'TOOL_TIMEOUT';
/** Longest arguments that are recorded, in bytes of UTF-8. */
const MAX_ARGUMENT_BYTES = 16_384;
const MAX_TOOL_NAME = 128;
/** Runs whose bookkeeping is kept; one that was forgotten is read from the store again. */
const REMEMBERED_RUNS = 256;

interface Question {
  readonly context: RunContext;
  readonly config: RunnableConfig;
  readonly toolName: string;
  readonly canonicalArguments: string;
}

type Ending = { readonly status: 'OK' | 'TRUNCATED' | 'ERROR'; readonly output: ToolOutput; readonly error_code: string | null };

/**
 * The only way to a tool. A call is judged, recorded as RUNNING, run with a time limit, redacted, checked and stored before
 * an agent sees a view of it. Every failure is a typed result; the one thing it throws is CANCELLED, when the run was ended
 * from outside, and after that it writes no result any more.
 */
@Injectable()
export class RecordingToolRunner extends ToolRunner {
  private readonly byName = new Map<string, DiagnosisTool>();
  private descriptions: ToolDescription[] | undefined;
  private readonly budgets = new RunBudgets(REMEMBERED_RUNS);

  constructor(
    @Inject(DIAGNOSIS_TOOLS) tools: readonly DiagnosisTool[],
    private readonly store: ToolInvocationStore,
    private readonly redactor: Redactor,
    private readonly progress: ProgressSink,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    @Inject(DIAGNOSIS_OPTIONS) private readonly options: DiagnosisOptions,
  ) {
    super();
    for (const tool of tools) {
      if (!/^[a-z][a-z0-9_]{0,63}$/.test(tool.name)) {
        throw new DiagnosisError('OPTIONS_INVALID', 'A tool needs a name of lower-case letters, digits and underscores.');
      }
      if (this.byName.has(tool.name)) {
        throw new DiagnosisError('OPTIONS_INVALID', `Two tools have the name ${tool.name}; a name belongs to one tool.`);
      }
      this.byName.set(tool.name, tool);
    }
  }

  override describe(): ToolDescription[] {
    // Tools do not change while the process lives, and each run asks.
    this.descriptions ??= [...this.byName.values()]
      .filter((tool) => this.isAllowed(tool.name))
      .map(({ name, description, argumentsSchema }) => ({
        name,
        description,
        arguments: jsonObjectSchema.parse(
          JSON.parse(JSON.stringify(z.toJSONSchema(argumentsSchema, { io: 'input', unrepresentable: 'any' }))),
        ),
      }));
    return [...this.descriptions];
  }

  override async run(call: ToolCall, config: RunnableConfig): Promise<ToolResult> {
    const context = runContextOf(config);
    assertNotAborted(config);
    try {
      return await this.budgets.with(
        context.runId,
        async () => new RunBudget(await this.store.listByRun(context.runId)),
        (budget) => this.ask(call, context, config, budget),
      );
    } catch (error) {
      if (DiagnosisError.is(error, 'CANCELLED')) throw error;
      if (DiagnosisError.is(error, 'LEASE_LOST')) throw cancelled('LEASE_LOST');
      const code = DiagnosisError.is(error) ? error.code : 'TOOL_FAILED';
      return refusalOf('unrecorded', 'ERROR', code, 'The call could not be recorded; nothing of it can be cited.');
    }
  }

  override release(runId: string): void {
    this.budgets.release(runId);
  }

  private ask(call: ToolCall, context: RunContext, config: RunnableConfig, budget: RunBudget): Promise<ToolResult> {
    const tool = this.byName.get(call.tool_name);
    const parsed = tool?.argumentsSchema.safeParse(call.arguments);
    const question: Question = {
      context,
      config,
      toolName: call.tool_name,
      canonicalArguments: canonicalJson(parsed?.success ? parsed.data : (jsonObjectSchema.safeParse(call.arguments).data ?? {})),
    };
    const key = callKeyOf(context.round, question.toolName, question.canonicalArguments, 0);
    const underWay = budget.underWay.get(key);
    if (underWay !== undefined) return underWay;
    const answer = this.answer(question, tool, parsed ?? null, budget).finally(() => budget.underWay.delete(key));
    budget.underWay.set(key, answer);
    return answer;
  }

  private async answer(
    question: Question,
    tool: DiagnosisTool | undefined,
    parsed: z.ZodSafeParseResult<JsonObject> | null,
    budget: RunBudget,
  ): Promise<ToolResult> {
    const { context, toolName, canonicalArguments } = question;
    const completed = await this.completedEarlier(question, budget);
    if (completed !== null) return completed;
    let asked = 0;
    let key = callKeyOf(context.round, toolName, canonicalArguments, asked);
    for (let row = budget.rows.get(key); row !== undefined; row = budget.rows.get(key)) {
      const stored = await this.storedResult(row);
      if (stored !== null) return stored;
      asked += 1;
      key = callKeyOf(context.round, toolName, canonicalArguments, asked);
    }
    if (tool === undefined || !this.isAllowed(toolName)) {
      return this.deny(question, key, budget, 'This tool is not one of those that may be called.');
    }
    if (!budget.takeCall(this.options.tools.maxCallsPerRun)) {
      return this.deny(question, key, budget, 'The run has used up its tool calls.');
    }
    const record = await this.begin(question, key, budget, 'RUNNING', null);
    if (record.status !== 'RUNNING') return (await this.storedResult(record)) ?? this.lost(record);
    this.publish(context.runId, { type: 'tool_started', tool_name: record.tool_name });
    const startedAt = record.started_at.getTime();
    const ending = await this.execute(question, tool, parsed, record, startedAt);
    const result = await this.finish(record, ending, startedAt, budget);
    this.publish(context.runId, { type: 'tool_finished', tool_name: record.tool_name, status: result.status });
    assertNotAborted(question.config);
    return result;
  }

  /** The result of the same query in an earlier round, when it succeeded there: a completed query is not repeated. */
  private async completedEarlier(question: Question, budget: RunBudget): Promise<ToolResult | null> {
    const { context, toolName, canonicalArguments } = question;
    for (let round = 0; round < context.round; round += 1) {
      for (let asked = 0; ; asked += 1) {
        const row = budget.rows.get(callKeyOf(round, toolName, canonicalArguments, asked));
        if (row === undefined) break;
        if (row.status === 'OK' || row.status === 'TRUNCATED') return this.storedResult(row);
      }
    }
    return null;
  }

  private async execute(
    question: Question,
    tool: DiagnosisTool,
    parsed: z.ZodSafeParseResult<JsonObject> | null,
    record: InvocationRecord,
    startedAt: number,
  ): Promise<Ending> {
    if (Buffer.byteLength(question.canonicalArguments, 'utf8') > MAX_ARGUMENT_BYTES) {
      return failed('TOOL_ARGUMENTS_INVALID', `The arguments are longer than ${MAX_ARGUMENT_BYTES} bytes.`);
    }
    if (parsed === null || !parsed.success) {
      const problems = parsed?.error.issues
        .slice(0, 5)
        .map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
      return failed('TOOL_ARGUMENTS_INVALID', `The arguments are not valid: ${(problems ?? []).join('; ')}.`);
    }
    const { context, config } = question;
    const limit = new CallSignal(config.signal, context.deadline, this.options.tools.timeoutMs);
    try {
      if (limit.reason === null) {
        const work = Promise.resolve().then(() => tool.execute(parsed.data, { signal: limit.signal, runId: context.runId }));
        const first = await Promise.race([work.then((output) => ({ output })), limit.whenStopped()]).catch((error: unknown) => ({
          error,
        }));
        // A tool that stops because it was told to throws its own error; why it was told is what counts.
        if (limit.reason === null && typeof first === 'object') {
          return 'output' in first ? this.checked(first.output) : failedBy(first.error);
        }
        work.catch(() => undefined);
      }
      if (limit.reason === 'RUN_ABORTED') await this.abandon(record, config, startedAt);
      return failed(
        TOOL_TIMEOUT,
        limit.reason === 'RUN_DEADLINE'
          ? 'The time of the run was over.'
          : `The call took longer than ${this.options.tools.timeoutMs} ms.`,
      );
    } finally {
      limit.dispose();
    }
  }

  /** Redacts an output and checks what is left of it: what is stored is what was checked. */
  private checked(output: ToolOutput): Ending {
    const { maxOutputBytes } = this.options.tools;
    let text: string | undefined;
    try {
      text = JSON.stringify(output);
    } catch {
      text = undefined;
    }
    if (text === undefined) return failed('TOOL_FAILED', 'The tool returned something that is no JSON.');
    if (text.length > maxOutputBytes) return tooLarge(maxOutputBytes);
    const redacted = this.redactor.redact(text);
    if (Buffer.byteLength(redacted, 'utf8') > maxOutputBytes) return tooLarge(maxOutputBytes);
    const parsed = toolOutputSchema.safeParse(jsonOrNull(redacted));
    if (!parsed.success) return failed('TOOL_FAILED', 'The tool returned an output that breaks its contract.');
    return { status: parsed.data.complete ? 'OK' : 'TRUNCATED', output: parsed.data, error_code: null };
  }

  private async finish(record: InvocationRecord, ending: Ending, startedAt: number, budget: RunBudget): Promise<ToolResult> {
    const safe = ending.error_code === null ? ending : this.redactedError(ending);
    await this.store.finish(record.id, {
      status: safe.status,
      output: JSON.stringify(safe.output),
      error_code: safe.error_code,
      duration_ms: this.elapsedSince(startedAt),
    });
    budget.remember({ ...record, status: safe.status, error_code: safe.error_code });
    return viewOf(record.invocation_id, safe.status, safe.output, this.options.tools.maxViewBytes);
  }

  private redactedError(ending: Ending): Ending {
    return { ...ending, output: toolOutputSchema.parse(JSON.parse(this.redactor.redact(JSON.stringify(ending.output)))) };
  }

  /** Notes that a call was cut off by the end of its run, unless the run is somebody else's by now, and gives up. */
  private async abandon(record: InvocationRecord, config: RunnableConfig, startedAt: number): Promise<never> {
    const reason = abortReasonOf(config);
    if (reason !== 'LEASE_LOST') {
      const end = {
        status: 'ABANDONED',
        output: null,
        error_code: 'CANCELLED',
        duration_ms: this.elapsedSince(startedAt),
      } as const;
      await this.store.finish(record.id, end).catch(() => undefined);
    }
    this.publish(record.run_id, { type: 'tool_finished', tool_name: record.tool_name, status: 'ABANDONED' });
    throw cancelled(reason);
  }

  private async deny(question: Question, key: string, budget: RunBudget, message: string): Promise<ToolResult> {
    const spare = budget.takeDenial(this.options.tools.maxCallsPerRun) ? null : budget.anyDenied();
    const record = spare ?? (await this.begin(question, key, budget, 'DENIED', 'TOOL_BLOCKED'));
    this.publish(record.run_id, { type: 'tool_finished', tool_name: record.tool_name, status: 'DENIED' });
    return refusalOf(record.invocation_id, 'DENIED', 'TOOL_BLOCKED', message);
  }

  private async begin(
    question: Question,
    key: string,
    budget: RunBudget,
    status: 'RUNNING' | 'DENIED',
    errorCode: string | null,
  ): Promise<InvocationRecord> {
    const { context, canonicalArguments, toolName } = question;
    const ordinal = budget.takeOrdinal();
    const isShort = Buffer.byteLength(canonicalArguments, 'utf8') <= MAX_ARGUMENT_BYTES;
    const { record } = await this.store.begin({
      id: this.ids.next(),
      run_id: context.runId,
      invocation_id: mintInvocationId(context.runId, ordinal),
      call_key: key,
      round: context.round,
      ordinal,
      tool_name: this.redactor.redact(toolName).slice(0, MAX_TOOL_NAME),
      arguments: isShort ? this.redactor.redact(canonicalArguments) : '{}',
      started_at: this.clock.now(),
      status,
      error_code: errorCode,
    });
    budget.remember(record);
    return record;
  }

  /** The result of an earlier call as it was stored; null when that call left none. */
  private async storedResult(row: InvocationRecord): Promise<ToolResult | null> {
    if (row.status === 'DENIED') {
      return refusalOf(
        row.invocation_id,
        'DENIED',
        row.error_code ?? 'TOOL_BLOCKED',
        'This call was denied before in this round.',
      );
    }
    if (row.status === 'ABANDONED') return null;
    if (row.status === 'RUNNING') {
      // Its process is gone: a call of this process would be under way.
      await this.store.finish(row.id, { status: 'ABANDONED', output: null, error_code: 'INTERRUPTED', duration_ms: 0 });
      return null;
    }
    try {
      const output = toolOutputSchema.parse(JSON.parse(await this.store.readOutput(row.id)));
      return viewOf(row.invocation_id, row.status, output, this.options.tools.maxViewBytes);
    } catch (error) {
      const code = DiagnosisError.is(error) ? error.code : 'OUTPUT_CORRUPT';
      return refusalOf(row.invocation_id, 'ERROR', code, 'The stored result of this call cannot be read.');
    }
  }

  private lost(record: InvocationRecord): ToolResult {
    return refusalOf(record.invocation_id, 'ERROR', 'TOOL_FAILED', 'The call left no result.');
  }

  private elapsedSince(startedAt: number): number {
    return Math.max(0, this.clock.now().getTime() - startedAt);
  }

  private isAllowed(name: string): boolean {
    return this.options.tools.allow === null || this.options.tools.allow.includes(name);
  }

  private publish(runId: string, event: ProgressEvent): void {
    try {
      this.progress.publish(runId, event);
    } catch {
      // A spectator must not end a run.
    }
  }
}

function abortReasonOf(config: RunnableConfig): string {
  const reason: unknown = config.signal?.reason;
  const word = typeof reason === 'string' ? reason : ((reason as { code?: unknown } | null | undefined)?.code ?? '');
  return word === 'LEASE_LOST' || word === 'DRAIN' ? word : 'CANCELLED';
}

function assertNotAborted(config: RunnableConfig): void {
  if (config.signal?.aborted === true && !isDeadline(config.signal)) throw cancelled(abortReasonOf(config));
}

function cancelled(reason: string): DiagnosisError {
  return new DiagnosisError('CANCELLED', 'The run was ended while a tool call was under way.', { reason });
}

function failed(code: string, message: string): Ending {
  return { status: 'ERROR', output: errorOutput(code, message), error_code: code };
}

/** A tool's own words travel only in a `DiagnosisError`; anything else may hold secrets or statements. */
function failedBy(error: unknown): Ending {
  if (DiagnosisError.is(error)) return failed(error.code, error.message);
  return failed('TOOL_FAILED', 'The tool failed.');
}

function tooLarge(limit: number): Ending {
  return failed('OUTPUT_TOO_LARGE', `The output is larger than the ${limit} bytes that are stored: ask for less.`);
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
