import { DiagnosisError } from '../errors/diagnosis-error';
import { refusedTime } from './refused-time';
import { refuseUnreadTimes, writeEnglishTimes } from './spoken-times';
import { instantOfWallTime, isDay, showingsOf, wallTimeAt, type WallTime } from './wall-time';
import { markZones, ZONE_MARK, zoneOfMark } from './zoned-clocks';

/**
 * How a question's times are read: zone of its clock times, the instant (ms) that "last" and bare clock times look back from,
 * and the one at which it is asked, from which "today" and "yesterday" are told.
 */
export interface QuestionTimes {
  readonly timeZone: string;
  readonly anchorMs: number;
  readonly nowMs: number;
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
  four: 4,
  five: 5,
  six: 6,
  ten: 10,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
};

const ISO = String.raw`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?Z|\s?UTC|\s?[+-]\d{2}:?\d{2}|${ZONE_MARK})?`;
const CLOCK = String.raw`(?:\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?!:?\d)(?:\s?[ap]m\b)?|\d{1,2}\s?[ap]m\b)(?:${ZONE_MARK})?`;
/** The days that are read; "today-report" is a name. */
const DAY_WORD = '(?<![\\w-])(?:yesterday|today)(?![\\w-])';
const TIME = String.raw`(${ISO}|(?:(?:${DAY_WORD})(?:\s+at)?\s+)?${CLOCK}(?:\s+(?:${DAY_WORD})\b)?)`;

const BETWEEN = new RegExp(String.raw`\b(?:between|from|of)\s+${TIME}\s*(?:and|to|until|till|-|–)\s*${TIME}`, 'i');
const DASHED = new RegExp(String.raw`(?<![\w:.-])${TIME}\s*(?:-|–|to|until|till)\s*${TIME}`, 'i');
const SINCE = new RegExp(String.raw`\b(?:since|after|from|starting(?:\s+at)?|began\s+at|started\s+at)\s+${TIME}`, 'i');
const AROUND = new RegExp(String.raw`\b(?:at|around|about|near)\s+${TIME}`, 'i');
const LAST = /\b(?:last|past|previous)\s+(?:(\d{1,4}|[a-z]+)\s+)?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b/i;
const AGO = /\b(\d{1,4}|[a-z]+)\s+(seconds?|secs?|minutes?|mins?|hours?|hrs?|days?)\s+ago\b/i;
const SINCE_DAY = new RegExp(String.raw`\bsince\s+(?:${DAY_WORD})\b`, 'i');
/** A clock time that opens the message or stands alone behind its last comma: a stamp, not part of a sentence. */
const STAMP = new RegExp(String.raw`^\s*\[?${TIME}\]?[:,]?\s+(?=\p{L})|[,(]\s*${TIME}\s*[)?.!]*\s*$`, 'iu');
const LONE_ISO = new RegExp(ISO, 'gi');
const DATE = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?![\dT]|\s+\d{1,2}:)/;
const ON_DATE = new RegExp(String.raw`\b(?:on|during)\s+(?:the\s+)?${DATE.source}`, 'i');
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';
const OTHER_DAY = String.raw`tomorrow|(?:the\s+)?day\s+before\s+yesterday|last\s+night|(?:last\s+|this\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:\d+|two|three|four|five|six|seven)\s+days\s+ago|\d{1,2}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?${MONTH}(?:\s+\d{4})?|${MONTH}\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?|\d{1,2}[./]\d{1,2}[./](?:\d{2,4})?`;
/** A day beside a clock time, in words that are not read. */
const UNREAD_DAY = new RegExp(
  String.raw`\b(?:${CLOCK},?\s+(?:on\s+)?(${OTHER_DAY})(?![\w/])|(${OTHER_DAY}),?\s+(?:(?:at|around|about|near|since|after|from|between)\s+)?${CLOCK})`,
  'i',
);
/** "14:05-05:00" is a range that ends before it starts, or a time with an offset. */
const RANGE_OR_OFFSET = /(?<![\w:.@-])(\d{1,2}:\d{2})-((?:0\d|1[0-2]):(?:00|30))(?![\d:])/;

