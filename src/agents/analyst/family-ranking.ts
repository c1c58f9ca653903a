import type { SpanServiceRow } from '../../ports/telemetry-source.port';
import type { MetricSuspect } from './metric-ranking';
import { bySuspicion } from './sequence-ranking';
import type { ServicePaths } from './service-paths';
import { bareSuspect, type Suspect, type Weighed } from './suspects';

/** Where a candidate's standing comes from, strongest first: logs say that requests broke here, spans that time is lost here. */
export const STANDINGS = ['logs', 'spans', 'metrics', 'none'] as const;
export type Standing = (typeof STANDINGS)[number];

/** What the spans say of a service, with its place in the stored output; a size of 1 is a departure to act on. */
export interface PlacedSpans {
  readonly index: number;
  readonly row: SpanServiceRow;
  readonly size: number;
}

/** A service under suspicion with what every family says of it. */
export interface Candidate extends Suspect {
  readonly standing: Standing;
  /** Strength within its standing. */
  readonly strength: number;
  readonly spans: PlacedSpans | null;
  readonly metrics: MetricSuspect | null;
}

export interface Outcome {
  readonly causes: readonly Candidate[];
  readonly symptoms: readonly { readonly suspect: Candidate; readonly of: string }[];
  readonly hints: readonly Candidate[];
}

/** What the families say before they are put together. */
export interface FamilyFindings {
  readonly logs: Weighed;
  /** Every service that logs speak of, those of little weight too. */
  readonly logSuspects: readonly Suspect[];
  readonly spans: readonly PlacedSpans[];
  readonly metrics: readonly MetricSuspect[];
  readonly paths: ServicePaths;
}

/** Varied by a quarter either way on incidents and on quiet windows without a change of more than two answers. */
const LIMITS = {
  spanVerdict: 0.6,
  /** Weight of metrics of a service that no request touches: it cannot have broken a request. */
  uncalled: 0.5,
  spansBehindMetrics: 0.5,
  logsBehindMetrics: 0.5,
  fullLogScore: 10,
  /** Departure of a caller beside that of the leader below it, up to which it only waits. */
  waits: 0.35,
  /** Share of a departure that another service accounts for, from which it is taken for its symptom. */
  explained: 0.5,
  hint: 0.75,
  contributing: 0.5,
} as const;

/** Services of a span analysis by what their score amounts to. */
export function rankBySpans(rows: readonly SpanServiceRow[]): PlacedSpans[] {
  return rows.map((row, index) => ({ index, row, size: row.score / LIMITS.spanVerdict })).sort((a, b) => b.size - a.size);
}

/**
 * Puts the families together: services where requests broke by their logs come before those where time is lost, and these
 * before those with a resource out of its range. A caller that only breaks or waits because a service below it is slow is
 * a symptom. It refuses to name a cause when no family departs enough by itself.
 */
export function weighFamilies(findings: FamilyFindings): Outcome {
  const { logs, paths } = findings;
  const candidates = candidatesOf(findings);
  const slowest = candidates.filter(({ spans }) => (spans?.size ?? 0) >= 1).sort((a, b) => sizeOf(b) - sizeOf(a))[0];
  const symptoms = new Map<string, string>(logs.symptoms.map(({ suspect, of }) => [suspect.service, of]));
  for (const { service, standing } of candidates) {
    if (slowest === undefined || standing !== 'logs' || slowest.standing === 'logs') continue;
    if (paths.isAbove(service, slowest.service)) symptoms.set(service, slowest.service);
  }
  const standing = candidates.filter((candidate) => candidate.standing !== 'none' && !symptoms.has(candidate.service));
  const ranked = [...standing, ...withoutStanding(candidates, standing[0], symptoms)];
  const leader = ranked[0];
  if (leader !== undefined) {
    for (const candidate of candidates) {
      const of = candidate === leader ? null : leaderBelow(candidate, leader, paths);
      if (of !== null) symptoms.set(candidate.service, of);
    }
  }
  const causes = ranked.filter(({ service }) => !symptoms.has(service));
  const guilty = new Set(causes.map(({ service }) => service));
  return {
    causes,
    symptoms: candidates.flatMap((suspect) => {
      const of = symptoms.get(suspect.service);
      return of === undefined ? [] : [{ suspect, of }];
    }),
    hints: candidates.filter(
      (candidate) => !guilty.has(candidate.service) && !symptoms.has(candidate.service) && isHint(candidate, logs),
    ),
  };
}

