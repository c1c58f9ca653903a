import { refusal, TelemetryFolder } from './telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
});
afterEach(() => folder.remove());

const TIME = { column: 'time' };
const WINDOW = { from: '2026-05-04T10:00:00Z', to: '2026-05-04T10:10:00Z' };
const BASELINE = { from: '2026-05-04T09:00:00Z', to: '2026-05-04T10:00:00Z' };
const question = { window: WINDOW, baseline: BASELINE, service: null, limit: 100 };
const clock = (minute: number): string => new Date(Date.parse('2026-05-04T10:00:00Z') + minute * 60_000).toISOString();

describe('metric files', () => {
  it('[B9] reads long rows, counts a value of text, and takes an empty one for missing', async () => {
    folder.write(
      'm.csv',
      `time,svc,name,value\n${clock(0)},a,latency (ms),1.5\n${clock(1)},a,latency (ms),abc\n${clock(2)},a,latency (ms),\nsoon,a,latency (ms),1\n`,
    );
    folder.map({ metrics: [{ files: ['m.csv'], layout: 'long', time: TIME, service: 'svc', metric: 'name', value: 'value' }] });
    const source = folder.source();
    expect((await source.describe()).families).toEqual([
      {
        family: 'metrics',
        records: 1,
        rejected: 2,
        from: '2026-05-04T10:00:00.000Z',
        to: '2026-05-04T10:00:00.000Z',
        services: ['a'],
      },
    ]);
    expect((await source.metricAnomalies(question)).rows).toMatchObject([
      { service: 'a', unit: 'ms', kind: 'latency', direction: 'rises', median: 1.5, score: 0 },
    ]);
  });

  it('[B9] reads a column a metric, the service from the file name, labels left out', async () => {
    folder.write('m/shop.csv', `time,zone,cpu,errors\n${clock(0)},eu,5,0\n${clock(1)},eu,,2\n`);
    folder.map({ metrics: [{ files: ['m/*.csv'], layout: 'wide', time: TIME }] });
    const { rows } = await folder.source().metricAnomalies({ ...question, baseline: null });
    expect(rows.map(({ service, metric, kind, rows: n }) => [service, metric, kind, n])).toEqual([
      ['shop', 'cpu', 'saturation', 1],
      ['shop', 'errors', 'error', 2],
    ]);
  });

  it('[B9] reads several header rows, and the row that names the index is no value', async () => {
    folder.write(
      'm.csv',
      `service,a,b\nmetric,latency,availability\nstatistic,p90,Average\nunix_timestamp,,\n1777888800.0,1,100\n`,
    );
    folder.map({ metrics: [{ files: ['m.csv'], layout: 'headers', header_rows: ['service', 'metric', 'statistic'] }] });
    const source = folder.source();
    expect((await source.describe()).families).toMatchObject([{ records: 2, rejected: 0, services: ['a', 'b'] }]);
    const { rows } = await source.metricAnomalies({ ...question, baseline: null });
    expect(rows).toMatchObject([
      { service: 'a', statistic: 'p90' },
      { service: 'b', metric: 'availability', direction: 'falls' },
    ]);
  });

  it('tells of each file while it is read, and of none when all are', async () => {
    for (const name of ['a.csv', 'b.csv']) folder.write(name, 'time,service,metric,value\n2026-05-04T10:00:00Z,a,cpu,1\n');
    const source = folder.source();
    const told: unknown[][] = [];
    source.watchImport(({ file, files_done, files_total, share }) => told.push([file, files_done, files_total, share]));
    await source.describe();
    expect(told).toContainEqual(['b.csv', 1, 2, 0.5]);
    expect(told.filter(([, done, total]) => Number(done) >= Number(total))).toEqual([]);
  });

  it('refuses a column that is not there', async () => {
    folder.write('m.csv', `time,value\n${clock(0)},1\n`);
    folder.map({ metrics: [{ files: ['m.csv'], layout: 'long', time: TIME, metric: 'name', value: 'value' }] });
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'MAPPING_INVALID',
      message: expect.stringContaining('"time", "value"') as string,
    });
  });
});

