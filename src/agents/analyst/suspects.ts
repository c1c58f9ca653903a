import { bySuspicion, type PlacedSequence, type SequenceSuspect, type Tier } from './sequence-ranking';
import type { LineSigns, PlacedPattern } from './line-ranking';
import type { Thresholds } from './thresholds';

/** A service under suspicion, with what speaks against it and whose failures name it. */
export interface Suspect {
  readonly service: string;
  readonly tier: Tier;
  readonly score: number;
  /** Whether tier and score come from flows; lines count also what is only passed on, so they rank behind. */
  readonly byFlows: boolean;
  readonly changes: readonly PlacedSequence[];
  readonly signs: LineSigns | null;
  /** Services whose own failures name this one as the failing callee. */
  readonly blamedBy: readonly string[];
}

/** What the look amounts to: causes by rank, what only follows from them, and what moved too little to convince. */
export interface Weighed {
  readonly causes: readonly Suspect[];
  readonly symptoms: readonly { readonly suspect: Suspect; readonly of: string }[];
  readonly hints: readonly Suspect[];
}

/** Joins what flows and lines say of each service into suspects, most suspicious first. */
export function suspectsOf(bySequence: readonly SequenceSuspect[], signs: ReadonlyMap<string, LineSigns>): Suspect[] {
  const services = new Set([
    ...bySequence.map(({ service }) => service),
    ...[...signs.values()].filter(({ tier }) => tier !== null).map(({ service }) => service),
  ]);
  return [...services]
    .map((service): Suspect => {
      const flow = bySequence.find((suspect) => suspect.service === service);
      const lines = signs.get(service) ?? null;
      const tiers = [flow?.tier ?? 0, lines?.tier ?? 0] as const;
      const tier: Tier = tiers[0] >= tiers[1] ? tiers[0] : tiers[1];
      const byFlows = flow !== undefined && flow.tier === tier;
      const score = byFlows ? flow.score : (lines?.score ?? 0);
      return { service, tier, score, byFlows, changes: flow?.changes ?? [], signs: lines, blamedBy: [] };
    })
    .sort(flowsFirst);
}

function flowsFirst(a: Suspect, b: Suspect): number {
  return b.tier - a.tier || Number(b.byFlows) - Number(a.byFlows) || bySuspicion(a, b);
}

/** Whether a text names a service as a word of its own. */
export function namesService(text: string, service: string): boolean {
  const at = text.toLowerCase().indexOf(service.toLowerCase());
  if (at < 0 || service.length < 3) return false;
  const before = text[at - 1];
  const after = text[at + service.length];
  return !isNameCharacter(before) && !isNameCharacter(after);
}

function isNameCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_-]/u.test(character);
}

interface FailureRow {
  readonly sample: string;
  readonly count: number;
}

/** How many failures some kinds of line tell of: one failure may write several lines, so it is the most frequent kind that counts. */
function failuresIn(rows: readonly FailureRow[], isCall: (row: FailureRow) => boolean): number {
  const calls = rows.filter(isCall).reduce((sum, { count }) => sum + count, 0);
  return Math.max(calls, ...rows.map(({ count }) => count), 0);
}

/** The service that most of these new error lines name, null when they name none. */
export function blamedService(
  own: string,
  severe: readonly PlacedPattern[],
  services: readonly string[],
  limits: Thresholds['logs'],
): string | null {
  const others = services.filter((service) => service !== own);
  const isCall = (row: FailureRow): boolean => others.some((name) => namesService(row.sample, name));
  const all = failuresIn(
    severe.map(({ row }) => row),
    isCall,
  );
  const named = others
    .map((service) => ({
      service,
      count: severe.filter(({ row }) => namesService(row.sample, service)).reduce((sum, { row }) => sum + row.count, 0),
    }))
    .filter(({ count }) => all > 0 && count / all >= limits.blameShare)
    .sort((a, b) => b.count - a.count || b.service.length - a.service.length || (a.service < b.service ? -1 : 1));
  return named[0]?.service ?? null;
}

/** Whether a service shows a departure of its own, harmful or not: then failures that name it follow from it. */
export function departsItself(suspect: Suspect | undefined, signs: LineSigns | undefined): boolean {
  if ((suspect?.changes.length ?? 0) > 0) return true;
  return signs !== undefined && (signs.tier !== null || signs.severe.length + signs.warnings.length > 0);
}

/**
 * Follows blame to its end: a service whose new error lines name another one is a symptom of that one when it departs
 * itself (`departing`: by what is no log; `changed`: services with a recorded change), or when nobody else is under suspicion and no flow goes wrong in the first. It
 * refuses to make a cause of what moved too little.
 */
