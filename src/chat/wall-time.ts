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

/** What the clocks of a zone (a name, or minutes east of UTC) show at an instant (ms since the epoch). */
export function wallTimeAt(epochMs: number, zone: string | number): WallTime {
  const timeZone = typeof zone === 'string' ? zone : 'UTC';
  const shift = typeof zone === 'string' ? 0 : zone * 60_000;
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(epochMs + shift);
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
 * The instant (ms since the epoch) at which the clocks of a zone show a wall time. An hour that is shown twice means its
 * first showing; an hour that is skipped means the instant as far after the jump.
 */
export function instantOfWallTime(wall: WallTime, timeZone: string | number): number {
  const wanted = asUtc(wall);
  const offsetAt = (epochMs: number): number => asUtc(wallTimeAt(epochMs, timeZone)) - Math.floor(epochMs / 1000) * 1000;
  const before = wanted - offsetAt(wanted - 86_400_000);
  const after = wanted - offsetAt(wanted + 86_400_000);
  const matches = [before, after].filter((candidate) => asUtc(wallTimeAt(candidate, timeZone)) === wanted);
  return matches.length > 0 ? Math.min(...matches) : before;
}
