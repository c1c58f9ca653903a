import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DiagnosisError } from '../../src/errors/diagnosis-error';
import { startService, telemetryGap } from '../../src/main';
import { withQuietStart } from '../../src/request-logging';
import { readServiceSettings } from '../../src/service-settings';
import { TelemetryDatabase, QueryGate } from '../../src/telemetry/telemetry-database';

describe('readServiceSettings', () => {
  it('[C2] turns the environment into options, and blank values into defaults', () => {
    expect(readServiceSettings({})).toEqual({ port: 3000, logLevel: 'info', options: {} });
    expect(readServiceSettings({ PORT: ' ', DATABASE_URL: '', DIAGNOSIS_TELEMETRY: ' ' })).toEqual({
      port: 3000,
      logLevel: 'info',
      options: {},
    });
    expect(
      readServiceSettings({
        PORT: '0',
        DATABASE_URL: 'sqlite:a.sqlite',
        DIAGNOSIS_TELEMETRY: 'logs',
        DIAGNOSIS_MAPPING: 'm.json',
      }),
    ).toEqual({
      port: 0,
      logLevel: 'info',
      options: { database: { url: 'sqlite:a.sqlite' }, telemetry: { path: 'logs', mapping: 'm.json' } },
    });
  });

  it.each(['sqlite::memory:', 'mysql://u:p@db:3306/runs?ssl=verify', 'mariadb://u@[::1]/runs'])(
    '[C2] takes %s for the database as it is',
    (url) => {
      expect(readServiceSettings({ DATABASE_URL: ` ${url} ` }).options).toEqual({ database: { url } });
    },
  );

  it('[C2] takes what is kept of runs, and for how long', () => {
    const kept = { DIAGNOSIS_CONTENT: 'off', DIAGNOSIS_MAX_AGE_DAYS: '90', DIAGNOSIS_MAX_RUNS: '5000' };
    expect(readServiceSettings(kept).options).toEqual({
      content: { store: false },
      retention: { maxAgeDays: 90, maxRuns: 5000 },
    });
  });

  it.each([
    ['DIAGNOSIS_CONTENT', 'secret', /on .*off/],
    ['DIAGNOSIS_MAX_AGE_DAYS', '0', /1 to 36500/],
    ['DIAGNOSIS_MAX_RUNS', '1e3secret', /1 to/],
    ['PORT', '70000', /0.*65535/],
    ['PORT', '30 00', /PORT/],
    ['PORT', '-1', /PORT/],
    ['LOG_LEVEL', 'loud', /warn, info/],
    ['DATABASE_URL', 'postgres://u:secret@h/d', /DATABASE_URL names postgres.*sqlite:<file>.*mariadb:/],
    ['DATABASE_URL', 'mysql://u:secret@h', /DATABASE_URL names no database/],
    ['DATABASE_URL', 'mariadb://u:se%cret@secret/d?sslmode=secret', /DATABASE_URL has a percent escape that is none/],
    ['DATABASE_URL', 'sqlite:', /DATABASE_URL names no file/],
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
    ['DATABASE_URL', 'mysql://u:secret@h'],
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