export function followBlame(
  suspects: readonly Suspect[],
  signs: ReadonlyMap<string, LineSigns>,
  byTrace: boolean,
  limits: Thresholds['logs'],
  departing: ReadonlySet<string> = new Set(),
  changed: ReadonlySet<string> = new Set(),
): Weighed {
  const services = [...new Set([...signs.keys(), ...suspects.map(({ service }) => service), ...departing])];
  const byName = new Map(suspects.map((suspect) => [suspect.service, suspect]));
  const strong = suspects.filter(({ tier }) => tier === 2);
  const blames = new Map<string, string>();
  for (const { service, tier, byFlows } of suspects) {
    if (tier === 0) continue;
    const blamed = blamedService(service, signs.get(service)?.severe ?? [], services, limits);
    if (blamed === null) continue;
    const departs = departing.has(blamed) || departsItself(byName.get(blamed), signs.get(blamed));
    // Flows that first go wrong in the service itself outweigh what its lines say of a callee that shows nothing.
    const ownFlows = byFlows && tier === 2;
    const alone =
      !ownFlows &&
      strong.every((other) => other.service === service || blamedByChain(other.service, signs, services, service, limits));
    if (departs || alone) blames.set(service, blamed);
  }
  const roots = new Map<string, Suspect>();
  const symptoms: { suspect: Suspect; of: string }[] = [];
  for (const suspect of strong) {
    const root = endOfBlame(suspect.service, blames);
    if (root !== suspect.service) symptoms.push({ suspect, of: root });
    const known = roots.get(root) ?? byName.get(root) ?? bareSuspect(root, signs.get(root));
    const accused = root === suspect.service ? known : { ...known, blamedBy: [...known.blamedBy, suspect.service] };
    const tier: Tier = 2;
    const stronger = root !== suspect.service && flowsFirst({ ...suspect, tier }, { ...known, tier }) < 0 ? suspect : known;
    roots.set(root, { ...accused, tier, score: stronger.score, byFlows: stronger.byFlows });
  }
  const named = (service: string): number =>
    suspects.filter((other) => blames.has(other.service) && endOfBlame(other.service, blames) === service).length;
  const sorted = [...roots.values()].sort(flowsFirst);
  const ordered = byTrace ? sorted : failedFirst(sorted, named, changed, limits);
  const causes: Suspect[] = [];
  for (const suspect of ordered) {
    const leader = ordered[0];
    if (leader === undefined || leader === suspect || hasOwnFault(suspect, leader, services, byTrace, limits))
      causes.push(suspect);
    else symptoms.push({ suspect, of: leader.service });
  }
  for (const suspect of suspects) {
    const root = endOfBlame(suspect.service, blames);
    if (suspect.tier === 1 && root !== suspect.service && roots.has(root)) symptoms.push({ suspect, of: root });
  }
  const hints = suspects.filter(
    ({ service, tier }) => tier === 1 && !roots.has(service) && !symptoms.some(({ suspect }) => suspect.service === service),
  );
  return { causes, symptoms, hints };
}

const COARSE_MS = 1000;

/** What may be hidden behind the times of a service, in ms: a second where all of them are whole ones, else nothing. */
function resolutionOf({ signs }: Pick<Suspect, 'signs'>): number {
  const seen = [...(signs?.severe ?? []), ...(signs?.warnings ?? [])]
    .flatMap(({ row }) => [row.first_seen, row.last_seen])
    .filter((at) => at !== null);
  return seen.length > 1 && seen.every((at) => Date.parse(at) % COARSE_MS === 0) ? COARSE_MS : 0;
}

/** Whether a service failed before another one by more than their clocks leave open. */
function failedBefore(own: Suspect, other: Suspect): boolean {
  const [first, second] = [firstFailureOf(own), firstFailureOf(other)];
  if (first === null || second === null) return first !== null;
  const open = Math.max(resolutionOf(own), resolutionOf(other));
  return open === 0 ? first.at < second.at : second.at - first.at >= open;
}

/** The first of a service's new failures: its error lines, or where it has none its warnings. */
export function firstFailureOf({ signs }: Pick<Suspect, 'signs'>): { readonly at: number; readonly line: PlacedPattern } | null {
  const severe = signs?.severe ?? [];
  const timed = (severe.length > 0 ? severe : (signs?.warnings ?? [])).flatMap((line) =>
    line.row.first_seen === null ? [] : [{ at: Date.parse(line.row.first_seen), line }],
  );
  return timed.sort((a, b) => a.at - b.at)[0] ?? null;
}

/**
 * Order of causes where no trace tells whose failure came first: among close ones the one that others' error lines name, then
 * the one whose own error line came first. A cut flow begins with its request, so its time would favour the outermost caller.
 */
