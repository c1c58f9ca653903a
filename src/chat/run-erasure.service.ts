import { Injectable } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { Clock } from '../ports/clock.port';
import { RunEraser } from '../ports/run-eraser.port';
import type { RunStatus } from '../vocabulary/run-lifecycle';
import { ActiveRuns } from './active-runs.service';

/** How far an erasure is. `ERASING`: the run has not ended; it goes right after its end. */
export type Erasure =
  | { readonly runId: string; readonly state: 'ERASED' }
  | { readonly runId: string; readonly state: 'ERASING'; readonly status: RunStatus };

/**
 * Erases one run because somebody asks for it. It says ERASED only when nothing of the run is left, and refuses to erase a run under
 * the hands of whoever works on it: such a run is cancelled, at once in this process and within a third of a lease in another one.
 */
@Injectable()
export class RunErasure {
  constructor(
    private readonly eraser: RunEraser,
    private readonly activeRuns: ActiveRuns,
    private readonly clock: Clock,
  ) {}

  /** @throws DiagnosisError NOT_FOUND; STORE_UNAVAILABLE, after which the next sweep goes on; CONFLICT where the host's rows refer to it */
  async erase(runId: string): Promise<Erasure> {
    const at = this.clock.now();
    const status = await this.eraser.request(runId, at);
    if (status === null) throw new DiagnosisError('NOT_FOUND', 'There is no such run; `runId` of an answer names one.');
    if (status === 'PENDING' || status === 'RUNNING') {
      this.activeRuns.cancel(runId);
      return { runId, state: 'ERASING', status };
    }
    await this.eraser.erase([runId], at);
    return { runId, state: 'ERASED' };
  }
}
