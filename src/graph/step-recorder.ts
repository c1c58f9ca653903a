import { performance } from 'node:perf_hooks';
import type { OrchestrationEvent } from '../protocol/orchestration-event';
import type { AgentStepRecord, AgentStepStore } from '../ports/agent-step-store.port';
import type { Clock } from '../ports/clock.port';
import type { IdSource } from '../ports/id-source.port';

/** Attempts that end within this time of each other are written together, in ms. */
const GATHER_MS = 100;
/** How often the last steps are offered to a store that refuses them. */
const LAST_OFFERS = 3;

/** When an attempt began: the wall clock for its record, the steady clock for its duration. */
export interface AttemptStart {
  readonly started_at: Date;
  readonly steady_ms: number;
}

/** Sizes of an attempt in bytes, as its node told them. */
export interface AttemptSizes {
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
}

/**
 * Hands the timed attempts of one run to the store while the run goes on. It refuses to hold the run up or to change it:
 * a batch that the store does not take is offered again with the next one and, three times, at the end of the run; what is
 * refused then as well is lost, and `flush` answers how many steps that are. The run's events do not depend on any of this.
 */
export class StepRecorder {
  private waiting: AgentStepRecord[] = [];
  private inFlight = 0;
  private writing: Promise<void> | null = null;
  private gathering: NodeJS.Timeout | undefined;

  constructor(
    private readonly runId: string,
    private readonly store: AgentStepStore,
    private readonly ids: IdSource,
    private readonly clock: Clock,
  ) {}

  start(): AttemptStart {
    return { started_at: this.clock.now(), steady_ms: performance.now() };
  }

  handled(event: OrchestrationEvent, start: AttemptStart, sizes: AttemptSizes): void {
    this.waiting.push({
      id: this.ids.next(),
      run_id: this.runId,
      node: event.node,
      round: event.attempt.round,
      attempt: event.attempt.attempt,
      outcome: event.outcome,
      reason_code: event.reason_code,
      started_at: start.started_at,
      duration_ms: Math.round((performance.now() - start.steady_ms) * 1000) / 1000,
      input_bytes: sizes.input_bytes,
      output_bytes: sizes.output_bytes,
      input_tokens: null,
      output_tokens: null,
    });
    this.gathering ??= setTimeout(() => {
      this.gathering = undefined;
      this.writing ??= this.write().finally(() => {
        this.writing = null;
      });
    }, GATHER_MS).unref();
  }

  /**
   * Waits for what is being written, offers the rest a last time, and answers how many steps were lost. A store that does
   * not answer within `limit_ms` is left alone; what it still holds counts as lost.
   */
  async flush(limit_ms: number): Promise<number> {
    clearTimeout(this.gathering);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limit_ms);
    });
    const settled = async (): Promise<void> => {
      if (this.writing !== null) await this.writing;
      for (let offer = 0; offer < LAST_OFFERS && this.waiting.length > 0; offer += 1) await this.write();
    };
    await Promise.race([settled(), late]);
    clearTimeout(timer);
    return this.waiting.length + this.inFlight;
  }

  private async write(): Promise<void> {
    const batch = this.waiting;
    this.waiting = [];
    this.inFlight = batch.length;
    try {
      await this.store.record(batch);
    } catch {
      this.waiting = [...batch, ...this.waiting];
    } finally {
      this.inFlight = 0;
    }
  }
}
