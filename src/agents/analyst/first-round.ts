import type { LogPatternRow, MetricAnomalyRow } from '../../ports/telemetry-source.port';
import type { DiagnosisPlan } from '../../protocol/diagnosis-plan';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { JsonObject } from '../../protocol/json-value';
import { type Outcome, rankBySpans, weighFamilies } from './family-ranking';
import { fadedServices, steadySilences } from './silence';
import { type PlacedPattern, readLineSigns, type LineSigns } from './line-ranking';
import { rankByMetrics } from './metric-ranking';
import { metricLookBack, metricsQuestion, MIN_METRIC_ROWS, patternsQuestion, ROW_LIMITS } from './questions';
import type { Seen } from './seen';
import { rankBySequences } from './sequence-ranking';
import { ServicePaths } from './service-paths';
import { blamedService, followBlame, type Suspect, suspectsOf } from './suspects';
import type { Answer, TelemetryLook } from './telemetry-look';
import type { Thresholds } from './thresholds';
import {
  CHANGES,
  ERROR_SHARE,
  LOG_PATTERNS,
  LOG_SEQUENCES,
  METRIC_ANOMALIES,
  type ReadableTool,
  SERVICE_GRAPH,
  SPAN_ANALYSIS,
} from './tool-rows';

const MOST_FOLLOW_UPS = 6;

/** Asks what the plan asks, in its order. Steps of tools that the analyst cannot read are passed over. */
export async function lookAround(query: DiagnosisQuery, plan: DiagnosisPlan, look: TelemetryLook): Promise<Seen> {
  const first = async <Row>(tool: ReadableTool<Row>, isMeant: (args: JsonObject) => boolean = () => true) => {
    const step = plan.steps.find(({ tool_name, arguments: args }) => tool_name === tool.name && isMeant(args));
    return step === undefined ? null : look.ask(tool, step.arguments);
  };
  const sequences = await first(LOG_SEQUENCES);
  const shares = await first(ERROR_SHARE);
  const patterns = await first(LOG_PATTERNS, isPlain);
  const changes: Answer<LogPatternRow>[] = [];
  for (const { tool_name, arguments: args } of plan.steps) {
    if (tool_name !== LOG_PATTERNS.name || isPlain(args)) continue;
    const answer = await look.ask(LOG_PATTERNS, args);
    if (answer !== null) changes.push(answer);
  }
  const metrics = await enoughOf(await first(METRIC_ANOMALIES), query, look);
  const [spans, edges, recorded] = [await first(SPAN_ANALYSIS), await first(SERVICE_GRAPH), await first(CHANGES)];
  const { thresholds } = look;
  return { query, thresholds, sequences, shares, patterns, metrics, spans, edges, changes, recorded, followUps: new Map() };
}

/** Metrics against a baseline that holds enough of them: the asked one, else the hours directly before the window. */
async function enoughOf(
  asked: Answer<MetricAnomalyRow> | null,
  query: DiagnosisQuery,
  look: TelemetryLook,
): Promise<Answer<MetricAnomalyRow> | null> {
  if (asked === null || asked.rows.length === 0 || query.baseline === null) return asked;
  if (asked.rows.some(({ baseline_rows }) => (baseline_rows ?? 0) >= MIN_METRIC_ROWS)) return asked;
  const longer = await look.ask(METRIC_ANOMALIES, metricsQuestion(query.window, metricLookBack(query.window)));
  if (longer === null || !longer.rows.some(({ baseline_rows }) => (baseline_rows ?? 0) >= MIN_METRIC_ROWS)) return asked;
  look.note('METRIC_BASELINE_PRECEDING');
  return { ...longer, ownBaseline: true };
}

function isPlain(args: JsonObject): boolean {
  return args['contains'] === null || args['contains'] === undefined;
}

/** What was seen together with what it amounts to. */
export interface Weighing {
  readonly seen: Seen;
  readonly signs: ReadonlyMap<string, LineSigns>;
  readonly suspects: readonly Suspect[];
  readonly weighed: Outcome;
  readonly paths: ServicePaths;
}

