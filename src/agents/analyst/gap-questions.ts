import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { EvidenceGap, EvidenceRetryContext } from '../../protocol/evidence-retry-context';
import type { JsonObject, JsonValue } from '../../protocol/json-value';
import type { Assessment } from '../../protocol/executor-evidence';
import {
  errorShareQuestion,
  halvesOf,
  metricLookBack,
  metricsQuestion,
  patternsQuestion,
  quietStretchOf,
  ROW_LIMITS,
  sequencesQuestion,
  spansQuestion,
} from './questions';
import { ERROR_SHARE, LOG_PATTERNS, LOG_SEQUENCES, METRIC_ANOMALIES, SPAN_ANALYSIS } from './tool-rows';

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
  const cause = leadingCause(context.prior_verified_output.assessments);
  const service = cause?.subject ?? null;
  const cited = citedTools(context, cause);
  const done = new Set(
    context.completed_queries.map((completed) => queryKey(completed.tool_name, parsedArguments(completed.arguments))),
  );
  const possible = [
    ...(gap.fact_id === GAP_FACTS.control ? controlQuestions(query, service, cited) : []),
    ...ownQuestions(query, service, cited),
  ];
  return (
    possible.find((question) => known.has(question.tool_name) && !done.has(queryKey(question.tool_name, question.arguments))) ??
    null
  );
}

/** Tools whose output the leading cause rests on, as far as they are no log tools. */
function citedTools({ prior_verified_output: { claims } }: EvidenceRetryContext, cause: Assessment | null): ReadonlySet<string> {
  const own = claims.filter(({ claim_id }) => cause?.claim_ids.includes(claim_id) === true);
  return new Set(own.flatMap(({ bindings }) => bindings.map(({ tool_name }) => tool_name)));
}

function controlQuestions({ baseline, window }: DiagnosisQuery, service: string | null, cited: ReadonlySet<string>): Question[] {
  if (baseline === null) return [];
  const { first, second } = halvesOf(baseline);
  const quiet = quietStretchOf(metricLookBack(window), window);
  return [
    ...(cited.has(SPAN_ANALYSIS.name)
      ? [{ tool_name: SPAN_ANALYSIS.name, arguments: spansQuestion(second, first, service) }]
      : []),
    ...(cited.has(METRIC_ANOMALIES.name)
      ? [
          { tool_name: METRIC_ANOMALIES.name, arguments: metricsQuestion(second, first, service) },
          { tool_name: METRIC_ANOMALIES.name, arguments: metricsQuestion(quiet.window, quiet.before, service) },
        ]
      : []),
    { tool_name: LOG_SEQUENCES.name, arguments: sequencesQuestion(second, first, service) },
    { tool_name: ERROR_SHARE.name, arguments: errorShareQuestion(second, first, service) },
  ];
}

function ownQuestions({ window, baseline }: DiagnosisQuery, service: string | null, cited: ReadonlySet<string>): Question[] {
  return [
    // Spans of a service that its metrics accuse, and the other way round.
    ...(cited.has(METRIC_ANOMALIES.name)
      ? [{ tool_name: SPAN_ANALYSIS.name, arguments: spansQuestion(window, baseline, service) }]
      : []),
    ...(cited.has(SPAN_ANALYSIS.name)
      ? [{ tool_name: METRIC_ANOMALIES.name, arguments: metricsQuestion(window, baseline, service) }]
      : []),
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
