import { Inject, Injectable } from '@nestjs/common';
import type { IntakeFields } from '../blueprint/state-fields';
import { DiagnosisError } from '../errors/diagnosis-error';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { DIAGNOSIS_TOOLS, type DiagnosisTool } from '../ports/diagnosis-tool.port';
import { RunStore } from '../ports/run-store.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { DiagnosisQuery, QueryWindow } from '../protocol/diagnosis-query';
import type { ChatRequest } from './chat-request';
import { readQuestionWindow, type WindowMs } from './question-window';

/** Earlier PASS answers that a planner is shown. */
const MAX_EARLIER_ANSWERS = 3;
const DEFAULT_WINDOW_MS = 3_600_000;
/** Without a window in request or question, the window is this last part of what the telemetry covers. */
const DEFAULT_WINDOW_SHARE = 0.25;
/** Least part of the preceding window that the telemetry must cover for it to serve as a baseline. */
const MIN_PRECEDING_SHARE = 0.1;

export interface IntakeInput {
  readonly request: ChatRequest;
  /** The message as it may be stored. */
  readonly question: string;
  readonly sessionId: string;
  readonly now: Date;
}

/**
 * Turns a checked request into what a run starts from. The window is the request's, else the one that the question names,
 * else the last quarter of what the telemetry covers. The baseline is the request's; else the window of the same length
 * directly before, as far as telemetry covers it; when nobody named a window, everything before it; else null.
 * It refuses to pick a baseline that overlaps the window. Throws what the telemetry source throws, and REQUEST_INVALID.
 */
@Injectable()
export class QueryIntakeService {
  constructor(
    private readonly runs: RunStore,
    private readonly telemetry: TelemetrySource,
    @Inject(DIAGNOSIS_OPTIONS) private readonly options: DiagnosisOptions,
    @Inject(DIAGNOSIS_TOOLS) private readonly tools: readonly DiagnosisTool[],
  ) {}

  async read(input: IntakeInput, signal: AbortSignal): Promise<IntakeFields> {
    const covered = await this.coveredRange(signal);
    const earlier = await this.runs.passedAnswers(input.sessionId, MAX_EARLIER_ANSWERS);
    return {
      schema_version: 1,
      diagnosis_query: buildQuery(input, covered),
      session_context: {
        earlier_answers: earlier.flatMap(({ id, message, answer }) =>
          answer === null ? [] : [{ run_id: id, question: message, answer }],
        ),
      },
    };
  }

  private async coveredRange(signal: AbortSignal): Promise<WindowMs | null> {
    // Without files the built-in tools can see nothing; the source then says which setting names them.
    if (this.options.telemetry.path === null && !this.tools.every((tool) => tool.readsTelemetry)) return null;
    const { families } = await this.telemetry.describe(signal);
    const starts = families.flatMap(({ from }) => (from === null ? [] : [Date.parse(from)]));
    const ends = families.flatMap(({ to }) => (to === null ? [] : [Date.parse(to)]));
    // A family's `to` may be the instant of its last record, which an exclusive end would leave out.
    return starts.length === 0 || ends.length === 0 ? null : { from: Math.min(...starts), to: Math.max(...ends) + 1 };
  }
}

/** The pinned question of a run; `covered` is the range that the telemetry holds, null when it is unknown. */
export function buildQuery(input: Omit<IntakeInput, 'sessionId'>, covered: WindowMs | null): DiagnosisQuery {
  const { request, question, now } = input;
  const timeZone = request.timeZone ?? 'UTC';
  const window = windowOf(request, question, timeZone, now, covered);
  return {
    schema: 'diagnosis_query_v1',
    question,
    now: now.toISOString(),
    window,
    baseline: baselineOf(request, window, covered),
    time_zone: timeZone,
    locale: request.locale ?? 'en',
  };
}

function windowOf(request: ChatRequest, question: string, timeZone: string, now: Date, covered: WindowMs | null): QueryWindow {
  if (request.window !== undefined) return asWindow(msOf(request.window), 'request');
  const named = readQuestionWindow(question, { timeZone, anchorMs: covered?.to ?? now.getTime(), nowMs: now.getTime() });
  if (named !== null) return asWindow(named, 'question');
  if (covered === null) return asWindow({ from: now.getTime() - DEFAULT_WINDOW_MS, to: now.getTime() }, 'default');
  const length = Math.max(1, Math.round((covered.to - covered.from) * DEFAULT_WINDOW_SHARE));
  return asWindow({ from: covered.to - length, to: covered.to }, 'telemetry');
}

function baselineOf(request: ChatRequest, window: QueryWindow, covered: WindowMs | null): QueryWindow | null {
  const { from, to } = msOf(window);
  if (request.baseline !== undefined) {
    const baseline = msOf(request.baseline);
    if (baseline.from < to && baseline.to > from) {
      // The window came from the question or the telemetry, so that the request's own check could not see it.
      throw new DiagnosisError(
        'REQUEST_INVALID',
        `baseline: must not overlap the window, which is ${window.from} to ${window.to}; name another baseline or a window of your own.`,
        { field: 'baseline' },
      );
    }
    return asWindow(baseline, 'request');
  }
  if (window.source === 'telemetry') {
    return covered === null || covered.from >= from ? null : asWindow({ from: covered.from, to: from }, 'preceding');
  }
  return precedingOf({ from, to }, covered);
}

function precedingOf(window: WindowMs, covered: WindowMs | null): QueryWindow | null {
  if (covered === null) return null;
  const length = window.to - window.from;
  const from = Math.max(window.from - length, covered.from);
  const to = Math.min(window.from, covered.to);
  return to - from < length * MIN_PRECEDING_SHARE ? null : asWindow({ from, to }, 'preceding');
}

function msOf(window: { readonly from: string; readonly to: string }): WindowMs {
  return { from: Date.parse(window.from), to: Date.parse(window.to) };
}

function asWindow(window: WindowMs, source: QueryWindow['source']): QueryWindow {
  return { from: new Date(window.from).toISOString(), to: new Date(window.to).toISOString(), source };
}
