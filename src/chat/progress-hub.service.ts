import { Injectable } from '@nestjs/common';
import { Subject, type Observable } from 'rxjs';
import { ProgressSink, type ProgressEvent } from '../ports/progress-sink.port';

/** Most events of one run that are passed on; the longest path makes far fewer. */
const MAX_EVENTS_PER_RUN = 1_000;

interface OpenRun {
  readonly subject: Subject<ProgressEvent>;
  left: number;
}

/**
 * Passes the progress of running runs to whoever watches. It keeps no history, holds nothing of a run that has ended, drops
 * what goes beyond a bound, and refuses to let a watcher's exception reach the run.
 */
@Injectable()
export class ProgressHub extends ProgressSink {
  private readonly open = new Map<string, OpenRun>();

  /** Starts passing on a run's events; ends with `release`. */
  watch(runId: string): Observable<ProgressEvent> {
    const present = this.open.get(runId);
    if (present !== undefined) return present.subject.asObservable();
    const subject = new Subject<ProgressEvent>();
    this.open.set(runId, { subject, left: MAX_EVENTS_PER_RUN });
    return subject.asObservable();
  }

  override publish(runId: string, event: ProgressEvent): void {
    const run = this.open.get(runId);
    if (run === undefined || run.left === 0) return;
    run.left -= 1;
    run.subject.next(event);
  }

  /** Completes and forgets a run. */
  release(runId: string): void {
    this.open.get(runId)?.subject.complete();
    this.open.delete(runId);
  }

  /** Runs that are being watched. */
  get size(): number {
    return this.open.size;
  }
}
