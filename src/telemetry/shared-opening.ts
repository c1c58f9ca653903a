import { DiagnosisError } from '../errors/diagnosis-error';

/** Something opened that must be closed. */
export interface Closeable {
  close(): Promise<void>;
}

function whenAborted(signal: AbortSignal | undefined): { readonly promise: Promise<never>; readonly stop: () => void } {
  let stop = (): void => undefined;
  const promise = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(new DiagnosisError('CANCELLED', 'The question to the telemetry was cancelled.'));
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    stop = () => signal?.removeEventListener('abort', onAbort);
  });
  promise.catch(() => undefined);
  return { promise, stop };
}

/**
 * One opening that several questions share. It is aborted when everybody who waits for it has given up, and closed when it
 * was retired and the last question over it has ended.
 */
export class SharedOpening<T extends Closeable> {
  private readonly abandoned = new AbortController();
  private readonly opened: Promise<T>;
  private settled = false;
  private users = 0;
  private retired = false;
  private closing: Promise<void> | null = null;

  constructor(
    readonly fingerprint: string,
    open: (signal: AbortSignal) => Promise<T>,
  ) {
    this.opened = open(this.abandoned.signal).finally(() => {
      this.settled = true;
    });
    this.opened.catch(() => {
      this.retired = true;
    });
  }

  /** Whether a new question may still join. */
  get usable(): boolean {
    return !this.retired && !this.abandoned.signal.aborted;
  }

  async use<R>(work: (opened: T) => Promise<R>, signal: AbortSignal | undefined): Promise<R> {
    this.users += 1;
    const aborted = whenAborted(signal);
    try {
      return await work(await Promise.race([this.opened, aborted.promise]));
    } finally {
      aborted.stop();
      this.users -= 1;
      if (this.users === 0 && !this.settled) this.abandoned.abort();
      if (this.users === 0 && this.retired) await this.shut();
    }
  }

  /** No further question joins; answers when nothing of it is left, unless questions are still under way. */
  async retire(): Promise<void> {
    this.retired = true;
    if (this.users === 0) await this.shut();
  }

  private async shut(): Promise<void> {
    this.closing ??= this.opened.then(
      (opened) => opened.close(),
      () => undefined,
    );
    await this.closing;
  }
}
