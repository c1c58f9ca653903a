import type { ClaimRole } from './claim-roles';
import type { EvidenceWriter } from './evidence-writer';
import type { Candidate } from './family-ranking';
import type { Seen } from './seen';
import { recordedChange } from './measure-findings';
import { firstFailureOf } from './suspects';
import { isAlarming } from './tool-rows';

const MOST_CHANGES = 2;

/**
 * The earliest instant, in ms, at which a candidate is known to have departed: new failures, new changes of flow, the telling
 * segment of a series. Null when nothing tells, because what the baseline had too may have come at any time.
 */
export function onsetOf({ signs, changes, metrics, spans }: Candidate, { query: { window } }: Seen): number | null {
  const lines = [...(signs?.severe ?? []), ...(signs?.warnings ?? [])].filter(({ row }) => row.baseline_count === 0);
  const failure = firstFailureOf({ signs: signs === null ? null : { ...signs, severe: lines, warnings: [] } });
  const flows = changes.filter(({ row }) => row.baseline_count === 0).map(({ row }) => Date.parse(row.first_seen));
  const slow = spans !== null && spans.size >= 1 && (spans.row.baseline_high_traces ?? 0) === 0 ? spans.row.first_seen : null;
  const length = Date.parse(window.to) - Date.parse(window.from);
  // A value stands for the time up to the next one.
  const series = (metrics?.series ?? []).map(({ row }) => Date.parse(row.first_seen) + length / Math.max(1, row.rows));
  const [heaviest] = series;
  const known = [
    ...(failure === null ? [] : [failure.at]),
    ...flows,
    ...(slow === null ? [] : [Date.parse(slow)]),
    ...(heaviest === undefined ? [] : [heaviest]),
  ];
  return known.length === 0 ? null : Math.min(...known);
}

/**
 * Changes of a service before a given instant, nearest first where they were recorded as such, as claims. It refuses a change
 * that came after it: what follows cannot have set anything off.
 */
export function changesBefore(service: string, before: number, role: ClaimRole, seen: Seen, writer: EvidenceWriter): string[] {
  const ids: string[] = [];
  const open = (): boolean => ids.length < MOST_CHANGES;
  (seen.recorded?.rows ?? []).forEach((row, index) => {
    if (row.service !== service || !(Date.parse(row.time) <= before) || !open()) return;
    const id = recordedChange(role, index, seen, writer);
    if (id !== null) ids.push(id);
  });
  for (const answer of seen.changes) {
    answer.rows.forEach((row, index) => {
      const at = row.first_seen === null ? Number.NaN : Date.parse(row.first_seen);
      if (row.service !== service || isAlarming(row.level) || !(at <= before) || !open()) return;
      const id = writer.counted(role, answer, index, 'count', ['first_seen']);
      if (id !== null) ids.push(id);
    });
  }
  return ids;
}

/** Changes that can have set off what a cause does: of the same service, before it departed. */
export function triggersOf(cause: Candidate, seen: Seen, writer: EvidenceWriter): string[] {
  return changesBefore(cause.service, onsetOf(cause, seen) ?? Date.parse(seen.query.window.to), 'trigger', seen, writer);
}

/** Changes of a service that is no cause, beside what clears it or what it suffers. */
export function innocentChanges(role: 'clear' | 'symptom', service: string, seen: Seen, writer: EvidenceWriter): string[] {
  return changesBefore(service, Date.parse(seen.query.window.to), role, seen, writer);
}
