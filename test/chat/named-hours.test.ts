import { readQuestionWindow } from '../../src/chat/question-window';
import { DiagnosisError } from '../../src/errors/diagnosis-error';

/** The asker's now is a day after the end of the telemetry. */
const NOW = '2026-05-05T09:00:00.000Z';
const ANCHOR = '2026-05-04T14:40:00.000Z';

function read(question: string, timeZone = 'UTC', anchor = ANCHOR, now = NOW): string | null {
  const window = readQuestionWindow(question, { timeZone, anchorMs: Date.parse(anchor), nowMs: Date.parse(now) });
  return window === null ? null : `${new Date(window.from).toISOString()} ${new Date(window.to).toISOString()}`;
}

const span = (from: string, to: string): string => `2026-05-04T${from}:00.000Z 2026-05-04T${to}:00.000Z`;

const SINCE_MIDNIGHT = span('00:00', '14:40');
const SINCE_NOON = span('12:00', '14:40');
const AT_NOON = span('11:50', '12:10');
const AT_MIDNIGHT = '2026-05-03T23:50:00.000Z 2026-05-04T00:10:00.000Z';
const TWO_TO_THREE = span('14:00', '15:00');
const NOON_TO_TWO = span('12:00', '14:00');

describe('noon and midnight in a question', () => {
  it.each([
    ['errors since midnight', SINCE_MIDNIGHT],
    ['errors started after midnight', SINCE_MIDNIGHT],
    ['what broke at midnight?', AT_MIDNIGHT],
    ['since noon', SINCE_NOON],
    ['what broke around noon?', AT_NOON],
    ['what broke at noon yesterday?', AT_NOON],
    ['noon yesterday', AT_NOON],
    ['at 12:00 noon', AT_NOON],
    ['at 12:00 midnight', AT_MIDNIGHT],
    ['since 12 midnight', SINCE_MIDNIGHT],
    ['since yesterday noon', SINCE_NOON],
    ['between noon and 2 pm', NOON_TO_TWO],
    ['noon-2pm', NOON_TO_TWO],
    ['from noon UTC to 2 pm', NOON_TO_TWO],
    ['between 10 and noon', span('10:00', '12:00')],
    ['from midnight to 2 am', span('00:00', '02:00')],
    ['between 22:00 and midnight yesterday', '2026-05-04T22:00:00.000Z 2026-05-05T00:00:00.000Z'],
    ['seit Mitternacht', SINCE_MIDNIGHT],
    ['um Mitternacht', AT_MIDNIGHT],
    ['seit Mittag', SINCE_NOON],
    ['zwischen Mitternacht und 2 Uhr', span('00:00', '02:00')],
    ['um 12 Uhr mittags', AT_NOON],
    ['zwischen 1 und 2 Uhr mittags', span('13:00', '14:00')],
    ['depuis minuit', SINCE_MIDNIGHT],
    ['vers midi', AT_NOON],
    ['hier à midi', AT_NOON],
    ['entre midi et 14h', NOON_TO_TWO],
    ['du midi à 14h', NOON_TO_TWO],
    ['desde la medianoche', SINCE_MIDNIGHT],
    ['desde medianoche', SINCE_MIDNIGHT],
    ['desde el mediodía', SINCE_NOON],
    ['al mediodía', AT_NOON],
    ['desde las 12 del mediodía', SINCE_NOON],
    ['desde a meia-noite', SINCE_MIDNIGHT],
    ['desde o meio-dia', SINCE_NOON],
    ['ao meio-dia', AT_NOON],
    ['dalla mezzanotte', SINCE_MIDNIGHT],
    ['a mezzogiorno', AT_NOON],
    ['tra mezzogiorno e le 14', NOON_TO_TWO],
    ['ошибки с полуночи', SINCE_MIDNIGHT],
    ['в полдень', AT_NOON],
    ['с полудня', SINCE_NOON],
    ['从午夜开始', SINCE_MIDNIGHT],
    ['从中午开始', SINCE_NOON],
    ['中午1点到2点', span('13:00', '14:00')],
    ['正午から', SINCE_NOON],
    ['深夜0時から', SINCE_MIDNIGHT],
  ])('reads %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it('reads them in the zone of the asker, or in the one behind them', () => {
    expect(read('since midnight', 'Europe/Berlin')).toBe('2026-05-03T22:00:00.000Z 2026-05-04T14:40:00.000Z');
    expect(read('seit Mitternacht UTC', 'Europe/Berlin')).toBe(SINCE_MIDNIGHT);
    expect(read('since midnight in Tokyo')).toBe('2026-05-03T15:00:00.000Z 2026-05-04T14:40:00.000Z');
  });

  it('takes the first moment of a day whose midnight the clocks skip', () => {
    const anchor = '2026-09-06T15:00:00.000Z';
    expect(read('since midnight', 'America/Santiago', anchor, anchor)).toBe('2026-09-06T04:00:00.000Z 2026-09-06T15:00:00.000Z');
  });

  it.each([
    ['since midnight yesterday', /"midnight yesterday" may be the start or the end of that day/],
    ['gestern um Mitternacht', /may be the start or the end of that day/],
    ['昨天午夜', /may be the start or the end of that day/],
    ['gestern Mittag', /"gestern Mittag" is a day that is not read/],
    ['昨天中午', /"昨天中午" names no certain times/],
    ['from 9 to midnight', /"9" may be one of two times/],
    ['between noon and 2', /"2" may be one of two times/],
    ['von 9 Uhr bis Mitternacht', /"9" may be one of two times/],
    ['until noon', /names the end of a stretch and no start/],
    ['at noon on Monday', /"Monday" is a day that is not read/],
    ['at half past two', /"at half past two" is a time in words/],
    ["since 2 o'clock", /"since 2 o'clock" is a time in words/],
    ['um halb drei', /"um halb drei" is a time in words/],
    ['à midi et demi', /is a time in words/],
    ['desde las 2 y media', /is a time in words/],
    ['às 2 e meia', /is a time in words/],
    ['alle 2 e mezza', /is a time in words/],
  ])('refuses %p', (question, words) => {
    const ask = (): unknown => read(question);
    expect(ask).toThrow(DiagnosisError);
    expect(ask).toThrow(words);
  });

  it.each([
    'why do midnight deploys fail',
    'the noon-report job fails',
    'since midnight-batch',
    "c'est lent l'après-midi",
    'Ошибки за 2 дня',
    '午夜任务失败',
  ])('takes no window from %p', (question) => {
    expect(read(question)).toBeNull();
  });
});

