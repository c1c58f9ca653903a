import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as Duckdb from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api';
import { DiagnosisError } from '../errors/diagnosis-error';
import { TELEMETRY_TABLES } from './log-tables';

type Engine = typeof Duckdb;

/** A row as queries of this folder see it: text, doubles as number, BIGINT as bigint. */
export type Row = Readonly<Record<string, string | number | bigint | boolean | null | readonly (string | null)[]>>;
export type BoundValue = string | number | bigint;
/** Values by parameter name. */
export type Bound = Readonly<Record<string, BoundValue>>;

/** Statements on one connection; values by name (`$from`) or by position (`$1`). */
export interface TelemetrySession {
  run(sql: string, values?: Bound | readonly BoundValue[]): Promise<void>;
  rows<R>(sql: string, values?: Bound | readonly BoundValue[]): Promise<R[]>;
}

const MAX_THREADS = 4;
/** Text that is handed to the engine at once: the process stands still for as long as it takes it. */
const FLUSHED_CHARACTERS = 2 * 1024 * 1024;

/** A version that exists: the package has only ever been published under pre-release numbers, which no caret range matches. */
const ENGINE_PACKAGE = '@duckdb/node-api@1.5.6-r.1';

/** Loads the engine when it is first needed; without the package, DEPENDENCY_MISSING holds the line that installs it. */
export async function loadDuckdb(): Promise<Engine> {
  return import('@duckdb/node-api');
}

export interface EngineLimits {
  readonly memoryLimitMb: number;
  readonly spillLimitMb: number;
  readonly maxConcurrentQueries: number;
}

/** Lets a fixed number in at a time, in order of arrival; who is aborted while waiting leaves the line. */
export class QueryGate {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    if (isAborted(signal)) throw cancelled();
    if (this.free > 0) this.free -= 1;
    else await this.wait(signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    };
  }

  private wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(admit), 1);
        reject(cancelled());
      };
      this.waiting.push(admit);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}

function cancelled(): DiagnosisError {
  return new DiagnosisError('CANCELLED', 'The question to the telemetry was cancelled.');
}

function isOutOfMemory(error: unknown): boolean {
  return /Out of Memory/i.test(String(error));
}

function tooLarge(): DiagnosisError {
  return new DiagnosisError(
    'TELEMETRY_UNREADABLE',
    'The telemetry does not fit into the limits of its engine: raise telemetry.memoryLimitMb or telemetry.spillLimitMb, or open fewer files.',
  );
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}

