import { createHash } from 'node:crypto';
import type * as Mysql from 'mysql2';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { ServerTarget } from './database-url';

/** Oldest servers whose JSON, precise times and window functions the stores rely on. */
const OLDEST = { mysql: [8, 0], mariadb: [10, 5] } as const;
const SERVER_NAMES = { mysql: 'MySQL', mariadb: 'MariaDB' } as const;
/** How long one process waits for another one's migrations, in seconds. */
const LOCK_WAIT_S = 120;

/**
 * What every connection says first. Times are UTC. Statements are escaped for this very mode: a server with NO_BACKSLASH_ESCAPES or
 * ANSI_QUOTES would read them otherwise, and one that is not strict would cut values off. Every change is guarded by its own
 * condition, so no transaction needs a repeatable snapshot, whose locks on gaps make inserts of other runs wait or die. A statement
 * waits 5 s for a lock, not 50, because it is taken up again.
 */
const SESSION = [
  `SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout = 5`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
] as const;

/**
 * The driver of MySQL and MariaDB as TypeORM takes it, whose pools say `SESSION` on every connection before anything else. It refuses
 * a missing package with DEPENDENCY_MISSING.
 */
export async function loadServerDriver(): Promise<Pick<typeof Mysql, 'createPool'>> {
  const mysql = await import('mysql2').catch(() => {
    throw new DiagnosisError(
      'DEPENDENCY_MISSING',
      'A database.url of MySQL or MariaDB needs the package mysql2, which is missing. Run: npm install mysql2@3',
      { package: 'mysql2' },
    );
  });
  const createPool = (options: Mysql.PoolOptions): Mysql.Pool => {
    const pool = mysql.createPool(options);
    pool.on('connection', (connection) => {
      for (const statement of SESSION) {
        connection.query(statement, (error) => {
          // Nothing may be said on a connection that means something else.
          if (error !== null) connection.destroy();
        });
      }
    });
    return pool;
  };
  return { ...mysql, createPool: createPool as typeof Mysql.createPool };
}

/**
 * One connection to a server beside the pool. It looks at the server before anything is asked of it, and keeps processes that migrate
 * one database apart. It refuses a server that is too old or another one than the URL says, and a database that is not utf8mb4.
 */
export class DatabaseServer {
  private constructor(
    private readonly connection: Connection,
    private readonly target: ServerTarget,
  ) {}

  /** Reaches the server and its database; lets the driver's own errors out. The caller leaves it. */
  static async reach(target: ServerTarget): Promise<DatabaseServer> {
    const { createConnection } = await import('mysql2/promise');
    const { host, port, user, password, database } = target;
    const connection = await createConnection({
      host,
      port,
      user,
      password,
      database,
      charset: 'utf8mb4',
      connectTimeout: target.connectTimeoutMs,
      ssl: sslOf(target),
    });
    // What breaks while nothing is asked is told by the next question.
    connection.on('error', () => undefined);
    const server = new DatabaseServer(connection, target);
    try {
      await server.assertSuitable();
      return server;
    } catch (error) {
      await server.leave();
      throw error;
    }
  }

  /**
   * Does the work while no other process does any of the same name in this database, and waits for them at most two minutes. The lock
   * is the connection's: whatever ends this process ends the lock.
   */
  async alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    // Names of locks are the server's, at most 64 characters long.
    const key = createHash('sha256').update(`${this.target.database}\0${name}`).digest('hex').slice(0, 40);
    const lock = `diagnosis:${key}`;
    const [rows] = await this.connection.query<RowDataPacket[]>('SELECT GET_LOCK(?, ?) AS held', [lock, LOCK_WAIT_S]);
    if (Number(rows[0]?.['held']) !== 1) {
      throw unavailable(`another process has been migrating this database for ${LOCK_WAIT_S} s: wait until it has ended`);
    }
    try {
      return await work();
    } finally {
      await this.connection.query('DO RELEASE_LOCK(?)', [lock]).catch(() => undefined);
    }
  }

  async leave(): Promise<void> {
    await this.connection.end().catch(() => this.connection.destroy());
  }

  private async assertSuitable(): Promise<void> {
    const [rows] = await this.connection.query<RowDataPacket[]>(
      'SELECT VERSION() AS version, @@character_set_database AS charset',
    );
    const version = String(rows[0]?.['version']);
    const kind = /mariadb/i.test(version) ? 'mariadb' : 'mysql';
    if (kind !== this.target.kind) {
      const [written, right] = [SERVER_NAMES[this.target.kind], SERVER_NAMES[kind]];
      throw unavailable(`the URL names ${written}, but the server is ${right}: write ${kind}: in place of ${this.target.kind}:`);
    }
    // MariaDB may put the version of a MySQL that it stands for before its own.
    const [, major, minor] = /^(?:5\.5\.5-)?(\d+)\.(\d+)/.exec(version) ?? [];
    const [oldestMajor, oldestMinor] = OLDEST[kind];
    if (!(Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor))) {
      throw unavailable(`the server is too old: it needs ${SERVER_NAMES[kind]} ${oldestMajor}.${oldestMinor} or newer`);
    }
    if (rows[0]?.['charset'] !== 'utf8mb4') {
      throw unavailable(
        'the database is not utf8mb4, so it cannot keep every text: create it with CREATE DATABASE … CHARACTER SET utf8mb4, or ' +
          'ALTER DATABASE … CHARACTER SET utf8mb4 while it is empty',
      );
    }
  }
}

/** What a driver is told of encryption. */
export function sslOf(target: ServerTarget): { readonly rejectUnauthorized: boolean } | undefined {
  return target.ssl === 'off' ? undefined : { rejectUnauthorized: target.ssl === 'verified' };
}

function unavailable(hint: string): DiagnosisError {
  return new DiagnosisError('STORE_UNAVAILABLE', `The store is not available: ${hint}.`);
}
