/** What a process waits for: it is handed the function that lets the process go on. */
export type Wait = (resume: (value?: unknown) => void) => void;

/** Something that takes simulated time: a generator that yields what it waits for. */
export type Process<T> = Generator<Wait, T, unknown>;

interface Due {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

/**
 * The clock of a simulation in milliseconds and the queue of what is due. Equal programs give equal runs: what is due at the same
 * time happens in the order in which it was asked for. It refuses to know of real time.
 */
export class SimulatedTime {
  /** A binary heap, the earliest first. */
  private readonly due: Due[] = [];
  private order = 0;

  constructor(private current: number) {}

  get now(): number {
    return this.current;
  }

  after(ms: number, act: () => void): void {
    this.due.push({ at: this.current + Math.max(0, ms), order: (this.order += 1), act });
    let place = this.due.length - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.isBefore(place, parent)) return;
      this.swap(place, parent);
      place = parent;
    }
  }

  /** Lets a process run beside everything else; `done` gets its result. */
  start<T>(process: Process<T>, done: (result: T) => void = () => undefined): void {
    const go = (value?: unknown): void => {
      const step = process.next(value);
      if (step.done === true) done(step.value);
      else step.value(go);
    };
    go();
  }

  *sleep(ms: number): Process<void> {
    yield (resume) => this.after(ms, resume);
  }

  /** Lets everything happen that is due before an instant; what is due later never does. */
  run(until: number): void {
    for (let first = this.due[0]; first !== undefined && first.at < until; first = this.due[0]) {
      this.takeFirst();
      this.current = first.at;
      first.act();
    }
    this.current = until;
  }

  private takeFirst(): void {
    const last = this.due.pop();
    if (last === undefined || this.due.length === 0) return;
    this.due[0] = last;
    for (let place = 0; ;) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let least = place;
      if (left < this.due.length && this.isBefore(left, least)) least = left;
      if (right < this.due.length && this.isBefore(right, least)) least = right;
      if (least === place) return;
      this.swap(place, least);
      place = least;
    }
  }

  private isBefore(a: number, b: number): boolean {
    const [one, other] = [this.due[a] as Due, this.due[b] as Due];
    return one.at < other.at || (one.at === other.at && one.order < other.order);
  }

  private swap(a: number, b: number): void {
    [this.due[a], this.due[b]] = [this.due[b] as Due, this.due[a] as Due];
  }
}

/** Waits for a value that something else hands over. */
export function* handedOver<T>(ask: (resume: (value: T) => void) => void): Process<T> {
  return (yield ask) as T;
}