async function interruptible(
  connection: DuckDBConnection,
  sql: string,
  bound: Bound | readonly BoundValue[],
  signal: AbortSignal | undefined,
): Promise<Row[]> {
  if (isAborted(signal)) throw cancelled();
  const interrupt = (): void => connection.interrupt();
  signal?.addEventListener('abort', interrupt, { once: true });
  try {
    const values: DuckDBValue[] | Record<string, DuckDBValue> = Array.isArray(bound)
      ? [...(bound as readonly BoundValue[])]
      : { ...(bound as Bound) };
    const reader = await connection.runAndReadAll(sql, Object.keys(values).length === 0 ? undefined : values);
    if (isAborted(signal)) throw cancelled();
    return reader.getRowObjectsJS() as Row[];
  } catch (error) {
    if (isAborted(signal)) throw cancelled();
    if (isOutOfMemory(error)) throw tooLarge();
    throw error;
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
}

/**
 * One import of telemetry: an engine instance with the tables of `TELEMETRY_TABLES`, filled through `write`, then sealed.
 * A sealed one reads no file, attaches nothing, loads no extension and takes no setting; it answers `query` with bound
 * values until `close`. Extension install and autoload are off from the start.
 */
export class TelemetryDatabase {
  private constructor(
    private readonly instance: DuckDBInstance,
    private readonly writer: DuckDBConnection,
    private readonly folder: string,
    private readonly gate: QueryGate,
  ) {}

  /** @param expectedBytes size of what will be imported: from a quarter of the memory limit on, tables live in a private temporary file. */
  static async create(
    load: () => Promise<Engine>,
    limits: EngineLimits,
    gate: QueryGate,
    expectedBytes: number,
  ): Promise<TelemetryDatabase> {
    let engine: Engine;
    try {
      engine = await load();
    } catch {
      throw new DiagnosisError(
        'DEPENDENCY_MISSING',
        `File telemetry needs the package @duckdb/node-api: npm install ${ENGINE_PACKAGE}`,
        { package: '@duckdb/node-api' },
      );
    }
    const folder = await mkdtemp(join(tmpdir(), `diagnosis-telemetry-${process.pid}-`)).catch(() => {
      throw new DiagnosisError(
        'TELEMETRY_UNREADABLE',
        'The temporary folder of the system cannot be written to: point TMPDIR to a folder that can.',
      );
    });
    try {
      const inMemory = expectedBytes * 4 <= limits.memoryLimitMb * 1024 * 1024;
      const instance = await engine.DuckDBInstance.create(inMemory ? ':memory:' : join(folder, 'telemetry.duckdb'), {
        memory_limit: `${limits.memoryLimitMb}MiB`,
        threads: String(Math.min(MAX_THREADS, availableParallelism())),
        temp_directory: limits.spillLimitMb === 0 ? '' : join(folder, 'spill'),
        max_temp_directory_size: `${limits.spillLimitMb}MiB`,
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
      });
      const writer = await instance.connect();
      await writer.run(`SET TimeZone = 'UTC'`);
      for (const statement of TELEMETRY_TABLES) await writer.run(statement);
      return new TelemetryDatabase(instance, writer, folder, gate);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      if (isOutOfMemory(error)) throw tooLarge();
      throw new DiagnosisError(
        'TELEMETRY_UNREADABLE',
        'The telemetry engine does not start: it needs a writable temporary folder.',
      );
    }
  }

  /** Runs one statement of an import. Engine errors come through as they are, but for memory and cancelling. */
  async write(sql: string, bound: Bound = {}, signal?: AbortSignal): Promise<Row[]> {
    return interruptible(this.writer, sql, bound, signal);
  }

  /** Appends rows of text and integer columns to a table of the import. */
  async append(table: string, rows: readonly (readonly [number, string])[]): Promise<void> {
    const appender = await this.writer.createAppender(table);
    for (const [id, text] of rows) {
      appender.appendInteger(id);
      appender.appendVarchar(text);
      appender.endRow();
    }
    appender.closeSync();
  }

  /** Appends rows of text columns to a table of the import, until the signal fires. */
  async appendTexts(table: string, rows: AsyncIterable<readonly string[]>, signal: AbortSignal): Promise<void> {
    const appender = await this.writer.createAppender(table);
    let waiting = 0;
    for await (const row of rows) {
      if (signal.aborted) break;
      for (const text of row) appender.appendVarchar(text);
      appender.endRow();
      waiting += row.reduce((sum, text) => sum + text.length, 1);
      if (waiting < FLUSHED_CHARACTERS) continue;
      appender.flushSync();
      waiting = 0;
    }
    appender.closeSync();
  }

  /** Ends the import: no file access, no settings, no writes through this object from here on. */
  async seal(): Promise<void> {
    await this.writer.run('SET enable_external_access = false');
    await this.writer.run('SET lock_configuration = true');
    this.writer.closeSync();
  }

  /** Asks one SELECT. Throws CANCELLED when the signal fires, TELEMETRY_UNREADABLE when memory does not suffice. */
  async query(sql: string, bound: Bound, signal?: AbortSignal): Promise<Row[]> {
    return this.session((session) => session.rows(sql, bound), signal);
  }

  /** Several statements on one connection, whose temporary tables end with it. Errors as of `query`. */
  async session<T>(work: (session: TelemetrySession) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.gate.enter(signal);
    try {
      const connection = await this.instance.connect();
      try {
        return await work({
          run: async (sql, values) => void (await interruptible(connection, sql, values ?? {}, signal)),
          rows: async <R>(sql: string, values?: Bound | readonly BoundValue[]) =>
            (await interruptible(connection, sql, values ?? {}, signal)) as R[],
        });
      } finally {
        connection.closeSync();
      }
    } catch (error) {
      if (DiagnosisError.is(error)) throw error;
      throw new DiagnosisError(
        'TELEMETRY_UNREADABLE',
        'The telemetry engine failed on a question; the telemetry itself is unchanged.',
      );
    } finally {
      leave();
    }
  }

  /** Frees the engine and its temporary files; nobody may be asking any more. */
  async close(): Promise<void> {
    this.writer.closeSync();
    this.instance.closeSync();
    await rm(this.folder, { recursive: true, force: true });
  }
}
