import type { SpanServiceRow } from '../../ports/telemetry-source.port';
import { type MetricSuspect, PASSED_ON, type Requested } from './metric-ranking';
import { bySuspicion } from './sequence-ranking';
import { quantileOf } from './significance';
import type { ServicePaths } from './service-paths';
import type { Silence } from './silence';
import { bareSuspect, namesService, type Suspect, tellsOfCalls, type Weighed } from './suspects';
import type { Thresholds } from './thresholds';

/** Where a candidate's standing comes from, strongest first: requests broke here, nothing comes from here, time is lost here. */
export const STANDINGS = ['logs', 'silence', 'spans', 'metrics', 'none'] as const;
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
  readonly silence: Silence | null;
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
  readonly silences: readonly Silence[];
  readonly requested: Requested;
  readonly paths: ServicePaths;
  readonly thresholds: Thresholds;
}

/** Services of a span analysis by what their score amounts to. */
export function rankBySpans(rows: readonly SpanServiceRow[], limits: Thresholds['spans']): PlacedSpans[] {
  return rows.map((row, index) => ({ index, row, size: row.score / limits.verdict })).sort((a, b) => b.size - a.size);
}

/**
 * Puts the families together: services where requests broke by their logs come before those where time is lost, and these
 * before those with a resource out of its range. A caller that only breaks or waits because a service below it is slow is
 * a symptom. It refuses to name a cause when no family departs enough by itself.
 */
export function weighFamilies(findings: FamilyFindings): Outcome {
  const { logs, paths, thresholds } = findings;
  const candidates = candidatesOf(findings);
  const slowest = candidates.filter(({ spans }) => (spans?.size ?? 0) >= 1).sort((a, b) => sizeOf(b) - sizeOf(a))[0];
  const symptoms = new Map<string, string>(logs.symptoms.map(({ suspect, of }) => [suspect.service, of]));
  for (const { service, standing } of candidates) {
    if (slowest === undefined || standing !== 'logs' || slowest.standing === 'logs') continue;
    if (!paths.isAbove(service, slowest.service)) continue;
    symptoms.set(service, slowest.service);
    // Who is slow below one that breaks is no symptom of it.
    symptoms.delete(slowest.service);
  }
  for (const [service, of] of untracedBelow(candidates, findings)) symptoms.set(service, of);
  for (const [service, of] of waiting(candidates, paths, thresholds.spans)) symptoms.set(service, of);
  for (const [service, of] of aroundSilence(candidates, paths, thresholds)) symptoms.set(service, of);
  const standing = candidates.filter((candidate) => candidate.standing !== 'none' && !symptoms.has(candidate.service));
  const ranked = [...standing, ...withoutStanding(candidates, standing[0], symptoms, thresholds.families)];
  const leader = ranked[0];
  if (leader !== undefined) {
    for (const candidate of candidates) {
      const of = candidate === leader ? null : leaderBelow(candidate, leader, paths, thresholds);
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
      (candidate) =>
        !guilty.has(candidate.service) && !symptoms.has(candidate.service) && isHint(candidate, logs, thresholds.families),
    ),
  };
}

function candidatesOf({
  logs,
  logSuspects,
  spans,
  metrics,
  silences,
  requested,
  paths,
  thresholds,
}: FamilyFindings): Candidate[] {
  const { traced, serving } = requested;
  const isRequested = (service: string): boolean =>
    traced.size === 0 || traced.has(service) || serving.has(service) || paths.callersOf(service).size > 0;
  const bySpans = new Map(spans.filter(({ size }) => size > 0).map((placed) => [placed.row.service, placed]));
  const byMetrics = new Map(
    metrics.map((suspect) => {
      const part = isRequested(suspect.service) ? 1 : thresholds.metrics.uncalled;
      return [suspect.service, { ...suspect, raw: suspect.raw * part, score: suspect.score * part }];
    }),
  );
  const bySilence = new Map(silences.map((silence) => [silence.service, silence]));
  const fromLogs = [...logs.causes, ...logs.symptoms.map(({ suspect }) => suspect), ...logs.hints, ...logSuspects];
  const services = new Set([
    ...fromLogs.map(({ service }) => service),
    ...bySpans.keys(),
    ...byMetrics.keys(),
    ...bySilence.keys(),
  ]);
  return [...services]
    .map((service): Candidate => {
      const suspect = fromLogs.find((known) => known.service === service) ?? bareSuspect(service, undefined);
      const own = {
        spans: bySpans.get(service) ?? null,
        metrics: byMetrics.get(service) ?? null,
        silence: bySilence.get(service) ?? null,
      };
      const standing = standingOf(logs.causes.includes(suspect), own);
      return { ...suspect, ...own, standing, strength: strengthOf(standing, suspect, own, thresholds.families) };
    })
    .sort(byStanding);
}

type Measured = Pick<Candidate, 'spans' | 'metrics' | 'silence'>;

function sizeOf({ spans }: Pick<Candidate, 'spans'>): number {
  return spans?.size ?? 0;
}