/**
 * Weighs what was seen in every family, asking for the lines of suspects and of the services that their failures name, so that blame is
 * followed on whole evidence. At most six services are asked for.
 */
export async function weigh(seen: Seen, look: TelemetryLook): Promise<Weighing> {
  const { window, baseline } = seen.query;
  const { thresholds } = seen;
  const followUps = new Map<string, Answer<LogPatternRow>>();
  const asked = new Set<string>();
  const paths = new ServicePaths(seen.edges?.rows ?? []);
  const spans = rankBySpans(seen.spans?.rows ?? [], thresholds.spans);
  const requested = { traced: new Set(spans.map(({ row }) => row.service)), serving: servingServices(seen) };
  const silences = await steadySilences(seen, look);
  const metrics = rankByMetrics(seen.metrics?.rows ?? [], paths, window, requested, thresholds.metrics);
  const departing = new Set([
    ...fadedServices(seen),
    ...spans.filter(({ size }) => size >= 1).map(({ row }) => row.service),
    ...metrics.filter(({ raw }) => raw >= 1).map(({ service }) => service),
  ]);
  const changed = new Set((seen.recorded?.rows ?? []).map(({ service }) => service));
  for (;;) {
    const now = { ...seen, followUps };
    const signs = readLineSigns(seen.shares?.rows ?? [], placedPatterns(now), seen.sequences?.by_trace === true, thresholds.logs);
    const suspects = suspectsOf(rankBySequences(seen.sequences?.rows ?? [], thresholds.logs), signs);
    const next =
      asked.size >= MOST_FOLLOW_UPS
        ? undefined
        : servicesInQuestion(suspects, signs, thresholds.logs).find((name) => !asked.has(name));
    if (next === undefined) {
      const logs = followBlame(suspects, signs, seen.sequences?.by_trace === true, thresholds.logs, departing, changed);
      return {
        seen: now,
        signs,
        suspects,
        paths,
        weighed: weighFamilies({ logs, logSuspects: suspects, spans, metrics, silences, requested, paths, thresholds }),
      };
    }
    asked.add(next);
    const answer = await look.ask(
      LOG_PATTERNS,
      patternsQuestion(window, baseline, { service: next, limit: ROW_LIMITS.follow_up }),
    );
    if (answer !== null) followUps.set(next, answer);
  }
}

/** Services that requests reach, as far as spans do not tell: by their lines, or where there are none by load and latency. */
function servingServices({ shares, metrics, thresholds: { silence } }: Seen): ReadonlySet<string> {
  const lines = (shares?.rows ?? []).filter((row) => row.lines >= silence.expected);
  const loads = (metrics?.rows ?? []).filter(({ kind, median }) => (kind === 'latency' || kind === 'traffic') && median > 0);
  return new Set((lines.length > 0 ? lines : loads).map(({ service }) => service));
}

function servicesInQuestion(
  suspects: readonly Suspect[],
  signs: ReadonlyMap<string, LineSigns>,
  limits: Thresholds['logs'],
): string[] {
  const names = [...signs.keys()];
  const strong = suspects.filter(({ tier }) => tier === 2).map(({ service }) => service);
  const blamed = strong.flatMap((service) => blamedService(service, signs.get(service)?.severe ?? [], names, limits) ?? []);
  return [...strong.slice(0, 4), ...blamed];
}

/** Kinds of line with their places: those of a service's own answer where there is one, else those of the general one. */
export function placedPatterns({ patterns, followUps }: Pick<Seen, 'patterns' | 'followUps'>): PlacedPattern[] {
  const placed = (answer: Answer<LogPatternRow>): PlacedPattern[] =>
    answer.rows.map((row, index) => ({ invocation_id: answer.invocation_id, index, row }));
  const general = patterns === null ? [] : placed(patterns).filter(({ row }) => !followUps.has(row.service));
  return [...[...followUps.values()].flatMap(placed), ...general];
}
