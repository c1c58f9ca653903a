import { Injectable } from '@nestjs/common';
import { PlannerAgent } from '../../ports/agent-invoker.port';
import { ToolRunner } from '../../ports/tool-runner.port';
import type { DiagnosisPlan, PlanStep } from '../../protocol/diagnosis-plan';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { EvidenceRetryContext } from '../../protocol/evidence-retry-context';
import type { JsonObject } from '../../protocol/json-value';
import { DiagnosisError } from '../../errors/diagnosis-error';
import { AGENT_INPUTS, readAgentInput } from './agent-inputs';
import { withinScope } from './follow-up-scope';
import { gapQuestion } from './gap-questions';
import {
  CHANGE_WORDS,
  changesQuestion,
  changeWindow,
  errorShareQuestion,
  graphQuestion,
  metricsQuestion,
  patternsQuestion,
  ROW_LIMITS,
  sequencesQuestion,
  spansQuestion,
} from './questions';
import { CHANGES, ERROR_SHARE, LOG_PATTERNS, LOG_SEQUENCES, METRIC_ANOMALIES, SERVICE_GRAPH, SPAN_ANALYSIS } from './tool-rows';

/**
 * Plans by rule: a first round looks at changed flows, error shares, changed lines, metrics, spans, who calls whom, and changes
 * before the incident; an evidence round asks for the named gaps alone. It knows no service and no message, and refuses to
 * plan without a tool that it can read.
 */
@Injectable()
export class AnalystPlannerAgent extends PlannerAgent {
  constructor(private readonly tools: ToolRunner) {
    super();
  }

  async invoke(input: string): Promise<string> {
    const { diagnosis_query, planner_mode, evidence_retry_context } = readAgentInput(AGENT_INPUTS.planner, input);
    const known = new Set(this.tools.describe().map(({ name }) => name));
    const plan =
      planner_mode === 'EVIDENCE_GAP_ONLY' && evidence_retry_context !== null
        ? gapPlan(diagnosis_query, evidence_retry_context, known)
        : firstPlan(diagnosis_query, known);
    if (plan.steps.length === 0)
      throw new DiagnosisError('AGENT_PERMANENT', 'No tool is registered that the analyst can plan with.');
    return JSON.stringify(plan);
  }
}

function firstPlan(query: DiagnosisQuery, known: ReadonlySet<string>): DiagnosisPlan {
  const { window, baseline } = query;
  const asked: { readonly id: string; readonly tool: string; readonly args: JsonObject; readonly purpose: string }[] = [];
  if (baseline !== null) {
    asked.push({
      id: 'flows',
      tool: LOG_SEQUENCES.name,
      args: sequencesQuestion(window, baseline),
      purpose: 'Find where flows end, err or lose a callee that did not before.',
    });
  }
  asked.push(
    {
      id: 'shares',
      tool: ERROR_SHARE.name,
      args: errorShareQuestion(window, baseline),
      purpose: 'Compare the share of error lines of every service.',
    },
    {
      id: 'patterns',
      tool: LOG_PATTERNS.name,
      args: patternsQuestion(window, baseline),
      purpose: 'Find kinds of line that are new or more frequent.',
    },
    ...CHANGE_WORDS.map((word, index) => ({
      id: `changes-${index + 1}`,
      tool: LOG_PATTERNS.name,
      args: patternsQuestion(changeWindow(query), null, { contains: word, limit: ROW_LIMITS.changes }),
      purpose: 'Find changes that came shortly before the incident.',
    })),
  );
  asked.push(
    {
      id: 'metrics',
      tool: METRIC_ANOMALIES.name,
      args: metricsQuestion(window, baseline),
      purpose: 'Find series that depart from what they do in the baseline.',
    },
    {
      id: 'spans',
      tool: SPAN_ANALYSIS.name,
      args: spansQuestion(window, baseline),
      purpose: 'Find where requests lose time that they did not lose before.',
    },
    {
      id: 'graph',
      tool: SERVICE_GRAPH.name,
      args: graphQuestion(window, baseline),
      purpose: 'Learn who calls whom, to tell a cause from those that wait for it.',
    },
    {
      id: 'recorded-changes',
      tool: CHANGES.name,
      args: changesQuestion(query),
      purpose: 'Find recorded changes before and in the window.',
    },
  );
  const steps: PlanStep[] = asked
    .filter(({ tool }) => known.has(tool))
    .flatMap(({ id, tool, args, purpose }) => {
      const narrowed = withinScope(tool, args, query.scope);
      return narrowed === null ? [] : [{ step_id: id, tool_name: tool, arguments: narrowed, purpose, gap_fact_id: null }];
    });
  const has = (id: string): boolean => steps.some((step) => step.step_id === id);
  return {
    schema: 'diagnosis_plan_v1',
    hypotheses: [
      { hypothesis_id: 'own-fault', text: 'A service fails by itself: its own flows are cut or its own lines turn to errors.' },
      { hypothesis_id: 'callee-fault', text: 'A service fails because a service that it names as its callee fails.' },
      { hypothesis_id: 'slow', text: 'A service is slow or short of a resource, and those that call it only wait.' },
      { hypothesis_id: 'change', text: 'A change shortly before the incident set it off.' },
      { hypothesis_id: 'nothing', text: 'Nothing differs from the baseline beyond what differs inside it.' },
    ],
    steps,
    disproofs: [
      ...(has('shares')
        ? [
            { candidate: 'a service with new error lines', step_id: 'shares', disproved_if: 'Its share of error lines fell.' },
            { candidate: 'a changed service', step_id: 'shares', disproved_if: 'Its share of error lines did not move.' },
          ]
        : []),
      ...(has('patterns')
        ? [{ candidate: 'a service with noisy warnings', step_id: 'patterns', disproved_if: 'The baseline has them as often.' }]
        : []),
      ...(has('spans')
        ? [{ candidate: 'a slow caller', step_id: 'spans', disproved_if: 'A service below it accounts for the time it loses.' }]
        : []),
      ...(has('metrics')
        ? [{ candidate: 'a service with an unusual metric', step_id: 'metrics', disproved_if: 'Its baseline departs as far.' }]
        : []),
    ],
  };
}

function gapPlan(query: DiagnosisQuery, context: EvidenceRetryContext, known: ReadonlySet<string>): DiagnosisPlan {
  const steps = context.gaps.flatMap((gap, index): PlanStep[] => {
    const question = gapQuestion(gap, query, context, known);
    if (question === null) return [];
    return [
      {
        step_id: `gap-${index + 1}`,
        tool_name: question.tool_name,
        arguments: question.arguments,
        purpose: gap.gap,
        gap_fact_id: gap.fact_id,
      },
    ];
  });
  return {
    schema: 'diagnosis_plan_v1',
    hypotheses: [{ hypothesis_id: 'gap', text: 'What the first round left open can be settled by another query.' }],
    steps,
    disproofs: [],
  };
}
