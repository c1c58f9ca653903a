import { STATS_BUCKETS, bucketBordersOf, defaultBucketOf, type StatsBucket } from '../../src/chat/stats-buckets';
import { wallTimeAt } from '../../src/chat/wall-time';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function bordersOf(from: string, to: string, bucket: StatsBucket, timeZone: string): string[] {
  const borders = bucketBordersOf(Date.parse(from), Date.parse(to), bucket, timeZone);
  return (borders ?? []).map((border) => new Date(border).toISOString().replace(':00.000Z', 'Z'));
}

/** Lengths of the buckets, in hours. */
function hoursOf(from: string, to: string, bucket: StatsBucket, timeZone: string): number[] {
  const borders = bordersOf(from, to, bucket, timeZone).map((border) => Date.parse(border));
  return borders.slice(1).map((border, index) => (border - (borders[index] as number)) / HOUR);
}

function isBegin(border: number, bucket: StatsBucket, timeZone: string): boolean {
  const { hour, minute, second } = wallTimeAt(border, timeZone);
  if (minute === 0 && second === 0 && (bucket === '1h' || hour % (bucket === '6h' ? 6 : 24) === 0)) return true;
  // What the clocks jump over begins where they land.
  const before = wallTimeAt(border - 1000, timeZone);
  return (hour * 60 + minute - before.hour * 60 - before.minute + 1440) % 1440 > 1;
}

