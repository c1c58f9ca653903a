import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { DataSource } from 'typeorm';
import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import { ChatSession } from '../../src/runs/chat-session.entity';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import type * as DataSourceModule from '../../src/runs/diagnosis-data-source';
import { asStoreCall } from '../../src/runs/store-error';
import { serverUrl } from '../mariadb-server';
import { AT, codeOf, openStore } from './run-fixture';
import { pretendServer } from './pretended-server';
import { describeOnMariadb, onServer } from './test-databases';

const open = (url: string, change: { runMigrations?: boolean; poolSize?: number } = {}): Promise<DataSource> =>
  openDiagnosisDataSource(parseDiagnosisOptions({ database: { url, ...change } }));

async function endingOf(url: string, runMigrations = true): Promise<string> {
  return open(url, { runMigrations }).then(
    async (dataSource) => {
      await dataSource.destroy();
      return 'open';
    },
    (error: { code?: string; message?: string }) => `${error.code}: ${error.message}`,
  );
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const listening = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

describe('a server that cannot be used', () => {
  it('is told apart: nobody listens, no such host, no answer', async () => {
    const nobody = createServer();
    await listening(nobody);
    const port = portOf(nobody);
    await closed(nobody);
    const sockets: { destroy(): void }[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await listening(silent);
    const endings = [
      await endingOf(`mariadb://whoami:hunter2@127.0.0.1:${port}/ledger`),
      await endingOf('mysql://whoami:hunter2@nowhere.invalid/ledger'),
      await endingOf(`mysql://whoami:hunter2@127.0.0.1:${portOf(silent)}/ledger?connectTimeoutMs=200`),
    ];
    for (const socket of sockets) socket.destroy();
    await closed(silent);
    expect(endings).toEqual([
      expect.stringMatching(/^STORE_UNAVAILABLE: .*no server listens/),
      expect.stringMatching(/^STORE_UNAVAILABLE: .*host of database.url (is unknown|could not be looked up)/),
      expect.stringMatching(/^STORE_UNAVAILABLE: .*did not answer in time/),
    ]);
    expect(endings.join()).not.toMatch(/hunter2|whoami|ledger|127\.0|nowhere/);
  });

  it.each([
    ['5.7.44-log', 'utf8mb4', 'mysql', /too old: it needs MySQL 8\.0/],
    ['5.5.5-10.4.31-MariaDB', 'utf8mb4', 'mariadb', /too old: it needs MariaDB 10\.5/],
    ['8.0.36', 'utf8mb4', 'mariadb', /names MariaDB, but the server is MySQL: write mysql: in place of mariadb:/],
    ['10.11.19-MariaDB', 'utf8mb4', 'mysql', /names MySQL, but the server is MariaDB: write mariadb: in place of mysql:/],
    ['8.4.1', 'latin1', 'mysql', /not utf8mb4.*CREATE DATABASE … CHARACTER SET utf8mb4/],
  ])('is refused as %s with %s under %s:', async (version, charset, scheme, words) => {
    const server = await pretendServer(version, { version, charset });
    const ending = await endingOf(`${scheme}://u@127.0.0.1:${server.port}/d`);
    server.close();
    expect(ending).toMatch(/^STORE_UNAVAILABLE: /);
    expect(ending).toMatch(words);
  });

  it('is told to lack its driver, with how to install it', async () => {
    jest.resetModules();
    jest.doMock('mysql2', () => {
      throw new Error('Cannot find module');
    });
    const fresh = jest.requireActual<typeof DataSourceModule>('../../src/runs/diagnosis-data-source');
    const options = parseDiagnosisOptions({ database: { url: 'mysql://u@127.0.0.1/d' } });
    await expect(fresh.openDiagnosisDataSource(options)).rejects.toMatchObject({
      code: 'DEPENDENCY_MISSING',
      message: expect.stringContaining('npm install mysql2@3') as string,
    });
    jest.dontMock('mysql2');
  });
});

describeOnMariadb('opening MariaDB', (db) => {
  it('tells an unknown database, a wrong password and a missing right apart', async () => {
    const user = `dx_${randomBytes(4).toString('hex')}`;
    const { url } = await db.fresh();
    const as = (name: string, password: string): string => url.replace(/\/\/[^@]*@/, `//${name}:${password}@`);
    await onServer(`CREATE USER ${user} IDENTIFIED BY 'right'`);
    try {
      expect(await endingOf(serverUrl('diagnosis_test_nowhere'))).toMatch(/^STORE_UNAVAILABLE: .*no database of the name/);
      expect(await endingOf(as(user, 'wrong'))).toMatch(/^STORE_UNAVAILABLE: .*refuses the user or the password/);
      expect(await endingOf(as(user, 'right'))).toMatch(/^STORE_UNAVAILABLE: .*may not use the database/);
    } finally {
      await onServer(`DROP USER ${user}`);
    }
  });

  it('refuses a database that cannot keep every text, and makes no table in it', async () => {
    const { url } = await db.fresh();
    const name = url.slice(url.lastIndexOf('/') + 1);
    await onServer(`ALTER DATABASE ${name} CHARACTER SET latin1`);
    expect(await endingOf(url)).toMatch(/^STORE_UNAVAILABLE: .*not utf8mb4/);
    expect(await onServer(`SHOW TABLES FROM ${name}`)).toEqual([]);
  });

  it('refuses a schema that is not up to date when it may not migrate, and leaves it as it is', async () => {
    const { url } = await db.fresh();
    const tables = (): Promise<unknown[]> => onServer(`SHOW TABLES FROM ${url.slice(url.lastIndexOf('/') + 1)}`);
    expect(await endingOf(url, false)).toMatch(/^STORE_UNAVAILABLE: .*not up to date/);
    expect(await tables()).toEqual([]);
    expect(await endingOf(url)).toBe('open');
    expect(await endingOf(url, false)).toBe('open');
    const dataSource = await open(url);
    await dataSource.undoLastMigration();
    await dataSource.destroy();
    expect(await endingOf(url, false)).toMatch(/^STORE_UNAVAILABLE: .*not up to date/);
  });

  it('migrates a new database once for all who open it at once', async () => {
    const { url } = await db.fresh();
    const opened = await Promise.all([1, 2, 3].map(() => open(url)));
    const [first] = opened;
    const noted: { name: string }[] | undefined = await first?.query('SELECT name FROM diagnosis_migrations');
    expect((noted ?? []).map(({ name }) => name).sort()).toEqual(
      (first?.migrations ?? []).map((migration) => migration.name).sort(),
    );
    for (const dataSource of opened) await dataSource.destroy();
  });

  it('says on each connection which time, mode and isolation count', async () => {
    const store = await openStore(db);
    const question =
      'SELECT CONNECTION_ID() AS id, @@time_zone AS zone, @@sql_mode AS mode, @@tx_isolation AS isolation, SLEEP(0.2)';
    const asked = await Promise.all([1, 2, 3, 4].map(() => store.dataSource.query<Record<string, unknown>[]>(question)));
    const rows = asked.map(([row]) => row ?? {});
    expect(new Set(rows.map((row) => row['id'])).size).toBe(4);
    for (const row of rows) {
      expect(row).toMatchObject({ zone: '+00:00', isolation: 'READ-COMMITTED' });
      expect(String(row['mode']).split(',').sort()).toEqual([
        'NO_ENGINE_SUBSTITUTION',
        'STRICT_ALL_TABLES',
        'STRICT_TRANS_TABLES',
      ]);
    }
    await store.close();
  });

  it('tells a lost connection, and goes on with another one', async () => {
    const store = await openStore(db);
    const [row] = await store.dataSource.query<{ id: string }[]>('SELECT CONNECTION_ID() AS id');
    const lost = codeOf(asStoreCall(() => store.dataSource.query('SELECT SLEEP(20)')));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await onServer(`KILL ${row?.id}`);
    expect(await lost).toBe('STORE_UNAVAILABLE');
    await store.dataSource.manager.insert(ChatSession, { id: 's', created_at: AT });
    expect(await store.sessions.exists('s')).toBe(true);
    await store.close();
  });

  it('has no more connections than it may', async () => {
    const { url, drop } = await db.fresh();
    const dataSource = await open(url, { poolSize: 2 });
    const ids = await Promise.all(
      [1, 2, 3, 4, 5].map(async () => {
        const [row] = await dataSource.query<{ id: string }[]>('SELECT CONNECTION_ID() AS id, SLEEP(0.05) AS slept');
        return row?.id;
      }),
    );
    expect(new Set(ids).size).toBe(2);
    await dataSource.destroy();
    await drop();
  });
});
