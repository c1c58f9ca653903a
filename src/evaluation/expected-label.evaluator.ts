import { Inject, Injectable, Optional } from '@nestjs/common';
import { Clock } from '../ports/clock.port';
import { EvaluationStore } from '../ports/evaluation-store.port';
import { IdSource } from '../ports/id-source.port';
import { RunEvaluator } from '../ports/run-evaluator.port';
import { RunStore, type RunRecord } from '../ports/run-store.port';
import type { AssessmentRole } from '../vocabulary/evidence-terms';
import { placeAmongCauses } from './cause-place';

/** The subject that is known to be the cause of a run's incident, or null when nobody knows. */
export type ExpectedLabels = (run: Pick<RunRecord, 'id' | 'session_id' | 'message'>) => string | null | Promise<string | null>;

/** Token of the optional `ExpectedLabels` of a host: a bench gives one, production has none. */
export const EXPECTED_LABELS = Symbol('EXPECTED_LABELS');

/** Kind under which these scores are stored. */
const EXPECTED_LABEL_KIND = 'expected_label';

const SUSPECTED: ReadonlySet<AssessmentRole> = new Set(['cause', 'contributing', 'trigger']);

/**
 * Scores the causes of a finished run against an expected label, once per run: the reciprocal of the label's place among
 * the suspected causes (1 for the first, 0 when it is missing, null without a label). Causes of one rank share the worst of
 * their places, so that naming everything first earns nothing. It refuses to score a run that is no SUCCESS of the graph, and
 * gives one whose causes are not kept no score.
 * Reciprocal rank: Voorhees, TREC-8 question answering track.
 */
@Injectable()
export class ExpectedLabelEvaluator extends RunEvaluator {
  constructor(
    private readonly runs: RunStore,
    private readonly evaluations: EvaluationStore,
    private readonly clock: Clock,
    private readonly ids: IdSource,
    @Optional() @Inject(EXPECTED_LABELS) private readonly labelOf: ExpectedLabels | null = null,
  ) {
    super();
  }

  async evaluate(runId: string): Promise<void> {
    const run = await this.runs.find(runId);
    if (run === null || run.status !== 'SUCCESS' || run.agent_flow !== 'DIAGNOSIS_GRAPH') return;
    const label = this.labelOf === null || !run.keeps_content ? null : await this.labelOf(run);
    const place = label === null ? null : placeAmongCauses((subject) => subject === label, run.causes, SUSPECTED);
    await this.evaluations.insert({
      id: this.ids.next(),
      run_id: runId,
      kind: EXPECTED_LABEL_KIND,
      score: label === null ? null : place === null ? 0 : 1 / place,
      detail: {
        labelled: label !== null,
        place,
        suspected: run.causes.filter(({ role }) => SUSPECTED.has(role)).length,
        symptoms: run.causes.filter(({ role }) => role === 'symptom').length,
        ruled_out: run.causes.filter(({ role }) => role === 'ruled_out').length,
        degraded: run.degraded,
      },
      created_at: this.clock.now(),
    });
  }
}
