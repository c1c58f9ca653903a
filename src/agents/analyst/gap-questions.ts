import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { EvidenceGap, EvidenceRetryContext } from '../../protocol/evidence-retry-context';
import type { JsonObject, JsonValue } from '../../protocol/json-value';
import type { Assessment } from '../../protocol/executor-evidence';
import { errorShareQuestion, halvesOf, patternsQuestion, ROW_LIMITS, sequencesQuestion } from './questions';
import { ERROR_SHARE, LOG_PATTERNS, LOG_SEQUENCES } from './tool-rows';

/** Ids of the facts that the analyst's verifier may leave open, and what another query could settle. */
export const GAP_FACTS = { control: 'control-of-cause', ownLines: 'own-lines-of-cause', harm: 'harm-of-cause' } as const;

interface Question {
  readonly tool_name: string;
  readonly arguments: JsonObject;
}

/** The leading cause among assessments: the one of the lowest rank. */
export function leadingCause(assessments: readonly Assessment[]): Assessment | null {
  const causes = assessments.filter(({ role }) => role === 'cause').sort((a, b) => a.rank - b.rank);
  return causes[0] ?? null;
}

/** The cheapest query that could close a gap and was not asked yet; null when no registered tool can. */
export function gapQuestion(
  gap: EvidenceGap,
  query: DiagnosisQuery,
  context: EvidenceRetryContext,
  known: ReadonlySet<string>,
): Question | null {
  const service = leadingCause(context.prior_verified_output.assessments)?.subject ?? null;
  const done = new Set(
    context.completed_queries.map((completed) => queryKey(completed.tool_name, parsedArguments(completed.arguments))),
  );
  const possible = [
    ...(gap.fact_id === GAP_FACTS.control ? controlQuestions(query, service) : []),
    ...ownQuestions(query, service),
  ];
  return (
    possible.find((question) => known.has(question.tool_name) && !done.has(queryKey(question.tool_name, question.arguments))) ??
    null
  );
}

function controlQuestions({ baseline }: DiagnosisQuery, service: string | null): Question[] {
  if (baseline === null) return [];
  const { first, second } = halvesOf(baseline);
  return [
    { tool_name: LOG_SEQUENCES.name, arguments: sequencesQuestion(second, first, service) },
    { tool_name: ERROR_SHARE.name, arguments: errorShareQuestion(second, first, service) },
  ];
}

function ownQuestions({ window, baseline }: DiagnosisQuery, service: string | null): Question[] {
  return [
    { tool_name: LOG_PATTERNS.name, arguments: patternsQuestion(window, baseline, { service, limit: ROW_LIMITS.follow_up }) },
    { tool_name: ERROR_SHARE.name, arguments: errorShareQuestion(window, baseline, service) },
    // Another row limit makes it another query: an evidence round never lacks a question that it may ask.
    { tool_name: LOG_PATTERNS.name, arguments: patternsQuestion(window, baseline, { service, limit: ROW_LIMITS.follow_up + 1 }) },
    {
      tool_name: ERROR_SHARE.name,
      arguments: { ...errorShareQuestion(window, baseline, service), limit: ROW_LIMITS.services + 1 },
    },
  ];
}

function parsedArguments(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function queryKey(tool: string, value: JsonValue): string {
  return `${tool} ${stable(value)}`;
}

function stable(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${stable(inner)}`).join(',')}}`;
}
