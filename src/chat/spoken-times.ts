import { writeEastAsianTimes } from './east-asian-times';
import { refusedTime } from './refused-time';
import { refuseFarFromNamed, shareMeridiems, withinHalfDay } from './shared-meridiem';
import { SPACED_LANGUAGES, TIME_UNITS, type TimeLanguage, type TimeUnit } from './time-languages';

const BEFORE = String.raw`(?<![\p{L}\p{N}_./:@#-])`;
const AFTER = String.raw`(?![\p{L}\p{N}_]|[:.-]\d)`;
const ISO = String.raw`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?`;
const COLON = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?`;
const ZONE = String.raw`(?:\s?(?:UTC|GMT|MEZ|MESZ|CET|CEST|Z|[+-]\d{2}:?\d{2})(?![\p{L}\d:]))?`;
/** What shows that a number behind a day is a measure and no hour. */
const MEASURE = String.raw`(?!\d|[.:,]\d|\s?[ap]m\b|\s?(?:%|percent|prozent|pour|por|per|процент|mal|times|x\b|ms\b|[kmg]i?b\b))`;
/** Not behind a word that already says what the time is for. */
const UNLED = String.raw`(?<!(?:since|at|and|between|from|to|until|after|around)\s+)`;
/** "depuis 14h" is a clock time or a duration. */
const HOUR_OR_DURATION = new RegExp(
  String.raw`${BEFORE}(?:since|after|seit|nach|depuis|après|desde|tras|após)\s+(?:[01]?\d|2[0-3])\s?(?:h|heures?|horas?)${AFTER}(?!\s?\d)`,
  'iu',
);

/** The named groups of a form that was found. */
type Found = Readonly<Partial<Record<'from' | 'to' | 'at' | 'on' | 'count' | 'unit' | 'single' | 'half', string>>>;

interface Rule {
  readonly pattern: RegExp;
  readonly write: (found: Found) => string;
}

interface Reader {
  readonly rules: readonly Rule[];
  /** Forms that speak of a time and are not read. */
  readonly unread: readonly { readonly pattern: RegExp; readonly right: string; readonly onlyAlone: boolean }[];
  /** Days that are not read, refused beside a clock time of the language. */
  readonly otherDays: RegExp;
}

const READERS = SPACED_LANGUAGES.map(readerOf);

/**
 * A question with the times that other languages speak of written in the English forms that `readQuestionWindow` knows:
 * "zwischen 14 und 14:20 Uhr" becomes "between 14:00 and 14:20", "hace 20 minutos" "20 minutes ago". Closed tables of
 * forms, each whole: a word alone is never a time. It refuses what speaks of a time and may mean two.
 * @throws DiagnosisError REQUEST_INVALID that names the words and what would be right
 */
export function writeEnglishTimes(question: string): string {
  // One space for many, because forms that hold several would try each place of a long gap.
  const plain = question
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[０-９：]/gu, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));
  const unsure = HOUR_OR_DURATION.exec(plain);
  if (unsure !== null) {
    throw refusedTime(unsure[0], 'may be a time of day or a duration; write the time as 14:00, or "last 14 hours".');
  }
  // "14:05 am Montag" is German and no morning.
  const parted = plain.replaceAll(/(?<=\d(?:\s?Uhr)?)\s+am\s+(?=\d{1,2}\.|\d{4}-|\p{L}+tag\b)/giu, ' on ');
  const dated = shareMeridiems(parted).replaceAll(/(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\d.])/g, isoDay);
  let text = writeEastAsianTimes(dated);
  for (const reader of READERS) {
    const before = text;
    for (const { pattern, write } of reader.rules) {
      // With named groups in a pattern they are the last argument.
      text = text.replaceAll(pattern, (...found: unknown[]) => write(found.at(-1) as Found));
    }
    const day = new RegExp(COLON).test(text) ? reader.otherDays.exec(before) : null;
    if (day !== null) throw refusedTime(day[0], 'is a day that is not read; write it as 2026-05-04, or send the field window.');
    refuse(reader, text, false);
  }
  return text;
}

/** Refuses what still speaks of a time when nothing of a message could be read; `text` comes from `writeEnglishTimes`. */
export function refuseUnreadTimes(text: string): void {
  for (const reader of READERS) refuse(reader, text, true);
}

function refuse(reader: Reader, text: string, nothingRead: boolean): void {
  for (const { pattern, right, onlyAlone } of reader.unread) {
    const found = onlyAlone === nothingRead ? pattern.exec(text) : null;
    if (found !== null) throw refusedTime(found[0], right);
  }
}

/** "4.5.2026" as 2026-05-04: day, month and year wherever dots part them. */
function isoDay(_all: string, day: string, month: string, year: string): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** A form between word ends, without case; `flags` is "g" for a form that is rewritten wherever it stands. */
function regex(source: string, flags: 'g' | '' = ''): RegExp {
  return new RegExp(`${BEFORE}(?:${source.replaceAll(' ', String.raw`\s+`)})${AFTER}`, `${flags}iu`);
}

function rule(source: string, write: Rule['write']): Rule {
  return { pattern: regex(source, 'g'), write };
}

/** All forms of one language. */
function readerOf(language: TimeLanguage): Reader {
  const { article, clock, yesterday, today } = language;
  const day = `(?:${yesterday}|${today})`;
  const parts = partsOf(language);
  const part = String.raw`(?:\s?,?\s?(?:${parts}))?`;
  const named = String.raw`(?:${language.noon}|${language.midnight})(?![\p{L}\p{N}_/-])`;
  const strict = `(?:(?:${ISO}|${clock}${AFTER}|${COLON})${part}|${named})${ZONE}`;
  const joins = language.ranges.map(([, join]) => join).join('|');
  const alone = String.raw`(?=\s*(?:$|[,;!?)]|\.(?:\s|$))| (?:${joins}|${day}|${language.small}|${parts})(?!\p{L}))`;
  const hour = String.raw`(?:${article}) \d{1,2}(?:[:.]\d{2})?(?![\d:.])(?:${part}${alone})`;
  const onDay = String.raw`${day},?(?: (?:${language.at}))?(?: (?:${article}))? (?:${strict}|\d{1,2}(?!\d)${part}${MEASURE})`;
  const time = `(?:${onDay}|(?:(?:${article}) )?${strict}(?: ${day})?|${hour}(?: ${day})?)`;
  const parted = String.raw`(?:(?:${article}) )?\d{1,2}(?!\d)\s?(?:${parts})`;
  const read = (text: string): string => englishTime(text, language);
  const clocks: Rule[] = [
    ...language.ranges.map(([open, join]) =>
      rule(
        String.raw`(?:${open}) (?<from>${time}|${parted}|(?:(?:${article}) )?\d{1,2}) (?:${join}) (?<to>${time}|${parted})(?!\s?[ap]m\b)`,
        ({ from = '', to = '' }) => englishRange(from, to, language),
      ),
    ),
    rule(`(?:${language.since}) (?<at>${time})`, ({ at = '' }) => `since ${read(at)}`),
    rule(`${UNLED}(?<at>${onDay}|${strict} ${day})`, ({ at = '' }) => `at ${read(at)}`),
    rule(`(?:${language.at}) (?<at>${time})`, ({ at = '' }) => `at ${read(at)}`),
    rule(`(?:${language.since}) (?<on>${day})`, ({ on = '' }) => `since ${dayWord(on, language)}`),
  ];
  const days = language.plainDays ? [rule(`(?<on>${day})(?![-/_])`, ({ on = '' }) => dayWord(on, language))] : [];
  const leads = [language.since, language.at, ...language.ranges.flat(), 'since', 'at', 'between', 'and'].join('|');
  const inWords = 'is a time in words that is not read; write it on the 24-hour clock, such as 14:30.';
  const before = 'names the end of a stretch and no start; write "between 13:30 and 14:00", or send the field window.';
  return {
    rules: [...contractionRules(language), ...stretchRules(language), ...clocks, ...days],
    unread: [
      { pattern: regex(`(?:${leads}) (?:${language.beforeHour})`), right: inWords, onlyAlone: false },
      {
        pattern: regex(String.raw`(?:\d{1,2}:00|(?:${article}) \d{1,2}|(?:${leads}) \d{1,2}|${named}) (?:${language.afterHour})`),
        right: inWords,
        onlyAlone: false,
      },
      {
        pattern: regex(String.raw`${COLON}\s?(?:${language.zone})`),
        right: 'names a zone in words; write an offset such as +02:00 behind the time, or set timeZone.',
        onlyAlone: false,
      },
      {
        pattern: regex(String.raw`(?:${language.since}) (?:${article}) \d{1,2}`),
        right: 'may be a time of day or a number of things; write the time as 14:00.',
        onlyAlone: false,
      },
      { pattern: regex(`(?:${language.until}) ${time}`), right: before, onlyAlone: true },
      {
        pattern: regex(language.vague),
        right: 'names no certain times; write them, such as "last 30 minutes" or "between 13:30 and 14:00".',
        onlyAlone: true,
      },
    ],
    otherDays: regex(language.otherDays),
  };
}

function contractionRules({ contractions, namedContractions, noon, midnight }: TimeLanguage): Rule[] {
  const apartBefore = (next: string, [written, apart]: readonly [string, string]): Rule => ({
    pattern: new RegExp(String.raw`${BEFORE}(?<written>${written})(?=\s(?:${next}))`, 'giu'),
    write: () => apart,
  });
  return [
    ...contractions.map((pair) => apartBefore(String.raw`(?:ore\s)?\d`, pair)),
    ...namedContractions.map((pair) => apartBefore(String.raw`(?:${noon}|${midnight})(?!\p{L})`, pair)),
  ];
}

/** All parts of the day. */
function partsOf({ afternoon, morning, night, noonish }: TimeLanguage): string {
  return [noonish, afternoon, morning, night].join('|');
}

function stretchRules(language: TimeLanguage): Rule[] {
  const units = TIME_UNITS.map((unit) => language.units[unit]).join('|');
  const number = String.raw`(?<count>\d{1,4}|${Object.keys(language.numbers).join('|')})`;
  const form = (written: string, write: (found: Found) => string): Rule =>
    rule(
      written
        .replaceAll('{n} {u}', String.raw`{n}\s?{u}`)
        .replaceAll('{n}', number)
        .replaceAll('{u}', `(?<unit>${units})`)
        .replace('{1}', `(?<single>${Object.values(language.single).join('|')})`)
        .replace('{h}', `(?:(?<half>${language.half})|(?<quarter>${language.quarter}))`),
      write,
    );
  const length = ({ count, unit, single, half }: Found): string => {
    if (count !== undefined && unit !== undefined) return `${countOf(count, language)} ${unitOf(unit, language.units)}`;
    if (single !== undefined) return `1 ${unitOf(single, language.single)}`;
    return `${half === undefined ? 15 : 30} minutes`;
  };
  return [
    ...language.last.map((written) => form(written, (found) => `last ${length(found)}`)),
    ...language.ago.map((written) => form(written, (found) => `${length(found)} ago`)),
  ];
}

function countOf(text: string, { numbers }: TimeLanguage): string {
  return String(numbers[text.toLowerCase()] ?? Number(text));
}

function unitOf(text: string, units: Readonly<Partial<Record<TimeUnit, string>>>): TimeUnit {
  const isOf = (unit: TimeUnit): boolean => new RegExp(`^(?:${units[unit] ?? '(?!)'})$`, 'iu').test(text);
  return TIME_UNITS.find(isOf) ?? 'minutes';
}

function dayWord(text: string, { yesterday }: TimeLanguage): string {
  return regex(yesterday).test(text) ? 'yesterday' : 'today';
}

/** Both ends of a range; a part of the day behind one of them holds for both. */
function englishRange(from: string, to: string, language: TimeLanguage): string {
  const [start, end] = [englishTime(from, language, true), englishTime(to, language, true)];
  const day = regex(`(?:${language.yesterday}|${language.today})`);
  const ends = [
    { side: 'start', text: from, clock: start, known: end },
    { side: 'end', text: to, clock: end, known: start },
  ] as const;
  const isPlain = ends.map(
    ({ text }) => !new RegExp(ISO).test(text) && !regex(partsOf(language)).test(text) && !isNamed(text, language),
  );
  const open = ends.find((_end, at) => isPlain[at] === true);
  const fixed = ends.find((_end, at) => isPlain[at] === false);
  const written = (first: string, last: string): string => `between ${first} and ${last}`;
  if (open === undefined || fixed === undefined || new RegExp(ISO).test(fixed.text) || (day.test(from) && day.test(to))) {
    return written(start, end);
  }
  const shown = /\d{1,2}(?::\d{2})?/.exec(open.text)?.[0] ?? '';
  const [minutes, known] = [minutesIn(open.clock), minutesIn(open.known)];
  if (isNamed(fixed.text, language)) {
    refuseFarFromNamed(known, minutes, open.side, shown);
    return written(start, end);
  }
  const near = withinHalfDay(known, minutes, open.side, shown);
  const clock = open.clock.replace(/\d{2}(?=:)/, String(Math.floor(near / 60)).padStart(2, '0'));
  return open.side === 'start' ? written(clock, end) : written(start, clock);
}

/** Minutes after midnight of a time that `englishTime` wrote. */
function minutesIn(clock: string): number {
  const [, hour, minute] = /(\d{2}):(\d{2})/.exec(clock) ?? [];
  return Number(hour) * 60 + Number(minute);
}

function isNamed(text: string, { noon, midnight, noonish }: TimeLanguage): boolean {
  return regex(`(?:${noon}|${midnight})`).test(text) && !/\d:/.test(text) && !regex(`\\d{1,2} (?:${noonish})`).test(text);
}

/** One time of a language as the English reader knows it, a day before it and a zone behind it included. */
function englishTime(text: string, language: TimeLanguage, inRange = false): string {
  if (new RegExp(ISO).test(text)) return text;
  const named = regex(`(?:${language.yesterday}|${language.today})`).exec(text)?.[0];
  const day = named === undefined ? '' : `${dayWord(named, language)} at `;
  const clock = text.replace(named ?? '', '').trim();
  const zone = new RegExp(`${ZONE}$`, 'iu').exec(clock)?.[0] ?? '';
  const shown = clock.slice(0, clock.length - zone.length);
  if (isNamed(shown, language)) {
    const isNoon = regex(language.noon).test(shown);
    if (!isNoon && !inRange && day.startsWith('yesterday')) {
      throw refusedTime(text, 'may be the start or the end of that day; write it with its date, such as 2026-05-04 00:00.');
    }
    return `${day}${isNoon ? '12:00' : '00:00'}${zone}`;
  }
  const colon = new RegExp(COLON).exec(shown)?.[0].split(':');
  const [hours = '', minutes = '00', ...seconds] = colon ?? shown.match(/\d+/g) ?? [];
  const hour = hourOfDay(Number(hours), shown, language);
  if (hour > 23 || Number(minutes) > 59) {
    throw refusedTime(text, 'is no time; hours go from 0 to 23, minutes from 0 to 59, such as 14:05 or 2026-05-04T14:05:00Z.');
  }
  const second = colon === undefined || seconds[0] === undefined ? '' : `:${seconds[0]}`;
  return `${day}${String(hour).padStart(2, '0')}:${minutes.padStart(2, '0')}${second}${zone}`;
}

function hourOfDay(shown: number, text: string, { afternoon, morning, night, noonish }: TimeLanguage): number {
  if (shown <= 12 && regex(noonish).test(text)) {
    if (shown === 11 || shown === 12) return shown;
    if (shown >= 1 && shown <= 3) return shown + 12;
    throw refusedTime(text, 'is no time around noon; write it on the 24-hour clock, such as 14:00.');
  }
  const isAfternoon = regex(afternoon).test(text);
  const isTwelve = shown === 12 && (isAfternoon || regex(morning).test(text));
  if ((shown <= 12 && regex(night).test(text)) || isTwelve) {
    throw refusedTime(text, 'may be one of two times; write it on the 24-hour clock, such as 21:00.');
  }
  return isAfternoon && shown < 12 ? shown + 12 : shown;
}
