import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { CheckpointStore, RUN_REALM } from '../ports/checkpoint-store.port';
import { Clock } from '../ports/clock.port';
import { RunEraser, type RunPosition } from '../ports/run-eraser.port';
import { RunStore } from '../ports/run-store.port';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A session is there a moment before its first run. */
const SESSION_GRACE_MS = 60 * MINUTE_MS;
/** The first sweep of a process comes after 5 to 15 % of the time between two, so that processes do not sweep at once. */
const FIRST_AFTER = 0.05;
const SPREAD = 0.1;

/** What a sweep is to do; what is left out is taken from the options. */
export interface SweepRequest {
  /** Tells what would go, and changes nothing. @default false */
  readonly dryRun?: boolean;
  /** Ended runs that came in longer ago go; null keeps them whatever their age. */
  readonly maxAgeDays?: number | null;
  /** Of more runs than these the oldest ended ones go; null keeps any number. */
  readonly maxRuns?: number | null;
  /** Stops between two batches; what was erased until then stays erased. */
  readonly signal?: AbortSignal;
  /** Told after each batch how many runs are gone. */
  readonly onProgress?: (erased: number) => void;
}

/** What a sweep did, in numbers of rows; of a dry run what it would have done. */
export interface SweepReport {
  readonly dryRun: boolean;
  /** False when it was stopped before its end. */
  readonly complete: boolean;
  /** Runs of dead processes that were ended as FAILED. */
  readonly deadRuns: number;
  readonly erased: { readonly byRequest: number; readonly byAge: number; readonly byCount: number };
  readonly sessions: number;
  /** Runs whose checkpoints were left behind; null in a dry run, which does not look for them. */
  readonly checkpoints: number | null;
}

/**
 * Keeps the store within its bounds: runs of dead processes end; what somebody asked to erase goes, then what is too old, then what is
 * too much, oldest first; sessions and checkpoints without a run go. It refuses to erase a run that waits or works. Several may sweep
 * one database at once. It sweeps by itself where the options bound anything, never at start-up, and keeps no process alive.
 */
@Injectable()
export class RetentionService implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(RetentionService.name);
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly runs: RunStore,
    private readonly eraser: RunEraser,
    private readonly checkpoints: CheckpointStore,
    private readonly clock: Clock,
    @Inject(DIAGNOSIS_OPTIONS) private readonly options: DiagnosisOptions,
  ) {}

  onModuleInit(): void {
    const { maxAgeDays, maxRuns } = this.options.retention;
    if (maxAgeDays !== null || maxRuns !== null || this.options.checkpoints.keep) this.schedule(FIRST_AFTER);
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    this.stopping.abort();
    await this.sweeping;
  }

  /** @throws DiagnosisError STORE_UNAVAILABLE; CONFLICT where rows of the host refer to a run */
  async sweep(request: SweepRequest = {}): Promise<SweepReport> {
    const { maxAgeDays = this.options.retention.maxAgeDays, maxRuns = this.options.retention.maxRuns } = request;
    const now = this.clock.now();
    const tooOld = maxAgeDays === null ? null : { created_at: new Date(now.getTime() - maxAgeDays * DAY_MS), id: '' };
    const tooMuch = maxRuns === null ? null : await this.eraser.firstBeyond(maxRuns);
    return request.dryRun === true ? this.foresee(now, tooOld, tooMuch) : this.carryOut(request, now, tooOld, tooMuch);
  }

  private async foresee(now: Date, tooOld: RunPosition | null, tooMuch: RunPosition | null): Promise<SweepReport> {
    const byAge = tooOld === null ? 0 : await this.eraser.countEnded(tooOld);
    const byCount = tooMuch === null ? 0 : Math.max(0, (await this.eraser.countEnded(tooMuch)) - byAge);
    let sessions = 0;
    for await (const ids of this.eraser.emptySessions(sessionsBefore(now))) sessions += ids.length;
    const byRequest = await this.eraser.countRequested();
    const deadRuns = await this.eraser.countDead(now);
    return { dryRun: true, complete: true, deadRuns, erased: { byRequest, byAge, byCount }, sessions, checkpoints: null };
  }

  private async carryOut(
    { signal, onProgress }: SweepRequest,
    now: Date,
    tooOld: RunPosition | null,
    tooMuch: RunPosition | null,
  ): Promise<SweepReport> {
    let [erasedSoFar, sessions, checkpoints] = [0, 0, 0];
    const isStopped = (): boolean => signal?.aborted === true;
    const eraseUpTo = async (position: RunPosition | null): Promise<number> => {
      let erased = 0;
      while (position !== null && !isStopped()) {
        const ids = await this.eraser.ended(position, this.options.retention.batch);
        if (ids.length === 0) break;
        erased += await this.eraser.erase(ids, now);
        onProgress?.(erasedSoFar + erased);
      }
      erasedSoFar += erased;
      return erased;
    };
    const deadRuns = await this.runs.failExpired(now);
    const byRequest = await this.eraser.eraseRequested(now, signal);
    erasedSoFar = byRequest;
    const byAge = await eraseUpTo(tooOld);
    const byCount = await eraseUpTo(tooMuch);
    if (!isStopped()) {
      const { deadlineMs, leaseMs } = this.options.run;
      checkpoints = await this.checkpoints.sweep(RUN_REALM, new Date(now.getTime() - deadlineMs - 2 * leaseMs));
      for await (const ids of this.eraser.emptySessions(sessionsBefore(now))) {
        sessions += await this.eraser.eraseSessions(ids);
        if (isStopped()) break;
      }
    }
    const erased = { byRequest, byAge, byCount };
    return { dryRun: false, complete: !isStopped(), deadRuns, erased, sessions, checkpoints };
  }

  private schedule(after: number): void {
    const delay = this.options.retention.everyMinutes * MINUTE_MS * (after + SPREAD * Math.random());
    this.timer = setTimeout(() => {
      this.sweeping = this.sweepQuietly().then(() => {
        if (!this.stopping.signal.aborted) this.schedule(1 - SPREAD / 2);
      });
    }, delay);
    this.timer.unref();
  }

  private async sweepQuietly(): Promise<void> {
    try {
      const { erased, sessions, checkpoints, complete } = await this.sweep({ signal: this.stopping.signal });
      if (Object.values(erased).some((count) => count > 0)) {
        this.logger.log({ msg: 'runs were erased', ...erased, sessions, checkpoints, complete });
      }
    } catch (error) {
      this.logger.error({ msg: 'sweep failed', code: DiagnosisError.is(error) ? error.code : 'INTERNAL' });
    }
  }
}

function sessionsBefore(now: Date): Date {
  return new Date(now.getTime() - SESSION_GRACE_MS);
}
