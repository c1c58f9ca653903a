import { DiagnosisError } from '../errors/diagnosis-error';
import { cityAtStart } from './zone-cities';

/** Abbreviations that mean one offset wherever they are written. */
const OFFSETS: Readonly<Record<string, string>> = {
  Z: '+0000',
  UTC: '+0000',
  GMT: '+0000',
  CET: '+0100',
  CEST: '+0200',
  MEZ: '+0100',
  MESZ: '+0200',
  EET: '+0200',
  EEST: '+0300',
  MSK: '+0300',
  EST: '-0500',
  EDT: '-0400',
  CDT: '-0500',
  MDT: '-0600',
  PST: '-0800',
  PDT: '-0700',
  AKST: '-0900',
  AKDT: '-0800',
  JST: '+0900',
  KST: '+0900',
  SGT: '+0800',
  HKT: '+0800',
  AWST: '+0800',
  AEST: '+1000',
  AEDT: '+1100',
  NZST: '+1200',
  NZDT: '+1300',
};
/** Abbreviations that mean different offsets to different readers, or at different times of the year. */
const AMBIGUOUS = ['CST', 'IST', 'BST', 'MST', 'AST', 'SST', 'GST', 'ADT', 'ET', 'PT', 'CT', 'MT'] as const;

const CLOCK = String.raw`\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?[apAP][mM]\b)?|\b\d{1,2}\s?[apAP][mM]\b`;
const OFFSET = String.raw`(?:UTC|GMT)\s?[+-]\d{1,2}(?::?\d{2})?\b(?!:)|\+\d{1,2}:?\d{2}\b|[+-]\d{4}\b`;
const NAMED = [...Object.keys(OFFSETS), ...AMBIGUOUS].join('|');
const REGION = String.raw`(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)(?:\/[A-Z][A-Za-z_]+(?:-[A-Za-z_]+)*)+`;
const SPOKEN = String.raw`local time\b|(?:[A-Z][a-z]+ ){1,2}(?:[Ss]tandard |[Dd]aylight |[Ss]ummer )?[Tt]ime\b`;
const ZONED = new RegExp(`(${CLOCK})(?:\\s?(${OFFSET})|\\s*\\(?((?:${NAMED})\\b|${REGION}|${SPOKEN})\\)?)`, 'g');
const ELSEWHERE = new RegExp(
  String.raw`\b(?:in|times?(?: are)?(?: in)?|zone:?)\s+(${OFFSET}|(?:${NAMED.replaceAll(/\|.{1,2}(?=\||$)/g, '')})\b|${REGION})`,
);
const DAY = String.raw`(?:\s+(?:yesterday|today)\b)?`;
/** A clock time and what stands behind it where a city may be: "in New York", "New York time". */
const PLACED = new RegExp(`(${CLOCK})(${DAY})(,?\\s+\\(?(?:in|en|em|à|a)\\s+|\\s*\\(?)(?=(\\p{L}[^,;!?)\\d]{0,60}))`, 'gu');
/** "all times in New York", "New York time" away from the clock times. */
const PLACED_ONCE =
  /(?:\btimes are|\ball times(?: are)?|\(times) in\s+(\p{L}[^,;!?)\d]{0,60})|((?:\p{Lu}[\p{L}.'-]{0,20}\s+){1,3})time\b/u;
const LOWER = new RegExp(`(${CLOCK})\\s?(utc|gmt|z|cet|cest|mez|mesz|est|edt|pst|pdt|cst|ist|bst)\\b`, 'g');
/** How a zone stands behind a clock time once it is understood: an offset, or the name of a region. */
export const ZONE_MARK = String.raw`@(?:[+-]\d{4}|${REGION})`;

function refusal(named: string): DiagnosisError {
  return new DiagnosisError(
    'REQUEST_INVALID',
    `message: the zone "${named.trim()}" does not name one offset; write an offset such as +02:00 behind the time, or set timeZone to a name such as Europe/Berlin.`,
    { field: 'message' },
  );
}

function isRegion(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

function markOf(zone: string): string {
  const offset = /^(?:UTC|GMT)?\s?([+-])(\d{1,2}?):?(\d{2})?$/.exec(zone);
  if (offset !== null) {
    const [, sign = '+', hours = '', minutes = '00'] = offset;
    if (Number(hours) > 14 || Number(minutes) > 59) throw refusal(zone);
    return `@${sign}${hours.padStart(2, '0')}${minutes}`;
  }
  const known = OFFSETS[zone];
  if (known !== undefined) return `@${known}`;
  if (zone.includes('/') && isRegion(zone)) return `@${zone}`;
  throw refusal(zone);
}

function markOfCity(zone: string | null, name: string): string {
  if (zone !== null) return `@${zone}`;
  throw refusal(name);
}

/** Zones of cities as marks; a name without "in" before it is one only when "time" or nothing follows it. */
function markCities(question: string): string {
  let text = question;
  for (const found of [...question.matchAll(PLACED)].reverse()) {
    const [, clock = '', day = '', lead = '', rest = ''] = found;
    const city = cityAtStart(rest);
    if (city === null) continue;
    const time = /^\s+(?:(?:standard|daylight|summer)\s+)?time\b/i.exec(rest.slice(city.name.length))?.[0] ?? '';
    const after = question.slice(found.index + found[0].length + city.name.length);
    const isLast = !lead.includes(',') && /^\s*(?:$|[?!.,;)])/.test(after);
    if ((time === '' && !/\p{L}/u.test(lead) && !isLast) || /^[-/_\p{L}\p{N}]/u.test(after)) continue;
    const start = found.index + clock.length;
    const end = found.index + found[0].length + city.name.length + time.length;
    text = `${text.slice(0, start)}${markOfCity(city.zone, city.name)}${day}${text.slice(end).replace(/^\)/, '')}`;
  }
  return text;
}

/** The mark of a city that is named once for all times; null for none. */
function commonCity(question: string): string | null {
  const [, behind, before] = PLACED_ONCE.exec(question) ?? [];
  if (behind !== undefined) {
    const city = cityAtStart(behind);
    return city === null ? null : markOfCity(city.zone, city.name);
  }
  const words = before?.trim().split(/\s+/) ?? [];
  for (let from = 0; from < words.length; from += 1) {
    const name = words.slice(from).join(' ');
    const city = cityAtStart(name);
    if (city?.name === name) return markOfCity(city.zone, name);
  }
  return null;
}

/**
 * A question with each zone behind a clock time written as `ZONE_MARK`: offsets, `UTC+2`, unambiguous abbreviations, regions,
 * and cities of the IANA names ("in New York", "New York time").
 * A zone that is named once for all times ("times in CEST") is put behind each of them. It refuses to choose among the
 * meanings of an abbreviation: REQUEST_INVALID that names it.
 */
export function markZones(question: string): string {
  const marked = markCities(question)
    .replaceAll(LOWER, (_all, clock: string, zone: string) => `${clock} ${zone.toUpperCase()}`)
    .replaceAll(ZONED, (_all, clock: string, offset: string | undefined, named: string | undefined) => {
      return `${clock}${markOf(offset ?? named ?? '')}`;
    });
  if (!new RegExp(CLOCK).test(marked) || new RegExp(`(?:${CLOCK})@`).test(marked)) return marked;
  const common = ELSEWHERE.exec(marked);
  const mark = common === null ? commonCity(marked) : markOf(common[1] as string);
  if (mark === null) return marked;
  return marked.replaceAll(new RegExp(`(${CLOCK})(?!\\s?(?:Z\\b|[+-]\\d{2}:?\\d{2}))`, 'g'), `$1${mark}`);
}

/** The zone of a marked time: minutes east of UTC, or the name of a region; null for a time without a mark. */
export function zoneOfMark(text: string): number | string | null {
  const zone = /@(.+)$/.exec(text)?.[1];
  if (zone === undefined) return null;
  const offset = /^([+-])(\d{2})(\d{2})$/.exec(zone);
  if (offset === null) return zone;
  return (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3]));
}
