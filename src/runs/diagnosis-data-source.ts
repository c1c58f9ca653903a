import { constants, promises as fs } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisOptions } from '../options/diagnosis-options';
import { dataSourceOptionsOf } from './data-source-options';
import { DatabaseServer, loadServerDriver } from './database-server';
import { SQLITE_MEMORY, databaseTargetOf, type ServerTarget, type SqliteTarget } from './database-url';
import { storeErrorOf } from './store-error';

const MIGRATION_ATTEMPTS = 4;
const MIGRATION_RETRY_MS = 150;

/** Token of the open TypeORM data source that the stores write to. */
export const DIAGNOSIS_DATA_SOURCE = Symbol('DIAGNOSIS_DATA_SOURCE');

/**
 * Opens the database and brings its schema up to date, or, with `runMigrations: false`, refuses one that is not and leaves it as it is.
 * It creates the file of SQLite but no folder, and no database on a server. Processes that open one database at once wait for each
 * other's migrations. Throws `DiagnosisError`: OPTIONS_INVALID (URL), DEPENDENCY_MISSING (driver), STORE_UNAVAILABLE with what is in the way.
 * The caller closes it with `destroy()`.
 */
export async function openDiagnosisDataSource({ database }: Pick<DiagnosisOptions, 'database'>): Promise<DataSource> {
  const target = databaseTargetOf(database.url);
  try {
    return target.kind === 'sqlite' ? await openFile(target, database) : await openOnServer(target, database);
  } catch (error) {
    throw storeErrorOf(error);
  }
}

type DatabaseOptions = DiagnosisOptions['database'];

async function openFile({ file }: SqliteTarget, database: DatabaseOptions): Promise<DataSource> {
  await assertDriver();
  if (file !== SQLITE_MEMORY) await assertPlace(file);
  return opened(new DataSource(dataSourceOptionsOf(database)), (dataSource) =>
    database.runMigrations ? migrateFile(dataSource) : assertMigrated(dataSource),
  );
}

async function openOnServer(target: ServerTarget, database: DatabaseOptions): Promise<DataSource> {
  const driver = await loadServerDriver();
  const server = await DatabaseServer.reach(target);
  try {
    return await opened(new DataSource({ ...dataSourceOptionsOf(database), driver }), (dataSource) =>
      database.runMigrations
        ? server.alone(database.migrationsTable, () => dataSource.runMigrations())
        : assertMigrated(dataSource),
    );
  } finally {
    await server.leave();
  }
}

async function opened(dataSource: DataSource, prepare: (dataSource: DataSource) => Promise<unknown>): Promise<DataSource> {
  try {
    await dataSource.initialize();
    await prepare(dataSource);
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy().catch(() => undefined);
    throw error;
  }
}

async function assertMigrated(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    // Asked for what is pending, TypeORM would create the table in which it notes what was applied.
    const noted = await runner.hasTable(dataSource.options.migrationsTableName ?? '');
    if (noted && !(await dataSource.showMigrations())) return;
  } finally {
    await runner.release();
  }
  throw unavailable('its schema is not up to date, and database.runMigrations is off. Apply the migrations first');
}

/** Another process may be at the same migrations: what fails then is tried again, until it finds nothing left to do. */
async function migrateFile(dataSource: DataSource): Promise<void> {
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