/**
 * Reads the window that a question names in plain words of the languages of `time-languages`, and in Chinese and Japanese:
 * "between 14:00 and 14:20 CEST", "since 14:05 yesterday", "since midnight", "between 2 and 3 pm", "last 30 minutes",
 * "since 10:05 in New York", ISO instants. A zone, day or half of the day that stands at one end of a range holds for both. A
 * clock time without a date is the latest one not after the anchor; a single moment means ten minutes on either side; a day
 * without a time is that whole day. Null when the question names none; it refuses to guess from anything else.
 * @throws DiagnosisError REQUEST_INVALID when the named window ends before it starts, for times, days and zones beside them
 * that cannot be read with certainty, and for clock times that their zone skips or shows twice on that day
 */
export function readQuestionWindow(asked: string, times: QuestionTimes): WindowMs | null {
  const written = writeEnglishTimes(asked);
  refuseUnread(written);
  const window = readEnglishWindow(markZones(written), times);
  if (window === null) refuseUnreadTimes(written);
  return window;
}

/**
 * The first single moment that a text names behind "at" or "around", in ms; null when it names none.
 * @throws DiagnosisError REQUEST_INVALID for times that cannot be read with certainty
 */
export function readMoment(text: string, times: QuestionTimes): number | null {
  const question = markZones(writeEnglishTimes(text));
  const around = AROUND.exec(question);
  return around === null ? null : momentOf(around[1] as string, readDate(question) ?? dayOfWord(question, times), times);
}

function readEnglishWindow(question: string, times: QuestionTimes): WindowMs | null {
  const date = readDate(question) ?? dayOfWord(question, times);
  const range = BETWEEN.exec(question) ?? DASHED.exec(question);
  if (range !== null) return readRange(range[1] as string, range[2] as string, date, times);

  const since = SINCE.exec(question);
  if (since !== null) {
    const from = momentOf(since[1] as string, date, times);
    const to = times.anchorMs > from ? times.anchorMs : Math.max(times.nowMs, from + 60_000);
    return ordered(from, to);
  }

  const last = LAST.exec(question);
  if (last !== null) {
    const count = readCount(last[1]);
    const unit = UNIT_MS[(last[2] as string)[0]?.toLowerCase() ?? ''];
    if (count !== null && unit !== undefined) return ordered(times.anchorMs - count * unit, times.anchorMs);
  }

  const ago = agoMs(question);
  if (ago !== null && ago.unitMs < DAY_MS) return aroundMoment(times.anchorMs - ago.count * ago.unitMs);

  const around = AROUND.exec(question);
  if (around !== null) return aroundMoment(momentOf(around[1] as string, date, times));

  const instants = (question.match(LONE_ISO) ?? []).map((text) => momentOf(text, date, times));
  if (instants.length > 1 && Math.min(...instants) < Math.max(...instants)) {
    return ordered(Math.min(...instants), Math.max(...instants));
  }
  if (instants[0] !== undefined) return aroundMoment(instants[0]);
  const stamp = STAMP.exec(question);
  if (stamp !== null) return aroundMoment(momentOf((stamp[1] ?? stamp[2]) as string, date, times));
  if (ago !== null) return wholeDay(dayFrom(times, ago.count), times);
  if (date !== null && SINCE_DAY.test(question)) {
    const from = instantOfWallTime({ ...date, hour: 0, minute: 0, second: 0 }, times.timeZone);
    return ordered(from, times.anchorMs > from ? times.anchorMs : times.nowMs);
  }
  const namesDay = ON_DATE.test(question) || new RegExp(`\\b(?:${DAY_WORD})\\b`, 'i').test(question);
  return date !== null && namesDay ? wholeDay(date, times) : null;
}

