import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import { Clock } from '../ports/clock.port';
import { RunEraser } from '../ports/run-eraser.port';
import { RunStore, type RunLease } from '../ports/run-store.port';
import type { AbortReason } from '../vocabulary/run-lifecycle';

/** Longest that a shutdown waits for runs to write their last word, in ms. */
const DRAIN_TIMEOUT_MS = 5_000;

/** A run that this process works on. */
export interface ActiveRun {
  readonly runId: string;
  /** Aborted with CANCELLED, LEASE_LOST or DRAIN. */
  readonly signal: AbortSignal;
  /** Aborted with RUN_DEADLINE when the run's time is over. */
  readonly deadline: AbortSignal;
  /** A fresh lease of this process. */
  lease(): RunLease;
  /** Starts renewing the lease; to be called once the run is RUNNING. */
  keepLease(): void;
  /** Stops every timer; the run no longer counts. */
  end(): void;
}

/**
 * Runs of this process: how many there may be, their signals and leases, the sweep of runs whose process died or that somebody
 * asked to erase, and the orderly end at shutdown. It refuses more runs than the options allow, and any during shutdown, with
 * OVERLOADED.
 */
@Injectable()
export class ActiveRuns implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Who this process is to the leases that it holds. */
  readonly owner = randomUUID();
  private readonly logger = new Logger(ActiveRuns.name);
  private readonly active = new Map<string, { readonly controller: AbortController; readonly ended: Promise<void> }>();
  private readonly stopping = new AbortController();
  private sweepTimer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private draining = false;

  constructor(
    private readonly runs: RunStore,
    private readonly eraser: RunEraser,
    private readonly clock: Clock,
    @Inject(DIAGNOSIS_OPTIONS) private readonly options: DiagnosisOptions,
  ) {}

  get size(): number {
    return this.active.size;
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.endDead();
    // What was asked for before may be much, and nobody waits for it.
    this.sweeping = this.eraseRequested();
    this.sweepTimer = setInterval(() => {
      this.sweeping = Promise.all([this.endDead(), this.sweeping]).then(() => this.eraseRequested());
    }, this.options.run.leaseMs);
    this.sweepTimer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.draining = true;
    clearInterval(this.sweepTimer);
    this.stopping.abort();
    const ends = [...this.active.values()].map(({ controller, ended }) => {
      abort(controller, 'DRAIN');
      return ended;
    });
    ends.push(this.sweeping);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_TIMEOUT_MS);
    });
    await Promise.race([Promise.all(ends), patience]);
    clearTimeout(timer);
  }

  /** Takes a run on. @param caller aborts it with CANCELLED */
  begin(runId: string, caller?: AbortSignal): ActiveRun {
    if (this.draining) throw new DiagnosisError('OVERLOADED', 'The service is shutting down; ask again once it is back.');
    const { maxConcurrent, leaseMs, deadlineMs } = this.options.run;
    if (this.active.size >= maxConcurrent) {
      throw new DiagnosisError('OVERLOADED', `At most ${maxConcurrent} runs work at once; ask again in a moment.`, {
        maxConcurrent,
      });
    }
    const controller = new AbortController();
    const deadline = new AbortController();
    const cancel = (): void => abort(controller, 'CANCELLED');
    if (caller?.aborted === true) cancel();
    caller?.addEventListener('abort', cancel, { once: true });
    const deadlineTimer = setTimeout(() => abort(deadline, 'RUN_DEADLINE'), deadlineMs);
    deadlineTimer.unref();
    let renewTimer: NodeJS.Timeout | undefined;
    let resolveEnded = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      resolveEnded = resolve;
    });
    this.active.set(runId, { controller, ended });

    const lease = (): RunLease => ({ owner: this.owner, until: new Date(this.clock.now().getTime() + leaseMs) });
    return {
      runId,
      signal: controller.signal,
      deadline: deadline.signal,
      lease,
      keepLease: () => {
        renewTimer = setInterval(() => void this.renew(runId, lease(), controller), Math.max(100, Math.floor(leaseMs / 3)));
        renewTimer.unref();
      },
      end: () => {
        clearTimeout(deadlineTimer);
        clearInterval(renewTimer);
        caller?.removeEventListener('abort', cancel);
        this.active.delete(runId);
        resolveEnded();
      },
    };
  }

  /** Cancels a run of this process; answers whether it was one. */
  cancel(runId: string): boolean {
    const run = this.active.get(runId);
    if (run === undefined) return false;
    abort(run.controller, 'CANCELLED');
    return true;
  }

  private async renew(runId: string, lease: RunLease, controller: AbortController): Promise<void> {
    try {
      if (!(await this.runs.renewLease(runId, lease))) {
        if (this.active.has(runId)) abort(controller, 'LEASE_LOST');
      } else if (await this.eraser.isRequested(runId)) {
        // Another process was asked for it.
        abort(controller, 'CANCELLED');
      }
    } catch (error) {
      // The lease has time left for another try; should it run out, the store refuses the run's terminal word.
      this.logger.warn({ msg: 'lease not renewed', runId, code: codeOf(error) });
    }
  }

  private async eraseRequested(): Promise<void> {
    try {
      const count = await this.eraser.eraseRequested(this.clock.now(), this.stopping.signal);
      if (count > 0) this.logger.log({ msg: 'runs were erased that somebody asked for', count });
    } catch (error) {
      this.logger.error({ msg: 'erasure of runs failed', code: codeOf(error) });
    }
  }

  private async endDead(): Promise<void> {
    if (this.draining) return;
    try {
      const count = await this.runs.failExpired(this.clock.now());
      if (count > 0) this.logger.warn({ msg: 'runs of a dead process were ended as FAILED', count });
    } catch (error) {
      this.logger.error({ msg: 'sweep of expired runs failed', code: codeOf(error) });
    }
  }
}

function abort(controller: AbortController, reason: AbortReason): void {
  if (!controller.signal.aborted) controller.abort(reason);
}

function codeOf(error: unknown): string {
  return DiagnosisError.is(error) ? error.code : 'INTERNAL';
}
