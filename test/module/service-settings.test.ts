import { existsSync, mkdirSync } from 'node:fs';
import { runCommand } from '../../src/cli';
import { type DiagnosisError } from '../../src/errors/diagnosis-error';
import { readServiceSettings } from '../../src/service-settings';
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
