import type { PlannerMode } from '../vocabulary/statuses';
import { diagnosisPlanSchema, type DiagnosisPlan } from './diagnosis-plan';
import { isFillerText } from './filler-text';
import { parseDocument, repeatedIndexes } from './parse-document';
import type { Parsed } from './parsed';

/** What a plan is held against: the round's mode, the tools that exist (null: not known), the gaps that may be named. */
export interface PlanRules {
  readonly mode: PlannerMode;
  readonly toolNames: readonly string[] | null;
  readonly gapFactIds: readonly string[];
}

/**
 * Strict parser of `diagnosis_plan_v1`. Beyond the shape it refuses: repeated step or hypothesis ids, a disproof by a step
 * that is not there, an unknown tool, filler texts, and a gap where the mode allows none or a gap that nobody named.
 */
export function parseDiagnosisPlan(raw: unknown, rules: PlanRules): Parsed<DiagnosisPlan> {
  return parseDocument(raw, diagnosisPlanSchema, (plan) => [
    ...repeatedIndexes(plan.steps.map((step) => step.step_id)).map((i) => `steps[${i}].step_id: repeated`),
    ...repeatedIndexes(plan.hypotheses.map((hypothesis) => hypothesis.hypothesis_id)).map(
      (i) => `hypotheses[${i}].hypothesis_id: repeated`,
    ),
    ...plan.steps.flatMap((step, i) => stepProblems(step, `steps[${i}]`, rules)),
    ...plan.hypotheses.flatMap((hypothesis, i) => (isFillerText(hypothesis.text) ? [`hypotheses[${i}].text: filler`] : [])),
    ...disproofProblems(plan),
  ]);
}

function stepProblems(step: DiagnosisPlan['steps'][number], at: string, rules: PlanRules): string[] {
  const problems: string[] = [];
  if (isFillerText(step.purpose)) problems.push(`${at}.purpose: filler`);
  if (rules.toolNames !== null && !rules.toolNames.includes(step.tool_name)) problems.push(`${at}.tool_name: no such tool`);
  if (rules.mode === 'INITIAL' && step.gap_fact_id !== null)
    problems.push(`${at}.gap_fact_id: there are no gaps in the first round`);
  if (rules.mode === 'EVIDENCE_GAP_ONLY' && (step.gap_fact_id === null || !rules.gapFactIds.includes(step.gap_fact_id))) {
    problems.push(`${at}.gap_fact_id: names no known gap`);
  }
  return problems;
}

function disproofProblems(plan: DiagnosisPlan): string[] {
  const stepIds = new Set(plan.steps.map((step) => step.step_id));
  return plan.disproofs.flatMap((disproof, i) => [
    ...(stepIds.has(disproof.step_id) ? [] : [`disproofs[${i}].step_id: no such step`]),
    ...(isFillerText(disproof.candidate) ? [`disproofs[${i}].candidate: filler`] : []),
    ...(isFillerText(disproof.disproved_if) ? [`disproofs[${i}].disproved_if: filler`] : []),
  ]);
}
