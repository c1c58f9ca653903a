import { OutcomeEvaluator } from '../../src/evaluation/outcome.evaluator';
import type { EvaluationRecord, EvaluationStore } from '../../src/ports/evaluation-store.port';
import type { RunOutcomeRecord, RunOutcomeStore } from '../../src/ports/run-outcome-store.port';
import type { RunStore } from '../../src/ports/run-store.port';

const at = new Date(1000);
const WRONG: RunOutcomeRecord = { run_id: 'r', outcome: 'wrong', actual_cause: 'cache', created_at: at, updated_at: at };
const CONFIRMED: RunOutcomeRecord = { ...WRONG, outcome: 'confirmed', actual_cause: null };

/** Scores that were put, in order, while the outcome is read as `told` says; its last word stays. */
async function scoresWhile(told: readonly (RunOutcomeRecord | null)[]): Promise<EvaluationRecord['score'][]> {
  const scores: EvaluationRecord['score'][] = [];
  const causes = [
    { rank: 1, subject: 'order-db', role: 'cause' },
    { rank: 2, subject: 'cache', role: 'cause' },
  ];
  const run = { id: 'r', status: 'SUCCESS', agent_flow: 'DIAGNOSIS_GRAPH', causes, degraded: false, keeps_content: true };
  let reads = 0;
  const outcomes = { find: async () => told[Math.min(reads++, told.length - 1)] ?? null } as unknown as RunOutcomeStore;
  const evaluations = { put: async ({ score }: EvaluationRecord) => void scores.push(score) } as unknown as EvaluationStore;
  const runs = { find: async () => run } as unknown as RunStore;
  await new OutcomeEvaluator(runs, outcomes, evaluations, { now: () => at }, { next: () => 'id' }).evaluate('r');
  return scores;
}

describe('OutcomeEvaluator', () => {
  it.each<[string, (RunOutcomeRecord | null)[], number[]]>([
    ['once where the outcome stays', [WRONG], [0.5]],
    ['again where somebody told another one meanwhile', [WRONG, CONFIRMED], [0.5, 1]],
    ['again where the cause alone changed', [WRONG, { ...WRONG, actual_cause: 'order-db' }], [0.5, 1]],
    ['not at all where nobody told one', [null], []],
    ['once where the run was erased meanwhile', [WRONG, null], [0.5]],
    ['five times at most', [WRONG, CONFIRMED, WRONG, CONFIRMED, WRONG, CONFIRMED, WRONG], [0.5, 1, 0.5, 1, 0.5]],
  ])('scores %s', async (_name, told, scores) => {
    expect(await scoresWhile(told)).toEqual(scores);
  });
});
