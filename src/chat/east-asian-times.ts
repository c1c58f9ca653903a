import { refusedTime } from './refused-time';
import { withinHalfDay } from './shared-meridiem';

const COLON = String.raw`(?<![\d.:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])`;
const AFTERNOON = '下午|午後|夕方|傍晚';
const MORNING = '上午|午前|早上|清晨|凌晨|朝';
/** Evenings and nights, which go past midnight. */
const NIGHT = '晚上|夜里|夜裡|夜の|夜';
/** Around noon, before an hour. */
const NOONISH = '中午|お昼の|昼の';
const HALF_DAY = String.raw`(?:(?:${AFTERNOON}|${MORNING}|${NIGHT}|${NOONISH})の?\s?)`;
/** A clock time in characters; 時間 and 小时 are durations. */
const CHARACTERS = String.raw`(?<!\d)\d{1,2}[点點时時](?![間间])(?:\d{1,2}分(?![間钟鐘])|半|整)?`;
/** Noon and midnight as moments, alone no time. */
const NOON = String.raw`(?:正午|中午)(?!\s?\d)`;
const MIDNIGHT = '(?:午夜|零[点點时時](?![间間]))';
const NAMED = `(?:${NOON}|${MIDNIGHT})`;
const DAY = '(?<!一)(?:昨天|昨日|今天|今日)';
const CLOCK = `(?:(?:${HALF_DAY})?(?:${CHARACTERS}|${COLON})|${NAMED})`;
const TIME = String.raw`(?:${DAY}\s?(?:的|の)?\s?)?${CLOCK}`;
const OPEN = String.raw`(?:从|從|自|在)?\s?`;
const NUMBER = '(?<count>\\d{1,4}|半|[一二两兩三五十])';
const UNIT = '(?:个|個)?(?<unit>秒钟?|秒鐘?|秒間|分钟|分鐘|分間|分|小时|小時|時間|天|日間)(?:半)?';

/** Units by their first characters. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/^秒/, 'seconds'],
  [/^分/, 'minutes'],
  [/^(?:小时|小時|時間)/, 'hours'],
  [/^(?:天|日)/, 'days'],
];
const NUMBERS: Readonly<Record<string, number>> = { 一: 1, 二: 2, 两: 2, 兩: 2, 三: 3, 五: 5, 十: 10 };

const RANGE = new RegExp(
  String.raw`${OPEN}(?<from>${TIME})\s?(?:到|至|から|和|与|〜|～|~)\s?(?<to>${TIME})(?:\s?(?:之间|之間|间|の間|まで))?`,
  'gu',
);
const SINCE = new RegExp(
  String.raw`(?:${OPEN}(?<after>${TIME})\s?(?:以来|以來|以降|以后|以後|之后|之後|开始|開始|から|より|起|后|後(?!端))|(?:从|從|自)\s?(?<start>${TIME}))`,
  'gu',
);
const UNTIL = new RegExp(String.raw`${TIME}\s?(?:之前|以前|まで|前(?![後后]))`, 'u');
const AT = new RegExp(
  String.raw`(?:(?<dayed>${DAY}\s?(?:的|の)?\s?${CLOCK})|(?<plain>(?:${HALF_DAY})?${CHARACTERS})|(?<near>${TIME})\s?(?=左右|前後|前后|ごろ|頃|くらい)|在\s?(?<within>${TIME})|(?<named>${NAMED})(?=に))`,
  'gu',
);
const LAST = new RegExp(String.raw`(?:过去|過去|最近|近|直近|ここ|この)(?:的|の)?\s?${NUMBER}\s?${UNIT}`, 'gu');
const AGO = new RegExp(String.raw`(?<![\d:点點时時])${NUMBER}\s?${UNIT}(?:之前|以前|前)`, 'gu');
const VAGUE =
  /(?:过去|過去|最近|この|ここ)(?:几|幾|数|數)(?:个|個)?(?:秒|分|小时|小時|時間|天|日)|(?:昨天|昨日|今天|今日)の?(?:晚上|夜|夕方|早上|朝|凌晨|傍晚|中午|昼)(?!\s?の?\s?\d)|昨夜|昨晚|今晚|今夜|今朝|真夜中|半夜|深夜(?!\s?の?\s?\d)/u;
const OTHER_DAY =
  /前天|一昨日|おととい|明天|明日|(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?|\d{1,2}月\d{1,2}[日号]/u;
const ZONE = /(?:北京|当地|當地|本地|日本|現地|[A-Za-z]+)(?:时间|時間)(?=\s?\d{1,2}[:点點时時])/u;
const FULL_DATE = /(?<!\d)(\d{4})年(\d{1,2})月(\d{1,2})[日号]?/gu;

/**
 * A question with the times that Chinese and Japanese speak of written in the English forms that `readQuestionWindow` knows:
 * "14点05分开始" becomes "since 14:05", "過去30分" "last 30 minutes". Closed forms; it refuses times that may be two.
 * @throws DiagnosisError REQUEST_INVALID that names the words and what would be right
 */
