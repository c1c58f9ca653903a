import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../../src/cli';
import { type DiagnosisError } from '../../src/errors/diagnosis-error';
import { startService, telemetryGap } from '../../src/main';
import { withQuietStart } from '../../src/request-logging';
import { readServiceSettings } from '../../src/service-settings';
import { TelemetryDatabase, QueryGate } from '../../src/telemetry/telemetry-database';
import { temporaryFolder } from '../chat/scripted-diagnosis';

describe('readServiceSettings', () => {
  it('[C2] turns the environment into options, and blank values into defaults', () => {
    expect(readServiceSettings({})).toEqual({ port: 3000, logLevel: 'info', options: {} });
    expect(readServiceSettings({ PORT: ' ', DATABASE_URL: '', DIAGNOSIS_TELEMETRY: ' ' })).toEqual({
      port: 3000,
      logLevel: 'info',
      options: {},
    });
    expect(readServiceSettings({ PORT: '0', DATABASE_URL: 'sqlite:a.sqlite', DIAGNOSIS_TELEMETRY: 'logs' })).toEqual({
      port: 0,
      logLevel: 'info',
      options: { database: { url: 'sqlite:a.sqlite' }, telemetry: { path: 'logs' } },
    });
  });

  it.each([
    ['PORT', '70000', /0.*65535/],
    ['PORT', '30 00', /PORT/],
    ['PORT', '-1', /PORT/],
    ['LOG_LEVEL', 'loud', /warn, info/],
    ['DATABASE_URL', 'postgres://u:secret@h/d', /sqlite:<file>/],
  ])('[C2] refuses %s=%s, naming it and what would be right, never its value', (name, value, words) => {
    let error: unknown;
    try {
      readServiceSettings({ [name]: value });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'OPTIONS_INVALID', detail: { variable: name } });
    expect((error as DiagnosisError).message).toMatch(words);
    expect((error as DiagnosisError).message).not.toContain('secret');
  });
});

describe('the start of the service', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['PORT', 'abc'],
    ['LOG_LEVEL', 'loud'],
    ['DATABASE_URL', 'mysql://u:secret@h/d'],
  ])('[C2] refuses %s=%s before Nest is built, so that nothing but the clean line is printed', async (name, value) => {
    const before = process.env[name];
    const out = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
    const err = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
    process.env[name] = value;
    try {
      await expect(startService()).rejects.toMatchObject({ code: 'OPTIONS_INVALID', detail: { variable: name } });
      expect([out.mock.calls, err.mock.calls]).toEqual([[], []]);
    } finally {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  });

  it('warns of telemetry that is not there', () => {
    expect(telemetryGap(readServiceSettings({}))).toContain('DIAGNOSIS_TELEMETRY is not set');
    expect(telemetryGap(readServiceSettings({ DIAGNOSIS_TELEMETRY: '/nowhere/at/all' }))).toContain('/nowhere/at/all');
    expect(telemetryGap(readServiceSettings({ DIAGNOSIS_TELEMETRY: __dirname }))).toBeNull();
  });

  it('keeps the lines of the start of Nest for debug, and every other line', () => {
    const said: string[] = [];
    const at = (level: string) => (message: unknown) => void said.push(`${level}:${String(message)}`);
    const quiet = withQuietStart({ log: at('log'), error: at('error'), warn: at('warn'), debug: at('debug') });
    quiet.log('Mapped {/x, GET} route', 'RouterExplorer');
    quiet.log('a run ended', 'ChatService');
    quiet.warn('careful', 'RouterExplorer');
    quiet.error('broken', 'stack', 'NestApplication');
    expect(said).toEqual(['debug:Mapped {/x, GET} route', 'log:a run ended', 'warn:careful', 'error:broken']);
  });
});

describe('the package', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly version: string;
    readonly devDependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
    readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  };

  it('[C2] names a version of the engine that exists when it is missing, and accepts it as a peer', async () => {
    const version = manifest.devDependencies['@duckdb/node-api'] as string;
    const limits = { memoryLimitMb: 64, spillLimitMb: 0, maxConcurrentQueries: 1 };
    const created = TelemetryDatabase.create(() => Promise.reject(new Error('none')), limits, new QueryGate(1), 0);
    await expect(created).rejects.toMatchObject({
      code: 'DEPENDENCY_MISSING',
      message: expect.stringContaining(`npm install @duckdb/node-api@${version}`),
    });
    // Every version is a pre-release, and a range with a number matches those of its own number at most.
    expect(manifest.peerDependencies['@duckdb/node-api']).toBe('*');
  });

  it('runs its command line without the packages of the service alone', () => {
    const serviceOnly = ['@nestjs/config', '@nestjs/platform-express', 'nestjs-pino', 'pino-http'];
    for (const name of serviceOnly) expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
    const read = (file: string, seen = new Set<string>()): Set<string> => {
      if (seen.has(file)) return seen;
      seen.add(file);
      for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export|\}) (?!type)[^;]*?from '([^']+)';/gm)) {
        if (from.startsWith('.')) read(`${join(dirname(file), from)}.ts`, seen);
        else seen.add(from);
      }
      return seen;
    };
    const reached = read('src/cli.ts');
    expect([...reached]).toContain('@nestjs/core');
    for (const name of serviceOnly) expect([...reached]).not.toContain(name);
  });
});

describe('the command line', () => {
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

    expect(await runCommand(['inspect', logs], {})).toBe(0);
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
