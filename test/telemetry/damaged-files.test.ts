import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CsvRecovery } from '../../src/telemetry/csv-recovery';
import { globMatcher } from '../../src/telemetry/file-glob';
import { question, refusal, TelemetryFolder } from './telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
});
afterEach(() => folder.remove());

const HEADER = 'time,level,service,message';
const row = (at: number, message = 'request ok'): string =>
  `2026-05-04T10:${String(Math.floor(at / 60) % 60).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}Z,info,till,${message}`;
const rows = (count: number): string[] => Array.from({ length: count }, (_, at) => row(at));
const jsonLine = (at: number, message = 'request ok'): string =>
  JSON.stringify({ time: row(at).slice(0, 20), level: 'info', service: 'till', msg: message });

async function inspected(): Promise<Record<string, unknown>[]> {
  return (await folder.source().inspect())['files'] as Record<string, unknown>[];
}

describe('file telemetry: CSV with broken quotes', () => {
  it.each([
    ['a quote that is never closed', ['"unterminated'], 1],
    ['a quote that a later one closes with text behind it', ['"lone', row(5, '"and, quoted"').slice(31)], 1],
    ['two in a row', ['"a', '"b'], 2],
  ])('rejects only the lines of %s and keeps the rows after them', async (_, messages, rejected) => {
    const lines = rows(1200);
    messages.forEach((message, at) => (lines[100 + at * 3] = row(100, message)));
    lines[700] = row(700, '"two\nlines, ""both"" kept"');
    folder.write('a.csv', `${HEADER}\n${lines.join('\n')}\n`);
    expect(await inspected()).toMatchObject([
      {
        rows: 1200 - rejected,
        rejected: { malformed: rejected, unrecognised: 0, bad_time: 0 },
        note: expect.stringContaining('quotes'),
      },
    ]);
    const kept = await folder.source().logPatterns(question({ contains: 'both' }));
    expect(kept.rows[0]?.sample).toBe('two\nlines, "both" kept');
  });

  it('finds a broken file among many small ones and leaves sound ones alone', async () => {
    for (let n = 0; n < 12; n += 1) folder.write(`f${n}.csv`, `${HEADER}\n${row(n, '"a ""b"""')}\n${row(n)}\n`);
    folder.write('f5.csv', `${HEADER}\n${row(1)}\n${row(2, '"open')}\n${row(3)}\n`);
    const files = await inspected();
    expect(files.map(({ name, rows: count, note }) => [name, count, note === undefined])).toEqual(
      ['f0', 'f1', 'f10', 'f11', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8', 'f9'].map((name) => [`${name}.csv`, 2, name !== 'f5']),
    );
    expect(files[7]).toMatchObject({ rejected: { malformed: 1 } });
  });

  it('takes no line for lost where quotes and blank lines are sound', async () => {
    folder.write('a.csv', `${HEADER}\n\n${row(1, '"x\n\ny"')}\n\n${row(2)},more\n${row(3, '""')}\n\n`);
    expect(await inspected()).toMatchObject([{ rows: 2, rejected: { malformed: 1, unrecognised: 0, bad_time: 0 } }]);
  });

  it('gives up lines that are too long, no text, or open at the end, wherever the pieces of the file are cut', async () => {
    const bytes = Buffer.concat([
      Buffer.from('a,b\r\n1,x\r\n2,"open\n'),
      Buffer.from([0x33, 0x2c, 0xff, 0x0a]),
      Buffer.from(`4,${'z'.repeat(200)}\n5,"q ""w""\nnext"\n6,"end\n7,y`),
    ]);
    for (const size of [1, 7, 1000]) {
      const pieces = async function* (): AsyncGenerator<Buffer> {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      };
      const recovery = new CsvRecovery(',', 2, 100);
      const found: (readonly string[])[] = [];
      for await (const record of recovery.records(pieces())) found.push(record);
      expect(found).toEqual([
        ['1', 'x'],
        ['5', 'q "w"\nnext'],
        ['7', 'y'],
      ]);
      expect(recovery.rejected).toBe(4);
    }
  });
});

describe('file telemetry: packed files that end too early', () => {
  it.each([
    ['a.csv.gz', `${HEADER}\n${rows(3600).join('\n')}\n`],
    ['a.jsonl.gz', Array.from({ length: 3600 }, (_, at) => jsonLine(at, `request ${at * 7919}`)).join('\n')],
    [
      'a.log.gz',
      rows(3600)
        .map((line) => line.replaceAll(',', ' '))
        .join('\n'),
    ],
    [
      'deploys.jsonl.gz',
      rows(3600)
        .map((line, at) => JSON.stringify({ time: line.slice(0, 20), service: 's', kind: 'flag', text: `${at * 7919}` }))
        .join('\n'),
    ],
  ])('counts a rejected row in %s and says why', async (name, text) => {
    const whole = gzipSync(text);
    folder.write(name, whole.subarray(0, whole.length / 2));
    const [cut] = await inspected();
    expect(cut).toMatchObject({ note: expect.stringContaining('ends too early') });
    expect((cut as { rejected: { malformed: number } }).rejected.malformed).toBeGreaterThanOrEqual(1);
    expect(cut?.['rows']).toBeLessThan(3600);
    expect(cut?.['rows']).toBeGreaterThan(0);
    folder.write(name, whole);
    const [sound] = await inspected();
    expect(sound).toMatchObject({ rows: 3600, rejected: { malformed: 0, unrecognised: 0, bad_time: 0 } });
    expect(sound).not.toHaveProperty('note');
  });
});

describe('file telemetry: patterns of a mapping', () => {
  it.each([
    ['*.csv', ['a.csv', '.csv'], ['x/a.csv', 'a.csvx']],
    ['**/*.csv', ['a.csv', 'x/a.csv', 'x/y/a.csv'], ['a.log', 'x/']],
    ['logs/**/app-?.log', ['logs/app-1.log', 'logs/x/y/app-é.log'], ['logs/app-12.log', 'x/logs/app-1.log', 'logs/app-/.log']],
    ['./a[1]*(b)+.log', ['a[1](b)+.log', 'a[1]xx(b)+.log'], ['a1(b)+.log', 'a[1]/(b)+.log']],
    ['a**', ['a', 'ab'], ['a/b']],
    ['**/', ['x/', ''], ['x']],
  ])('%s fits names as before', (glob, fitting, others) => {
    const fits = globMatcher(glob);
    expect(fitting.filter((name) => !fits(name))).toEqual([]);
    expect(others.filter((name) => fits(name))).toEqual([]);
  });

  it('answers for names on which trying one way after the other never ends', () => {
    expect(globMatcher('*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b')('a'.repeat(2000))).toBe(false);
    expect(globMatcher(`${'**/'.repeat(8)}zz`)(`${'a/'.repeat(500)}z`)).toBe(false);
  });

  it.each([
    ['*a'.repeat(17), 'at most 16 stars'],
    [`${'**/'.repeat(30)}zz`, 'at most 16 stars'],
    ['a'.repeat(501), 'at most 500 characters'],
  ])('refuses an oversized pattern', async (glob, part) => {
    folder.write('a.jsonl', jsonLine(1));
    folder.map({ logs: [{ files: [glob], format: 'jsonl', time: { column: 'time' }, message: 'msg' }] });
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'MAPPING_INVALID',
      message: expect.stringContaining(part),
    });
  });
});

