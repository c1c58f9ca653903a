import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import type * as DataSourceModule from '../../src/runs/diagnosis-data-source';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'diagnosis-open-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const open = (url: string, runMigrations = true) =>
  openDiagnosisDataSource(parseDiagnosisOptions({ database: { url, runMigrations } }));
const endingOf = (url: string, runMigrations = true): Promise<string> =>
  open(url, runMigrations).then(
    async (dataSource) => {
      await dataSource.destroy();
      return 'open';
    },
    (error: { code?: string; message?: string }) => `${error.code}: ${error.message}`,
  );

describe('openDiagnosisDataSource', () => {
  it.each([
    ['diagnosis.sqlite', /no scheme.*sqlite:<file>/],
    ['sqlite:', /names no file/],
    ['sqlite:///srv/x', /the file follows the colon/],
    ['sqlite:x.db?mode=ro', /parameters/],
    ['sqlite:data/', /a folder/],
    ['postgres://u:hunter2@h/d', /names postgres/],
    ['mysql://u:hunter2@h', /names no database/],
    ['mariadb://u:hunter2@h:x/d', /a port that is none/],
  ])('refuses %s and says what would be right', async (url, words) => {
    const ending = await endingOf(url);
    expect(ending).toMatch(/^OPTIONS_INVALID: /);
    expect(ending).toMatch(words);
    expect(ending).not.toContain('hunter2');
  });

  it('names what is wrong with the place of the file, and makes no folder', async () => {
    writeFileSync(join(folder, 'text'), 'this is no database, only a line of text that is long enough');
    mkdirSync(join(folder, 'taken'));
    expect(await endingOf(`sqlite:${join(folder, 'none', 'x.sqlite')}`)).toMatch(/^STORE_UNAVAILABLE: .*does not exist/);
    expect(await endingOf(`sqlite:${join(folder, 'text', 'x.sqlite')}`)).toMatch(/^STORE_UNAVAILABLE: .*no folder/);
    expect(await endingOf(`sqlite:${join(folder, 'taken')}`)).toMatch(/^STORE_UNAVAILABLE: .*a folder or a device/);
    expect(await endingOf(`sqlite:${join(folder, 'text')}`)).toMatch(/^STORE_UNAVAILABLE: .*not an SQLite database/);
    expect(await endingOf(`sqlite:${join(folder, 'new.sqlite')}`, false)).toMatch(/^STORE_UNAVAILABLE: .*not up to date/);
  });

  it('opens a file with WAL, foreign keys, busy timeout and nothing left of what is deleted, again after it was migrated, and a memory', async () => {
    const url = `sqlite:${join(folder, 'a b.sqlite')}`;
    const dataSource = await open(url);
    const pragma = async (name: string): Promise<unknown> =>
      Object.values((await dataSource.query(`PRAGMA ${name}`))[0] as object)[0];
    expect([await pragma('journal_mode'), await pragma('foreign_keys'), await pragma('busy_timeout')]).toEqual(['wal', 1, 5000]);
    expect(await pragma('secure_delete')).toBe(1);
    await dataSource.destroy();
    expect([await endingOf(url, false), await endingOf('sqlite::memory:')]).toEqual(['open', 'open']);
  });

  it('says how to install a missing driver', async () => {
    jest.resetModules();
    jest.doMock('better-sqlite3', () => {
      throw new Error('Cannot find module');
    });
    const fresh = jest.requireActual<typeof DataSourceModule>('../../src/runs/diagnosis-data-source');
    await expect(
      fresh.openDiagnosisDataSource(parseDiagnosisOptions({ database: { url: 'sqlite::memory:' } })),
    ).rejects.toMatchObject({
      code: 'DEPENDENCY_MISSING',
      message: expect.stringContaining('npm install better-sqlite3@12') as string,
    });
    jest.dontMock('better-sqlite3');
  });
});
