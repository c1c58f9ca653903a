import { DiagnosisError } from '../errors/diagnosis-error';
import { instantOfWallTime, wallTimeAt, type WallTime } from './wall-time';

/** How a question's times are read: zone of its clock times, and the instant (ms) that "last" and bare clock times look back from. */
export interface QuestionTimes {
  readonly timeZone: string;
  readonly anchorMs: number;
}

/** Window in ms since the epoch, `from` inclusive, `to` exclusive. */
export interface WindowMs {
  readonly from: number;
  readonly to: number;
}

/** Minutes on either side of a single moment that a question names. */
const AROUND_MINUTES = 10;
const DAY_MS = 86_400_000;

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };
const NUMBER_WORDS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  five: 5,
  ten: 10,
  fifteen: 15,
  thirty: 30,
};

const ISO = String.raw`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?Z|\s?UTC|\s?[+-]\d{2}:?\d{2})?`;
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?(?:\s?(?:Z|UTC)\b)?`;
const TIME = `(${ISO}|${CLOCK})`;

const BETWEEN = new RegExp(String.raw`\b(?:between|from|of)\s+${TIME}\s*(?:and|to|until|till|-|–)\s*${TIME}`, 'i');
const DASHED = new RegExp(String.raw`(?<![\w:.-])${TIME}\s*(?:-|–|to|until|till)\s*${TIME}`, 'i');
const SINCE = new RegExp(String.raw`\b(?:since|after|from|starting(?:\s+at)?|began\s+at|started\s+at)\s+${TIME}`, 'i');
const AROUND = new RegExp(String.raw`\b(?:at|around|about|near)\s+${TIME}`, 'i');
const LAST = /\b(?:last|past|previous)\s+(?:(\d{1,4}|[a-z]+)\s+)?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b/i;
const LONE_ISO = new RegExp(ISO, 'gi');
const DATE = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?![\dT]|\s+\d{1,2}:)/;

/**
 * Reads the window that a question names in plain words: "between 14:00 and 14:20", "since 14:05", "last 30 minutes",
 * "around 14:05", ISO instants. A clock time without a date is the latest one not after the anchor; a single moment means
 * ten minutes on either side. Null when the question names none; it refuses to guess from anything else.
 * @throws DiagnosisError REQUEST_INVALID when the named window ends before it starts
 */
export function readQuestionWindow(question: string, times: QuestionTimes): WindowMs | null {
  const date = readDate(question);
  const range = BETWEEN.exec(question) ?? DASHED.exec(question);
  if (range !== null) return readRange(range[1] as string, range[2] as string, date, times);

  const since = SINCE.exec(question);
  if (since !== null) {
    const from = readMoment(since[1] as string, date, times);
    return from === null ? null : ordered(from, Math.max(times.anchorMs, from + 60_000));
  }

  const last = LAST.exec(question);
  if (last !== null) {
    const count = readCount(last[1]);
    const unit = UNIT_MS[(last[2] as string)[0]?.toLowerCase() ?? ''];
    if (count !== null && unit !== undefined) return ordered(times.anchorMs - count * unit, times.anchorMs);
  }

  const around = AROUND.exec(question);
  if (around !== null) return aroundMoment(readMoment(around[1] as string, date, times));

  const instants = (question.match(LONE_ISO) ?? []).map((text) => readMoment(text, date, times)).filter((at) => at !== null);
  if (instants.length > 1 && Math.min(...instants) < Math.max(...instants)) {
    return ordered(Math.min(...instants), Math.max(...instants));
  }
  return aroundMoment(instants[0] ?? null);
}

function readRange(first: string, second: string, date: WallTime | null, times: QuestionTimes): WindowMs | null {
  const from = readMoment(first, date, times);
  const secondIsClock = !/^\d{4}-/.test(second);
  if (from === null) return null;
  if (!secondIsClock) {
    const to = readMoment(second, date, times);
    return to === null ? null : ordered(from, to);
  }
  // A clock time that ends a range belongs to the day on which the range starts, or to the next one past midnight.
  const zone = zoneOfClock(second) ?? times.timeZone;
  const to = readClock(second, wallTimeAt(from, zone), zone);
  if (to === null) return null;
  if (to > from) return ordered(from, to);
  const past = to + DAY_MS;
  const wraps = past > times.anchorMs && date === null && !/^\d{4}-/.test(first);
  return wraps ? ordered(from - DAY_MS, to) : ordered(from, past);
}

function readMoment(text: string, date: WallTime | null, times: QuestionTimes): number | null {
  if (/^\d{4}-/.test(text)) return readIso(text, times.timeZone);
  const zone = zoneOfClock(text) ?? times.timeZone;
  const day = date ?? wallTimeAt(times.anchorMs, zone);
  const at = readClock(text, day, zone);
  if (at === null || date !== null || at <= times.anchorMs) return at;
  return readClock(text, wallTimeAt(times.anchorMs - DAY_MS, zone), zone);
}

function readIso(text: string, timeZone: string): number | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|UTC|[+-]\d{2}:?\d{2})?$/i.exec(
    text,
  );
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((index) => Number(match[index] ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return null;
  const milliseconds = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1000);
  const zone = match[8]?.toUpperCase();
  const asIfUtc = Date.UTC(year, month - 1, day, hour, minute, second);
  if (zone === undefined) return instantOfWallTime({ year, month, day, hour, minute, second }, timeZone) + milliseconds;
  if (zone === 'Z' || zone === 'UTC') return asIfUtc + milliseconds;
  const offsetMinutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return asIfUtc + milliseconds - (zone.startsWith('-') ? -1 : 1) * offsetMinutes * 60_000;
}

function zoneOfClock(text: string): string | null {
  return /(?:Z|UTC)$/i.test(text) ? 'UTC' : null;
}

function readClock(text: string, day: WallTime, timeZone: string): number | null {
  const match = /^(\d{1,2}):(\d{2})(?::(\d{2}))?\s?([ap]m)?/i.exec(text);
  if (match === null) return null;
  const half = match[4]?.toLowerCase();
  const shown = Number(match[1]);
  if (half !== undefined && (shown < 1 || shown > 12)) return null;
  const hour = half === undefined ? shown : (shown % 12) + (half === 'pm' ? 12 : 0);
  const minute = Number(match[2]);
  const second = Number(match[3] ?? 0);
  if (hour > 23 || minute > 59 || second > 59) return null;
  return instantOfWallTime({ ...day, hour, minute, second }, timeZone);
}

function readDate(question: string): WallTime | null {
  const match = DATE.exec(question);
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 ? { year, month, day, hour: 0, minute: 0, second: 0 } : null;
}

function readCount(text: string | undefined): number | null {
  if (text === undefined) return 1;
  const count = /^\d+$/.test(text) ? Number(text) : NUMBER_WORDS[text.toLowerCase()];
  return count === undefined || count === 0 ? null : count;
}

function aroundMoment(at: number | null): WindowMs | null {
  return at === null ? null : { from: at - AROUND_MINUTES * 60_000, to: at + AROUND_MINUTES * 60_000 };
}

function ordered(from: number, to: number): WindowMs {
  if (from < to) return { from, to };
  throw new DiagnosisError(
    'REQUEST_INVALID',
    'message: the window that it names ends before it starts; name the earlier time first.',
    {
      field: 'message',
    },
  );
}
