import { readQuestionWindow } from '../../src/chat/question-window';
import { instantOfWallTime, wallTimeAt } from '../../src/chat/wall-time';
import { DiagnosisError } from '../../src/errors/diagnosis-error';

const ANCHOR = '2026-05-04T14:40:00.000Z';

function read(question: string, timeZone = 'UTC', anchor = ANCHOR): string | null {
  const window = readQuestionWindow(question, { timeZone, anchorMs: Date.parse(anchor) });
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
    ['from 2026-05-04T16:00:00+02:00 to 16:20', '2026-05-04T14:00:00.000Z 2026-05-04T16:20:00.000Z'],
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

  it('ignores times that no clock shows', () => {
    expect(read('since 29:99')).toBeNull();
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
