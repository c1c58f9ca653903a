import type { InvocationRecord } from '../ports/tool-invocation-store.port';
import type { ToolResult } from '../ports/tool-runner.port';

/**
 * What is known of one run's calls while it works: which keys have a row, how many calls ran, which are under way. It is
 * built from the stored rows, so that a run which is resumed, or which was forgotten, goes on where it was.
 */
export class RunBudget {
  /** Rows by call key. */
  readonly rows = new Map<string, InvocationRecord>();
  /** Calls under way by their question, so that a second identical one waits for the first. */
  readonly underWay = new Map<string, Promise<ToolResult>>();
  private lastOrdinal = 0;
  private ran = 0;
  private denied = 0;

  constructor(stored: readonly InvocationRecord[]) {
    for (const record of stored) this.note(record);
  }

  /** Number of the run's next row, from 1. */
  takeOrdinal(): number {
    this.lastOrdinal += 1;
    return this.lastOrdinal;
  }

  /** Takes one call out of `limit`; false when none is left. */
  takeCall(limit: number): boolean {
    if (this.ran >= limit) return false;
    this.ran += 1;
    return true;
  }

  /** Takes one row for a denial out of `limit`, so that an agent that does not listen cannot fill the store. */
  takeDenial(limit: number): boolean {
    if (this.denied >= limit) return false;
    this.denied += 1;
    return true;
  }

  /** Remembers a row after it was stored. */
  remember(record: InvocationRecord): void {
    this.rows.set(record.call_key, record);
  }

  /** Any denied row, to answer under when no further one is written. */
  anyDenied(): InvocationRecord | null {
    for (const record of this.rows.values()) if (record.status === 'DENIED') return record;
    return null;
  }

  private note(record: InvocationRecord): void {
    this.remember(record);
    this.lastOrdinal = Math.max(this.lastOrdinal, record.ordinal);
    if (record.status === 'DENIED') this.denied += 1;
    else this.ran += 1;
  }
}

/** Budgets of the runs at work, at most `capacity` of them; the longest idle one is forgotten first, never one with a call under way. */
export class RunBudgets {
  private readonly budgets = new Map<string, Promise<RunBudget>>();
  private readonly busy = new Map<string, number>();

  constructor(private readonly capacity: number) {}

  get size(): number {
    return this.budgets.size;
  }

  /** Works with a run's budget, which `load` builds when it is not known. */
  async with<T>(runId: string, load: () => Promise<RunBudget>, work: (budget: RunBudget) => Promise<T>): Promise<T> {
    this.busy.set(runId, (this.busy.get(runId) ?? 0) + 1);
    try {
      return await work(await this.budgetOf(runId, load));
    } finally {
      const left = (this.busy.get(runId) ?? 1) - 1;
      if (left === 0) this.busy.delete(runId);
      else this.busy.set(runId, left);
      this.shrink();
    }
  }

  release(runId: string): void {
    this.budgets.delete(runId);
  }

  private budgetOf(runId: string, load: () => Promise<RunBudget>): Promise<RunBudget> {
    const known = this.budgets.get(runId);
    const budget = known ?? load();
    if (known === undefined) {
      budget.catch(() => {
        if (this.budgets.get(runId) === budget) this.budgets.delete(runId);
      });
    }
    this.budgets.delete(runId);
    this.budgets.set(runId, budget);
    return budget;
  }

  private shrink(): void {
    for (const runId of this.budgets.keys()) {
      if (this.budgets.size <= this.capacity) return;
      if (!this.busy.has(runId)) this.budgets.delete(runId);
    }
  }
}
