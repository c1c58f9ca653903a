import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckdbTelemetrySource } from '../../src/telemetry/duckdb-telemetry-source';
import { question, refusal, TelemetryFolder } from './telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
});
afterEach(() => folder.remove());

const CSV = [
  'Time,Level,Service,Message',
  '2026-05-04T09:30:00Z,INFO,tills,order 1 paid',
  '2026-05-04T09:40:00Z,INFO,tills,order 2 paid',
  '2026-05-04T10:10:00Z,INFO,tills,order 3 paid',
  '2026-05-04T10:20:00Z,ERROR,tills,"ledger refused order 4, ""no lock"""',
  '2026-05-04T10:30:00Z,ERROR,tills,"ledger refused order 5, ""no row"""',
  '2026-05-04T11:30:00Z,INFO,ledger,balanced',
].join('\n');
const BASELINE = { from: '2026-05-04T09:00:00Z', to: '2026-05-04T10:00:00Z' };

describe('file telemetry: patterns and error share', () => {
  it('groups lines by template against a baseline, the most telling first', async () => {
    folder.write('shop.csv', CSV);
    const answer = await folder.source().logPatterns(question({ baseline: BASELINE }));
    expect(answer).toMatchObject({ matched_count: 3, records_scanned: 3, records_rejected: 0, complete: true, rows_total: 2 });
    expect(answer.rows[0]).toMatchObject({
      service: 'tills',
      level: 'ERROR',
      template: 'ledger refused order <*>, <*>',
      sample: 'ledger refused order 4, "no lock"',
      count: 2,
      baseline_count: 0,
      share: 0.6667,
      baseline_share: 0,
      first_seen: '2026-05-04T10:20:00.000Z',
      last_seen: '2026-05-04T10:30:00.000Z',
    });
    expect(answer.rows[1]).toMatchObject({ template: 'order <*> paid', count: 1, baseline_count: 2, baseline_share: 1 });
    expect(answer.covered).toEqual({ from: '2026-05-04T10:00:00.000Z', to: '2026-05-04T11:00:00.000Z' });
    expect(answer.rows[0]?.rate_per_min).toBe(0.033);
  });

  it('counts error lines by service, silent services too', async () => {
    folder.write('shop.csv', CSV);
    const window = { from: '2026-05-04T11:00:00Z', to: '2026-05-04T12:00:00Z' };
    const answer = await folder.source().errorShare({ window, baseline: question().window, service: null, limit: 10 });
    expect(answer.matched_count).toBe(0);
    expect(answer.rows).toEqual([
      expect.objectContaining({ service: 'ledger', lines: 1, error_share: 0, baseline_lines: 0 }),
      expect.objectContaining({
        service: 'tills',
        lines: 0,
        error_lines: 0,
        baseline_error_lines: 2,
        baseline_error_share: 0.6667,
      }),
    ]);
  });

  it('says what it holds of a window: nothing, a part, or all', async () => {
    folder.write('shop.csv', CSV);
    const source = folder.source();
    const none = await source.logPatterns(question({ window: { from: '2026-06-01T00:00:00Z', to: '2026-06-01T01:00:00Z' } }));
    expect(none).toMatchObject({ covered: null, matched_count: 0, records_scanned: 0, rows: [] });
    const early = await source.logPatterns(question({ window: { from: '2026-05-04T09:00:00Z', to: '2026-05-04T10:00:00Z' } }));
    expect(early.covered).toEqual({ from: '2026-05-04T09:30:00.000Z', to: '2026-05-04T10:00:00.000Z' });
    const absent = await source.logPatterns(question({ baseline: { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' } }));
    expect(absent.rows.every((row) => row.baseline_count === null)).toBe(true);
    expect(absent.baseline).toEqual({ covered: null, records_scanned: 0, matched_count: 0 });
  });

  it('takes service and text as plain values, never as SQL or a pattern', async () => {
    folder.write(
      'q.csv',
      `time,service,message\n2026-05-04T10:00:01Z,"o'brien ""x""; drop table logs",100% off_sale\n2026-05-04T10:00:02Z,b,100x offxsale\n`,
    );
    const source = folder.source();
    const hostile = `o'brien "x"; drop table logs`;
    expect((await source.logPatterns(question({ service: hostile }))).matched_count).toBe(1);
    expect((await source.logPatterns(question({ contains: '100% OFF_' }))).matched_count).toBe(1);
    expect((await source.logPatterns(question({ contains: `' OR 1=1 --` }))).matched_count).toBe(0);
    expect((await source.logPatterns(question({ service: 'unknown' }))).records_scanned).toBe(0);
    expect((await source.describe()).families[0]?.records).toBe(2);
  });

  it('gives byte-equal answers to equal questions, from fresh imports too, and marks a cut list', async () => {
    const lines = Array.from(
      { length: 3000 },
      (_, n) => `2026-05-04T10:${String(n % 60).padStart(2, '0')}:00Z INFO step ${'abcdefghijklmnop'[n % 16]} of ${n}`,
    );
    folder.write('app.log', lines.join('\n'));
    const ask = async (): Promise<string> => JSON.stringify(await folder.source().logPatterns(question({ limit: 5 })));
    const first = await ask();
    expect(await ask()).toBe(first);
    expect(JSON.parse(first)).toMatchObject({ complete: false, rows_total: 16, matched_count: 3000 });
  });
});

describe('file telemetry: formats', () => {
  it('reads JSON lines of pino with numeric levels, epochs and big numbers as they stand', async () => {
    const at = Date.parse('2026-05-04T10:00:00Z');
    folder.write(
      'api.jsonl',
      [
        `{"level":50,"time":${at + 5},"service":"api","msg":"order 12345678901234567890 lost"}`,
        `{"level":30,"time":${at + 6},"service":"api","msg":"ok"}`,
        `{"level":30,"time":"soon","service":"api","msg":"no time"}`,
        '{"level":30,',
        'NaN',
        '',
      ].join('\n'),
    );
    const answer = await folder.source().logPatterns(question());
    expect(answer).toMatchObject({ matched_count: 2, records_rejected: 3 });
    expect(answer.rows[0]).toMatchObject({
      level: 'ERROR',
      sample: 'order 12345678901234567890 lost',
      first_seen: '2026-05-04T10:00:00.005Z',
    });
  });

  it('reads plain text, joins stack traces to their line and counts stray lines', async () => {
    folder.write(
      'logs/pay.log',
      [
        'stray banner',
        '2026-05-04 10:00:00,250 [main] boot of node 7',
        '2026-05-04T10:01:00+02:00 WARN elsewhere',
        '2026-05-04 10:02:00 worker died',
        'java.lang.IllegalStateException: no seat',
        '\tat shop.Till.pay(Till.java:31)',
        '2026-05-04 10:03:00 [error] no error here is marked',
        'what is this',
      ].join('\r\n'),
    );
    const source = folder.source();
    const answer = await source.logPatterns(question());
    expect(answer).toMatchObject({ matched_count: 3, records_rejected: 2, text_zone: 'UTC' });
    const died = answer.rows.find((row) => row.sample.includes('worker died'));
    expect(died).toMatchObject({ service: 'pay', level: 'ERROR', count: 1 });
    expect(died?.sample).toContain('Till.java:31');
    expect(died?.template).toContain('java.lang.IllegalStateException');
    expect(answer.rows.find((row) => row.sample.includes('boot'))).toMatchObject({
      level: null,
      first_seen: '2026-05-04T10:00:00.250Z',
    });
    expect(answer.rows.filter((row) => row.level === 'ERROR')).toHaveLength(2);
  });

  it('counts broken CSV rows by kind and keeps the rows around them', async () => {
    folder.write(
      'b.csv',
      Buffer.concat([
        Buffer.from(
          '\uFEFFtime,service,message\n2026-05-04T10:00:01Z,a,"two\nlines"\nshort\n2026-05-04T10:00:02Z,a,x,y\nyesterday,a,bad time\n2026-02-31T10:00:02Z,a,no such day\n2026-05-04T10:00:03Z,a,',
        ),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('\n2026-05-04T10:00:04Z,a,last\n'),
      ]),
    );
    const source = folder.source();
    const answer = await source.logPatterns(question());
    expect(answer.rows.map((row) => row.sample).sort()).toEqual(['last', 'two\nlines']);
    expect(answer.records_rejected).toBe(5);
    expect(await source.inspect()).toMatchObject({
      files: [{ rows: 2, rejected: { malformed: 3, unrecognised: 0, bad_time: 2 } }],
    });
  });

  it('unwraps container JSON, takes the service from the pod and reads gzip', async () => {
    const row = (second: number, text: string): string =>
      `2026-05-04T10:00:0${second}.123456789Z,cart-7d9f8b6c5d-x2x4z,"{""log"":""${text}\\n"",""stream"":""stdout""}"`;
    folder.write(
      'c.csv.gz',
      gzipSync(['Timestamp,PodName,Log', row(1, '18:00:01 INFO a.Cart#12 add'), row(2, 'half')].join('\n')),
    );
    const answer = await folder.source().logPatterns(question());
    expect(answer.rows.map(({ service, level, template, sample }) => ({ service, level, template, sample }))).toEqual([
      { service: 'cart', level: null, template: 'half', sample: 'half' },
      { service: 'cart', level: 'INFO', template: '<*> INFO a.Cart#12 add', sample: '18:00:01 INFO a.Cart#12 add' },
    ]);
  });

  it('reads times in the zone of the mapping, across a change of clocks', async () => {
    folder.write('ny.csv', 'when,what\n2026-03-08 01:59:59,before\n2026-03-08 03:00:00,after\n2026-11-01 01:30:00,twice\n');
    folder.write('cn.csv', 'when,what\n2026-05-04 18:00:00.5,east\n');
    const entry = { format: 'csv', message: 'what', service: { constant: 's' } };
    folder.map({
      logs: [
        { ...entry, files: ['ny.csv'], time: { column: 'when', zone: 'America/New_York' } },
        { ...entry, files: ['cn.csv'], time: { column: 'when', zone: '+08:00' }, text_zone: '+08:00' },
      ],
    });
    const { rows } = await folder
      .source()
      .logPatterns(question({ window: { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' } }));
    expect(Object.fromEntries(rows.map((row) => [row.sample, row.first_seen]))).toEqual({
      before: '2026-03-08T06:59:59.000Z',
      after: '2026-03-08T07:00:00.000Z',
      twice: '2026-11-01T06:30:00.000Z',
      east: '2026-05-04T10:00:00.500Z',
    });
  });

  it('reads own line patterns and changes beside the logs', async () => {
    folder.write('gate.out', '[04/May/2026:10:00:00 +0000] edge E boom 1\n[04/May/2026:10:00:01 +0000] edge I fine\n');
    folder.write(
      'changes.jsonl',
      '{"time":"2026-05-04T09:59:00Z","service":"edge","kind":"deploy","text":"v2"}\n{"time":"x","service":"edge","kind":"flag","text":"y"}\n',
    );
    folder.map({
      logs: [
        {
          files: ['*.out'],
          format: 'text',
          text_pattern: '^\\[(?<time>[^\\]]+)\\] (?<service>\\S+) (?<level>[EI]) (?<message>.*)$',
          time: { format: '%d/%b/%Y:%H:%M:%S %z' },
        },
      ],
      changes: [{ files: ['changes.jsonl'], time: { column: 'time' }, service: 'service', kind: 'kind', text: 'text' }],
    });
    const source = folder.source();
    expect((await source.logPatterns(question())).rows[0]).toMatchObject({
      service: 'edge',
      level: 'ERROR',
      template: 'boom <*>',
    });
    expect((await source.describe()).families).toEqual([
      {
        family: 'logs',
        records: 2,
        rejected: 0,
        from: '2026-05-04T10:00:00.000Z',
        to: '2026-05-04T10:00:01.000Z',
        services: ['edge'],
      },
      {
        family: 'changes',
        records: 1,
        rejected: 1,
        from: '2026-05-04T09:59:00.000Z',
        to: '2026-05-04T09:59:00.000Z',
        services: ['edge'],
      },
    ]);
  });

  it('opens files whose names and columns look like patterns or SQL', async () => {
    folder.write(`a[1]*'";drop.csv`, `ti'me,"m""s; drop table logs"\n2026-05-04T10:00:01Z,mine\n`);
    folder.write('a1.csv', 'x,y\n1,2\n');
    folder.map({
      logs: [{ files: [`a[1]*'";drop.csv`], format: 'csv', time: { column: `ti'me` }, message: 'm"s; drop table logs' }],
    });
    expect((await folder.source().logPatterns(question())).rows.map((row) => row.sample)).toEqual(['mine']);
  });
});

describe('file telemetry: refusals', () => {
  it('names the setting, the missing path and the kinds of file it knows', async () => {
    expect(await refusal(folder.source(null).describe())).toMatchObject({
      code: 'TELEMETRY_MISSING',
      message: expect.stringContaining('DIAGNOSIS_TELEMETRY'),
    });
    expect(await refusal(folder.source('/no/such/place').describe())).toMatchObject({
      code: 'TELEMETRY_MISSING',
      message: expect.stringContaining('/no/such/place'),
    });
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'TELEMETRY_EMPTY',
      message: expect.stringContaining('.jsonl'),
    });
    folder.write('picture.png', 'x');
    folder.write('empty.log', '');
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'TELEMETRY_EMPTY',
      message: expect.stringContaining('none of which is recognised'),
    });
    folder.write('bad.csv', 'time,message\nnever,a\nnever,b\n');
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'TELEMETRY_EMPTY',
      message: expect.stringContaining('2 row(s) were rejected'),
    });
  });

  it('refuses symbolic links, folders for files, and what is no gzip', async () => {
    symlinkSync('/etc/hostname', join(folder.path, 'link.log'));
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'TELEMETRY_UNREADABLE',
      message: expect.stringContaining('link.log'),
    });
    folder.write('real.csv', CSV);
    expect(await folder.source().describe()).toMatchObject({
      files: 1,
      skipped: [{ name: 'link.log', reason: expect.stringContaining('links are not followed') }],
    });
    folder.map({ logs: [{ files: ['link.log'], format: 'text', text_pattern: 'iso' }] });
    expect((await refusal(folder.source().describe())).code).toBe('TELEMETRY_UNREADABLE');
    mkdirSync(join(folder.path, 'x.csv'));
    folder.map({ logs: [{ files: ['x.csv'], format: 'csv', time: { column: 't' }, message: 'm' }] });
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'TELEMETRY_UNREADABLE',
      message: expect.stringContaining('x.csv'),
    });
    folder.write('fake.csv.gz', 'not gzip');
    folder.map({ logs: [{ files: ['fake.csv.gz'], format: 'csv', time: { column: 't' }, message: 'm' }] });
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'TELEMETRY_UNREADABLE',
      message: expect.stringContaining('gzip'),
    });
    symlinkSync('/nowhere', join(folder.path, 'dangling'));
    expect((await refusal(folder.source(join(folder.path, 'dangling')).describe())).code).toBe('TELEMETRY_UNREADABLE');
  });

  it('names an absent column, its file and the columns that exist, in CSV and JSON lines', async () => {
    folder.write('a.csv', 'ts,text\n2026-05-04T10:00:01Z,x\n');
    folder.map({ logs: [{ files: ['a.csv'], format: 'csv', time: { column: 'when' }, message: 'text' }] });
    const csv = await refusal(folder.source().describe());
    expect(csv.code).toBe('MAPPING_INVALID');
    for (const part of ['"when"', 'a.csv', '"ts"', '"text"']) expect(csv.message).toContain(part);
    folder.write('a.jsonl', '{"t":"2026-05-04T10:00:01Z","b":{"c":"x"}}\n');
    folder.map({ logs: [{ files: ['a.jsonl'], format: 'jsonl', time: { column: 't' }, message: '/b/d' }] });
    const json = await refusal(folder.source().describe());
    expect(json).toMatchObject({ code: 'MAPPING_INVALID', message: expect.stringContaining('"/b/c"') });
    folder.map({ logs: [{ files: ['a.jsonl'], format: 'jsonl', time: { column: 't', format: '%Q' }, message: '/b/c' }] });
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'MAPPING_INVALID',
      message: expect.stringContaining('strptime'),
    });
    folder.map({ logs: [{ files: ['a.jsonl'], format: 'text', text_pattern: '(?<time>a(?=b))' }] });
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'MAPPING_INVALID',
      message: expect.stringContaining('regular expression'),
    });
  });

  it('says how to install the engine when it is not there', async () => {
    folder.write('shop.csv', CSV);
    const options = { path: folder.path, mapping: null, memoryLimitMb: 64, spillLimitMb: 0, maxConcurrentQueries: 1 };
    const source = new DuckdbTelemetrySource(options, () => Promise.reject(new Error('Cannot find module')));
    expect(await refusal(source.describe())).toMatchObject({
      code: 'DEPENDENCY_MISSING',
      message: expect.stringContaining('npm install @duckdb/node-api'),
    });
  });
});