describe('metric anomalies', () => {
  /** One hour of quiet rows and six rows of a window, a minute apart. */
  function series(name: string, quiet: (minute: number) => number, window: readonly number[]): string {
    const before = Array.from({ length: 60 }, (_, at) => `${clock(at - 60)},a,${name},${quiet(at)}`);
    return [...before, ...window.map((value, at) => `${clock(at)},a,${name},${value}`)].join('\n');
  }
  async function scores(
    all: readonly string[],
    to = question.window.to,
  ): Promise<ReturnType<ReturnType<TelemetryFolder['source']>['metricAnomalies']>> {
    folder.write('m.csv', `time,svc,name,value\n${all.join('\n')}\n`);
    folder.map({ metrics: [{ files: ['m.csv'], layout: 'long', time: TIME, service: 'svc', metric: 'name', value: 'value' }] });
    return folder.source().metricAnomalies({ ...question, window: { ...question.window, to } });
  }
  const LONG = '2026-05-04T11:10:00Z';
  const calm = (at: number): number => 100 + (at % 5);

  it('finds a step, since when, and not the harmless direction', async () => {
    const { rows, covered } = await scores([
      series('latency_rise', calm, [101, 102, 100, 200, 202, 201]),
      series('latency_dip', calm, [101, 102, 100, 50, 52, 51]),
    ]);
    expect(rows[0]).toMatchObject({
      metric: 'latency_rise',
      median: 201,
      baseline_median: 102,
      first_seen: '2026-05-04T10:03:00.000Z',
      baseline_rows: 60,
      coverage: 1,
    });
    expect(rows[0]?.score).toBeGreaterThan(1);
    expect(rows[1]?.score).toBeLessThan(1);
    expect(covered?.from).toBe('2026-05-04T10:00:00Z'.replace('Z', '.000Z'));
  });

  it('goes back to where trouble begins, when the part that stands out most begins amid it, and no further', async () => {
    const { rows } = await scores([
      series('latency_a', calm, [100, 900, 940, 930, 935, 990, 995, 1000, 990, 995]),
      series('latency_b', calm, [900, 940, 930, 935, 920, 990, 995, 1000, 990, 995]),
    ]);
    expect(rows.map(({ metric, first_seen }) => [metric, first_seen.slice(11, 16)]).sort()).toEqual([
      ['latency_a', '10:01'],
      ['latency_b', '10:00'],
    ]);
  });

  it('takes for normal what a restless series always does', async () => {
    const { rows } = await scores([series('latency', (at) => (at % 6 < 3 ? 100 : 200), [100, 100, 100, 200, 200, 200])]);
    expect(rows[0]?.score).toBeLessThanOrEqual(1);
  });

  it('takes for the telling segment what is loud, not the quiet rows that it was found among', async () => {
    const burst = Array.from({ length: 56 }, (_, at) => (at >= 31 && at < 35 ? 200 : calm(at)));
    const { rows } = await scores([series('latency', calm, burst)], '2026-05-04T10:56:00Z');
    expect(rows[0]).toMatchObject({ median: 200, segment_rows: 4, first_seen: '2026-05-04T10:31:00.000Z' });
  });

  it('takes for normal what a baseline shorter than the window did as well', async () => {
    const burst = (from: number) => (at: number) => (at >= from && at < from + 8 ? 200 : calm(at));
    const window = Array.from({ length: 70 }, (_, at) => burst(30)(at));
    const { rows } = await scores([series('latency_again', burst(30), window), series('latency_first', calm, window)], LONG);
    const scoreOf = (name: string): number => rows.find(({ metric }) => metric === name)?.score ?? Number.NaN;
    expect(scoreOf('latency_again')).toBeLessThan(1.5);
    expect(scoreOf('latency_first')).toBeGreaterThan(10);
  });

  it('reduces a long window to a bounded number of rows, and gives one service the scores that all together get', async () => {
    folder.write(
      'm.csv',
      `time,svc,name,value\n${Array.from({ length: 400 }, (_, at) => `${new Date(Date.parse('2026-05-04T08:00:00Z') + at * 20_000).toISOString()},${at % 2 ? 'a' : 'b'},cpu,${at > 380 && at % 2 ? 90 : 10 + (at % 7)}`).join('\n')}\n`,
    );
    folder.map({ metrics: [{ files: ['m.csv'], layout: 'long', time: TIME, service: 'svc', metric: 'name', value: 'value' }] });
    const source = folder.source();
    const window = { from: '2026-05-04T09:40:00Z', to: '2026-05-04T10:14:00Z' };
    const baseline = { from: '2026-05-04T08:00:00Z', to: '2026-05-04T09:40:00Z' };
    const all = await source.metricAnomalies({ window, baseline, service: null, limit: 10 });
    const one = await source.metricAnomalies({ window, baseline, service: 'a', limit: 10 });
    expect(all.rows[0]).toMatchObject({ service: 'a', rows: 50, median: 90 });
    expect(one.rows).toEqual(all.rows.slice(0, 1));
  });
});

