import { readQuestionWindow } from '../../src/chat/question-window';
import { cityAtStart } from '../../src/chat/zone-cities';
import { DiagnosisError } from '../../src/errors/diagnosis-error';

const ANCHOR = '2026-05-04T14:40:00.000Z';

function read(question: string, timeZone = 'UTC', anchor = ANCHOR): string | null {
  const at = Date.parse(anchor);
  const window = readQuestionWindow(question, { timeZone, anchorMs: at, nowMs: at });
  return window === null ? null : `${new Date(window.from).toISOString()} ${new Date(window.to).toISOString()}`;
}

const span = (from: string, to: string): string => `2026-05-04T${from}:00.000Z 2026-05-04T${to}:00.000Z`;
const SINCE = span('14:05', '14:40');
const RANGE = span('14:00', '14:20');

describe('cities as zones of clock times', () => {
  it.each([
    ['since 10:05 in New York', SINCE],
    ['errors since 10:05 in new york?', SINCE],
    ['since 10:05 New York time', SINCE],
    ['since 10:05 am (New York time)', SINCE],
    ['since 10:05 (New York)', SINCE],
    ['since 10:05 New York', SINCE],
    ['since 16:05 in Berlin time', SINCE],
    ['since 11:05 in São Paulo', SINCE],
    ['since 19:35 in Kolkata', SINCE],
    ['since 10:05 in Port-au-Prince', SINCE],
    ['since 17:05 Kyiv time', SINCE],
    ['seit 16:05 in Berlin', SINCE],
    ['depuis 16h05 à Paris', SINCE],
    ['between 10:00 and 10:20 in New York', RANGE],
    ['between 10:00 in New York and 10:20', RANGE],
    ['New York time, between 10:00 and 10:20', RANGE],
    ['times are in New York: what broke between 10:00 and 10:20', RANGE],
    ['between 10 and 11 am in New York', span('14:00', '15:00')],
    ['at 10:05 today in New York', span('13:55', '14:15')],
  ])('reads %p, whatever the zone of the asker', (question, expected) => {
    expect(read(question)).toBe(expected);
    expect(read(question, 'Asia/Tokyo')).toBe(expected);
  });

  it.each([
    ['since 14:05 in San Juan', /zone "San Juan" does not name one offset/],
    ['since 14:05 Springfield time', /zone "Springfield time"/],
  ])('refuses %p', (question, words) => {
    const ask = (): unknown => read(question);
    expect(ask).toThrow(DiagnosisError);
    expect(ask).toThrow(words);
  });

  it.each([
    'since 14:05 in production',
    'since 14:05 in Springfield',
    'since 14:05 in london-eu',
    'since 14:05 in center of the map',
    'since 14:05 UTC in New York',
    'response times in Berlin are bad since 14:05',
    'the last time Berlin failed, since 14:05',
  ])('takes no city for a zone in %p', (question) => {
    expect(read(question)).toBe(SINCE);
  });

  it('takes a city before other words for the subject of a sentence', () => {
    expect(read('at 14:05 Phoenix workers fail')).toBe(span('13:55', '14:15'));
  });

  it('knows every city of the zones of Node, save a few that are shared or everyday words', () => {
    const unknown = Intl.supportedValuesOf('timeZone').filter((zone) => {
      const name = zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');
      return cityAtStart(`${name} time`)?.zone !== zone;
    });
    expect(unknown.map((zone) => zone.slice(zone.lastIndexOf('/') + 1))).toEqual(
      expect.arrayContaining(['San_Juan', 'Cordoba', 'Merida', 'Center', 'Wake', 'Easter']),
    );
    expect(unknown.filter((zone) => zone.startsWith('Europe/'))).toEqual([]);
    expect(unknown.length).toBeLessThanOrEqual(20);
    expect(cityAtStart('Ho Chi Minh')).toEqual({ name: 'Ho Chi Minh', zone: 'Asia/Ho_Chi_Minh' });
    expect(cityAtStart('Atlantis')).toBeNull();
  });
});

describe('clock times at changes of the clocks', () => {
  const FORWARD = '2026-03-29T08:00:00.000Z';
  const BACK = '2026-10-25T08:00:00.000Z';

  it.each([
    ['between 01:30 and 02:15', FORWARD, /"02:15" is not shown on 2026-03-29 in Europe\/Berlin/],
    ['between 02:15 and 03:15', FORWARD, /"02:15" is not shown/],
    ['since 02:30', FORWARD, /"02:30" is not shown/],
    ['between 01:30 and 02:15', BACK, /"02:15" is shown twice on 2026-10-25 in Europe\/Berlin.*\+02:00/],
    ['between 02:45 and 03:15', BACK, /"02:45" is shown twice/],
    ['at 2026-10-25 02:30', BACK, /is shown twice/],
  ])('refuses %p at %s', (question, anchor, words) => {
    const ask = (): unknown => read(question, 'Europe/Berlin', anchor);
    expect(ask).toThrow(DiagnosisError);
    expect(ask).toThrow(words);
  });

  it.each([
    ['between 01:30 and 02:00', FORWARD, '2026-03-29T00:30:00.000Z 2026-03-29T01:00:00.000Z'],
    ['between 01:30 and 03:30', FORWARD, '2026-03-29T00:30:00.000Z 2026-03-29T01:30:00.000Z'],
    ['between 01:30 and 03:30', BACK, '2026-10-24T23:30:00.000Z 2026-10-25T02:30:00.000Z'],
    ['between 02:15+02:00 and 02:15+01:00', BACK, '2026-10-25T00:15:00.000Z 2026-10-25T01:15:00.000Z'],
    ['between 02:15 CEST and 02:45 CEST', BACK, '2026-10-25T00:15:00.000Z 2026-10-25T00:45:00.000Z'],
  ])('reads %p at %s', (question, anchor, expected) => {
    expect(read(question, 'Europe/Berlin', anchor)).toBe(expected);
  });

  it('goes back one day of the calendar, however long it is', () => {
    expect(read('since 23:50', 'Europe/Berlin', '2026-10-25T22:45:00.000Z')).toMatch(/^2026-10-24T21:50:00/);
    expect(read('between 23:50 and 23:55', 'Europe/Berlin', '2026-10-25T22:45:00.000Z')).toBe(
      '2026-10-24T21:50:00.000Z 2026-10-24T21:55:00.000Z',
    );
    expect(read('between 22:00 and 04:00', 'Europe/Berlin', '2026-10-25T09:00:00.000Z')).toBe(
      '2026-10-24T20:00:00.000Z 2026-10-25T03:00:00.000Z',
    );
  });

  it('reads the same clock time on any other day', () => {
    expect(read('since 02:30', 'Europe/Berlin')).toBe('2026-05-04T00:30:00.000Z 2026-05-04T14:40:00.000Z');
  });
});
