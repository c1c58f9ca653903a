import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import { connectToServer, databasePrefix, serverUrl } from '../mariadb-server';

/** An empty database of its own. */
export interface FreshDatabase {
  readonly url: string;
  /** The folder of an SQLite file; null on a server. */
  readonly folder: string | null;
  /** Drops it with all that is in it; a second call does nothing. */
  drop(): Promise<void>;
}

/** One of the databases that a suite runs on. */
export interface TestDatabase {
  readonly kind: 'sqlite' | 'mariadb';
  /** A new, empty database; what the suite does not drop is dropped after it. */
  fresh(): Promise<FreshDatabase>;
  /**
   * A database with the schema of default options and no row. On a server `drop` only empties it for the next one of the suite,
   * because a migration takes a second there; one whose schema a test changed goes for good.
   */
  migrated(): Promise<FreshDatabase>;
}

/**
 * Declares the same suite once on SQLite (a file) and once on MariaDB (the server of DIAGNOSIS_TEST_MARIADB). Where no server
 * answers, the MariaDB half is left out loudly, or fails with DIAGNOSIS_TESTS_REQUIRED=1.
 */
export function describeOnEachDatabase(title: string, suite: (db: TestDatabase) => void): void {
  describe(`${title} [sqlite]`, () => suite(droppedAfterwards('sqlite', freshFile)));
  describeOnMariadb(`${title} [mariadb]`, suite);
}

/** As `describeOnEachDatabase`, for what SQLite does not know: a server, a pool, a lock. */
export function describeOnMariadb(title: string, suite: (db: TestDatabase) => void): void {
  const fault = process.env['DIAGNOSIS_TEST_MARIADB_FAULT'] ?? 'the global set-up of the tests did not run';
  if (fault === '') {
    describe(title, () => suite(droppedAfterwards('mariadb', freshSchema)));
  } else if (process.env['DIAGNOSIS_TESTS_REQUIRED'] === '1') {
    describe(title, () => {
      it('finds the MariaDB that the tests require', () => {
        throw new Error(fault);
      });
    });
  } else {
    const missing = (): Promise<never> => Promise.reject(new Error(fault));
    describe.skip(title, () => suite({ kind: 'mariadb', fresh: missing, migrated: missing }));
  }
}

function droppedAfterwards(kind: TestDatabase['kind'], open: () => Promise<FreshDatabase>): TestDatabase {
  const opened: FreshDatabase[] = [];
  afterAll(async () => {
    for (const database of opened.splice(0)) await database.drop();
  });
  const idle: FreshDatabase[] = [];
  const fresh = async (): Promise<FreshDatabase> => {
    const database = await open();
    opened.push(database);
    return database;
  };
  return {
    kind,
    fresh,
    async migrated() {
      if (kind === 'sqlite') return fresh();
      const database = idle.pop() ?? (await withSchema(await fresh()));
      const before = await schemaOf(database);
      let dropped = false;
      return {
        ...database,
        async drop() {
          if (dropped) return;
          dropped = true;
          if ((await schemaOf(database)) !== before) return database.drop();
          await empty(database);
          idle.push(database);
        },
      };
    },
  };
}

async function withSchema(database: FreshDatabase): Promise<FreshDatabase> {
  const { url } = database;
  await (await openDiagnosisDataSource(parseDiagnosisOptions({ database: { url } }))).destroy();
  return database;
}

const nameOf = ({ url }: FreshDatabase): string => url.slice(url.lastIndexOf('/') + 1);

async function schemaOf(database: FreshDatabase): Promise<string> {
  const columns = `SELECT table_name, column_name, column_type FROM information_schema.columns WHERE table_schema = '${nameOf(database)}'`;
  return JSON.stringify(await onServer(`${columns} ORDER BY table_name, ordinal_position`));
}

async function empty(database: FreshDatabase): Promise<void> {
  const name = nameOf(database);
  const tables = await onServer(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${name}' AND table_name NOT LIKE '%migrations'`,
  );
  await onServer('SET foreign_key_checks = 0', ...tables.map((table) => `DELETE FROM ${name}.${String(table['name'])}`));
}

/** An SQLite file that does not exist yet, in a folder of its own. */
export function freshFile(): Promise<FreshDatabase & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-runs-'));
  return Promise.resolve({
    url: `sqlite:${join(folder, 'runs.sqlite')}`,
    folder,
    drop() {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  });
}

async function freshSchema(): Promise<FreshDatabase> {
  const name = databasePrefix() + randomBytes(6).toString('hex');
  await onServer(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  return {
    url: serverUrl(name),
    folder: null,
    async drop() {
      await onServer(`DROP DATABASE IF EXISTS ${name}`);
    },
  };
}

/** Carries out statements on one connection to the server for tests, outside of any database; answers the rows of the last. */
export async function onServer(...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const connection = await connectToServer();
  try {
    let rows: unknown = [];
    for (const statement of statements) [rows] = await connection.query(statement);
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
  } finally {
    await connection.end();
  }
}
