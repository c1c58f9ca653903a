import type { RowDataPacket } from 'mysql2/promise';
import { connectToServer, databasePrefix } from './mariadb-server';

/** Drops the databases that a test file of this run left on the server because it was ended. */
async function tearDownMariadb(): Promise<void> {
  if (process.env['DIAGNOSIS_TEST_MARIADB_FAULT'] !== '') return;
  const connection = await connectToServer();
  const [rows] = await connection.query<RowDataPacket[]>(
    'SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE ?',
    [`${databasePrefix().replaceAll('_', '\\_')}%`],
  );
  for (const row of rows) await connection.query('DROP DATABASE ??', [row['name']]);
  await connection.end();
}

export = tearDownMariadb;
