import { departingStretch, type BucketSeries } from '../../src/telemetry/onset-search';
import { TelemetryFolder } from './telemetry-folder';

const START = Date.parse('2026-05-04T12:00:00Z');
const MINUTES = 60;

/** Seeded numbers from 0 to 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296) / 4_294_967_296;
}

interface Minute {
  /** Lines a minute, by service. */
  readonly lines: number;
  /** Share of them that are errors. */
  readonly errors: number;
}

/** An hour of log lines: what a service does in each minute. */
function logs(of: Readonly<Record<string, (minute: number) => Minute>>, seed = 7): string {
  const next = random(seed);
  const lines: string[] = [];
  for (let minute = 0; minute < MINUTES; minute += 1) {
    for (const [service, does] of Object.entries(of)) {
      const { lines: count, errors } = does(minute);
      const now = Math.round(count * (0.85 + 0.3 * next()));
      for (let at = 0; at < now; at += 1) {
        const time = new Date(START + (minute + next()) * 60_000).toISOString();
        const failed = next() < errors;
        lines.push(
          JSON.stringify({ time, service, level: failed ? 'ERROR' : 'INFO', message: failed ? 'cannot reserve' : 'reserved' }),
        );
      }
    }
  }
  return `${lines.join('\n')}\n`;
}

function metric(value: (minute: number) => number, name: string): string {
  const rows = Array.from({ length: MINUTES }, (_, minute) => {
    return `${new Date(START + minute * 60_000).toISOString()},stock,${name},${value(minute)}`;
  });
  return `time,service,metric,value\n${rows.join('\n')}\n`;
}

const steady = (): Minute => ({ lines: 60, errors: 0.02 });
const wave = (minute: number): Minute => ({ lines: 60 + 20 * Math.sin(minute / 4), errors: 0.05 });
const failing =
  (from: number, to: number) =>
  (minute: number): Minute => ({ lines: 60, errors: minute >= from && minute < to ? 0.4 : 0.02 });

