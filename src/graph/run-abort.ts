import { DiagnosisError } from '../errors/diagnosis-error';
import { ABORT_REASONS, type AbortReason } from '../vocabulary/run-lifecycle';

/**
 * Why a run's signal was aborted, null while it was not. The reason is a value on the signal, never a text; an abort
 * without one of the known reasons counts as CANCELLED.
 */
export function abortReasonOf(signal: AbortSignal | undefined): AbortReason | null {
  if (signal === undefined || !signal.aborted) return null;
  const reason: unknown = signal.reason;
  const word = DiagnosisError.is(reason) ? reason.code : reason;
  return ABORT_REASONS.find((known) => known === word) ?? 'CANCELLED';
}

/** Leaves an aborted run by a normal error, which the engine may write to; it carries a code and no text of a node. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  const reason = abortReasonOf(signal);
  if (reason === null) return;
  throw new DiagnosisError(reason === 'LEASE_LOST' ? 'LEASE_LOST' : 'CANCELLED', 'The run was ended from outside.', { reason });
}

/**
 * Settles as `work` does, or rejects with `ended` as soon as the signal is aborted, whichever is first. What `work` does
 * afterwards is ignored, a late rejection too. The listener stands before the work starts and goes with it.
 */
export function raceSignal<T>(work: () => Promise<T>, signal: AbortSignal | undefined, ended: DiagnosisError): Promise<T> {
  const started = async (): Promise<T> => work();
  if (signal === undefined) return started();
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(ended);
    signal.addEventListener('abort', onAbort, { once: true });
    started()
      .finally(() => signal.removeEventListener('abort', onAbort))
      .then(resolve, reject);
  });
}
