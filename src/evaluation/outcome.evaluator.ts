import { Injectable } from '@nestjs/common';
import { Clock } from '../ports/clock.port';
import { EvaluationStore } from '../ports/evaluation-store.port';
import { IdSource } from '../ports/id-source.port';
import { RunEvaluator } from '../ports/run-evaluator.port';
import { RunOutcomeStore, type RunOutcomeRecord } from '../ports/run-outcome-store.port';
import { RunStore, type RunRecord } from '../ports/run-store.port';
import type { AssessmentRole } from '../vocabulary/evidence-terms';
import { placeAmongCauses } from './cause-place';

/** Kind under which these scores are stored. */
const OUTCOME_KIND = 'outcome';
/** How often an outcome that changes meanwhile is scored anew. */
const MAX_LOOKS = 5;

const BLAMED: ReadonlySet<AssessmentRole> = new Set(['cause', 'contributing']);

/**
 * Scores a run by what somebody found out afterwards, in the place of an earlier such score: 1 for `confirmed`; for `wrong` the
 * reciprocal of the actual cause's place among the causes and contributing ones that the run named, 0 when it is none of them
 * or nobody said what it was, null where the run's causes were not kept. Names are compared without regard to case. It refuses
 * to score a run without an outcome, and one that is no SUCCESS of the graph.
 */
@Injectable()
export class OutcomeEvaluator extends RunEvaluator {
  constructor(
    private readonly runs: RunStore,
    private readonly outcomes: RunOutcomeStore,
    private readonly evaluations: EvaluationStore,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {
    super();
  }

  async evaluate(runId: string): Promise<void> {
    const run = await this.runs.find(runId);
    if (run === null || run.status !== 'SUCCESS' || run.agent_flow !== 'DIAGNOSIS_GRAPH') return;
    let told = await this.outcomes.find(runId);
    // Whoever scores last looks again, so that of two outcomes told at once the one that is kept is the one that is scored.
    for (let looks = 1; told !== null && looks <= MAX_LOOKS; looks += 1) {
      await this.score(run, told);
      const kept = await this.outcomes.find(runId);
      if (kept?.outcome === told.outcome && kept.actual_cause === told.actual_cause) return;
      told = kept;
    }
  }

  private async score(run: RunRecord, told: RunOutcomeRecord): Promise<void> {
    const { outcome, actual_cause } = told;
    const place =
      actual_cause === null ? null : placeAmongCauses((subject) => isSameName(subject, actual_cause), run.causes, BLAMED);
    await this.evaluations.put({
      id: this.ids.next(),
      run_id: run.id,
      kind: OUTCOME_KIND,
      score: scoreOf(run, told, place),
      detail: {
        outcome,
        cause_known: actual_cause !== null,
        place,
        named: run.causes.filter(({ role }) => BLAMED.has(role)).length,
        degraded: run.degraded,
      },
      created_at: this.clock.now(),
    });
  }
}

function scoreOf(run: RunRecord, { outcome, actual_cause }: RunOutcomeRecord, place: number | null): number | null {
  if (outcome === 'confirmed') return 1;
  if (actual_cause !== null && !run.keeps_content) return null;
  return place === null ? 0 : 1 / place;
}

function isSameName(one: string, other: string): boolean {
  return one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase();
}
