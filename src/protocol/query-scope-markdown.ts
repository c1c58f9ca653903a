import { instantSchema, type DiagnosisQuery, type QueryAlert, type QueryWindow } from './diagnosis-query';
import { headOf, inertText } from './inert-markdown';

const SHOWN_QUESTION = 500;
const SHOWN_NAME = 100;
const OFFSET_ZONE = /^(?:UTC|GMT)?([+-])(\d{2}):?(\d{2})$/;

const WINDOW_WORDS: Record<QueryWindow['source'], string> = {
  request: 'given with the request',
  question: 'read from the question',
  alert: 'taken from the alert: from shortly before it started, as alerts fire late, until it ended or the telemetry ends',
  session: 'taken over from an earlier run of this session',
  onset: 'found in the telemetry: the stretch that departs most from the rest',
  telemetry: 'taken from the extent of the telemetry',
  preceding: 'the preceding stretch, as none was given',
  following: 'found in the telemetry: everything after the window, as the telemetry begins with it',
  default: 'the last hour, as none was given',
};

/** The lines of an answer that say what was asked and which times it speaks of, in the asker's zone with explicit offsets. */
export function queryScopeLines(query: DiagnosisQuery): string[] {
  const { head, omitted } = headOf(query.question, SHOWN_QUESTION);
  const question = `${inertText(head)}${omitted === 0 ? '' : ` (cut here, ${omitted} more characters)`}`;
  const baseline = query.baseline === null ? 'none; nothing to compare with' : baselineText(query.baseline, query);
  return [
    `- Question: ${question}`,
    ...(query.alert === undefined ? [] : [`- Alert: ${alertText(query.alert, query.time_zone)}`]),
    `- Window: ${windowText(query.window, query.time_zone)}`,
    `- Baseline: ${baseline}`,
    ...(query.scope === undefined ? [] : [`- Only: ${inertText(query.scope.text)}`]),
  ];
}

function baselineText(baseline: QueryWindow, { window, time_zone }: DiagnosisQuery): string {
  const isRest = window.source === 'onset' && baseline.source === 'preceding';
  return windowText(baseline, time_zone, isRest ? 'found in the telemetry: everything before the window' : null);
}

function alertText(alert: QueryAlert, timeZone: string): string {
  const { head } = headOf(alert.labels['alertname'] ?? 'one without a name', SHOWN_NAME);
  const end = alert.ends_at === null ? 'not ended' : `ended at ${zonedInstant(alert.ends_at, timeZone)}`;
  return `${inertText(head)}, started at ${zonedInstant(alert.starts_at, timeZone)}, ${end}`;
}

/**
 * An instant as wall-clock time of a zone with its offset, e.g. `2026-05-04 16:05:00 +02:00`; milliseconds only where there
 * are some. A zone that the platform does not know is shown as UTC; text that is no instant is refused by its schema before.
 */
export function zonedInstant(instant: string, timeZone: string): string {
  const at = new Date(instant);
  const offset = offsetMinutes(at, timeZone);
  const local = new Date(at.getTime() + offset * 60_000).toISOString();
  const fraction = local.slice(19, 23) === '.000' ? '' : local.slice(19, 23);
  return `${local.slice(0, 10)} ${local.slice(11, 19)}${fraction} ${offsetText(offset)}`;
}

/**
 * An instant as time of day of a zone with its offset, with the date where a window spans more than one day; null for text
 * that is no instant with a zone.
 */
export function clockTime(instant: string, window: Pick<QueryWindow, 'from' | 'to'>, timeZone: string): string | null {
  if (!instantSchema.safeParse(instant).success) return null;
  const [day, time = '', offset] = zonedInstant(instant, timeZone).split(' ');
  const isOneDay = [window.from, window.to].every((at) => zonedInstant(at, timeZone).split(' ')[0] === day);
  return `${isOneDay ? '' : `${day} `}${time.slice(0, 8)} ${offset}`;
}

/** A window in words: both ends in a zone, and where it came from, or `words` for it, with the run that it was taken over from. */
export function windowText(window: QueryWindow, timeZone: string, words: string | null = null): string {
  const zone = isKnownZone(timeZone) ? inertText(timeZone) : 'UTC';
  return `${zonedInstant(window.from, timeZone)} to ${zonedInstant(window.to, timeZone)}, end excluded, zone ${zone} (${words ?? sourceText(window)})`;
}

function sourceText({ source, run_id }: QueryWindow): string {
  const words = WINDOW_WORDS[source];
  if (run_id === undefined) return words;
  return source === 'session' ? `${words}, ${inertText(run_id)}` : `${words}; taken over from run ${inertText(run_id)}`;
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function offsetMinutes(at: Date, timeZone: string): number {
  const name = OFFSET_ZONE.test(timeZone) ? timeZone : isKnownZone(timeZone) ? longOffset(at, timeZone) : 'GMT';
  const match = OFFSET_ZONE.exec(name.slice(0, 9));
  if (match === null) return 0;
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]));
}

function longOffset(at: Date, timeZone: string): string {
  const parts = offsetsOf(timeZone)?.formatToParts(at) ?? [];
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
}

function isKnownZone(timeZone: string): boolean {
  if (OFFSET_ZONE.test(timeZone)) return true;
  return offsetsOf(timeZone) !== null;
}

/** Zones whose formatters are kept, since to build one costs more than an answer's other words; as many as a service has askers' zones. */
const MOST_ZONES = 64;
const formatters = new Map<string, Intl.DateTimeFormat | null>();

function offsetsOf(timeZone: string): Intl.DateTimeFormat | null {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  if (formatters.size >= MOST_ZONES) formatters.clear();
  const made = offsetFormatter(timeZone);
  formatters.set(timeZone, made);
  return made;
}

function offsetFormatter(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return null;
  }
}
