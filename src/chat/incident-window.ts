import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisQuery, QueryAlert, QueryWindow } from '../protocol/diagnosis-query';
import { alertWindow } from './alert-window';
import type { ChatRequest } from './chat-request';
import { readQuestionWindow, type QuestionTimes, type WindowMs } from './question-window';

/** What an RFC 3339 instant can say. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
const DEFAULT_WINDOW_MS = 3_600_000;
/** Without any other window, it is this last part of what the telemetry covers. */
const DEFAULT_WINDOW_SHARE = 0.25;
/** Least part of the window's length that must lie before it for that to serve as a baseline. */
const MIN_PRECEDING_SHARE = 0.1;

/** What windows are chosen from. */
export interface WindowGround {
  readonly request: Pick<ChatRequest, 'window' | 'baseline'>;
  readonly question: string;
  readonly times: QuestionTimes;
  readonly alert: QueryAlert | null;
  /** What the telemetry holds; null when it is unknown. */
  readonly covered: WindowMs | null;
  /** The newest run of the session that looked at a window. */
  readonly earlier: EarlierLook | null;
}

/** A run of the session and what it looked at. */
export interface EarlierLook {
  readonly id: string;
  readonly query: DiagnosisQuery;
}

/**
 * The window that somebody named: the request's, else that of the alert, else the one in the question's words, else that of the
 * session's newest run. Null when nobody did. @throws DiagnosisError REQUEST_INVALID for words that cannot be read for certain
 */
export function namedWindow({ request, question, times, alert, covered, earlier }: WindowGround): QueryWindow | null {
  if (request.window !== undefined) return asWindow(msOf(request.window), 'request');
  if (alert !== null) return asWindow(alertWindow(alert, covered, times.nowMs), 'alert');
  const inWords = readQuestionWindow(question, times);
  if (inWords !== null) return asWindow(inWords, 'question');
  return earlier === null ? null : { ...asWindow(msOf(earlier.query.window), 'session'), run_id: earlier.id };
}

/** The window when nobody named one: the onset that the telemetry shows, else its last quarter, else the last hour. */
export function foundWindow(onset: WindowMs | null, covered: WindowMs | null, nowMs: number): QueryWindow {
  if (onset !== null) return asWindow(onset, 'onset');
  if (covered === null) return asWindow({ from: nowMs - DEFAULT_WINDOW_MS, to: nowMs }, 'default');
  const length = Math.max(1, Math.round((covered.to - covered.from) * DEFAULT_WINDOW_SHARE));
  return asWindow({ from: covered.to - length, to: covered.to }, 'telemetry');
}

/**
 * The baseline of a window: the request's; that of the run from which the window was taken over; for a window that the
 * telemetry gave, everything before it, or everything after an onset with which the telemetry begins; else the stretch of the
 * same length directly before, as far as telemetry covers it. Null when there is nothing.
 * @throws DiagnosisError REQUEST_INVALID for a baseline of the request that overlaps the window
 */
export function baselineOf(window: QueryWindow, { request, covered, earlier }: WindowGround): QueryWindow | null {
  const { from, to } = msOf(window);
  if (request.baseline !== undefined) {
    const baseline = msOf(request.baseline);
    if (baseline.from < to && baseline.to > from) {
      // The window was not the request's, so that the request's own check could not see it.
      throw new DiagnosisError(
        'REQUEST_INVALID',
        `baseline: must not overlap the window, which is ${window.from} to ${window.to}; name another baseline or a window of your own.`,
        { field: 'baseline' },
      );
    }
    return asWindow(baseline, 'request');
  }
  if (window.source === 'session' && earlier !== null) {
    const { baseline } = earlier.query;
    return baseline === null ? null : { ...baseline, run_id: earlier.id };
  }
  if (covered === null) return null;
  if (window.source === 'onset') return restOf({ from, to }, covered);
  if (window.source === 'telemetry') return covered.from >= from ? null : asWindow({ from: covered.from, to: from }, 'preceding');
  const start = Math.max(from - (to - from), covered.from);
  const end = Math.min(from, covered.to);
  return end - start < (to - from) * MIN_PRECEDING_SHARE ? null : asWindow({ from: start, to: end }, 'preceding');
}

function restOf({ from, to }: WindowMs, covered: WindowMs): QueryWindow | null {
  const least = (to - from) * MIN_PRECEDING_SHARE;
  if (from - covered.from >= least) return asWindow({ from: covered.from, to: from }, 'preceding');
  return covered.to - to >= least ? asWindow({ from: to, to: covered.to }, 'following') : null;
}

function msOf(window: { readonly from: string; readonly to: string }): WindowMs {
  return { from: Date.parse(window.from), to: Date.parse(window.to) };
}

function asWindow(window: WindowMs, source: QueryWindow['source']): QueryWindow {
  if (window.from < FIRST_MS || window.to > LAST_MS) {
    throw new DiagnosisError('REQUEST_INVALID', 'message: its time lies outside of the years 1 to 9999.', { field: 'message' });
  }
  return { from: new Date(window.from).toISOString(), to: new Date(window.to).toISOString(), source };
}