function failedFirst(
  causes: readonly Suspect[],
  named: (service: string) => number,
  changed: ReadonlySet<string>,
  limits: Thresholds['logs'],
): Suspect[] {
  const [leader] = causes;
  if (leader === undefined) return [];
  const isClose = (suspect: Suspect): boolean =>
    suspect.score >= leader.score * limits.closeWithoutTraces || named(suspect.service) > 0;
  const services = causes.map(({ service }) => service);
  const at = (suspect: Suspect): number => firstFailureOf(suspect)?.at ?? Number.MAX_SAFE_INTEGER;
  const close = causes.filter(isClose).sort((a, b) => named(b.service) - named(a.service) || at(a) - at(b));
  const [first] = close;
  if (first === undefined) return [...causes];
  const isOpen = (suspect: Suspect): boolean => named(suspect.service) === named(first.service) && !failedBefore(first, suspect);
  const ownFault = (suspect: Suspect): number => faultOf(suspect, services, changed, limits);
  const open = close.filter(isOpen).sort((a, b) => ownFault(b) - ownFault(a) || at(a) - at(b));
  return [...open, ...close.filter((suspect) => !isOpen(suspect)), ...causes.filter((suspect) => !isClose(suspect))];
}

const SERVED_REQUEST = /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \S+ HTTP\/\d/;
const NAMES_A_FAULT = /\b\w*(?:Exception|Error)\b|\bTraceback\b|\bpanic\b|\bCannot read propert/;

/** How much speaks for a service where no clock tells who failed first: no mere account of calls, an exception, a change. */
function faultOf(
  suspect: Suspect,
  services: readonly string[],
  changed: ReadonlySet<string>,
  limits: Thresholds['logs'],
): number {
  const sample = firstFailureOf(suspect)?.line.row.sample ?? '';
  const isEdge = tellsOfCalls(suspect, services, limits) !== false || SERVED_REQUEST.test(sample);
  return (isEdge ? 0 : 4) + (NAMES_A_FAULT.test(sample) ? 2 : 0) + Number(changed.has(suspect.service));
}

const TELLS_OF_A_CALL =
  /\b(?:upstream|downstream|callee|connection (?:refused|reset|timed out)|connect timed out|econnrefused|econnreset|unreachable|unknown host|no such host|bad gateway|gateway timeout|50[234]|calls? to|calling|requests? to|response from)\b/i;

/** Whether the failures of a service, if it has any, mostly tell of calls to others: by their words, or by the names of services. */
export function tellsOfCalls(
  { service, signs, changes }: Pick<Suspect, 'service' | 'signs' | 'changes'>,
  services: readonly string[],
  limits: Thresholds['logs'],
): boolean | null {
  const lines = [...(signs?.severe ?? []), ...(signs?.warnings ?? [])].map(({ row }) => row);
  const flows = changes.map(({ row }) => row).filter(({ kind }) => kind === 'error_line');
  const failures = lines.length > 0 ? lines : flows;
  const isCall = ({ sample }: FailureRow): boolean =>
    TELLS_OF_A_CALL.test(sample) || services.some((name) => name !== service && namesService(sample, name));
  const all = failuresIn(failures, isCall);
  if (all === 0) return null;
  return failures.filter(isCall).reduce((sum, { count }) => sum + count, 0) >= all * limits.blameShare;
}

/**
 * Whether a service beside the leading cause fails by itself: it has failures of its own that tell of no call, and they come
 * first in enough of its flows or, where no trace tells, before those of the leading cause.
 */
function hasOwnFault(
  suspect: Suspect,
  leader: Suspect,
  services: readonly string[],
  byTrace: boolean,
  limits: Thresholds['logs'],
): boolean {
  if (tellsOfCalls(suspect, services, limits) !== false) return false;
  if (byTrace)
    return suspect.byFlows && suspect.changes.some(({ row, tier }) => tier === 2 && row.votes >= row.count * limits.firstShare);
  return firstFailureOf(leader) !== null && failedBefore(suspect, leader);
}

function blamedByChain(
  service: string,
  signs: ReadonlyMap<string, LineSigns>,
  services: readonly string[],
  target: string,
  limits: Thresholds['logs'],
): boolean {
  return blamedService(service, signs.get(service)?.severe ?? [], services, limits) === target;
}

function endOfBlame(service: string, blames: ReadonlyMap<string, string>): string {
  const seen = new Set<string>();
  let at = service;
  while (!seen.has(at)) {
    seen.add(at);
    const next = blames.get(at);
    if (next === undefined) return at;
    at = next;
  }
  // Services that blame each other are each taken by what speaks against themselves.
  return service;
}

/** A service of which the logs say nothing that counts. */
export function bareSuspect(service: string, signs: LineSigns | undefined): Suspect {
  return { service, tier: 0, score: 0, byFlows: false, changes: [], signs: signs ?? null, blamedBy: [] };
}