function agoMs(question: string): { readonly count: number; readonly unitMs: number } | null {
  const found = AGO.exec(question);
  if (found === null) return null;
  const count = readCount(found[1]);
  const unitMs = UNIT_MS[(found[2] as string)[0]?.toLowerCase() ?? ''];
  return count === null || unitMs === undefined ? null : { count, unitMs };
}

function dayFrom({ nowMs, timeZone }: { readonly nowMs: number; readonly timeZone: number | string }, daysAgo: number): WallTime {
  return nextDay(wallTimeAt(nowMs, timeZone), -daysAgo);
}

function refuseUnread(question: string): void {
  const day = UNREAD_DAY.exec(question);
  if (day !== null && readDate(question) === null) {
    const right = 'is a day that is not read; write it as 2026-05-04, or send the field window.';
    throw refusedTime((day[1] ?? day[2]) as string, right);
  }
  const either = RANGE_OR_OFFSET.exec(question);
  if (either === null || (either[1] as string).padStart(5, '0') < (either[2] as string)) return;
  const right = `may be a range or a time with an offset; write "from ${either[1]} to ${either[2]}", or the offset as -0500.`;
  throw refusedTime(either[0], right);
}

/** The one day that a question's words name; null for none, and for two different ones. */
function dayOfWord(text: string, times: QuestionTimes, zone: number | string = times.timeZone): WallTime | null {
  const words = new Set((text.match(new RegExp(`\\b(?:${DAY_WORD})\\b`, 'gi')) ?? []).map((word) => word.toLowerCase()));
  if (words.size !== 1) return null;
  return dayFrom({ ...times, timeZone: zone }, words.has('today') ? 0 : 1);
}

function wholeDay(day: WallTime, { timeZone }: QuestionTimes): WindowMs {
  const midnight = { ...day, hour: 0, minute: 0, second: 0 };
  return ordered(instantOfWallTime(midnight, timeZone), instantOfWallTime(nextDay(day, 1), timeZone));
}

function readRange(first: string, second: string, date: WallTime | null, times: QuestionTimes): WindowMs {
  const shared = zoneOf(first) ?? zoneOf(second);
  const ownDay = dayOfWord(first, times) ?? dayOfWord(second, times);
  const from = momentOf(first, ownDay ?? date, times, shared);
  if (isIso(second)) return ordered(from, momentOf(second, date, times, shared));
  const zone = zoneOf(second) ?? shared ?? times.timeZone;
  if (dayOfWord(second, times) !== null && dayOfWord(first, times) !== null) {
    return ordered(from, momentOf(second, date, times, zone));
  }
  // A clock time that ends a range belongs to the day on which the range starts, or to the next one past midnight.
  const startDay = wallTimeAt(from, zone);
  if (instantOfWallTime(clockOn(second, startDay), zone) >= from) return ordered(from, readClock(second, startDay, zone));
  const past = instantOfWallTime(clockOn(second, nextDay(startDay, 1)), zone);
  if (past <= times.anchorMs || (ownDay ?? date) !== null || isIso(first)) {
    return ordered(from, readClock(second, nextDay(startDay, 1), zone));
  }
  const startZone = zoneOf(first) ?? shared ?? times.timeZone;
  return ordered(readClock(first, nextDay(wallTimeAt(from, startZone), -1), startZone), readClock(second, startDay, zone));
}

function isIso(text: string): boolean {
  return /^\d{4}-/.test(text);
}

function momentOf(text: string, date: WallTime | null, times: QuestionTimes, shared: number | string | null = null): number {
  const zone = zoneOf(text) ?? shared ?? times.timeZone;
  if (isIso(text)) return readIso(text, zone);
  const day = dayOfWord(text, times, zone) ?? date;
  if (day !== null) return readClock(text, day, zone);
  const today = wallTimeAt(times.anchorMs, zone);
  const isPast = instantOfWallTime(clockOn(text, today), zone) <= times.anchorMs;
  return readClock(text, isPast ? today : nextDay(today, -1), zone);
}

/** The day some days after another, at its start. */
function nextDay({ year, month, day }: WallTime, days: number): WallTime {
  return wallTimeAt(Date.UTC(year, month - 1, day + days), 'UTC');
}