function standingOf(brokeByLogs: boolean, own: Measured): Standing {
  if (brokeByLogs) return 'logs';
  if (own.silence !== null) return 'silence';
  if (sizeOf(own) >= 1) return 'spans';
  return (own.metrics?.score ?? 0) >= 1 ? 'metrics' : 'none';
}

function strengthOf(standing: Standing, suspect: Suspect, own: Measured, limits: Thresholds['families']): number {
  const spans = sizeOf(own);
  const metrics = own.metrics?.score ?? 0;
  if (standing === 'logs') return suspect.score + spans + metrics;
  if (standing === 'silence') return Math.log1p(own.silence?.expected ?? 0);
  if (standing === 'spans') return spans + Math.min(1, metrics);
  return metrics + spans * limits.spansBehindMetrics;
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
  limits: Thresholds['families'],
): Candidate[] {
  const open = candidates.filter(
    ({ standing, service, metrics }) => standing === 'none' && metrics !== null && !symptoms.has(service),
  );
  if (leader === undefined) {
    const beyondDoubt = open.some(({ metrics }) => (metrics?.raw ?? 0) >= 1);
    const first = beyondDoubt ? open[0] : undefined;
    return first === undefined ? [] : open.filter(({ strength }) => strength >= first.strength * limits.contributing);
  }
  if (leader.standing !== 'metrics') return [];
  const least = Math.max(limits.contributing, leader.strength * limits.besideLeader);
  return open.filter(({ metrics }) => (metrics?.score ?? 0) >= least);
}

/**
 * Services whose spans lose time while one that no span shows is slow by its own metrics: what is not traced counts as time of
 * those who call it or, where it hands the trace on, of the calls into those that it calls. It refuses to excuse a service
 * whose time is lost outside of calls, and a slow way into one unless that way always was longer than others, as it is with
 * somebody between, or a resource of the hidden one is out of its range.
 */
function untracedBelow(
  candidates: readonly Candidate[],
  { requested: { traced }, spans: all, paths, thresholds: limits }: FamilyFindings,
): Map<string, string> {
  const [hidden] = candidates.filter(
    ({ service, metrics }) =>
      !traced.has(service) && (metrics?.score ?? 0) >= 1 && metrics?.series.some(({ row }) => row.kind === 'latency') === true,
  );
  if (traced.size === 0 || hidden === undefined) return new Map();
  const hops = behindHops(all, limits.spans);
  const isHiddenTime = ({ service, spans }: Candidate): boolean => {
    if (spans?.row.role === 'incoming') return hasOwnResource(hidden, limits.metrics) || hops.has(service);
    if (spans?.row.role === 'outgoing')
      return hasOwnResource(hidden, limits.metrics) || [...paths.calleesOf(service)].some((callee) => hops.has(callee));
    return (spans?.row.unanswered_share ?? 1) >= limits.spans.unanswered;
  };
  const slow = candidates.filter((candidate) => candidate.standing === 'spans' && isHiddenTime(candidate));
  return new Map(slow.map(({ service }) => [service, hidden.service]));
}

/** Services into which calls took clearly longer than into others before anything was wrong: somebody unseen stands between. */
function behindHops(spans: readonly PlacedSpans[], limits: Thresholds['spans']): ReadonlySet<string> {
  const gaps = spans.flatMap(({ row }) => row.baseline_gap_ms ?? []);
  const usual = quantileOf(gaps, 0.5);
  return new Set(spans.filter(({ row }) => (row.baseline_gap_ms ?? 0) > usual * limits.hopGap).map(({ row }) => row.service));
}

/** Whether something that no callee can have passed on departs surely: a resource of the service itself. */
function hasOwnResource({ metrics }: Pick<Candidate, 'metrics'>, limits: Thresholds['metrics']): boolean {
  return (metrics?.series ?? []).some(
    ({ row, weight }) => row.kind !== 'traffic' && !PASSED_ON.includes(row.kind) && weight >= limits.sure,
  );
}

/**
 * Callers that lose their time in calls to others, each with the one below it whose calls are as slow for everybody. It refuses
 * one that loses clearly more than it loses in those calls.
 */
function waiting(candidates: readonly Candidate[], paths: ServicePaths, limits: Thresholds['spans']): Map<string, string> {
  const slow = candidates.filter(({ standing }) => standing === 'spans');
  const waits = new Map<string, string>();
  for (const caller of slow.filter(({ spans }) => spans?.row.role === 'outgoing')) {
    const below = slow
      .filter(({ service, spans }) => paths.isAbove(caller.service, service) && spans?.row.role !== 'outgoing')
      .filter((callee) => sizeOf(callee) >= sizeOf(caller) * limits.waits)
      .filter(({ spans }) => (spans?.row.precision ?? 0) >= (caller.spans?.row.precision ?? 0) * limits.sameCalls)
      .filter(({ spans }) => (caller.spans?.row.gain ?? 0) <= (spans?.row.gain ?? 0) * limits.ownLoss)
      .sort((a, b) => sizeOf(b) - sizeOf(a));
    if (below[0] !== undefined) waits.set(caller.service, below[0].service);
  }
  return waits;
}

