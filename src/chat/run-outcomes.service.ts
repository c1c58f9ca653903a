import { Injectable, Logger } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { OutcomeEvaluator } from '../evaluation/outcome.evaluator';
import { Clock } from '../ports/clock.port';
import { Redactor } from '../ports/redactor.port';
import { RunOutcomeStore, type RunOutcomeRecord } from '../ports/run-outcome-store.port';
import { RunStore } from '../ports/run-store.port';
import { RUN_OUTCOMES, type RunOutcomeKind } from '../vocabulary/run-lifecycle';

/** Longest name of an actual cause, in UTF-16 units. */
const MAX_CAUSE_LENGTH = 255;
/** A character that a reader sees. */
const VISIBLE = /[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
/** What has no place in a name: control characters, and halves of a character. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;
const CAUSE_HINT = `must be the name of what it really was, in 1 to ${MAX_CAUSE_LENGTH} characters on one line`;

/** What somebody found out: the answer was right, or it was wrong and what it really was, where that is known. */
export interface ToldOutcome {
  readonly outcome: RunOutcomeKind;
  /** With `wrong` alone: a confirmed answer names its cause itself. */
  readonly actualCause?: string | null | undefined;
}

/** An outcome as it is read, instants in UTC. */
export interface OutcomeView {
  readonly runId: string;
  readonly outcome: RunOutcomeKind;
  readonly actualCause: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * Notes what it really was. The newest word counts, the same word twice changes nothing, and a run with an answer of the graph
 * is scored by it; a score that fails leaves the outcome as it is. It refuses a run that has not ended, and keeps no credential.
 */
@Injectable()
export class RunOutcomes {
  private readonly logger = new Logger(RunOutcomes.name);

  constructor(
    private readonly runs: RunStore,
    private readonly outcomes: RunOutcomeStore,
    private readonly evaluator: OutcomeEvaluator,
    private readonly redactor: Redactor,
    private readonly clock: Clock,
  ) {}

  /** @throws DiagnosisError REQUEST_INVALID; NOT_FOUND (run); CONFLICT for a run that has not ended; STORE_UNAVAILABLE */
  async tell(runId: string, told: ToldOutcome): Promise<OutcomeView> {
    const outcome = outcomeOf(told.outcome);
    const cause = this.causeOf(told);
    const run = await this.runs.find(runId);
    if (run === null) throw noSuchRun();
    if (run.status === 'PENDING' || run.status === 'RUNNING') {
      throw new DiagnosisError('CONFLICT', 'The run has not ended yet; tell its outcome once it has.', { status: run.status });
    }
    const known = await this.outcomes.find(runId);
    if (known?.outcome !== outcome || known.actual_cause !== cause) {
      await this.outcomes.put({ run_id: runId, outcome, actual_cause: cause }, this.clock.now());
    }
    // Also for a word that was known: its score may be missing.
    await this.evaluate(runId);
    return this.outcome(runId);
  }

  /** @throws DiagnosisError NOT_FOUND when nobody told an outcome, or there is no such run; STORE_UNAVAILABLE */
  async outcome(runId: string): Promise<OutcomeView> {
    const stored = await this.outcomes.find(runId);
    if (stored !== null) return viewOf(stored);
    if ((await this.runs.find(runId)) === null) throw noSuchRun();
    throw new DiagnosisError('NOT_FOUND', 'Nobody has told the outcome of this run yet.');
  }

  private causeOf({ outcome, actualCause }: ToldOutcome): string | null {
    if (actualCause === undefined || actualCause === null) return null;
    if (outcome === 'confirmed') throw refusal('actualCause', 'goes with outcome `wrong` alone; leave it out');
    const name = typeof actualCause === 'string' ? actualCause.trim() : '';
    if (!VISIBLE.test(name) || UNFIT.test(name) || name.length > MAX_CAUSE_LENGTH) throw refusal('actualCause', CAUSE_HINT);
    // A mark may be longer than the credential that it stands for.
    return this.redactor
      .redact(name)
      .slice(0, MAX_CAUSE_LENGTH)
      .replace(/\p{Cs}$/u, '');
  }

  private async evaluate(runId: string): Promise<void> {
    try {
      await this.evaluator.evaluate(runId);
    } catch (error) {
      this.logger.warn({ msg: 'evaluation failed', runId, code: DiagnosisError.is(error) ? error.code : 'INTERNAL' });
    }
  }
}

function refusal(field: string, problem: string): DiagnosisError {
  return new DiagnosisError('REQUEST_INVALID', `The request is not valid. ${field}: ${problem}.`, { field });
}

function outcomeOf(outcome: string): RunOutcomeKind {
  const known = RUN_OUTCOMES.find((kind) => kind === outcome);
  if (known === undefined) throw refusal('outcome', `must be ${RUN_OUTCOMES.join(' or ')}`);
  return known;
}

function noSuchRun(): DiagnosisError {
  return new DiagnosisError('NOT_FOUND', 'There is no such run; `runId` of an answer names one.');
}

function viewOf({ run_id, outcome, actual_cause, created_at, updated_at }: RunOutcomeRecord): OutcomeView {
  return {
    runId: run_id,
    outcome,
    actualCause: actual_cause,
    createdAt: created_at.toISOString(),
    updatedAt: updated_at.toISOString(),
  };
}
