import type { DataSource, EntityManager } from 'typeorm';
import { asStoreCall } from './store-error';

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

  /** Several statements that hold together or not at all. */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.enqueue(() => this.dataSource.transaction(work));
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    if (!this.serial) return asStoreCall(work);
    const result = this.tail.then(() => asStoreCall(work));
    this.tail = result.catch(() => undefined);
    return result;
  }
}