/**
 * Who only follows from a silence, or the other way round: a caller whose failures tell of calls follows from a silent service
 * below it; a service below one that breaks by itself, or below another silent one, is only called no longer, and so is one that
 * no failure names while another one breaks by itself, since not every call is known.
 */
function aroundSilence(candidates: readonly Candidate[], paths: ServicePaths, limits: Thresholds): Map<string, string> {
  const follows = new Map<string, string>();
  const silent = candidates.filter(({ silence }) => silence !== null);
  const services = candidates.map(({ service }) => service);
  for (const quiet of silent) {
    const above = silent.find(({ service }) => paths.isAbove(service, quiet.service));
    if (above !== undefined) follows.set(quiet.service, above.service);
  }
  const first = silent.filter(({ service }) => !follows.has(service));
  for (const broken of candidates.filter(({ standing, silence }) => standing === 'logs' && silence === null)) {
    const [below] = first.filter(({ service }) => !paths.isKnown(service) || paths.isAbove(broken.service, service));
    if (below === undefined || below.standing === 'logs') continue;
    if (tellsOfCalls(broken, services, limits.logs) === true) follows.set(broken.service, below.service);
    else if (paths.isAbove(broken.service, below.service)) follows.set(below.service, broken.service);
  }
  const faulty = candidates.find(
    (candidate) =>
      candidate.standing === 'logs' && candidate.silence === null && tellsOfCalls(candidate, services, limits.logs) === false,
  );
  for (const { service } of first) {
    if (faulty === undefined || follows.has(service) || paths.isAbove(service, faulty.service)) continue;
    if (!isNamedByFailures(service, candidates)) follows.set(service, faulty.service);
  }
  return follows;
}

/** Whether the failures of anybody else name a service. */
function isNamedByFailures(service: string, candidates: readonly Candidate[]): boolean {
  return candidates.some(
    ({ service: other, signs }) =>
      other !== service &&
      [...(signs?.severe ?? []), ...(signs?.warnings ?? [])].some(({ row }) => namesService(row.sample, service)),
  );
}

/** The leader, when this candidate stands above it and only waits, or when the leader accounts for what it shows. */
function leaderBelow(
  { standing, spans, metrics, service }: Candidate,
  leader: Candidate,
  paths: ServicePaths,
  limits: Thresholds,
): string | null {
  if (standing === 'logs' || standing === 'silence') return null;
  const explained = metrics !== null && metrics.explained >= limits.families.explained && metrics.explainedBy === leader.service;
  if (standing !== 'spans' && waitsUnseen({ service, metrics }, leader, paths, limits.metrics)) return leader.service;
  if (standing !== 'spans')
    return explained && metrics.score < 1 && metrics.raw >= limits.families.contributing ? leader.service : null;
  if (isDelayedBy({ service, spans }, leader, paths, limits.spans)) return leader.service;
  if (!paths.isAbove(service, leader.service)) return null;
  if (leader.standing === 'silence') return leader.service;
  const waits =
    leader.standing === 'logs' ? spans?.row.role !== 'self' : (spans?.size ?? 0) < sizeOf(leader) * limits.spans.waits;
  return waits ? leader.service : null;
}

/**
 * Where no call tells who stands above whom, and the leader loses its time itself or a resource of it departs: a service that
 * is late or fails and has nothing of its own that departs only waits for it.
 */
function waitsUnseen(
  { service, metrics }: Pick<Candidate, 'service' | 'metrics'>,
  leader: Candidate,
  paths: ServicePaths,
  limits: Thresholds['metrics'],
): boolean {
  const isPlaced = paths.isKnown(service) && paths.isKnown(leader.service);
  if (metrics === null || metrics.raw < 1 || isPlaced) return false;
  const isSource = leader.standing === 'spans' || (leader.standing === 'metrics' && hasOwnResource(leader, limits));
  return isSource && !hasOwnResource({ metrics }, limits);
}

/** Calls that the leader makes, alone or among others, are slow because its own way to everybody is. */
function isDelayedBy(
  { service, spans }: Pick<Candidate, 'service' | 'spans'>,
  leader: Candidate,
  paths: ServicePaths,
  limits: Thresholds['spans'],
): boolean {
  const [first, ...others] = paths.callersOf(service);
  const isItsWay = leader.spans !== null && leader.spans.row.role !== 'self';
  if (!isItsWay || spans?.row.role !== 'incoming') return false;
  const isItsAlone = first === leader.service && others.length === 0;
  return isItsAlone || (paths.isAbove(leader.service, service) && spans.size < sizeOf(leader) * limits.waits);
}

function isHint(candidate: Candidate, logs: Weighed, limits: Thresholds['families']): boolean {
  return (
    logs.hints.some(({ service }) => service === candidate.service) ||
    sizeOf(candidate) >= limits.hint ||
    (candidate.metrics?.raw ?? 0) >= limits.hint
  );
}
