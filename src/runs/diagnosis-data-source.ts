import { constants, promises as fs } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisOptions } from '../options/diagnosis-options';
import { SQLITE_MEMORY, dataSourceOptionsOf, sqliteFileOf } from './data-source-options';
import { storeErrorOf } from './store-error';

const MIGRATION_ATTEMPTS = 4;
const MIGRATION_RETRY_MS = 150;

/** Token of the open TypeORM data source that the stores write to. */
export const DIAGNOSIS_DATA_SOURCE = Symbol('DIAGNOSIS_DATA_SOURCE');

/**
 * Opens the database and brings its schema up to date, or, with `runMigrations: false`, refuses one that is not. It creates
 * the file but no folder. Throws `DiagnosisError`: OPTIONS_INVALID (URL), DEPENDENCY_MISSING (driver), STORE_UNAVAILABLE.
 * The caller closes it with `destroy()`.
 */
export async function openDiagnosisDataSource(options: Pick<DiagnosisOptions, 'database'>): Promise<DataSource> {
  const file = sqliteFileOf(options.database.url);
  await assertDriver();
  if (file !== SQLITE_MEMORY) await assertPlace(file);
  const dataSource = new DataSource(dataSourceOptionsOf(options.database));
  try {
    await dataSource.initialize();
    if (options.database.runMigrations) await migrate(dataSource);
    else if (await dataSource.showMigrations()) throw pendingMigrations();
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy().catch(() => undefined);
    throw storeErrorOf(error);
  }
}

/** Another process may be at the same migrations: what fails then is tried again, until it finds nothing left to do. */
async function migrate(dataSource: DataSource): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await dataSource.runMigrations();
      return;
    } catch (error) {
      if (attempt === MIGRATION_ATTEMPTS) throw error;
      await setTimeout(attempt * MIGRATION_RETRY_MS);
    }
  }
}

async function assertDriver(): Promise<void> {
  try {
    const { default: Database } = await import('better-sqlite3');
    new Database(SQLITE_MEMORY).close();
  } catch {
    throw new DiagnosisError(
      'DEPENDENCY_MISSING',
      'A database.url of SQLite needs the package better-sqlite3, which is missing or was built for another Node. ' +
        'Run: npm install better-sqlite3@12',
      { package: 'better-sqlite3' },
    );
  }
}

async function assertPlace(file: string): Promise<void> {
  const folder = await fs.stat(dirname(resolve(file))).catch(() => null);
  if (folder === null) throw unavailable('the folder of the database file does not exist: create it, or name another file');
  if (!folder.isDirectory()) throw unavailable('the database file lies under something that is no folder: name another file');
  const writable = constants.R_OK | constants.W_OK;
  if (!(await permits(dirname(resolve(file)), writable | constants.X_OK))) {
    throw unavailable('the folder of the database file is not writable: grant write access, or name another file');
  }
  const existing = await fs.stat(file).catch(() => null);
  if (existing === null) return;
  if (!existing.isFile()) throw unavailable('the database file is a folder or a device: name a file');
  if (!(await permits(file, writable)))
    throw unavailable('the database file is not writable: grant write access, or name another file');
}

function permits(path: string, mode: number): Promise<boolean> {
  return fs.access(path, mode).then(
    () => true,
    () => false,
  );
}

function unavailable(hint: string): DiagnosisError {
  return new DiagnosisError('STORE_UNAVAILABLE', `The store is not available: ${hint}.`);
}

function pendingMigrations(): DiagnosisError {
  return new DiagnosisError(
    'STORE_UNAVAILABLE',
    'The store is not available: its schema is not up to date, and database.runMigrations is off. Apply the migrations first.',
  );
}