describe('a half of the day that is named at one end of a range', () => {
  it.each([
    ['between 2 and 3 pm', TWO_TO_THREE],
    ['from 2 to 3 pm', TWO_TO_THREE],
    ['errors 2-3pm', TWO_TO_THREE],
    ['2 – 3 p.m.', TWO_TO_THREE],
    ['between 2pm and 3', TWO_TO_THREE],
    ['between 2 pm and 3:30', span('14:00', '15:30')],
    ['between 2:15 and 3 pm', span('14:15', '15:00')],
    ['between 9 and 10 am', span('09:00', '10:00')],
    ['between 11 and 1 pm', span('11:00', '13:00')],
    ['between 12 and 1 pm', span('12:00', '13:00')],
    ['between 12 and 3 am', span('00:00', '03:00')],
    ['between 11 pm and 1', '2026-05-03T23:00:00.000Z 2026-05-04T01:00:00.000Z'],
    ['between 13 and 3 pm', span('13:00', '15:00')],
    ['from 2 to 3 pm yesterday', TWO_TO_THREE],
    ['between 4 and 5 pm CEST', TWO_TO_THREE],
    ['since 2 in the afternoon', span('14:00', '14:40')],
    ['from 2 in the afternoon to 3:30', span('14:00', '15:30')],
    ['zwischen 2 und 3 Uhr nachmittags', TWO_TO_THREE],
    ['von 11 bis 2 Uhr nachmittags', span('11:00', '14:00')],
    ["entre 2h et 3h de l'après-midi", TWO_TO_THREE],
    ['entre las 2 y las 3 de la tarde', TWO_TO_THREE],
    ['de 2 a 3 de la tarde', TWO_TO_THREE],
    ['entre as 2 e as 3 da tarde', TWO_TO_THREE],
    ['tra le 2 e le 3 del pomeriggio', TWO_TO_THREE],
    ['между 2 и 3 часами дня', TWO_TO_THREE],
    ['с 2 до 3 часов дня', TWO_TO_THREE],
    ['下午2点到3点', TWO_TO_THREE],
    ['11点到下午1点', span('11:00', '13:00')],
    ['午後2時から3時まで', TWO_TO_THREE],
  ])('holds for both in %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['between 02:00 and 5 pm', /"02:00" may be one of two times/],
    ['between 2 pm and 03:30', /"03:30" may be one of two times/],
    ['between 2 and 13 pm', /"13 pm" is no time/],
    ['between 3 and 3 pm', /ends before it starts, or with its start/],
    ['dalle 2 alle 3 di notte', /24-hour clock/],
  ])('refuses %p', (question, words) => {
    const ask = (): unknown => read(question);
    expect(ask).toThrow(DiagnosisError);
    expect(ask).toThrow(words);
  });

  it.each(['scaled from 2 to 3 replicas', 'between 2 and 3', 'job-2-3pm-run fails', 'from 2 to 3'])(
    'takes no window from %p',
    (question) => {
      expect(read(question)).toBeNull();
    },
  );

  it('takes a count behind a range word for no hour', () => {
    expect(read('from 2 pm to 3 replicas fail')).toBe(span('14:00', '14:40'));
  });
});
