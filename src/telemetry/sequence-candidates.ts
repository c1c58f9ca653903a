import type { LogSequenceRow } from '../ports/telemetry-source.port';

/** Smallest counts and effects from which a change of succession is looked at; shares are conditional, so load cancels out. */
export const SEQUENCE_LIMITS = {
  /** Flows at a step in either window below which nothing is compared. */
  minFlows: 4,
  /** Smallest rise of an outcome's share. */
  minRise: 0.2,
  /** Likelihood ratio G from which an outcome that the baseline never saw counts. */
  minGNew: 8,
  /** The same for an outcome that the baseline knew. */
  minGKnown: 20,
  /** Share of baseline flows in which a callee must have followed for its absence to be looked at. */
  minCalled: 0.5,
  /** Share of ended or erring flows in the whole loss from which unseen steps count as part of the same cut. */
  minHard: 0.3,
  /** Weight of a change to another ordinary step. */
  rerouteWeight: 0.2,
} as const;

export type StepOutcome = 'end' | 'error' | 'other';

/** What followed a step, counted in the baseline (`b`) and in the incident window (`i`). */
export interface SuccessorCount {
  readonly service: string;
  readonly step: string;
  readonly next: string;
  readonly outcome: StepOutcome;
  readonly b: number;
  readonly i: number;
}

/** Which service logged next in the whole trace, by step and its successor; empty for none. */
export interface CalleeCount {
  readonly service: string;
  readonly step: string;
  readonly next: string;
  readonly callee: string;
  readonly b: number;
  readonly i: number;
}

/** Distinct flows with an erring step, beside the flows that touch its service at all. */
export interface ErrorLineCount {
  readonly service: string;
  readonly step: string;
  readonly b: number;
  readonly i: number;
  readonly b_total: number;
  readonly i_total: number;
}

/** A change that is large enough to be looked at, before it is known in how many flows it comes first. */
export interface SequenceCandidate {
  readonly id: number;
  readonly kind: LogSequenceRow['kind'];
  /** The service that the change speaks against. */
  readonly blames: string;
  readonly service: string;
  readonly step: string;
  /** Successors that make up the change; empty for `error_line`. */
  readonly next: readonly string[];
  readonly b: number;
  readonly bTotal: number;
  readonly i: number;
  readonly iTotal: number;
  readonly g: number;
  readonly rise: number;
}

/** The likelihood ratio statistic G of a 2x2 table (Dunning, 1993), with one half added to each cell. */
export function likelihoodRatio(b: number, bTotal: number, i: number, iTotal: number): number {
  const cells = [b + 0.5, bTotal - b + 0.5, i + 0.5, iTotal - i + 0.5] as const;
  const rows = [cells[0] + cells[1], cells[2] + cells[3]] as const;
  const columns = [cells[0] + cells[2], cells[1] + cells[3]] as const;
  const all = rows[0] + rows[1];
  const term = (cell: number, row: number, column: number): number => cell * Math.log((cell * all) / (row * column));
  const g =
    term(cells[0], rows[0], columns[0]) +
    term(cells[1], rows[0], columns[1]) +
    term(cells[2], rows[1], columns[0]) +
    term(cells[3], rows[1], columns[1]);
  return Math.max(0, 2 * g);
}

function groups<T>(items: readonly T[], key: (item: T) => string): T[][] {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const group = found.get(key(item));
    if (group === undefined) found.set(key(item), [item]);
    else group.push(item);
  }
  return [...found.values()];
}

function total(items: readonly { readonly b: number; readonly i: number }[], side: 'b' | 'i'): number {
  return items.reduce((sum, item) => sum + item[side], 0);
}

class CandidateList {
  readonly found: SequenceCandidate[] = [];

  consider(entry: Omit<SequenceCandidate, 'id' | 'g' | 'rise'>): void {
    if (entry.bTotal < SEQUENCE_LIMITS.minFlows || entry.iTotal < SEQUENCE_LIMITS.minFlows) return;
    const rise = entry.i / entry.iTotal - entry.b / entry.bTotal;
    const g = likelihoodRatio(entry.b, entry.bTotal, entry.i, entry.iTotal);
    if (rise < SEQUENCE_LIMITS.minRise) return;
    if (g < (entry.b === 0 ? SEQUENCE_LIMITS.minGNew : SEQUENCE_LIMITS.minGKnown)) return;
    this.found.push({ ...entry, id: this.found.length, g, rise });
  }
}

function considerSuccessors(list: CandidateList, successors: readonly SuccessorCount[]): void {
  for (const group of groups(successors, (row) => JSON.stringify([row.service, row.step]))) {
    const { service, step } = group[0] as SuccessorCount;
    const bTotal = total(group, 'b');
    const iTotal = total(group, 'i');
    const hard = group.filter((row) => row.outcome !== 'other');
    const unseen = group.filter((row) => row.outcome === 'other' && row.b === 0);
    const hardB = total(hard, 'b');
    const hardI = total(hard, 'i');
    const unseenI = total(unseen, 'i');
    const hardRise = hardI / iTotal - hardB / bTotal;
    const joined = unseenI > 0 && hardRise >= SEQUENCE_LIMITS.minHard * (hardRise + unseenI / iTotal);
    const cut = joined ? [...hard, ...unseen] : hard;
    const at = { service, step, blames: service };
    list.consider({
      ...at,
      kind: 'cut',
      next: cut.map((row) => row.next),
      b: hardB,
      bTotal,
      i: joined ? hardI + unseenI : hardI,
      iTotal,
    });
    if (joined) continue;
    // Only among flows that neither ended nor erred: recovering from errors is no change of route.
    for (const row of unseen) {
      list.consider({ ...at, kind: 'reroute', next: [row.next], b: 0, bTotal: bTotal - hardB, i: row.i, iTotal: iTotal - hardI });
    }
  }
}

function considerCallees(list: CandidateList, callees: readonly CalleeCount[]): void {
  for (const group of groups(callees, (row) => JSON.stringify([row.service, row.step, row.next]))) {
    const bTotal = total(group, 'b');
    const iTotal = total(group, 'i');
    for (const row of group) {
      if (row.callee === '' || row.b / bTotal < SEQUENCE_LIMITS.minCalled) continue;
      list.consider({
        kind: 'missing',
        blames: row.callee,
        service: row.service,
        step: row.step,
        next: [row.next],
        b: bTotal - row.b,
        bTotal,
        i: iTotal - row.i,
        iTotal,
      });
    }
  }
}

/**
 * Finds the changes of succession between two windows that are large enough to matter. Pure; it refuses to rank or to blame
 * finally: which change comes first in a flow is decided on the flows themselves.
 */
export function sequenceCandidates(
  successors: readonly SuccessorCount[],
  callees: readonly CalleeCount[],
  errorLines: readonly ErrorLineCount[],
): SequenceCandidate[] {
  const list = new CandidateList();
  considerSuccessors(list, successors);
  considerCallees(list, callees);
  for (const row of errorLines) {
    const { service, step, b, i } = row;
    list.consider({
      kind: 'error_line',
      blames: service,
      service,
      step,
      next: [],
      b,
      bTotal: row.b_total,
      i,
      iTotal: row.i_total,
    });
  }
  return list.found;
}

/** How telling a candidate is: G times the rise, times the share of its flows in which it comes first. */
export function sequenceScore(candidate: SequenceCandidate, first: number): number {
  const weight = candidate.kind === 'reroute' ? SEQUENCE_LIMITS.rerouteWeight : candidate.i === 0 ? 0 : first / candidate.i;
  return candidate.g * candidate.rise * weight;
}
