import { handedOver, type Process, type SimulatedTime } from './simulated-time';

/**
 * Something of which there are only so many at a time: processors, connections, a lock. Who asks first is served first. It
 * refuses to be given back more often than it was taken.
 */
export class LimitedResource {
  private taken = 0;
  private readonly queue: ((got: boolean) => void)[] = [];
  private busySince = 0;
  private busyMs = 0;

  constructor(
    private readonly time: SimulatedTime,
    readonly capacity: number,
  ) {
    this.busySince = time.now;
  }

  get inUse(): number {
    return this.taken;
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** Takes one; false when none came free within the time. */
  *acquire(timeoutMs = Number.POSITIVE_INFINITY): Process<boolean> {
    if (this.taken < this.capacity) {
      this.count();
      this.taken += 1;
      return true;
    }
    return yield* handedOver<boolean>((resume) => {
      this.queue.push(resume);
      if (!Number.isFinite(timeoutMs)) return;
      this.time.after(timeoutMs, () => {
        const place = this.queue.indexOf(resume);
        if (place < 0) return;
        this.queue.splice(place, 1);
        resume(false);
      });
    });
  }

  release(): void {
    const next = this.queue.shift();
    if (next !== undefined) {
      next(true);
      return;
    }
    this.count();
    this.taken = Math.max(0, this.taken - 1);
  }

  /** Milliseconds that were spent in use since the last call, summed over all that there are. */
  takeBusy(): number {
    this.count();
    const busy = this.busyMs;
    this.busyMs = 0;
    return busy;
  }

  private count(): void {
    this.busyMs += this.taken * (this.time.now - this.busySince);
    this.busySince = this.time.now;
  }
}
