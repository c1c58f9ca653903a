import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../src/cli';
import { importNotes } from '../../src/cli-output';
import { temporaryFolder } from '../chat/scripted-diagnosis';

const START = Date.parse('2026-05-04T13:00:00Z');
const MEMORY = { DATABASE_URL: 'sqlite::memory:' };
const RANGES = [
  ...['--from', '2026-05-04T14:05:00Z', '--to', '2026-05-04T14:20:00Z'],
  ...['--baseline-from', '2026-05-04T13:25:00Z', '--baseline-to', '2026-05-04T13:55:00Z'],
];

describe('the command line', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let out = '';
  let err = '';

  beforeEach(() => {
    folder = temporaryFolder();
    out = '';
    err = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    folder.remove();
  });

  /** Two hours of a till that refuses cards from 14:05 on; names as a mapping needs them when `odd`. */
  function logs(odd = false): string {
    const path = folder.file(odd ? 'odd' : 'logs');
    mkdirSync(path);
    const names = odd ? { time: 'when', app: 'unit', msg: 'said' } : { time: 'ts', app: 'app', msg: 'msg' };
    const lines = Array.from({ length: 2400 }, (_, at) => {
      const time = START + at * 3_000;
      const fails = time >= Date.parse('2026-05-04T14:05:00Z') && at % 3 === 0;
      return JSON.stringify({
        [names.time]: new Date(time).toISOString(),
        level: fails ? 'error' : 'info',
        [names.app]: at % 3 === 0 ? 'till' : 'shop',
        [names.msg]: fails ? `card ${at} refused: terminal offline` : `handled request ${at}`,
      });
    });
    writeFileSync(join(path, 'a.jsonl'), lines.join('\n'));
    return path;
  }

  it('[A8] prints the whole result as one JSON document, and nothing else to stdout', async () => {
    expect(await runCommand(['ask', 'why is the till failing?', logs(), ...RANGES, '--json'], MEMORY)).toBe(0);
    const result = JSON.parse(out) as Record<string, unknown>;
    expect(Object.keys(result).sort()).toEqual(['answer', 'causes', 'degraded', 'runId', 'sessionId', 'verdict']);
    expect(result['causes']).toContainEqual(expect.objectContaining({ subject: 'till', role: 'cause' }));
    expect(result['answer']).toContain('Window: 2026-05-04 14:05:00');
    expect(result['answer']).toContain('Baseline: 2026-05-04 13:25:00');
    expect(err).toContain('planner');
  });

  it('goes on with a session', async () => {
    const path = logs();
    const store = { DATABASE_URL: `sqlite:${folder.file('runs.sqlite')}` };
    expect(await runCommand(['ask', 'why is the till failing?', path, ...RANGES, '--json'], store)).toBe(0);
    const { sessionId } = JSON.parse(out) as { sessionId: string };
    out = '';
    expect(await runCommand(['ask', 'and now?', path, ...RANGES, '--session', sessionId, '--json'], store)).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ sessionId });
  });

  it.each([
    ['half a window', ['ask', 'why?', 'x', '--from', '2026-05-04T14:05:00Z'], '--from needs --to'],
    ['half a baseline', ['ask', 'why?', 'x', '--baseline-to', '2026-05-04T14:05:00Z'], '--baseline-to needs --baseline-from'],
    ['a flag that is none', ['ask', 'why?', 'x', '--windw', 'y'], '--windw'],
    ['a flag without its value', ['ask', 'why?', 'x', '--mapping'], '--mapping'],
    ['a question in pieces', ['ask', 'why', 'is', 'it'], 'quotes'],
    ['no question', ['ask'], 'question'],
    ['two folders', ['inspect', 'a', 'b'], 'one folder'],
    ['an argument to migrate', ['migrate', 'now'], 'no arguments'],
  ])('[A8] refuses %s with 2, naming it, and runs nothing', async (_name, args, words) => {
    expect(await runCommand(args, MEMORY)).toBe(2);
    expect(err).toContain(words);
    expect(out).toBe('');
  });

  it('[A8] refuses a time that is none with 2', async () => {
    const flags = ['--from', 'yesterday', '--to', '2026-05-04T14:20:00Z'];
    expect(await runCommand(['ask', 'why?', logs(), ...flags], MEMORY)).toBe(2);
    expect(err).toMatch(/REQUEST_INVALID: .*window/);
  });

  it('[B3] prints what was recognised as a mapping that can be kept, edited and given', async () => {
    const path = logs(true);
    const mapping = {
      schema: 'telemetry_mapping_v1',
      logs: [{ files: ['*.jsonl'], format: 'jsonl', time: { column: 'when' }, message: 'said', level: 'level', service: 'unit' }],
    };
    writeFileSync(folder.file('by-hand.json'), JSON.stringify(mapping));
    expect(
      await runCommand(['ask', 'why is it failing?', path, ...RANGES, '--mapping', folder.file('by-hand.json')], MEMORY),
    ).toBe(0);
    expect(out).toContain('till');

    out = '';
    const plain = logs();
    expect(await runCommand(['inspect', plain], {})).toBe(0);
    expect(err).toMatch(/a\.jsonl: logs \(jsonl\), 2400 records; 2026-05-04T13:00:00\.000Z to/);
    expect(err).toContain('services of logs: shop, till');
    writeFileSync(folder.file('kept.json'), out);
    out = '';
    expect(await runCommand(['inspect', plain, '--mapping', folder.file('kept.json'), '--json'], {})).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ files: [{ name: 'a.jsonl', rows: 2400 }] });
  });

  it('[B3] takes an empty mapping file, which a shell leaves that writes there, for none', async () => {
    const path = logs();
    writeFileSync(join(path, 'mapping.json'), '');
    expect(await runCommand(['inspect', path], {})).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ schema: 'telemetry_mapping_v1' });
  });

  it('[A17] shows control characters of names by their code, so that no file moves the cursor or forges a line', async () => {
    const path = logs();
    writeFileSync(join(path, 'x\u001b]0;owned\u0007\nforged line.bin'), 'x');
    expect(await runCommand(['inspect', path], {})).toBe(0);
    expect(err).toContain('x\\u001b]0;owned\\u0007\\u000aforged line.bin');
    expect(err).not.toMatch(/[\u001b\u0007]/);
  });

  it('[A8] names a mapping file that is not there', async () => {
    expect(await runCommand(['inspect', logs(), '--mapping', folder.file('none.json')], {})).toBe(1);
    expect(err).toMatch(/^TELEMETRY_MISSING: .*none\.json/);
  });

  it('tells of an import that lasts, not oftener than twice a second', () => {
    let now = 0;
    const tell = importNotes(() => now);
    const progress = { file: 'big.log', files_done: 0, files_total: 2, share: 0.25 };
    tell(progress);
    expect(err).toBe('');
    now = 600;
    tell(progress);
    tell({ ...progress, share: 0.5 });
    expect(err).toBe('  reading big.log (1 of 2 files, 25 % of all)\n');
  });
});

