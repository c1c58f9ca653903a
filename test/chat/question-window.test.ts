import { readQuestionWindow } from '../../src/chat/question-window';
import { instantOfWallTime, wallTimeAt } from '../../src/chat/wall-time';
import { DiagnosisError } from '../../src/errors/diagnosis-error';

/** The asker's now, two days after the end of the telemetry. */
const NOW = '2026-05-06T09:00:00.000Z';
const ANCHOR = '2026-05-04T14:40:00.000Z';

function read(question: string, timeZone = 'UTC', anchor = ANCHOR): string | null {
  const window = readQuestionWindow(question, { timeZone, anchorMs: Date.parse(anchor), nowMs: Date.parse(NOW) });
  return window === null ? null : `${new Date(window.from).toISOString()} ${new Date(window.to).toISOString()}`;
}

const span = (from: string, to: string): string => `2026-05-04T${from}.000Z 2026-05-04T${to}.000Z`;

describe('readQuestionWindow', () => {
  it.each([
    ['Why are there errors since 14:05?', span('14:05:00', '14:40:00')],
    ['what broke between 14:00 and 14:20', span('14:00:00', '14:20:00')],
    ['what broke from 2:00 pm to 2:20 pm', span('14:00:00', '14:20:00')],
    ['errors 14:00-14:20, why?', span('14:00:00', '14:20:00')],
    ['errors in the last 30 minutes', span('14:10:00', '14:40:00')],
    ['slow for the past hour', span('13:40:00', '14:40:00')],
    ['slow in the last two hours', span('12:40:00', '14:40:00')],
    ['what happened around 14:05?', span('13:55:00', '14:15:00')],
    ['between 2026-05-04T14:00:00Z and 2026-05-04T14:20:00Z', span('14:00:00', '14:20:00')],
    ['from 2026-05-04T16:00:00+02:00 to 16:20', span('14:00:00', '14:20:00')],
    ['alert at 2026-05-04T14:05:00Z: too many errors', span('13:55:00', '14:15:00')],
    ['2026-05-04T14:01:00Z first, 2026-05-04T14:09:00Z last', span('14:01:00', '14:09:00')],
    ['on 2026-05-04 between 13:00 and 13:30', span('13:00:00', '13:30:00')],
  ])('reads %p', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    'Why is checkout slow?',
    'the last deploy broke it',
    'ratio 14:05 of something',
    'what about order 2026-123',
    'last question',
  ])('takes no window from %p', (question) => {
    expect(read(question)).toBeNull();
  });

  it('reads clock times in the zone of the asker', () => {
    expect(read('since 16:05', 'Europe/Berlin')).toBe(span('14:05:00', '14:40:00'));
    expect(read('since 14:05 UTC', 'Europe/Berlin')).toBe(span('14:05:00', '14:40:00'));
  });

  it('takes the latest clock time that is not after the end of the telemetry', () => {
    expect(read('since 23:50')).toBe('2026-05-03T23:50:00.000Z 2026-05-04T14:40:00.000Z');
    expect(read('between 23:50 and 00:10')).toBe('2026-05-03T23:50:00.000Z 2026-05-04T00:10:00.000Z');
  });

  it('refuses a window that ends before it starts and says so', () => {
    const ask = (): unknown => read('between 2026-05-04T14:20:00Z and 2026-05-04T14:00:00Z');
    expect(ask).toThrow(DiagnosisError);
    expect(ask).toThrow(/ends before it starts/);
  });

  it.each([
    ['between 16:05 and 16:20 CEST', span('14:05:00', '14:20:00')],
    ['between 16:05 CEST and 16:20', span('14:05:00', '14:20:00')],
    ['errors 16:05-16:20 cest, why?', span('14:05:00', '14:20:00')],
    ['since 16:05+02:00', span('14:05:00', '14:40:00')],
    ['since 16:05 +0200', span('14:05:00', '14:40:00')],
    ['since 16:05 UTC+2', span('14:05:00', '14:40:00')],
    ['since 9:05 -0500', span('14:05:00', '14:40:00')],
    ['since 2:05 pm GMT', span('14:05:00', '14:40:00')],
    ['since 14:05Z', span('14:05:00', '14:40:00')],
    ['since 7:05 am (PDT)', span('14:05:00', '14:40:00')],
    ['since 16:05 Europe/Berlin', span('14:05:00', '14:40:00')],
    ['since 16:05 (all times in CEST)', span('14:05:00', '14:40:00')],
    ['on 2026-05-04 16:05 CEST it broke', span('13:55:00', '14:15:00')],
    ['since 2026-05-04T16:05:00 CEST', span('14:05:00', '14:40:00')],
    ['since 2 pm', span('14:00:00', '14:40:00')],
  ])('reads the zone in %p', (question, expected) => {
    expect(read(question)).toBe(expected);
    if (question !== 'since 2 pm') expect(read(question, 'Asia/Tokyo')).toBe(expected);
  });

  it.each([
    ['what broke at 14:05 yesterday?', '2026-05-05T13:55:00.000Z 2026-05-05T14:15:00.000Z'],
    ['yesterday at 14:05 it broke, at 14:05', '2026-05-05T13:55:00.000Z 2026-05-05T14:15:00.000Z'],
    ['between 14:00 and 14:20 yesterday', '2026-05-05T14:00:00.000Z 2026-05-05T14:20:00.000Z'],
    ['between 23:50 and 00:10 yesterday', '2026-05-05T23:50:00.000Z 2026-05-06T00:10:00.000Z'],
    ['from yesterday 23:50 to today 00:10', '2026-05-05T23:50:00.000Z 2026-05-06T00:10:00.000Z'],
    ['since 08:00 today', '2026-05-06T08:00:00.000Z 2026-05-06T09:00:00.000Z'],
    ['at 01:00 CEST yesterday', '2026-05-04T22:50:00.000Z 2026-05-04T23:10:00.000Z'],
    ['what broke yesterday?', '2026-05-05T00:00:00.000Z 2026-05-06T00:00:00.000Z'],
    ['what broke on 2026-05-04?', '2026-05-04T00:00:00.000Z 2026-05-05T00:00:00.000Z'],
  ])('reads the day in %p, as the asker counts days', (question, expected) => {
    expect(read(question)).toBe(expected);
  });

  it.each([
    ['since 29:99', /"29:99" is no time/],
    ['between 25:99 and 26:10', /"25:99" is no time/],
    ['at 2026-02-30T14:05:00Z', /"2026-02-30T14:05:00" is no time/],
    ['on 2026-02-30 at 14:05', /2026-02-30" is no day/],
    ['between 16:05 and 16:20 CST', /zone "CST".*\+02:00.*timeZone/],
    ['at 16:05 ist', /zone "IST"/],
    ['since 16:05 ET', /zone "ET"/],
    ['since 16:05 Springfield time', /zone "Springfield time"/],
    ['since 16:05 local time', /zone "local time"/],
    ['since 16:05 Europe/Nowhere', /zone "Europe\/Nowhere"/],
    ['at 14:05 on Monday', /"Monday" is a day that is not read/],
    ['May 4th at 14:05', /"May 4th"/],
    ['at 14:05 two days ago', /"two days ago"/],
    ['at 14:05-05:00', /"14:05-05:00" may be a range or a time with an offset/],
  ])('refuses %p, names what is not understood, and says what would be right', (question, words) => {
    const ask = (): unknown => read(question);
    expect(ask).toThrow(DiagnosisError);
    expect(ask).toThrow(words);
  });

  it.each([
    'at 14:05 POST requests fail',
    'at 14:05 API calls in the WEST region fail',
    'at 14:05 Orders/Carts fail',
    'at 14:05 response time rose',
  ])('takes no word for a zone in %p', (question) => {
    expect(read(question)).toBe(span('13:55:00', '14:15:00'));
  });
});

describe('wall time', () => {
  it('turns a wall time into the instant and back, over both changes of the clocks', () => {
    const zone = 'Europe/Berlin';
    for (const iso of ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z', '2026-07-01T12:00:00Z', '2026-10-25T03:30:00Z']) {
      const at = Date.parse(iso);
      expect(instantOfWallTime(wallTimeAt(at, zone), zone)).toBe(at);
    }
  });

  it('takes the first of two equal wall times, and goes on after a skipped one', () => {
    const twice = { year: 2026, month: 10, day: 25, hour: 2, minute: 30, second: 0 };
    expect(new Date(instantOfWallTime(twice, 'Europe/Berlin')).toISOString()).toBe('2026-10-25T00:30:00.000Z');
    const skipped = { year: 2026, month: 3, day: 29, hour: 2, minute: 30, second: 0 };
    expect(new Date(instantOfWallTime(skipped, 'Europe/Berlin')).toISOString()).toBe('2026-03-29T01:30:00.000Z');
  });
});