const SPANS = {
  files: ['s.csv'],
  trace: 't',
  span: 's',
  parent: 'p',
  service: 'svc',
  start: { column: 'a', format: 'epoch_ms' },
  duration: { column: 'd', unit: 'ms' },
  status: 'st',
};
const START = Date.parse('2026-05-04T09:30:00Z');

/** Traces a -> b -> c, one a second; each span as [service, offset, duration]. */
function traces(
  from: number,
  count: number,
  name: string,
  spans: (at: number) => readonly (readonly [string, number, number])[],
): string[] {
  return Array.from({ length: count }, (_, at) =>
    spans(at).map(
      ([service, offset, duration], depth) =>
        `${name}${at},${depth},${depth === 0 ? '' : depth - 1},${service},${from + at * 1000 + offset},${duration},OK`,
    ),
  ).flat();
}

describe('spans', () => {
  function write(rows: readonly string[]): void {
    folder.write('s.csv', `t,s,p,svc,a,d,st\n${rows.join('\n')}\n`);
  }
  const normal = traces(START, 30, 'n', (at) => [
    ['a', 0, 40 + (at % 3)],
    ['b', 1, 20 + (at % 3)],
    ['c', 2, 5 + (at % 2)],
  ]);
  const later = Date.parse('2026-05-04T10:01:00Z');

  it('[B9] finds the slow callee, not the callers that wait, and counts rows that are no spans', async () => {
    write([
      ...normal,
      ...traces(later, 30, 'i', () => [
        ['a', 0, 540],
        ['b', 1, 520],
        ['c', 2, 505],
      ]),
      ',1,,a,1,1,OK',
      'x,1,,a,soon,1,OK',
    ]);
    folder.map({ spans: [SPANS] });
    const answer = await folder.source().spanAnalysis(question);
    expect(answer.rows[0]).toMatchObject({
      service: 'c',
      traces: 30,
      high_traces: 30,
      baseline_high_traces: 0,
      self_ms: 505,
      baseline_self_ms: 5.5,
      role: 'self',
    });
    expect(answer.rows[0]?.score).toBeGreaterThan(1);
    expect(answer.rows.slice(1).map(({ score }) => score)).toEqual([0, 0]);
    expect(answer).toMatchObject({ records_rejected: 2, matched_count: 90, complete: true });
  });

  it('finds a slow call by the gap between caller and callee', async () => {
    write([
      ...normal,
      ...traces(later, 30, 'i', (at) => [
        ['a', 0, 340 + (at % 3)],
        ['b', 1, 320 + (at % 3)],
        ['c', 2, 5 + (at % 2)],
      ]),
    ]);
    folder.map({ spans: [SPANS] });
    const { rows } = await folder.source().spanAnalysis(question);
    expect(rows.find(({ service }) => service === 'c')).toMatchObject({ role: 'incoming', high_share: 1 });
    expect(rows.find(({ service }) => service === 'c')?.gap_ms).toBeGreaterThan(300);
  });

  it('takes time of a span that is known to serve for its own, though what it calls has no span of the call', async () => {
    const kinds = (rows: readonly string[]): string[] => rows.map((row) => `${row},SERVER`);
    folder.write(
      's.csv',
      `t,s,p,svc,a,d,st,k\n${kinds([
        ...normal,
        ...traces(later, 30, 'i', (at) => [
          ['a', 0, 1170 + (at % 3)],
          ['b', 1, 1150 + (at % 3)],
          ['c', 2, 5 + (at % 2)],
        ]),
      ]).join('\n')}\n`,
    );
    folder.map({ spans: [{ ...SPANS, kind: 'k' }] });
    const source = folder.source();
    const { rows } = await source.spanAnalysis(question);
    expect(rows[0]).toMatchObject({ service: 'b', role: 'self', gap_ms: null });
    expect(rows.find(({ service }) => service === 'c')).toMatchObject({ gap_ms: null, score: 0 });
    expect((await source.serviceGraph(question)).rows.map(({ caller, callee }) => [caller, callee])).toEqual([
      ['a', 'b'],
      ['b', 'c'],
    ]);
  });

  it('tells own work from calls that no span answers, by the kinds of spans', async () => {
    const slow = traces(later, 30, 'i', (at) => [
      ['a', 0, 540 + (at % 3)],
      ['b', 1, 520 + (at % 3)],
      ['c', 2, 505 + (at % 2)],
    ]);
    const rows = [...normal, ...slow];
    const shareOf = async (kindOf: (service: string) => string): Promise<number | null | undefined> => {
      const lines = rows.map((row) => `${row},${kindOf(row.split(',')[3] ?? '')}`);
      folder.write('s.csv', `t,s,p,svc,a,d,st,k\n${lines.join('\n')}\n`);
      folder.map({ spans: [{ ...SPANS, kind: 'k' }] });
      const answer = await folder.source().spanAnalysis(question);
      return answer.rows.find(({ service }) => service === 'c')?.unanswered_share;
    };
    expect(await shareOf((service) => (service === 'c' ? 'CLIENT' : 'SERVER'))).toBe(1);
    expect(await shareOf(() => 'SPAN_KIND_INTERNAL')).toBe(0);
    expect(await shareOf((service) => (service === 'c' ? '' : 'SERVER'))).toBeNull();
  });

  it('counts a repeated span once, hangs an orphan under what encloses it, marks error spans, and needs no baseline', async () => {
    write([`x,1,,a,${later},100,OK`, `x,1,,a,${later},100,OK`, `x,2,lost,b,${later + 10},60,ERROR`]);
    folder.map({ spans: [SPANS] });
    const { rows, matched_count } = await folder.source().spanAnalysis({ ...question, baseline: null });
    expect(matched_count).toBe(2);
    expect(rows.find(({ service }) => service === 'b')).toMatchObject({
      gap_ms: 40,
      self_ms: 60,
      error_share: 1,
      baseline_traces: null,
      score: 0,
    });
  });

  it('lists calls with counts, and edges of files without any', async () => {
    write(normal);
    folder.write('g.csv', 'caller,callee\na,b\nb,db\n');
    folder.write('x.csv', ',a,db\na,1,0\ndb,1.0,0\n');
    folder.map({
      spans: [SPANS],
      graph: [
        { files: ['g.csv'], layout: 'edges', caller: 'caller', callee: 'callee' },
        { files: ['x.csv'], layout: 'matrix' },
      ],
    });
    const source = folder.source();
    expect((await source.serviceGraph(question)).rows).toEqual([
      { caller: 'a', callee: 'b', count: 0, baseline_count: 30 },
      { caller: 'b', callee: 'c', count: 0, baseline_count: 30 },
      { caller: 'b', callee: 'db', count: null, baseline_count: null },
      { caller: 'db', callee: 'a', count: null, baseline_count: null },
    ]);
    expect((await source.describe()).families.map(({ family }) => family)).toEqual(['spans', 'graph']);
  });
});