/** The zone that a time itself names: minutes east of UTC, or a region; null for none. */
function zoneOf(text: string): number | string | null {
  const mark = zoneOfMark(text.replace(new RegExp(`\\s+(?:${DAY_WORD})$`, 'i'), ''));
  if (mark !== null || !isIso(text)) return mark;
  const own = /(?:Z|UTC|([+-])(\d{2}):?(\d{2}))$/i.exec(text.slice(10));
  if (own === null) return null;
  return own[1] === undefined ? 0 : (own[1] === '-' ? -1 : 1) * (Number(own[2]) * 60 + Number(own[3]));
}

function readIso(text: string, zone: number | string): number {
  const match = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?/i.exec(text) ?? [];
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = [1, 2, 3, 4, 5, 6].map((at) => Number(match[at] ?? 0));
  if (!isDay(year, month, day) || hour > 23 || minute > 59 || second > 59) throw noTime(text);
  const milliseconds = Math.floor(Number(`0.${match[7] ?? '0'}`) * 1000);
  return certainInstant({ year, month, day, hour, minute, second }, zone, text) + milliseconds;
}

function noTime(text: string): DiagnosisError {
  return refusedTime(
    text.replace(/@.*$/, ''),
    'is no time; hours go from 0 to 23, minutes from 0 to 59, such as 14:05 or 2026-05-04T14:05:00Z.',
  );
}

function readClock(text: string, day: WallTime, zone: number | string): number {
  return certainInstant(clockOn(text, day), zone, text);
}

/** The instant of a wall time that the clocks of a zone show once. */
function certainInstant(wall: WallTime, zone: number | string, text: string): number {
  const showings = showingsOf(wall, zone);
  if (showings === 'once') return instantOfWallTime(wall, zone);
  const day = [wall.year, wall.month, wall.day].map((part) => String(part).padStart(2, '0')).join('-');
  throw refusedTime(
    text.replace(/@.*$/, ''),
    showings === 'twice'
      ? `is shown twice on ${day} in ${zone}, where the clocks go back; write an offset such as +02:00 behind the time.`
      : `is not shown on ${day} in ${zone}, where the clocks go forward; write another time, or an offset such as +02:00 behind it.`,
  );
}

/** A clock time on a day. */
function clockOn(text: string, day: WallTime): WallTime {
  const match = /(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s?([ap]m)?/i.exec(text) ?? [];
  const half = match[4]?.toLowerCase();
  const shown = Number(match[1]);
  if (half !== undefined && (shown < 1 || shown > 12)) throw noTime(text);
  const hour = half === undefined ? shown : (shown % 12) + (half === 'pm' ? 12 : 0);
  const minute = Number(match[2] ?? 0);
  const second = Number(match[3] ?? 0);
  if (hour > 23 || minute > 59 || second > 59) throw noTime(text);
  return { ...day, hour, minute, second };
}

function readDate(question: string): WallTime | null {
  const match = DATE.exec(question);
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (isDay(year, month, day)) return { year, month, day, hour: 0, minute: 0, second: 0 };
  if (ON_DATE.test(question)) throw refusedTime(match[0], 'is no day of the calendar; write one such as 2026-05-04.');
  return null;
}

function readCount(text: string | undefined): number | null {
  if (text === undefined) return 1;
  const count = /^\d+$/.test(text) ? Number(text) : NUMBER_WORDS[text.toLowerCase()];
  return count === undefined || count === 0 ? null : count;
}

function aroundMoment(at: number): WindowMs {
  return { from: at - AROUND_MINUTES * 60_000, to: at + AROUND_MINUTES * 60_000 };
}

function ordered(from: number, to: number): WindowMs {
  if (from < to) return { from, to };
  throw new DiagnosisError(
    'REQUEST_INVALID',
    'message: the window that it names ends before it starts, or with its start; name the earlier time first.',
    {
      field: 'message',
    },
  );
}
