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
  if (/^(SQLITE_CONSTRAINT_FOREIGNKEY|ER_NO_REFERENCED_ROW(_2)?)$/.test(code)) {
    return new DiagnosisError('CONFLICT', 'The record belongs to a run or session that is not stored.', { driver_code: code });
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

function driverCodeOf(error: unknown): string {
  for (const candidate of [error, (error as { driverError?: unknown } | null | undefined)?.driverError]) {
    const code = (candidate as { code?: unknown } | null | undefined)?.code;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code)) return code;
  }
  return 'UNKNOWN';
}
