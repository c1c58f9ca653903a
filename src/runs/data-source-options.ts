import type { DataSource, DataSourceOptions } from 'typeorm';
import type { BaseDataSourceOptions } from 'typeorm/data-source/BaseDataSourceOptions';
import { InitialSchema1767225600000 } from '../../migrations/1767225600000-initial-schema';
import { RunLists1780272000000 } from '../../migrations/1780272000000-run-lists';
import { Checkpoints1780358400000 } from '../../migrations/1780358400000-checkpoints';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { DiagnosisOptions } from '../options/diagnosis-options';
import { AgentStep } from './agent-step.entity';
import { ChatSession } from './chat-session.entity';
import { CheckpointPart } from './checkpoint-part.entity';
import { sslOf } from './database-server';
import { databaseTargetOf } from './database-url';
import { DiagnosisRun } from './diagnosis-run.entity';
import { RunEvaluation } from './run-evaluation.entity';
import { RunEvidence } from './run-evidence.entity';
import { RunOutcome } from './run-outcome.entity';
import { RunWord } from './run-word.entity';
import { ToolInvocation } from './tool-invocation.entity';
import { ToolOutputChunk } from './tool-output-chunk.entity';

/** How long a statement waits for another process that holds the file's lock, in ms. */
const BUSY_TIMEOUT_MS = 5_000;

/** Every entity of this package, for a host that lists entities by hand. */
export const DIAGNOSIS_ENTITIES = [
  ChatSession,
  DiagnosisRun,
  AgentStep,
  ToolInvocation,
  ToolOutputChunk,
  RunEvidence,
  RunEvaluation,
  RunOutcome,
  RunWord,
  CheckpointPart,
] as const;

/** Every migration of this package, oldest first. */
export const DIAGNOSIS_MIGRATIONS = [InitialSchema1767225600000, RunLists1780272000000, Checkpoints1780358400000] as const;

type CommonOptions = Omit<BaseDataSourceOptions, 'type' | 'poolSize'>;

/**
 * TypeORM options for the parsed database options. `synchronize` is always off: the schema comes from migrations alone.
 * On a server times are kept in UTC to the millisecond and text in utf8mb4. Throws `DiagnosisError` OPTIONS_INVALID for a URL
 * that `databaseTargetOf` refuses.
 */
export function dataSourceOptionsOf(database: DiagnosisOptions['database']): DataSourceOptions {
  const target = databaseTargetOf(database.url);
  const common: CommonOptions = {
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
  if (target.kind === 'sqlite') {
    return {
      ...common,
      type: 'better-sqlite3',
      database: target.file,
      enableWAL: true,
      timeout: BUSY_TIMEOUT_MS,
      // What is erased shall not be found in the free pages of the file.
      prepareDatabase: (database: { pragma(text: string): unknown }) => {
        database.pragma('secure_delete = ON');
      },
    };
  }
  return {
    ...common,
    type: target.kind,
    host: target.host,
    port: target.port,
    username: target.user,
    password: target.password,
    database: target.database,
    ssl: sslOf(target),
    connectTimeout: target.connectTimeoutMs,
    poolSize: database.poolSize,
    charset: 'utf8mb4',
    timezone: 'Z',
  };
}

/**
 * Refuses a data source of the host with OPTIONS_INVALID when the stores cannot mean the same on it: another database, entities that lack
 * ours, or a server whose times are not kept in UTC.
 */
export function assertGivenDataSource({ options, entityMetadatas }: DataSource): void {
  const known = new Set<unknown>(entityMetadatas.map((entity) => entity.target));
  if (!DIAGNOSIS_ENTITIES.every((entity) => known.has(entity))) {
    throw invalid('its entities must contain DIAGNOSIS_ENTITIES of this package');
  }
  if (options.type === 'better-sqlite3') return;
  if (options.type !== 'mysql' && options.type !== 'mariadb') throw invalid('its type must be better-sqlite3, mysql or mariadb');
  if (options.timezone !== 'Z') throw invalid(`its timezone must be 'Z', so that times are kept in UTC`);
}

function invalid(fault: string): DiagnosisError {
  return new DiagnosisError('OPTIONS_INVALID', `dataSource: ${fault}.`);
}
