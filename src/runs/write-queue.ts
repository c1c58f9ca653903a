import { setTimeout } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { asStoreCall } from './store-error';

/** Attempts at a transaction that another process is in the way of, and the growing time between them, in ms: about six seconds. */
const MAX_ATTEMPTS = 25;
const RETRY_MS = 20;

function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && /^SQLITE_BUSY/.test(String(error.code));
}

const queues = new WeakMap<DataSource, WriteQueue>();

/**
 * One line for every write to a database that has a single connection (SQLite): there a bare insert made while somebody
 * else's transaction is open would be lost when that one rolls back. On a database with a pool it lets writes pass at once.
 * Nothing slow belongs inside: compress, hash and validate before. Lets only `DiagnosisError` out.
 */
export class WriteQueue {
  private tail: Promise<unknown> = Promise.resolve();
  private readonly serial: boolean;

  private constructor(private readonly dataSource: DataSource) {
    this.serial = dataSource.options.type === 'better-sqlite3';
  }

  /** The one queue of a data source. */
  static of(dataSource: DataSource): WriteQueue {
    const known = queues.get(dataSource);
    if (known !== undefined) return known;
    const queue = new WriteQueue(dataSource);
    queues.set(dataSource, queue);
    return queue;
  }

  /** A single statement that stands for itself. */
  write<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.enqueue(() => work(this.dataSource.manager));
  }

  /**
   * Several statements that hold together or not at all. On SQLite the work may be called again: a transaction that has read
   * cannot go on when another process wrote meanwhile, and the lock's own time of waiting does not cover that.
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.enqueue(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.dataSource.transaction(work);
        } catch (error) {
          if (!this.serial || !isBusy(error) || attempt === MAX_ATTEMPTS) throw error;
          await setTimeout(attempt * RETRY_MS);
        }
      }
    });
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    if (!this.serial) return asStoreCall(work);
    const result = this.tail.then(() => asStoreCall(work));
    this.tail = result.catch(() => undefined);
    return result;
  }
}