describe('file telemetry: many small files', () => {
  it('reads them together with the counts, services and stack traces of each', async () => {
    for (let n = 0; n < 700; n += 1)
      folder.write(`api-${n}.jsonl`, `{"time":"2026-05-04T10:00:00Z","msg":"x"}\n${n % 2 ? 'NaN' : ''}`);
    for (let n = 0; n < 20; n += 1) {
      folder.write(
        `web${n}.log`,
        `${n === 3 ? '\tat stray\n' : ''}2026-05-04 10:00:01 boom ${n}\n\tat a.B(${n})\n${n === 4 ? 'banner' : ''}`,
      );
      folder.write(
        `t${n}.csv.gz`,
        gzipSync(
          `${n < 10 ? 'time,message' : 'message,time'}\n${n < 10 ? '2026-05-04T10:00:02Z,gz' : 'gz,2026-05-04T10:00:02Z'}\nshort\n`,
        ),
      );
    }
    const source = folder.source();
    const files = (await source.inspect())['files'] as { name: string; rows: number; rejected: Record<string, number> }[];
    const named = new Map(files.map((file) => [file.name, file]));
    expect(files.map((file) => file.name)).toEqual([...named.keys()].sort());
    expect(files.map((file) => file.rows)).toEqual(Array(740).fill(1));
    expect(named.get('api-7.jsonl')?.rejected).toEqual({ malformed: 0, unrecognised: 1, bad_time: 0 });
    expect(named.get('api-8.jsonl')?.rejected).toEqual({ malformed: 0, unrecognised: 0, bad_time: 0 });
    expect([3, 4, 5].map((n) => named.get(`web${n}.log`)?.rejected['unrecognised'])).toEqual([1, 1, 0]);
    expect([1, 15].map((n) => named.get(`t${n}.csv.gz`)?.rejected['malformed'])).toEqual([1, 1]);
    const answer = await source.logPatterns(question({ service: 'web4' }));
    expect(answer.rows).toMatchObject([{ service: 'web4', sample: '2026-05-04 10:00:01 boom 4\n\tat a.B(4)' }]);
    expect((await source.logPatterns(question({ service: 'api-699' }))).matched_count).toBe(1);
    expect((await source.logPatterns(question({ service: 't19' }))).matched_count).toBe(1);
  });
});

