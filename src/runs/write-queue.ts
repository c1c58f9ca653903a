import { setTimeout } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { asStoreCall, driverCodeOf } from './store-error';

/** How often work is taken up again when others are in its way, and the growing time between, in ms: at most about six seconds. */
const SQLITE_PATIENCE = { code: /^SQLITE_BUSY/, attempts: 25, stepMs: 20, jitter: false } as const;
/** A server ends one of two transactions that wait for each other: those that go on at random times do not meet again. */
const SERVER_PATIENCE = { code: /^ER_LOCK_DEADLOCK$/, attempts: 12, stepMs: 15, jitter: true } as const;
/** The server has waited already. */
const LOCK_WAIT_ATTEMPTS = 3;

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

  /** A single statement that stands for itself. On a server it is taken up again like a transaction. */
  write<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.enqueue(() =>
      this.serial ? work(this.dataSource.manager) : this.patiently(() => work(this.dataSource.manager)),
    );
  }

  /**
   * Several statements that hold together or not at all. The work may be called again: SQLite gives up a transaction that has read
   * when another process wrote meanwhile, and a server ends one of two that wait for each other, or one that waited too long.
   */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.enqueue(() => this.patiently(() => this.dataSource.transaction(work)));
  }

  private async patiently<T>(work: () => Promise<T>): Promise<T> {
    const { code, attempts, stepMs, jitter } = this.serial ? SQLITE_PATIENCE : SERVER_PATIENCE;
    for (let attempt = 1, waited = 0; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const why = driverCodeOf(error);
        if (why === 'ER_LOCK_WAIT_TIMEOUT') waited += 1;
        else if (!code.test(why)) throw error;
        if (attempt === attempts || waited === LOCK_WAIT_ATTEMPTS) throw error;
        await setTimeout(attempt * stepMs * (jitter ? 0.5 + Math.random() : 1));
      }
    }
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    if (!this.serial) return asStoreCall(work);
    const result = this.tail.then(() => asStoreCall(work));
    this.tail = result.catch(() => undefined);
    return result;
  }
}