function candidatesOf({ logs, logSuspects, spans, metrics, paths }: FamilyFindings): Candidate[] {
  const touched = new Set(spans.map(({ row }) => row.service));
  const isRequested = (service: string): boolean =>
    touched.size === 0 || touched.has(service) || paths.callersOf(service).size > 0;
  const bySpans = new Map(spans.filter(({ size }) => size > 0).map((placed) => [placed.row.service, placed]));
  const byMetrics = new Map(
    metrics.map((suspect) => {
      const part = isRequested(suspect.service) ? 1 : LIMITS.uncalled;
      return [suspect.service, { ...suspect, raw: suspect.raw * part, score: suspect.score * part }];
    }),
  );
  const fromLogs = [...logs.causes, ...logs.symptoms.map(({ suspect }) => suspect), ...logs.hints, ...logSuspects];
  const services = new Set([...fromLogs.map(({ service }) => service), ...bySpans.keys(), ...byMetrics.keys()]);
  return [...services]
    .map((service): Candidate => {
      const suspect = fromLogs.find((known) => known.service === service) ?? bareSuspect(service, undefined);
      const own = { spans: bySpans.get(service) ?? null, metrics: byMetrics.get(service) ?? null };
      const standing = standingOf(logs.causes.includes(suspect), own);
      return { ...suspect, ...own, standing, strength: strengthOf(standing, suspect, own) };
    })
    .sort(byStanding);
}

type Measured = Pick<Candidate, 'spans' | 'metrics'>;

function sizeOf({ spans }: Measured): number {
  return spans?.size ?? 0;
}

function standingOf(brokeByLogs: boolean, own: Measured): Standing {
  if (brokeByLogs) return 'logs';
  if (sizeOf(own) >= 1) return 'spans';
  return (own.metrics?.score ?? 0) >= 1 ? 'metrics' : 'none';
}

function strengthOf(standing: Standing, suspect: Suspect, own: Measured): number {
  const spans = sizeOf(own);
  const metrics = own.metrics?.score ?? 0;
  if (standing === 'logs') return suspect.score + spans + metrics;
  if (standing === 'spans') return spans + Math.min(1, metrics);
  const logs = Math.min(1, suspect.score / LIMITS.fullLogScore) * LIMITS.logsBehindMetrics;
  return metrics + spans * LIMITS.spansBehindMetrics + logs;
}

function byStanding(a: Candidate, b: Candidate): number {
  return (
    STANDINGS.indexOf(a.standing) - STANDINGS.indexOf(b.standing) ||
    // Lines count also what is only passed on, so they rank behind flows.
    (a.standing === 'logs' ? Number(b.byFlows) - Number(a.byFlows) : 0) ||
    bySuspicion({ ...a, tier: 0, score: a.strength }, { ...b, tier: 0, score: b.strength })
  );
}

/**
 * Candidates behind a leader by metrics, or, where a departure is beyond doubt and only its owner is open, the likeliest one:
 * what a callee accounts for is still a departure.
 */
function withoutStanding(
  candidates: readonly Candidate[],
  leader: Candidate | undefined,
  symptoms: ReadonlyMap<string, string>,
): Candidate[] {
  const open = candidates.filter(
    ({ standing, service, metrics }) => standing === 'none' && metrics !== null && !symptoms.has(service),
  );
  if (leader === undefined) {
    const beyondDoubt = open.some(({ metrics }) => (metrics?.raw ?? 0) >= 1);
    const first = beyondDoubt ? open[0] : undefined;
    return first === undefined ? [] : open.filter(({ strength }) => strength >= first.strength * LIMITS.contributing);
  }
  if (leader.standing !== 'metrics') return [];
  return open.filter(({ metrics }) => (metrics?.score ?? 0) >= LIMITS.contributing);
}

/** The leader, when this candidate stands above it and only waits, or when the leader accounts for what it shows. */
function leaderBelow({ standing, spans, metrics, service }: Candidate, leader: Candidate, paths: ServicePaths): string | null {
  if (standing === 'logs') return null;
  const explained = metrics !== null && metrics.explained >= LIMITS.explained && metrics.explainedBy === leader.service;
  if (standing !== 'spans') return explained && metrics.score < 1 && metrics.raw >= LIMITS.contributing ? leader.service : null;
  if (!paths.isAbove(service, leader.service)) return null;
  const waits = leader.standing === 'logs' ? spans?.row.role !== 'self' : (spans?.size ?? 0) < sizeOf(leader) * LIMITS.waits;
  return waits ? leader.service : null;
}

function isHint(candidate: Candidate, logs: Weighed): boolean {
  return (
    logs.hints.some(({ service }) => service === candidate.service) ||
    sizeOf(candidate) >= LIMITS.hint ||
    (candidate.metrics?.raw ?? 0) >= LIMITS.hint
  );
}
