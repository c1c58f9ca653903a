/** Why a call had to stop: its run ended from outside, its run's time was over, or its own time was over. */
export type CallStop = 'RUN_ABORTED' | 'RUN_DEADLINE' | 'CALL_TIMEOUT';

/** Whether a run's signal was aborted because its time is over; every other reason ends the run from outside. */
export function isDeadline(signal: AbortSignal): boolean {
  const reason: unknown = signal.reason;
  return reason === 'RUN_DEADLINE' || (reason as { message?: unknown } | null | undefined)?.message === 'RUN_DEADLINE';
}

/**
 * One signal out of three: the run's own, its deadline, and the call's time. It listens itself rather than through
 * `AbortSignal.any`, so that `dispose` leaves nothing behind on signals that outlive thousands of calls.
 */
export class CallSignal {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly undo: (() => void)[] = [];
  private stopped: CallStop | null = null;

  constructor(run: AbortSignal | undefined, deadline: AbortSignal, timeoutMs: number) {
    this.timer = setTimeout(() => this.stop('CALL_TIMEOUT'), timeoutMs);
    if (run !== undefined) this.follow(run, () => (isDeadline(run) ? 'RUN_DEADLINE' : 'RUN_ABORTED'));
    this.follow(deadline, () => 'RUN_DEADLINE');
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Why it was aborted; null while it was not. */
  get reason(): CallStop | null {
    return this.stopped;
  }

  /** Resolves once, when the call has to stop; never rejects. */
  whenStopped(): Promise<CallStop> {
    return new Promise((resolve) => {
      if (this.stopped !== null) resolve(this.stopped);
      else this.signal.addEventListener('abort', () => resolve(this.stopped ?? 'CALL_TIMEOUT'), { once: true });
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const undo of this.undo.splice(0)) undo();
  }

  private follow(source: AbortSignal, why: () => CallStop): void {
    const listener = (): void => this.stop(why());
    if (source.aborted) {
      listener();
      return;
    }
    source.addEventListener('abort', listener, { once: true });
    this.undo.push(() => source.removeEventListener('abort', listener));
  }

  private stop(why: CallStop): void {
    if (this.stopped !== null) return;
    this.stopped = why;
    this.controller.abort(why);
  }
}