describe('bucketBordersOf', () => {
  it('begins buckets at whole multiples and cuts the first and the last at the window', () => {
    expect(bordersOf('2026-05-04T12:07Z', '2026-05-04T12:22Z', '5m', 'UTC')).toEqual([
      '2026-05-04T12:07Z',
      '2026-05-04T12:10Z',
      '2026-05-04T12:15Z',
      '2026-05-04T12:20Z',
      '2026-05-04T12:22Z',
    ]);
    expect(bordersOf('2026-05-04T12:05:00.250Z', '2026-05-04T12:05:00.251Z', '1w', 'UTC')).toHaveLength(2);
    expect(bordersOf('2026-05-04T12:20Z', '2026-05-04T15:00Z', '1h', 'Asia/Kolkata')).toEqual([
      '2026-05-04T12:20Z',
      '2026-05-04T12:30Z',
      '2026-05-04T13:30Z',
      '2026-05-04T14:30Z',
      '2026-05-04T15:00Z',
    ]);
    expect(bordersOf('2026-05-01T00:00Z', '2026-05-12T00:00Z', '1w', 'UTC')).toEqual([
      '2026-05-01T00:00Z',
      '2026-05-04T00:00Z',
      '2026-05-11T00:00Z',
      '2026-05-12T00:00Z',
    ]);
  });

  it.each<[string, string, string, string, StatsBucket, number[]]>([
    ['set forward', 'Europe/Berlin', '2026-03-28T00:00+01:00', '2026-03-31T00:00+02:00', '1d', [24, 23, 24]],
    ['set back', 'Europe/Berlin', '2026-10-24T00:00+02:00', '2026-10-27T00:00+01:00', '1d', [24, 25, 24]],
    ['set forward', 'America/New_York', '2026-03-07T00:00-05:00', '2026-03-10T00:00-04:00', '1d', [24, 23, 24]],
    ['set back', 'America/New_York', '2026-10-31T00:00-04:00', '2026-11-03T00:00-05:00', '1d', [24, 25, 24]],
    ['set back by half an hour', 'Australia/Lord_Howe', '2026-04-04T00:00+11:00', '2026-04-07T00:00+10:30', '1d', [24, 24.5, 24]],
    [
      'set forward by half an hour',
      'Australia/Lord_Howe',
      '2026-10-03T00:00+10:30',
      '2026-10-06T00:00+11:00',
      '1d',
      [24, 23.5, 24],
    ],
    [
      'set back at midnight, shown twice',
      'America/Havana',
      '2026-10-31T00:00-04:00',
      '2026-11-03T00:00-05:00',
      '1d',
      [24, 25, 24],
    ],
    [
      'set forward at midnight, never shown',
      'Africa/Cairo',
      '2026-04-23T00:00+02:00',
      '2026-04-26T00:00+03:00',
      '1d',
      [24, 23, 24],
    ],
    ['set back within six hours', 'Europe/Berlin', '2026-10-25T00:00+02:00', '2026-10-25T12:00+01:00', '6h', [7, 6]],
    ['set forward within six hours', 'Europe/Berlin', '2026-03-29T00:00+01:00', '2026-03-29T12:00+02:00', '6h', [5, 6]],
    ['set back within a week', 'Europe/Berlin', '2026-10-19T00:00+02:00', '2026-11-02T00:00+01:00', '1w', [169, 168]],
    ['an hour that comes twice', 'Europe/Berlin', '2026-10-25T01:00+02:00', '2026-10-25T04:00+01:00', '1h', [1, 1, 1, 1]],
    ['an hour that never comes', 'Europe/Berlin', '2026-03-29T01:00+01:00', '2026-03-29T04:00+02:00', '1h', [1, 1]],
    ['half an hour that comes twice', 'Australia/Lord_Howe', '2026-04-05T01:00+11:00', '2026-04-05T03:00+10:30', '1h', [1.5, 1]],
    [
      'half an hour that never comes',
      'Australia/Lord_Howe',
      '2026-10-04T01:00+10:30',
      '2026-10-04T04:00+11:00',
      '1h',
      [1, 0.5, 1],
    ],
    ['begun in the second showing', 'America/Havana', '2026-11-01T00:30-05:00', '2026-11-02T00:00-05:00', '6h', [5.5, 6, 6, 6]],
    [
      'begun after the clocks were set back over midnight',
      'America/St_Johns',
      '2010-11-06T23:30-03:30',
      '2010-11-08T12:00-03:30',
      '1d',
      [24.5, 12],
    ],
  ])('follows clocks that are %s in %s', (_name, timeZone, from, to, bucket, hours) => {
    expect(hoursOf(from, to, bucket, timeZone)).toEqual(hours);
  });

  it('cuts any window of a year into buckets without gap, each begun where the clocks say so', () => {
    const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Havana', 'Antarctica/Troll'];
    const wrong: string[] = [];
    let seen = 0;
    for (const timeZone of zones) {
      for (
        let start = Date.parse('2026-01-01T00:00:00Z');
        start < Date.parse('2027-01-01T00:00:00Z');
        start += 16 * DAY - 1_234_567
      ) {
        for (const bucket of ['1h', '6h', '1d', '1w'] as const) {
          const end = start + 16 * DAY;
          const borders = bucketBordersOf(start, end, bucket, timeZone) ?? [];
          expect([borders[0], borders.at(-1)]).toEqual([start, end]);
          expect(borders.every((border, index) => index === 0 || border > (borders[index - 1] as number))).toBe(true);
          seen += borders.length;
          wrong.push(
            ...borders
              .slice(1, -1)
              .filter((border) => !isBegin(border, bucket, timeZone))
              .map((border) => `${bucket} ${timeZone} ${new Date(border).toISOString()}`),
          );
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(35_000);
  });

  it('goes up to 400 buckets and not beyond', () => {
    const from = Date.parse('2026-05-04T00:00:00Z');
    expect(bucketBordersOf(from, from + 400 * 300_000, '5m', 'UTC')).toHaveLength(401);
    expect(bucketBordersOf(from, from + 400 * 300_000 + 1, '5m', 'UTC')).toBeNull();
    expect(bucketBordersOf(from + 1, from + 400 * 300_000 + 1, '5m', 'UTC')).toBeNull();
  });
});

describe('defaultBucketOf', () => {
  it('takes the smallest size that gives at most a hundred', () => {
    expect([60_000, 500 * 60_000, 500 * 60_000 + 1, 25 * HOUR + 1, 100 * HOUR + 1, 92 * DAY].map(defaultBucketOf)).toEqual([
      '5m',
      '5m',
      '15m',
      '1h',
      '6h',
      '1d',
    ]);
    expect(STATS_BUCKETS.at(-1)).toBe('1w');
  });
});
