import type { LogSequenceRow } from '../../ports/telemetry-source.port';
import { gStatistic, riseOf } from './significance';
import type { Thresholds } from './thresholds';

/** How sure a suspicion is: 2 from enough flows or lines, 1 harmful but few, 0 another path taken without harm shown. */
export type Tier = 0 | 1 | 2;

/** A changed flow with its place in the stored output. */
export interface PlacedSequence {
  readonly index: number;
  readonly row: LogSequenceRow;
  readonly tier: Tier;
}

export interface SequenceSuspect {
  readonly service: string;
  readonly tier: Tier;
  readonly score: number;
  /** Strongest first. */
  readonly changes: readonly PlacedSequence[];
}

/**
 * Ranks services by the changes of flow that speak against them: a service's score is the highest score among its changes
 * of its highest tier. The statistic is computed again here, so that a row that shows no change makes no suspect.
 */
export function rankBySequences(rows: readonly LogSequenceRow[], limits: Thresholds['logs']): SequenceSuspect[] {
  const byService = new Map<string, PlacedSequence[]>();
  rows.forEach((row, index) => {
    if (riseOf(row) < limits.flowRise || row.total < limits.fewest || row.baseline_total < limits.fewest) return;
    if (gStatistic(row) < limits.flowG) return;
    const placed = { index, row, tier: tierOf(row, limits) };
    byService.set(row.service, [...(byService.get(row.service) ?? []), placed]);
  });
  return [...byService].map(([service, changes]) => suspectOf(service, changes)).sort(bySuspicion);
}

/** Order of suspects: tier, then score, then name. */
export function bySuspicion(
  a: { readonly tier: number; readonly score: number; readonly service: string },
  b: { readonly tier: number; readonly score: number; readonly service: string },
): number {
  return b.tier - a.tier || b.score - a.score || (a.service < b.service ? -1 : 1);
}

/** Sure is what is far beyond chance, or beyond chance and told by an error line as well. Counts grow with traffic, chance does not. */
function tierOf(row: LogSequenceRow, limits: Thresholds['logs']): Tier {
  if (row.kind === 'reroute') return 0;
  return row.kind === 'error_line' || gStatistic(row) >= limits.sureFlowG ? 2 : 1;
}

function suspectOf(service: string, changes: readonly PlacedSequence[]): SequenceSuspect {
  const tier = changes.reduce<Tier>((highest, change) => (change.tier > highest ? change.tier : highest), 0);
  const sorted = [...changes].sort((a, b) => b.tier - a.tier || b.row.score - a.row.score || a.index - b.index);
  return { service, tier, score: sorted[0]?.row.score ?? 0, changes: sorted };
}