describe('commands and their exit codes', () => {
  const folder = temporaryFolder();
  let out = '';
  let err = '';

  beforeEach(() => {
    out = '';
    err = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += String(text);
      return true;
    });
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      err += String(text);
      return true;
    });
  });

  afterEach(() => jest.restoreAllMocks());
  afterAll(() => folder.remove());

  it('explains itself when a command is none', async () => {
    for (const argv of [[], ['help'], ['ask'], ['migrate', 'now'], ['constructor']]) expect(await runCommand(argv, {})).toBe(2);
    expect(err).toContain('nestjs-diagnosis ask <question>');
    expect(out).toBe('');
  });

  it('tells its usage and its version, which is no failure', async () => {
    expect(await runCommand(['--help'], {})).toBe(0);
    expect(out).toContain('nestjs-diagnosis ask <question>');
    out = '';
    expect(await runCommand(['--version'], {})).toBe(0);
    expect(out).toBe(`${(JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version}\n`);
    expect(err).toBe('');
  });

  it('answers on stdout with progress on stderr, and names files that were left out in the answer and in inspect', async () => {
    const logs = folder.file('logs');
    mkdirSync(logs);
    const line = (index: number): string => {
      const at = new Date(Date.UTC(2026, 4, 4, 13) + index * 3000).toISOString();
      const bad = index > 1300 && index % 3 === 0;
      return JSON.stringify({ ts: at, level: bad ? 'ERROR' : 'INFO', app: 'till', msg: bad ? 'no paper' : 'receipt printed' });
    };
    writeFileSync(`${logs}/a.jsonl`, Array.from({ length: 2400 }, (_, index) => line(index)).join('\n'));
    writeFileSync(`${logs}/broken.log.gz`, 'no gzip');
    writeFileSync(`${logs}/notes.md`, 'not telemetry');

    expect(await runCommand(['inspect', logs, '--json'], {})).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      files: [
        {
          name: 'a.jsonl',
          rows: 2400,
          taken: { time: '/ts', zone: 'UTC', message: '/msg', level: '/level', service: '/app', trace: null },
          from: '2026-05-04T13:00:00.000Z',
          to: '2026-05-04T14:59:57.000Z',
        },
      ],
      skipped: [{ name: 'broken.log.gz', reason: 'it ends in .gz and is no gzip file' }, { name: 'notes.md' }],
    });
    out = '';
    const question = 'why is the till failing between 16:05 and 16:20 CEST?';
    expect(await runCommand(['ask', question, logs], { DATABASE_URL: 'sqlite::memory:' })).toBe(0);
    expect(out).toContain('Some files among the logs could not be read');
    expect(out).toContain('2026-05-04T14:05:00.000Z');
    expect(err).toMatch(/planner/i);
    expect(err).toContain('log_patterns: OK');
  });

  it('fails over files that cannot be read when nothing else is there', async () => {
    mkdirSync(folder.file('bad'));
    writeFileSync(`${folder.file('bad')}/x.log.gz`, 'no gzip');
    expect(await runCommand(['inspect', folder.file('bad')], {})).toBe(1);
    expect(err).toMatch(/^TELEMETRY_UNREADABLE: Telemetry at x\.log\.gz/);
  });

  it('migrates a database, twice without harm', async () => {
    const environment = { DATABASE_URL: `sqlite:${folder.file('cli.sqlite')}` };
    expect(await runCommand(['migrate'], environment)).toBe(0);
    expect(await runCommand(['migrate'], environment)).toBe(0);
    expect(existsSync(folder.file('cli.sqlite'))).toBe(true);
    expect(out).toContain('up to date');
  });

  it('[C2] says what is wrong and ends with 1', async () => {
    expect(await runCommand(['inspect', folder.file('nowhere')], {})).toBe(1);
    expect(err).toMatch(/^TELEMETRY_MISSING: /);
    mkdirSync(folder.file('empty'));
    expect(await runCommand(['ask', 'why?', folder.file('empty')], { DATABASE_URL: 'sqlite::memory:' })).toBe(1);
    expect(err).toContain('TELEMETRY_EMPTY: ');
    expect(await runCommand(['migrate'], { PORT: 'x' })).toBe(1);
    expect(err).toContain('OPTIONS_INVALID: PORT');
  });
});
