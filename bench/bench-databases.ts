import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { DataSource, type Logger } from 'typeorm';
import { parseDiagnosisOptions } from '../src/options/diagnosis-options';
import { dataSourceOptionsOf } from '../src/runs/data-source-options';

const DEFAULT_SERVER = 'mariadb://root@127.0.0.1:3306';

/** An empty database of its own, for one measurement. */
export interface BenchDatabase {
  readonly name: 'SQLite' | 'MariaDB';
  readonly url: string;
}

/**
 * Does the same work on an SQLite file and on the server of DIAGNOSIS_TEST_MARIADB, each time in a database that is removed
 * afterwards. Where no server answers, that is said and the server's part is left out.
 */
export async function onEachDatabase<T>(work: (database: BenchDatabase) => Promise<T[]>): Promise<T[]> {
  const folder = mkdtempSync(join(tmpdir(), 'diagnosis-bench-'));
  const found: T[] = [];
  try {
    found.push(...(await work({ name: 'SQLite', url: `sqlite:${join(folder, 'bench.sqlite')}` })));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const server = (process.env['DIAGNOSIS_TEST_MARIADB'] ?? DEFAULT_SERVER).replace(/\/$/, '');
  const connection = await createConnection(server.replace(/^mariadb:/, 'mysql:')).catch(() => null);
  if (connection === null) {
    console.log('*** no MariaDB answers at DIAGNOSIS_TEST_MARIADB: its rows are missing below ***');
    return found;
  }
  const name = `diagnosis_bench_${randomBytes(6).toString('hex')}`;
  try {
    await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    found.push(...(await work({ name: 'MariaDB', url: `${server}/${name}` })));
  } finally {
    await connection.query(`DROP DATABASE IF EXISTS ${name}`);
    await connection.end();
  }
  return found;
}

/** Opens a database of a bench with its schema; a logger hears of every statement from then on. The caller closes it. */
export async function openBenchDatabase({ url }: BenchDatabase, logger?: Logger): Promise<DataSource> {
  const { database } = parseDiagnosisOptions({ database: { url } });
  const common = dataSourceOptionsOf(database);
  const dataSource = new DataSource(logger === undefined ? common : { ...common, logging: ['query'], logger });
  await dataSource.initialize();
  await dataSource.runMigrations();
  return dataSource;
}
