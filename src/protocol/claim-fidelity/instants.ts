/** A time as it was written: date and clock as far as they were shown, and the zone if it was. */
export interface WrittenTime {
  readonly date: { readonly year: number; readonly month: number; readonly day: number } | null;
  /** Null for a date alone. */
  readonly clock: {
    readonly hour: number;
    readonly minute: number;
    readonly second: number | null;
    readonly fraction: string;
  } | null;
  /** Minutes east of UTC, null when no zone was written, 'unclear' when one was written that names no offset. */
  readonly offset: number | null | 'unclear';
  readonly start: number;
  readonly end: number;
}

export type TimeMatch = 'equal' | 'different' | 'ambiguous';

const ZONE = String.raw`(?:\s?(?<utc>Z|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?)(?!\w)|(?<gap>\s?)(?<offset>[+-]\d{2}:?\d{2})(?![\w:])|\s(?<named>[A-Z]{1,4}T)(?!\w))?`;
const CLOCK = String.raw`(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?:\s?(?<half>[ap])\.?m\b\.?)?`;
const ISO = String.raw`(?<year>\d{4})[-/](?<month>\d{2})[-/](?<day>\d{2})(?:(?:[T ]|\sat\s)${CLOCK}${ZONE})?`;
const WEB = String.raw`(?<day>\d{2})/(?<monthName>[A-Z][a-z]{2})/(?<year>\d{4}):${CLOCK}${ZONE}`;
const EDGE = String.raw`(?<![\w.:/])`;
const AFTER = String.raw`(?![\w:]|[-.]\w)`;
const FORMS: readonly RegExp[] = [
  new RegExp(`${EDGE}${WEB}${AFTER}`, 'g'),
  new RegExp(`${EDGE}${ISO}${AFTER}`, 'g'),
  new RegExp(`${EDGE}${CLOCK}${ZONE}(?![\\w:]|\\.\\w)`, 'g'),
];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Times written in a text, in order: RFC 3339 and its usual variants, access-log times, dates, and clock times. */
export function timesIn(text: string): WrittenTime[] {
  const found: WrittenTime[] = [];
  for (const form of FORMS) {
    for (const match of text.matchAll(form)) {
      const time = readMatch(match);
      if (time !== null && !found.some((other) => time.start < other.end && other.start < time.end)) found.push(time);
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

function readMatch(match: RegExpExecArray): WrittenTime | null {
  const part = match.groups ?? {};
  const month = part['monthName'] === undefined ? Number(part['month']) : MONTHS.indexOf(part['monthName']) + 1;
  const date = part['year'] === undefined ? null : { year: Number(part['year']), month, day: Number(part['day']) };
  if (date !== null && !isDate(date)) return null;
  let end = match.index + match[0].length;
  let clock: WrittenTime['clock'] = null;
  if (part['hour'] !== undefined) {
    let hour = Number(part['hour']);
    const half = part['half']?.toLowerCase();
    if (half !== undefined) {
      if (hour < 1 || hour > 12) return null;
      hour = (hour % 12) + (half === 'p' ? 12 : 0);
    }
    const minute = Number(part['minute']);
    const second = part['second'] === undefined ? null : Number(part['second']);
    if (hour > 23 || minute > 59 || (second ?? 0) > 60) return null;
    clock = { hour, minute, second, fraction: part['fraction'] ?? '' };
  }
  let offset: WrittenTime['offset'] = null;
  if (part['utc'] !== undefined) offset = offsetOf(part['utc'].replace(/^(?:Z|UTC|GMT)/, '') || '+00:00');
  else if (part['offset'] !== undefined) {
    // "14:05-14:10" is a range of clock times, no offset
    if (date === null && part['gap'] === '' && part['offset'].startsWith('-')) end -= part['offset'].length;
    else offset = offsetOf(part['offset']);
  } else if (part['named'] !== undefined) offset = 'unclear';
  return { date, clock, offset, start: match.index, end };
}

function isDate(date: { year: number; month: number; day: number }): boolean {
  const made = new Date(Date.UTC(date.year, date.month - 1, date.day));
  return made.getUTCMonth() === date.month - 1 && made.getUTCDate() === date.day;
}

function offsetOf(text: string): number {
  const match = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(text);
  return match === null ? 0 : (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3] ?? 0));
}

/** Offset of a zone name (`UTC`, `+08:00`, `Europe/Berlin`) at an instant, in minutes; null for a zone nobody knows. */
function zoneOffset(zone: string, epochMs: number): number | null {
  if (/^(?:Z|UTC|GMT)$/i.test(zone)) return 0;
  if (/^(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?$/i.test(zone)) return offsetOf(zone.replace(/^(?:UTC|GMT)/i, ''));
  try {
    const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' });
    const name = format.formatToParts(epochMs).find((part) => part.type === 'timeZoneName')?.value ?? '';
    return offsetOf(name.replace('GMT', '') || '+00:00');
  } catch {
    return null;
  }
}

function localMs(time: WrittenTime): number {
  const date = time.date ?? { year: 2000, month: 1, day: 1 };
  const clock = time.clock ?? { hour: 0, minute: 0, second: 0 };
  return Date.UTC(date.year, date.month - 1, date.day, clock.hour, clock.minute, clock.second ?? 0);
}

function resolveOffset(time: WrittenTime, textZone: string | null): number | null {
  if (typeof time.offset === 'number') return time.offset;
  if (time.offset === 'unclear' || textZone === null) return null;
  const local = localMs(time);
  const first = zoneOffset(textZone, local);
  return first === null ? null : zoneOffset(textZone, local - first * 60_000);
}

/** Nanoseconds since 1970 of a full time; null without a date, a clock or a zone. `textZone` is the zone of unmarked times. */
export function epochNanoseconds(time: WrittenTime, textZone: string | null): bigint | null {
  const offset = resolveOffset(time, textZone);
  if (time.date === null || time.clock === null || offset === null) return null;
  return BigInt(localMs(time) - offset * 60_000) * 1_000_000n + BigInt(time.clock.fraction.padEnd(9, '0'));
}

/**
 * Whether a stated time is a recorded one at the stated precision (cut off, not rounded). The zone of the statement is its
 * own, else the recorded time's; the recorded one's is its own, else `textZone`; without any the answer is `ambiguous` when
 * the digits agree.
 */
export function compareTimes(stated: WrittenTime, recorded: WrittenTime, textZone: string | null): TimeMatch {
  if (stated.offset === 'unclear') return 'ambiguous';
  const recordedOffset = resolveOffset(recorded, textZone);
  if (recordedOffset === null)
    return agrees(stated, recorded, localMs(recorded)) || stated.offset !== null ? 'ambiguous' : 'different';
  const statedOffset = stated.offset ?? recordedOffset;
  const shifted = localMs(recorded) + (statedOffset - recordedOffset) * 60_000;
  return agrees(stated, recorded, shifted) ? 'equal' : 'different';
}

function agrees(stated: WrittenTime, recorded: WrittenTime, local: number): boolean {
  const at = new Date(local);
  if (stated.date !== null) {
    if (recorded.date === null) return false;
    const { year, month, day } = stated.date;
    if (at.getUTCFullYear() !== year || at.getUTCMonth() + 1 !== month || at.getUTCDate() !== day) return false;
  }
  if (stated.clock === null) return stated.date !== null;
  if (recorded.clock === null) return false;
  if (at.getUTCHours() !== stated.clock.hour || at.getUTCMinutes() !== stated.clock.minute) return false;
  if (stated.clock.second === null) return true;
  if (recorded.clock.second === null || at.getUTCSeconds() !== stated.clock.second) return false;
  const shown = stated.clock.fraction;
  return (
    recorded.clock.fraction.padEnd(9, '0').startsWith(shown) &&
    (shown.length <= recorded.clock.fraction.length || /^0*$/.test(shown))
  );
}
