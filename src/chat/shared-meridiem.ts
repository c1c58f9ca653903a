import { refusedTime } from './refused-time';

const HALF_DAY = 720;
const DAY = 1_440;

const NUMBER = String.raw`\d{1,2}(?::\d{2}(?::\d{2})?)?`;
const NAMED: Readonly<Record<string, number>> = { noon: 720, midday: 720, midnight: 0 };
const END = String.raw`(?:${Object.keys(NAMED).join('|')})|${NUMBER}(?:\s?[ap]m\b)?`;
/** What may follow a bare number that ends a range, so that it is an hour and counts nothing. */
const HOUR_END = String.raw`(?=\s*(?:$|[,;!?)(]|\.(?:\s|$)|[+-]\d{2}:?\d{2}\b)|\s+(?:yesterday|today|in|on|utc|gmt|mez|mesz|[ceap][des]t|cest)\b)`;
const ZONE = String.raw`(?:\s?(?:utc|gmt|mez|mesz|[ceap][des]t|cest)\b|\s?\+\d{2}:?\d{2}\b)?`;
const RANGE = new RegExp(
  String.raw`(?<![\p{L}\p{N}_./:@#$-])(?<from>${END})(?<zone>${ZONE})(?:(?<=\bbetween\s+(?:${END})${ZONE})\s+and\s+|\s*[-–—]\s*|\s+(?:to|until|till)\s+)(?<to>${END})(?![\p{L}\p{N}_]|[:.,]\d|[-/]\p{L})(?:(?<=[a-z])|(?<=:\d{2})|${HOUR_END})`,
  'giu',
);

/** A clock time of a range: minutes after midnight, as shown; `half` when its half of the day is said. */
interface RangeEnd {
  readonly minutes: number;
  readonly seconds: string;
  readonly half: 'am' | 'pm' | null;
  readonly named: boolean;
  readonly shown: string;
}

/**
 * English ranges of which one end names its half of the day on the 24-hour clock: "between 2 and 3 pm" becomes "between 14:00
 * and 15:00", "11 am to noon" "11:00 to 12:00". It leaves ranges alone of which no end is noon, midnight, am or pm.
 * @throws DiagnosisError REQUEST_INVALID for an hour such as 02:00 beside a pm, which may be one of two times
 */
export function shareMeridiems(question: string): string {
  const plain = question
    .replaceAll(/(?<=\d\s?)([ap])\.m\.?(?!\p{L})/giu, (_all, half: string) => `${half}m`)
    .replaceAll(/(?<![\w:.-])12(?::00)?\s+(?=(?:noon|midnight)\b)/gi, '');
  return plain.replaceAll(RANGE, (...found: unknown[]) => {
    const { from = '', zone = '', to = '' } = found.at(-1) as Readonly<Record<string, string>>;
    const [start, end] = [endOf(from), endOf(to)];
    const all = found[0] as string;
    if (start === null || end === null) {
      if (!/[ap]m$/i.test(all) || /\d\s*[-–—]/.test(all)) return all;
      throw refusedTime(start === null ? from : to, 'is no time; hours go from 1 to 12 before am or pm, minutes from 0 to 59.');
    }
    const isSaid = (start.half ?? end.half) !== null;
    if (!isSaid && !start.named && !end.named) return all;
    const near = isSaid ? withinHalfDay : refuseFarFromNamed;
    const first = isOpen(start) ? near(end.minutes, start.minutes, 'start', start.shown) : start.minutes;
    const last = isOpen(end) ? near(start.minutes, end.minutes, 'end', end.shown) : end.minutes;
    const join = /\sand\s/i.test(all) ? 'and' : 'to';
    return `${clockOf(first, start.seconds)}${zone} ${join} ${clockOf(last, end.seconds)}`;
  });
}

/**
 * The reading of one end of a range, in minutes after midnight, that lies less than half a day from the other end, of which
 * the half of the day is known. Hours after 12 are on the 24-hour clock and stay.
 * @throws DiagnosisError REQUEST_INVALID when a leading zero says another time
 */
export function withinHalfDay(known: number, minutes: number, side: 'start' | 'end', shown: string): number {
  if (minutes >= HALF_DAY + 60 || /^0?0(?!\d)/.test(shown)) return minutes;
  const isNear = (reading: number): boolean => forward(known, reading, side) < HALF_DAY;
  const near = [minutes % HALF_DAY, (minutes % HALF_DAY) + HALF_DAY].find(isNear) ?? minutes;
  if (shown.startsWith('0') && near !== minutes) {
    throw refusedTime(shown, 'may be one of two times; write both ends on the 24-hour clock, such as 09:00 and 21:00.');
  }
  return near;
}

/**
 * The minutes of an end of a range whose other end is noon or midnight, as they are on the 24-hour clock.
 * @throws DiagnosisError REQUEST_INVALID when the range would be longer than half a day, so that another half may be meant
 */
export function refuseFarFromNamed(known: number, minutes: number, side: 'start' | 'end', shown: string): number {
  if (minutes < HALF_DAY + 60 && !shown.startsWith('0') && forward(known, minutes, side) > HALF_DAY) {
    throw refusedTime(shown, 'may be one of two times; write it on the 24-hour clock, such as 09:00 or 21:00.');
  }
  return minutes;
}

/** Minutes from the start of a range to its end, past midnight where needed. */
function forward(known: number, reading: number, side: 'start' | 'end'): number {
  return ((side === 'start' ? known - reading : reading - known) + DAY) % DAY;
}

function isOpen({ half, named }: RangeEnd): boolean {
  return half === null && !named;
}

/** Null for what is no time, which is refused where it is read. */
function endOf(shown: string): RangeEnd | null {
  const named = NAMED[shown.toLowerCase()];
  if (named !== undefined) return { minutes: named, seconds: '', half: null, named: true, shown };
  const [, hours = '', minute = '00', second, meridiem] = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s?([ap]m)?$/i.exec(shown) ?? [];
  const half = meridiem === undefined ? null : meridiem.toLowerCase() === 'pm' ? 'pm' : 'am';
  const hour = Number(hours);
  if (hour > 23 || Number(minute) > 59 || (half !== null && (hour < 1 || hour > 12))) return null;
  const onClock = half === null ? hour : (hour % 12) + (half === 'pm' ? 12 : 0);
  return { minutes: onClock * 60 + Number(minute), seconds: second === undefined ? '' : `:${second}`, half, named: false, shown };
}

function clockOf(minutes: number, seconds: string): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}${seconds}`;
}
