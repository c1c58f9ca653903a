import type { RunStatus } from '../vocabulary/run-lifecycle';

/** Where a run stands among all runs by the time it came in; ids part those of one instant. */
export interface RunPosition {
  readonly created_at: Date;
  readonly id: string;
}

/**
 * Takes runs out of the store for good, with all that belongs to them: children first, the run's own row last, and its session once no
 * run is left in it. Nothing that one statement or transaction does grows with a run, and whatever was cut off is taken up again. It
 * refuses to erase a run that waits or works: such a one is only marked. Several may erase at once. Throws `DiagnosisError`
 * STORE_UNAVAILABLE, and CONFLICT where rows of the host refer to a run.
 */
export abstract class RunEraser {
  /** Notes that a run is to be erased; answers its status at that moment, or null when there is no such run. */
  abstract request(runId: string, at: Date): Promise<RunStatus | null>;
  /** Whether somebody asked for this run to be erased. */
  abstract isRequested(runId: string): Promise<boolean>;
  /** Erases those of the runs that have ended; answers how many rows of runs this call took out. */
  abstract erase(runIds: readonly string[], at: Date): Promise<number>;
  /** Erases the ended runs that somebody asked for, as long as nothing stops it; answers how many. */
  abstract eraseRequested(at: Date, signal?: AbortSignal): Promise<number>;
  /** Ended runs at or before a position that nobody asked to erase yet, oldest first. */
  abstract ended(upTo: RunPosition, limit: number): Promise<string[]>;
  abstract countEnded(upTo: RunPosition): Promise<number>;
  /** Ended runs that somebody asked to erase. */
  abstract countRequested(): Promise<number>;
  /** Runs that wait or work without a living lease. */
  abstract countDead(now: Date): Promise<number>;
  /** The newest run beyond the `keep` newest ones of all, or null when there are no more than these. */
  abstract firstBeyond(keep: number): Promise<RunPosition | null>;
  /** Sessions from before an instant in which there is no run, a slice at a time; a slice may be empty. */
  abstract emptySessions(before: Date): AsyncIterable<readonly string[]>;
  /** Takes out those of the sessions in which there is still no run; answers how many. */
  abstract eraseSessions(sessionIds: readonly string[]): Promise<number>;
}
