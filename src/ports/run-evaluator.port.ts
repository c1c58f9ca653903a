/** Scores a run after its SUCCESS was committed. It refuses to change the run; its failure changes nothing. */
export abstract class RunEvaluator {
  abstract evaluate(runId: string): Promise<void>;
}
