import type { ErrorShareRow, LogPatternRow, LogSequenceRow } from '../../ports/telemetry-source.port';
import type { DiagnosisPlan } from '../../protocol/diagnosis-plan';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { JsonObject } from '../../protocol/json-value';
import { type PlacedPattern, readLineSigns, type LineSigns } from './line-ranking';
import { patternsQuestion, ROW_LIMITS } from './questions';
import { rankBySequences } from './sequence-ranking';
import { blamedService, followBlame, type Suspect, suspectsOf, type Weighed } from './suspects';
import type { Answer, TelemetryLook } from './telemetry-look';
import { ERROR_SHARE, LOG_PATTERNS, LOG_SEQUENCES } from './tool-rows';

const MOST_FOLLOW_UPS = 6;

/** Everything that a first round saw, as answers whose rows can be cited. */
export interface Seen {
  readonly query: DiagnosisQuery;
  readonly sequences: Answer<LogSequenceRow> | null;
  readonly shares: Answer<ErrorShareRow> | null;
  readonly patterns: Answer<LogPatternRow> | null;
  readonly changes: readonly Answer<LogPatternRow>[];
  /** Lines of one service each, asked because the service came under suspicion. */
  readonly followUps: ReadonlyMap<string, Answer<LogPatternRow>>;
}

/** Asks what the plan asks, in its order. Steps of tools that the analyst cannot read are passed over. */
export async function lookAround(query: DiagnosisQuery, plan: DiagnosisPlan, look: TelemetryLook): Promise<Seen> {
  let sequences: Answer<LogSequenceRow> | null = null;
  let shares: Answer<ErrorShareRow> | null = null;
  let patterns: Answer<LogPatternRow> | null = null;
  const changes: Answer<LogPatternRow>[] = [];
  for (const { tool_name, arguments: args } of plan.steps) {
    if (tool_name === LOG_SEQUENCES.name) sequences ??= await look.ask(LOG_SEQUENCES, args);
    else if (tool_name === ERROR_SHARE.name) shares ??= await look.ask(ERROR_SHARE, args);
    else if (tool_name === LOG_PATTERNS.name && isPlain(args)) patterns ??= await look.ask(LOG_PATTERNS, args);
    else if (tool_name === LOG_PATTERNS.name) {
      const answer = await look.ask(LOG_PATTERNS, args);
      if (answer !== null) changes.push(answer);
    }
  }
  return { query, sequences, shares, patterns, changes, followUps: new Map() };
}

function isPlain(args: JsonObject): boolean {
  return args['contains'] === null || args['contains'] === undefined;
}

/** What was seen together with what it amounts to. */
export interface Weighing {
  readonly seen: Seen;
  readonly signs: ReadonlyMap<string, LineSigns>;
  readonly suspects: readonly Suspect[];
  readonly weighed: Weighed;
}

/**
 * Weighs what was seen, asking for the lines of suspects and of the services that their failures name, so that blame is
 * followed on whole evidence. At most six services are asked for.
 */
export async function weigh(seen: Seen, look: TelemetryLook): Promise<Weighing> {
  const { window, baseline } = seen.query;
  const followUps = new Map<string, Answer<LogPatternRow>>();
  const asked = new Set<string>();
  for (;;) {
    const now = { ...seen, followUps };
    const signs = readLineSigns(seen.shares?.rows ?? [], placedPatterns(now), seen.sequences?.by_trace === true);
    const suspects = suspectsOf(rankBySequences(seen.sequences?.rows ?? []), signs);
    const next = asked.size >= MOST_FOLLOW_UPS ? undefined : servicesInQuestion(suspects, signs).find((name) => !asked.has(name));
    if (next === undefined)
      return { seen: now, signs, suspects, weighed: followBlame(suspects, signs, seen.sequences?.by_trace === true) };
    asked.add(next);
    const answer = await look.ask(
      LOG_PATTERNS,
      patternsQuestion(window, baseline, { service: next, limit: ROW_LIMITS.follow_up }),
    );
    if (answer !== null) followUps.set(next, answer);
  }
}

function servicesInQuestion(suspects: readonly Suspect[], signs: ReadonlyMap<string, LineSigns>): string[] {
  const names = [...signs.keys()];
  const strong = suspects.filter(({ tier }) => tier === 2).map(({ service }) => service);
  const blamed = strong.flatMap((service) => blamedService(service, signs.get(service)?.severe ?? [], names) ?? []);
  return [...strong.slice(0, 4), ...blamed];
}

/** Kinds of line with their places: those of a service's own answer where there is one, else those of the general one. */
export function placedPatterns({ patterns, followUps }: Pick<Seen, 'patterns' | 'followUps'>): PlacedPattern[] {
  const placed = (answer: Answer<LogPatternRow>): PlacedPattern[] =>
    answer.rows.map((row, index) => ({ invocation_id: answer.invocation_id, index, row }));
  const general = patterns === null ? [] : placed(patterns).filter(({ row }) => !followUps.has(row.service));
  return [...[...followUps.values()].flatMap(placed), ...general];
}
