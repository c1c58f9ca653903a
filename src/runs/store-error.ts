import { DiagnosisError } from '../errors/diagnosis-error';

const HINTS: Readonly<Record<string, string>> = {
  SQLITE_CANTOPEN: 'the database file cannot be opened: its folder must exist and be writable',
  SQLITE_READONLY: 'the database is read-only: the file and its folder must be writable',
  SQLITE_PERM: 'the database may not be opened: the file and its folder must be readable and writable',
  SQLITE_NOTADB: 'the file is not an SQLite database: name another file',
  SQLITE_CORRUPT: 'the database file is damaged: restore it from a copy',
  SQLITE_FULL: 'the disk is full: free some space',
  SQLITE_BUSY: 'another process holds the database: use one file per process',
  SQLITE_LOCKED: 'another statement holds the database',
  SQLITE_IOERR: 'the disk answers with an error',
  ECONNREFUSED: 'no server listens at the host and port of database.url: start it, or correct them',
  ENOTFOUND: 'the host of database.url is unknown: correct its name',
  EAI_AGAIN: 'the host of database.url could not be looked up: correct its name, or try again',
  ETIMEDOUT: 'the server of database.url did not answer in time: check host, port and what lies between',
  EHOSTUNREACH: 'there is no way to the host of database.url',
  ENETUNREACH: 'there is no way to the host of database.url',
  ER_ACCESS_DENIED_ERROR: 'the server refuses the user or the password of database.url',
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: 'the server refuses the user of database.url',
  ER_NOT_SUPPORTED_AUTH_MODE: 'the server asks the user of database.url for a way of proof that the driver does not know',
  AUTH_SWITCH_PLUGIN_ERROR: 'the server asks the user of database.url for a way of proof that the driver does not know',
  ER_BAD_DB_ERROR:
    'the server has no database of the name in database.url: create it with CREATE DATABASE … CHARACTER SET utf8mb4',
  ER_DBACCESS_DENIED_ERROR: 'the user of database.url may not use the database: grant it, or correct the name',
  ER_TABLEACCESS_DENIED_ERROR: 'the user of database.url lacks a right on a table: grant it',
  ER_HOST_NOT_PRIVILEGED: 'the server lets nobody in from this host',
  ER_HOST_IS_BLOCKED: 'the server has blocked this host after errors',
  ER_CON_COUNT_ERROR: 'the server has no connection left: lower database.poolSize, or raise its max_connections',
  ER_TOO_MANY_USER_CONNECTIONS: 'the user has no connection left: lower database.poolSize, or raise its limit',
  HANDSHAKE_NO_SSL_SUPPORT: 'database.url asks for encryption, which the server does not offer',
  HANDSHAKE_SSL_ERROR: 'the encrypted connection failed: with ssl=verify Node has to trust the certificate of the server',
  PROTOCOL_CONNECTION_LOST: 'the connection to the server was lost',
  ECONNRESET: 'the connection to the server was lost',
  EPIPE: 'the connection to the server was lost',
  ER_SERVER_SHUTDOWN: 'the server is shutting down',
  ER_CONNECTION_KILLED: 'the server ended the connection',
  ER_LOCK_DEADLOCK: 'other transactions were in the way each time',
  ER_LOCK_WAIT_TIMEOUT: 'another transaction held a lock for too long each time',
  ER_NET_PACKET_TOO_LARGE: 'a value is larger than the max_allowed_packet of the server: raise it',
  ER_DATA_TOO_LONG: 'a value is longer than its column',
  ER_DISK_FULL: 'the disk of the server is full: free some space',
  ER_RECORD_FILE_FULL: 'the disk of the server is full: free some space',
  ER_OPTION_PREVENTS_STATEMENT: 'the server is read-only',
  ER_NO_SUCH_TABLE: 'a table is missing: apply the migrations',
  ER_TABLE_EXISTS_ERROR: 'a table of a migration exists already: another program made it, or a migration was cut off',
};

/**
 * What a failure of the database means to a caller: CONFLICT for a row that exists already or that refers to none,
 * STORE_UNAVAILABLE for the rest. It refuses to carry the driver's text, which holds statements and values.
 */
export function storeErrorOf(error: unknown): DiagnosisError {
  if (DiagnosisError.is(error)) return error;
  const code = driverCodeOf(error);
  if (/^(SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)|ER_DUP_ENTRY)$/.test(code)) {
    return new DiagnosisError('CONFLICT', 'The record exists already.', { driver_code: code });
  }
  if (/^(SQLITE_CONSTRAINT_FOREIGNKEY|ER_(NO_REFERENCED_ROW|ROW_IS_REFERENCED)(_2)?)$/.test(code)) {
    return new DiagnosisError('CONFLICT', 'The record belongs to a run or session that is not stored, or others belong to it.', {
      driver_code: code,
    });
  }
  const hint = HINTS[code] ?? HINTS[code.split('_').slice(0, 2).join('_')] ?? 'the database did not carry out a statement';
  return new DiagnosisError('STORE_UNAVAILABLE', `The store is not available: ${hint}.`, { driver_code: code });
}

/** Runs a read or write of the database and lets only `DiagnosisError` out. */
export async function asStoreCall<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** The code that the driver gave a failure, through whatever wraps it; `UNKNOWN` where it gave none. */
export function driverCodeOf(error: unknown): string {
  if (DiagnosisError.is(error)) return String(error.detail['driver_code'] ?? 'UNKNOWN');
  for (const candidate of [error, (error as { driverError?: unknown } | null | undefined)?.driverError]) {
    const { code, fatal } = (candidate ?? {}) as { readonly code?: unknown; readonly fatal?: unknown };
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code)) return code;
    // So mysql2 tells that a connection was closed before it was asked.
    if (fatal === true) return 'PROTOCOL_CONNECTION_LOST';
  }
  return 'UNKNOWN';
}