export function writeEastAsianTimes(question: string): string {
  if (!/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(question)) return question;
  const zone = ZONE.exec(question);
  if (zone !== null)
    throw refusedTime(zone[0], 'names a zone in words; write an offset such as +02:00 behind the time, or set timeZone.');
  const text = question
    .replaceAll(
      FULL_DATE,
      (_all, year: string, month: string, day: string) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')} `,
    )
    .replaceAll(LAST, (...found: unknown[]) => ` last ${lengthOf(found.at(-1))} `)
    .replaceAll(AGO, (...found: unknown[]) => ` ${lengthOf(found.at(-1))} ago `)
    .replaceAll(RANGE, (...found: unknown[]) => ` ${rangeIn(found.at(-1))} `)
    .replaceAll(SINCE, (...found: unknown[]) => ` since ${timeIn(found.at(-1), 'after', 'start')} `);
  const until = UNTIL.exec(text);
  if (until !== null && !/ (?:since|between|last) /.test(text)) throw refusedTime(until[0], NO_START);
  const written = text
    .replaceAll(AT, (...found: unknown[]) => ` at ${timeIn(found.at(-1), 'dayed', 'plain', 'near', 'within', 'named')} `)
    .replaceAll(new RegExp(DAY, 'gu'), (day) => ` ${dayWord(day)} `);
  const other = /\d:\d{2}/.test(written) ? OTHER_DAY.exec(text) : null;
  if (other !== null) throw refusedTime(other[0], 'is a day that is not read; write it as 2026-05-04, or send the field window.');
  const vague = / (?:since|between|last|at|ago) /.test(written) ? null : VAGUE.exec(question);
  if (vague !== null) throw refusedTime(vague[0], 'names no certain times; write them, such as "过去30分钟" or "14:00から".');
  return written;
}

const NO_START = 'names the end of a stretch and no start; write "between 13:30 and 14:00", or send the field window.';

/** Both ends of a range; a half of the day before one of them holds for both. */
function rangeIn(groups: unknown): string {
  const { from = '', to = '' } = groups as Readonly<Record<string, string | undefined>>;
  const [start, end] = [timeIn({ at: from, inRange: '' }, 'at'), timeIn({ at: to, inRange: '' }, 'at')];
  const isHalved = [from, to].map((text) => new RegExp(HALF_DAY, 'u').test(text));
  const isNamed = [from, to].some((text) => new RegExp(NAMED, 'u').test(text));
  const hasDays = [from, to].every((text) => new RegExp(DAY, 'u').test(text));
  if (isHalved[0] === isHalved[1] || isNamed || hasDays) return `between ${start} and ${end}`;
  const open =
    isHalved[0] === true ? { clock: end, known: start, side: 'end' } : ({ clock: start, known: end, side: 'start' } as const);
  const shown = /\d{1,2}/.exec(isHalved[0] === true ? to : from)?.[0] ?? '';
  const near = withinHalfDay(minutesIn(open.known), minutesIn(open.clock), open.side === 'end' ? 'end' : 'start', shown);
  const clock = open.clock.replace(/\d{2}(?=:)/, String(Math.floor(near / 60)).padStart(2, '0'));
  return isHalved[0] === true ? `between ${start} and ${clock}` : `between ${clock} and ${end}`;
}

function minutesIn(clock: string): number {
  const [, hour, minute] = /(\d{2}):(\d{2})/.exec(clock) ?? [];
  return Number(hour) * 60 + Number(minute);
}

function timeIn(groups: unknown, ...names: readonly string[]): string {
  const found = groups as Readonly<Record<string, string | undefined>>;
  const text = names.map((name) => found[name]).find((value) => value !== undefined) ?? '';
  const day = new RegExp(DAY, 'u').exec(text)?.[0];
  if (new RegExp(`${NAMED}$`, 'u').test(text)) {
    const isNoon = new RegExp(NOON, 'u').test(text);
    if (text.endsWith('中午') && day !== undefined) {
      throw refusedTime(text, 'names no certain times; write them, such as "昨天12:00" or "昨天11点到13点".');
    }
    if (!isNoon && found.inRange === undefined && day?.startsWith('昨') === true) {
      throw refusedTime(text, 'may be the start or the end of that day; write it with its date, such as 2026-05-04 00:00.');
    }
    return `${day === undefined ? '' : `${dayWord(day)} at `}${isNoon ? '12:00' : '00:00'}`;
  }
  const [hours = '', minutes, second] = text.match(/\d+/g) ?? [];
  const minute = minutes ?? (text.endsWith('半') ? '30' : '00');
  const hour = hourOfDay(Number(hours), text);
  if (hour > 23 || Number(minute) > 59) {
    throw refusedTime(text, 'is no time; hours go from 0 to 23, minutes from 0 to 59, such as 14:05 or 2026-05-04T14:05:00Z.');
  }
  const clock = `${String(hour).padStart(2, '0')}:${minute.padStart(2, '0')}${second === undefined ? '' : `:${second}`}`;
  return day === undefined ? clock : `${dayWord(day)} at ${clock}`;
}

function hourOfDay(shown: number, text: string): number {
  const isNight = new RegExp(NIGHT, 'u').test(text);
  if (shown === 0) return 0;
  if (new RegExp(NOONISH, 'u').test(text)) return shown < 4 ? shown + 12 : shown;
  if (isNight && (shown < 6 || shown === 12)) {
    throw refusedTime(text, 'may be one of two times; write it on the 24-hour clock, such as 21:00.');
  }
  return shown < 12 && (isNight || new RegExp(AFTERNOON, 'u').test(text)) ? shown + 12 : shown;
}

function dayWord(day: string): string {
  return day.startsWith('昨') ? 'yesterday' : 'today';
}

function lengthOf(groups: unknown): string {
  const { count = '', unit = '' } = groups as Readonly<Record<string, string | undefined>>;
  const name = UNITS.find(([start]) => start.test(unit))?.[1] ?? 'minutes';
  if (count === '半') return name === 'days' ? '12 hours' : '30 minutes';
  return `${NUMBERS[count] ?? Number(count)} ${name}`;
}