describe('file telemetry: life of an import', () => {
  it('reads files again after they changed, and leaves nothing behind when closed', async () => {
    // Other processes have folders of their own.
    const mine = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith(`diagnosis-telemetry-${process.pid}-`));
    const before = mine();
    folder.write('shop.csv', CSV);
    const source = folder.source();
    expect((await source.describe()).families[0]?.records).toBe(6);
    folder.write('shop.csv', `${CSV}\n2026-05-04T10:40:00Z,INFO,tills,one more`);
    const [a, b] = await Promise.all([source.describe(), source.describe()]);
    expect([a, b].map((description) => description.families[0]?.records)).toEqual([7, 7]);
    expect(mine().length).toBeGreaterThan(before.length);
    await source.close();
    expect(mine()).toEqual(before);
  });

  it('interrupts an import and a question when aborted, and answers the next question', async () => {
    const lines = Array.from({ length: 40_000 }, (_, n) => `2026-05-04T10:00:00Z INFO item ${n} took ${n * 7} ms`);
    folder.write('app.log', lines.join('\n'));
    const source = folder.source();
    const importing = new AbortController();
    const first = refusal(source.describe(importing.signal));
    setTimeout(() => importing.abort(), 60);
    expect((await first).code).toBe('CANCELLED');
    expect((await source.describe()).families[0]?.records).toBe(40_000);
    const asking = new AbortController();
    const second = refusal(source.logPatterns(question({ contains: 'zzz' }), asking.signal));
    asking.abort();
    expect((await second).code).toBe('CANCELLED');
    expect((await source.logPatterns(question())).matched_count).toBe(40_000);
  });

  it('gives everybody the same when many ask at once', async () => {
    folder.write('shop.csv', CSV);
    const source = folder.source();
    const answers = await Promise.all(Array.from({ length: 8 }, () => source.logPatterns(question())));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });
});
