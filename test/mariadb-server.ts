import { createConnection, type Connection } from 'mysql2/promise';
import { databaseTargetOf } from '../src/runs/database-url';

/** Server without a DIAGNOSIS_TEST_MARIADB in the environment. */
const DEFAULT_SERVER = 'mariadb://root@127.0.0.1:3306';

/** The URL of a database on the MariaDB for tests. */
export function serverUrl(database: string): string {
  return `${(process.env['DIAGNOSIS_TEST_MARIADB'] ?? DEFAULT_SERVER).replace(/\/$/, '')}/${database}`;
}

/** A connection to the MariaDB for tests, in no database. */
export function connectToServer(): Promise<Connection> {
  const target = databaseTargetOf(serverUrl('mysql'), 'DIAGNOSIS_TEST_MARIADB');
  if (target.kind === 'sqlite') throw new Error('DIAGNOSIS_TEST_MARIADB has to name a server');
  const { host, port, user, password } = target;
  return createConnection({ host, port, user, password, connectTimeout: 3_000 });
}

/** How the databases of this run of the tests begin, so that what is left of them can be told. */
export function databasePrefix(): string {
  return `diagnosis_test_${process.env['DIAGNOSIS_TEST_RUN'] ?? 'alone'}_`;
}
