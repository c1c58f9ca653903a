import type { DataSourceOptions } from 'typeorm';
import { InitialSchema1767225600000 } from '../../migrations/1767225600000-initial-schema';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisOptions } from '../options/diagnosis-options';
import { AgentStep } from './agent-step.entity';
import { ChatSession } from './chat-session.entity';
import { DiagnosisRun } from './diagnosis-run.entity';
import { RunEvaluation } from './run-evaluation.entity';
import { RunEvidence } from './run-evidence.entity';
import { ToolInvocation } from './tool-invocation.entity';
import { ToolOutputChunk } from './tool-output-chunk.entity';

/** How long a statement waits for another process that holds the file's lock, in ms. */
const BUSY_TIMEOUT_MS = 5_000;
const RIGHT_FORMS = 'Write sqlite:<file>, e.g. sqlite:diagnosis.sqlite, or sqlite::memory:.';
/** Name under which SQLite keeps a database in memory alone. */
export const SQLITE_MEMORY = ':memory:';

/** Every entity of this package, for a host that lists entities by hand. */
export const DIAGNOSIS_ENTITIES = [
  ChatSession,
  DiagnosisRun,
  AgentStep,
  ToolInvocation,
  ToolOutputChunk,
  RunEvidence,
  RunEvaluation,
] as const;

/** Every migration of this package, oldest first. */
export const DIAGNOSIS_MIGRATIONS = [InitialSchema1767225600000] as const;

/**
 * The file, or `:memory:`, that a database URL names. It refuses every other URL with OPTIONS_INVALID and never repeats
 * more of the URL than its scheme, because URLs hold passwords.
 */
export function sqliteFileOf(url: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]{0,30}):/.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw invalidUrl('has no scheme');
  if (scheme === 'mysql' || scheme === 'mariadb') {
    throw new DiagnosisError(
      'OPTIONS_INVALID',
      `database.url names ${scheme}, but this release stores in SQLite. ${RIGHT_FORMS}`,
    );
  }
  if (scheme !== 'sqlite') throw invalidUrl(`names ${scheme}, which is not supported`);
  const file = url.slice('sqlite:'.length);
  if (file.trim() === '') throw invalidUrl('names no file');
  if (file === SQLITE_MEMORY) return file;
  if (file.startsWith('//')) throw invalidUrl('has slashes of a host behind its scheme; the file follows the colon directly');
  if (file.startsWith(':')) throw invalidUrl('names a special database other than :memory:');
  if (/[?#\0]/.test(file)) throw invalidUrl('holds parameters or characters that a file name must not hold');
  if (/[\\/]$/.test(file)) throw invalidUrl('names a folder, not a file');
  return file;
}

/**
 * TypeORM options for the parsed database options. `synchronize` is always off: the schema comes from migrations alone.
 * Throws `DiagnosisError` OPTIONS_INVALID for a URL that is none of SQLite.
 */
export function dataSourceOptionsOf(database: DiagnosisOptions['database']): DataSourceOptions {
  return {
    type: 'better-sqlite3',
    database: sqliteFileOf(database.url),
    enableWAL: true,
    timeout: BUSY_TIMEOUT_MS,
    entities: [...DIAGNOSIS_ENTITIES],
    migrations: [...DIAGNOSIS_MIGRATIONS],
    entityPrefix: database.tablePrefix,
    migrationsTableName: database.migrationsTable,
    migrationsRun: false,
    synchronize: false,
    logging: false,
    // The console logger of TypeORM tells of migrations whatever `logging` says.
    logger: 'debug',
  };
}

function invalidUrl(fault: string): DiagnosisError {
  return new DiagnosisError('OPTIONS_INVALID', `database.url ${fault}. ${RIGHT_FORMS}`);
}