describe('onset', () => {
  const folders: TelemetryFolder[] = [];
  afterAll(() => Promise.all(folders.map((folder) => folder.remove())));

  async function onsetOf(files: Readonly<Record<string, string>>): Promise<[number, number] | null> {
    const folder = new TelemetryFolder();
    folders.push(folder);
    for (const [name, text] of Object.entries(files)) folder.write(name, text);
    const onset = await folder.source().onset();
    const minute = (instant: string): number => (Date.parse(instant) - START) / 60_000;
    return onset === null ? null : [minute(onset.from), minute(onset.to)];
  }

  it.each([
    ['until the end', 40, 60],
    ['that ends', 20, 32],
    ['for most of the time', 15, 60],
    ['with which the telemetry begins', 0, 14],
  ])('finds errors %s', async (_name, from, to) => {
    const onset = await onsetOf({ 'app.jsonl': logs({ stock: failing(from, to), cart: steady }) });
    expect(Math.abs((onset?.[0] ?? NaN) - from)).toBeLessThan(1.1);
    expect(Math.abs((onset?.[1] ?? NaN) - to)).toBeLessThan(1.1);
  });

  it('finds a service that falls silent', async () => {
    const silent = (minute: number): Minute => ({ lines: minute < 40 ? 60 : 0, errors: 0 });
    const onset = await onsetOf({ 'app.jsonl': logs({ stock: silent, cart: steady }) });
    expect(Math.abs((onset?.[0] ?? NaN) - 40)).toBeLessThan(1.1);
  });

  it('finds the shift of a metric where no line tells of it', async () => {
    const latency = metric((minute) => 20 + (minute % 5) + (minute >= 44 ? 40 : 0), 'request_latency_ms');
    const onset = await onsetOf({ 'app.jsonl': logs({ stock: steady }), 'metrics.csv': latency });
    expect(onset?.[0]).toBeCloseTo(44, -1);
    expect(onset?.[1]).toBeCloseTo(60, -1);
  });

  it.each([
    ['nothing departs', { 'app.jsonl': logs({ stock: steady, cart: steady }, 11) }],
    ['load comes and goes and errors with it', { 'app.jsonl': logs({ stock: wave }) }],
    [
      'a counter only grows',
      { 'app.jsonl': logs({ stock: steady }), 'metrics.csv': metric((minute) => minute * 100 + (minute % 3), 'errors_total') },
    ],
    [
      'one minute alone stands out',
      { 'app.jsonl': logs({ stock: failing(30, 31), cart: steady }).replaceAll('cannot', 'can not') },
    ],
    ['there is too little', { 'app.jsonl': logs({ stock: () => ({ lines: 2, errors: 0.5 }) }) }],
  ])('finds nothing where %s', async (_name, files) => {
    expect(await onsetOf(files)).toBeNull();
  });

  it('is cancelled with the code CANCELLED', async () => {
    const folder = new TelemetryFolder();
    folders.push(folder);
    folder.write('app.jsonl', logs({ stock: steady }));
    const source = folder.source();
    await source.describe();
    await expect(source.onset(AbortSignal.abort())).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

describe('departingStretch', () => {
  const BUCKETS = 120;
  const next = random(3);
  const series = (value: (at: number) => number, changes: Partial<BucketSeries> = {}, noise = next): BucketSeries => ({
    values: Array.from({ length: BUCKETS }, (_, at) => value(at) + noise()),
    sign: 0,
    leastNoise: 0.1,
    weight: 1,
    ...changes,
  });
  const shift = (from: number, to: number) => (at: number) => (at >= from && at < to ? 5 : 0);

  it('goes by what measures agree on, not by the one that shouts', async () => {
    const agreeing = Array.from({ length: 4 }, () => series(shift(60, 90)));
    const loud = series((at) => 50 * shift(10, 20)(at));
    expect(await departingStretch([loud, ...agreeing])).toEqual({ from: 60, to: 90 });
  });

  it('takes a change against the direction of trouble for none', async () => {
    expect(await departingStretch([series(shift(60, 90), { sign: 1 })])).toEqual({ from: 60, to: 90 });
    expect(await departingStretch([series(shift(60, 90), { sign: -1 })])).not.toEqual({ from: 60, to: 90 });
  });

  it('takes a slow drift for none', async () => {
    expect(await departingStretch([series((at) => at / 4)])).toBeNull();
  });

  it('asks for more where more is measured, as some of many depart by chance', async () => {
    const weak = series((at) => 0.9 * (shift(60, 90)(at) / 5), { sign: 1 });
    expect(await departingStretch([weak])).not.toBeNull();
    const quiet = Array.from({ length: 60 }, () => series(() => 0));
    expect(await departingStretch([weak, ...quiet])).toBeNull();
  });

  it('takes at most a tenth of sets of noisy drifts for more', async () => {
    const draw = random(5);
    let found = 0;
    for (let round = 0; round < 40; round += 1) {
      const slope = 0.01 + 0.1 * draw();
      const drift = (): BucketSeries => series((at) => slope * at, { leastNoise: 0.02 }, draw);
      if ((await departingStretch(Array.from({ length: 6 }, drift))) !== null) found += 1;
    }
    expect(found).toBeLessThanOrEqual(4);
  });

  it('leaves out what has no value', async () => {
    const sparse = series(shift(60, 90), { sign: 1 });
    const half = { ...sparse, values: sparse.values.map((value, at) => (at % 2 === 0 ? value : null)) };
    const found = await departingStretch([half]);
    expect(Math.abs((found?.from ?? 0) - 60)).toBeLessThanOrEqual(2);
    expect(Math.abs((found?.to ?? 0) - 90)).toBeLessThanOrEqual(2);
  });

  it('finds nothing in nothing', async () => {
    expect(await departingStretch([])).toBeNull();
  });
});
