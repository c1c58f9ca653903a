import { Inject, Injectable } from '@nestjs/common';
import type { IntakeFields } from '../blueprint/state-fields';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { DIAGNOSIS_TOOLS, type DiagnosisTool } from '../ports/diagnosis-tool.port';
import { Redactor } from '../ports/redactor.port';
import { RunStore } from '../ports/run-store.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { DiagnosisQuery, QueryAlert } from '../protocol/diagnosis-query';
import { readAlert } from './alert-window';
import type { ChatRequest } from './chat-request';
import { readFollowUp, type FollowUp } from './follow-up';
import { baselineOf, foundWindow, namedWindow, type EarlierLook, type WindowGround } from './incident-window';
import type { WindowMs } from './question-window';

/** Earlier PASS answers that a planner is shown. */
const MAX_EARLIER_ANSWERS = 3;

export interface IntakeInput {
  readonly request: ChatRequest;
  /** The message as it may be stored. */
  readonly question: string;
  readonly sessionId: string;
  readonly now: Date;
}

/** What the telemetry and the session say of windows. */
export interface IntakeGround {
  /** What the telemetry holds; null when it is unknown. */
  readonly covered: WindowMs | null;
  readonly earlier: EarlierLook | null;
  /** Names of the services in the telemetry. */
  readonly services: readonly string[];
}

/**
 * Turns a checked request into what a run starts from. The window is the request's, else that of its alert, else the one that
 * the question names, else the one that the session's newest run looked at, else the stretch of the telemetry that departs
 * most from the rest, else its last quarter. The baseline is the request's, else what goes with the window. A message that
 * follows up on an earlier run narrows the query or says what it wants to be told. It refuses to pick a baseline that overlaps
 * the window. Throws what the telemetry source and the store throw, and REQUEST_INVALID.
 */
@Injectable()
export class QueryIntakeService {
  constructor(
    private readonly runs: RunStore,
    private readonly telemetry: TelemetrySource,
    private readonly redactor: Redactor,
    @Inject(DIAGNOSIS_OPTIONS) private readonly options: DiagnosisOptions,
    @Inject(DIAGNOSIS_TOOLS) private readonly tools: readonly DiagnosisTool[],
  ) {}

  async read(input: IntakeInput, signal: AbortSignal): Promise<IntakeFields> {
    const { covered, services } = await this.telemetryFacts(signal);
    // A session that this request starts holds nothing.
    const [answers, earlier] =
      input.request.sessionId === undefined
        ? [[], null]
        : await Promise.all([
            this.runs.passedAnswers(input.sessionId, MAX_EARLIER_ANSWERS),
            this.runs.latestQuery(input.sessionId),
          ]);
    const ground = { covered, earlier, services };
    const query = await buildQuery(input, ground, async () => {
      const onset = covered === null ? null : await this.telemetry.onset(signal);
      return onset === null ? null : { from: Date.parse(onset.from), to: Date.parse(onset.to) };
    });
    return {
      schema_version: 1,
      diagnosis_query: query.alert === undefined ? query : { ...query, alert: this.redacted(query.alert) },
      session_context: {
        earlier_answers: answers.flatMap(({ id, message, answer }) =>
          answer === null ? [] : [{ run_id: id, question: message, answer }],
        ),
      },
    };
  }

  private redacted(alert: QueryAlert): QueryAlert {
    const texts = (of: QueryAlert['labels']): QueryAlert['labels'] =>
      Object.fromEntries(Object.entries(of).map(([name, text]) => [name, this.redactor.redact(text)]));
    return { ...alert, labels: texts(alert.labels), annotations: texts(alert.annotations) };
  }

  private async telemetryFacts(signal: AbortSignal): Promise<Pick<IntakeGround, 'covered' | 'services'>> {
    // Without files the built-in tools can see nothing; the source then says which setting names them.
    if (this.options.telemetry.path === null && !this.tools.every((tool) => tool.readsTelemetry)) {
      return { covered: null, services: [] };
    }
    const { families } = await this.telemetry.describe(signal);
    const starts = families.flatMap(({ from }) => (from === null ? [] : [Date.parse(from)]));
    const ends = families.flatMap(({ to }) => (to === null ? [] : [Date.parse(to)]));
    // A family's `to` may be the instant of its last record, which an exclusive end would leave out.
    const covered = starts.length === 0 || ends.length === 0 ? null : { from: Math.min(...starts), to: Math.max(...ends) + 1 };
    return { covered, services: [...new Set(families.flatMap((family) => family.services))] };
  }
}

/**
 * The pinned question of a run.
 * @param findOnset looks for the onset in the telemetry; asked only when nobody named a window
 */
export async function buildQuery(
  { request, question, now }: Omit<IntakeInput, 'sessionId'>,
  { covered, earlier, services }: IntakeGround,
  findOnset: () => Promise<WindowMs | null>,
): Promise<DiagnosisQuery> {
  const timeZone = request.timeZone ?? 'UTC';
  const times = { timeZone, anchorMs: covered?.to ?? now.getTime(), nowMs: now.getTime() };
  const alert = request.window === undefined || request.alert !== undefined ? readAlert(request.alert, question, times) : null;
  const ground: WindowGround = { request, question, times, alert, covered, earlier };
  const window = namedWindow(ground) ?? foundWindow(await findOnset(), covered, now.getTime());
  return {
    schema: 'diagnosis_query_v1',
    question,
    now: now.toISOString(),
    window,
    baseline: baselineOf(window, ground),
    time_zone: timeZone,
    locale: request.locale ?? 'en',
    ...followUpOf(question, earlier, services),
    ...(alert === null ? {} : { alert }),
  };
}

/** Lines are those of what was just shown, so they stay within the part of the system that the run before was narrowed to. */
function followUpOf(question: string, earlier: EarlierLook | null, services: readonly string[]): FollowUp {
  if (earlier === null) return {};
  const { focus, scope: narrowed } = readFollowUp(question);
  const text = narrowed?.text ?? (focus?.ask === 'lines' ? earlier.query.scope?.text : undefined);
  const service = services.find((name) => name.toLowerCase() === text?.toLowerCase());
  return {
    ...(focus === undefined ? {} : { focus }),
    ...(text === undefined ? {} : { scope: { text, ...(service === undefined ? {} : { service }) } }),
  };
}
