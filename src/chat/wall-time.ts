/** A date and time of day as a clock on the wall shows them; month 1 to 12. */
export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Whether a day stands in the calendar. */
export function isDay(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

/** Building one takes a third of a millisecond; names of zones are few, and a caller that spells them in many ways starts anew. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATTERS = 64;

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  formatters.set(timeZone, formatter);
  return formatter;
}

/** What the clocks of a zone (a name, or minutes east of UTC) show at an instant (ms since the epoch). */
export function wallTimeAt(epochMs: number, zone: string | number): WallTime {
  const timeZone = typeof zone === 'string' ? zone : 'UTC';
  const shift = typeof zone === 'string' ? 0 : zone * 60_000;
  const parts = formatterOf(timeZone).formatToParts(epochMs + shift);
  const value = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
  return {
    year: value('year'),
    month: value('month'),
    day: value('day'),
    hour: value('hour'),
    minute: value('minute'),
    second: value('second'),
  };
}

function asUtc(wall: WallTime): number {
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
}

/**
 * How often the clocks of a zone show a wall time: twice in the hour that is repeated, never in one that is skipped. The first
 * moment of a skipped hour counts as once: it is the instant of the jump.
 */
export function showingsOf(wall: WallTime, timeZone: string | number): 'never' | 'once' | 'twice' {
  const matches = instantsOf(wall, timeZone).filter((at) => asUtc(wallTimeAt(at, timeZone)) === asUtc(wall));
  if (matches.length > 0) return new Set(matches).size > 1 ? 'twice' : 'once';
  const jump = instantOfWallTime(wall, timeZone);
  return asUtc(wallTimeAt(jump - 1_000, timeZone)) === asUtc(wall) - 1_000 ? 'once' : 'never';
}

/** The instant by the offset of the day before, and the one by that of the day after. */
function instantsOf(wall: WallTime, timeZone: string | number): readonly [number, number] {
  const wanted = asUtc(wall);
  const offsetAt = (epochMs: number): number => asUtc(wallTimeAt(epochMs, timeZone)) - Math.floor(epochMs / 1000) * 1000;
  return [wanted - offsetAt(wanted - 86_400_000), wanted - offsetAt(wanted + 86_400_000)];
}

/**
 * The instant (ms since the epoch) at which the clocks of a zone show a wall time. An hour that is shown twice means its
 * first showing; an hour that is skipped means the instant as far after the jump.
 */
export function instantOfWallTime(wall: WallTime, timeZone: string | number): number {
  const [before, after] = instantsOf(wall, timeZone);
  const matches = [before, after].filter((candidate) => asUtc(wallTimeAt(candidate, timeZone)) === asUtc(wall));
  return matches.length > 0 ? Math.min(...matches) : before;
}