describe('file telemetry: heads and names', () => {
  it('recognises files whose lines are nearly as long as allowed, plain and packed', async () => {
    const lines = Array.from({ length: 4 }, (_, at) => jsonLine(at, `${at} ${'z'.repeat(900_000)}`)).join('\n');
    folder.write('long.jsonl', lines);
    folder.write('packed.jsonl.gz', gzipSync(lines));
    folder.write('wide.csv', `time,message\n2026-05-04T10:00:00Z,${'y'.repeat(900_000)}\n`);
    expect((await inspected()).map(({ name, rows: count }) => [name, count])).toEqual([
      ['long.jsonl', 4],
      ['packed.jsonl.gz', 4],
      ['wide.csv', 1],
    ]);
  });

  it('prefers a column with the usual name to one that is it without its punctuation', async () => {
    folder.write(
      'q.csv',
      `"ti""me",time,"le'vel",level,service,"mess;age",message\nx,${row(1).slice(0, 20)},a,error,alpha,y,"it ""broke"", badly"\n`,
    );
    const answer = await folder.source().logPatterns(question());
    expect(answer.rows).toMatchObject([{ service: 'alpha', level: 'ERROR', sample: 'it "broke", badly' }]);
    expect(answer.records_rejected).toBe(0);
  });

  it('never opens a named pipe, and says that it left it out', async () => {
    folder.write('ok.jsonl', jsonLine(1));
    execFileSync('mkfifo', [join(folder.path, 'x.jsonl')]);
    expect((await folder.source().inspect())['skipped']).toEqual([{ name: 'x.jsonl', reason: 'it is no regular file' }]);
    folder.map({ logs: [{ files: ['x*'], format: 'jsonl', time: { column: 'time' }, message: 'msg' }] });
    expect(await refusal(folder.source().describe())).toMatchObject({
      code: 'TELEMETRY_UNREADABLE',
      message: expect.stringContaining('no regular file'),
    });
  });
});

describe('file telemetry: long files', () => {
  it('[B6] keeps the last record of a file that is taken in slices, whatever was rejected before it', async () => {
    const junk = Array.from({ length: 300 }, () => '{broken');
    const lines = Array.from(
      { length: 245_700 },
      (_, at) => `{"time":${1_777_888_800_000 + at},"service":"till","msg":"sold item ${at}"}`,
    );
    folder.write('a.jsonl', [...lines.slice(0, 1000), ...junk, ...lines.slice(1000)].join('\n'));
    const blank = Array.from({ length: 300 }, () => '   ');
    const texts = Array.from(
      { length: 245_700 },
      (_, at) => `${new Date(1_777_888_800_000 + at).toISOString()} INFO sold item ${at}`,
    );
    folder.write('b.log', [...texts.slice(0, 1000), ...blank, ...texts.slice(1000)].join('\n'));
    expect(await inspected()).toMatchObject([
      { name: 'a.jsonl', rows: 245_700, rejected: { unrecognised: 300, bad_time: 0 }, to: '2026-05-04T10:04:05.699Z' },
      { name: 'b.log', rows: 245_700, rejected: { unrecognised: 0, bad_time: 0 }, to: '2026-05-04T10:04:05.699Z' },
    ]);
  });
});

describe('file telemetry: odd entries of a folder', () => {
  it('[A8] leaves out what lies too deep, counts it as missed, and reads the others', async () => {
    folder.write('a.csv', `${HEADER}\n${rows(20).join('\n')}\n`);
    folder.write(`${Array.from({ length: 10 }, (_, at) => `d${at}`).join('/')}/deep.log`, '2026-05-04T10:00:00Z ERROR lost');
    const source = folder.source();
    expect((await source.describe()).skipped).toEqual([
      { name: expect.stringMatching(/^d0\/.*d8$/), reason: 'it lies deeper than 8 folders' },
    ]);
    expect((await source.logPatterns(question())).files_skipped).toBe(1);
  });

  it('[A8] leaves out JSON that is nested too deep, and a name that is no UTF-8', async () => {
    folder.write('a.csv', `${HEADER}\n${rows(20).join('\n')}\n`);
    folder.write('deep.jsonl', `{"time":"2026-05-04T10:00:00Z","msg":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
    writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/x`), Buffer.from([0xff]), Buffer.from('.log')]), 'x');
    const { families, skipped } = await folder.source().describe();
    expect(families).toMatchObject([{ family: 'logs', records: 20 }]);
    expect(skipped?.map(({ reason }) => reason).sort()).toEqual(['its JSON is nested too deep', 'its name is no UTF-8']);
  });
});
