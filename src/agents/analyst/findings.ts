import type { ErrorShareRow, LogPatternRow, LogSequenceRow } from '../../ports/telemetry-source.port';
import type { Assessment } from '../../protocol/executor-evidence';
import type { ClaimRole } from './claim-roles';
import { ERROR_SHARE_FIELDS, errorShareClaim, errorShareRose } from './control-check';
import type { EvidenceWriter } from './evidence-writer';
import type { Candidate } from './family-ranking';
import { placedPatterns, type Weighing } from './first-round';
import type { Seen } from './seen';
import type { PlacedPattern } from './line-ranking';
import { measuresAgainst, metricsNormal, spansNormal } from './measure-findings';
import { silenceClaims } from './silence';
import type { Suspect } from './suspects';
import type { Answer } from './telemetry-look';
import type { Thresholds } from './thresholds';
import { isSevere } from './tool-rows';

export const SHARE_FIELDS = { baseline: 'baseline_share', incident: 'share', unit: 'ratio' } as const;
const COUNT_FIELDS = { baseline: 'baseline_count', incident: 'count', unit: 'count' } as const;
const MOST = { changes: 2, lines: 2, ranges: 12, measuredRanges: 6 } as const;

/** Writes what speaks against one service: by logs its changed flows, error share and new lines, then by spans and metrics. */
export function claimsAgainst(role: ClaimRole, candidate: Candidate, seen: Seen, writer: EvidenceWriter): string[] {
  const byLogs = [
    ...(candidate.silence === null ? [] : silenceClaims(role, candidate.silence, seen, writer)),
    ...logsAgainst(role, candidate, seen, writer),
  ];
  const measured = measuresAgainst(role, candidate, seen, writer);
  return candidate.standing === 'logs' || candidate.standing === 'silence' ? [...byLogs, ...measured] : [...measured, ...byLogs];
}

function logsAgainst(role: ClaimRole, suspect: Suspect, seen: Seen, writer: EvidenceWriter): string[] {
  const { sequences, shares } = seen;
  const flows =
    sequences === null
      ? []
      : suspect.changes.slice(0, MOST.changes).map(({ index }) => flowClaim(role, sequences, index, writer));
  const shareIndex = suspect.signs?.share?.index ?? -1;
  const risen = shares?.rows[shareIndex];
  const share =
    shares !== null && risen !== undefined && errorShareRose(risen, writer.thresholds.logs)
      ? [writer.moved(role, shares, shareIndex, ERROR_SHARE_FIELDS)]
      : [];
  const lines = [...(suspect.signs?.severe ?? []), ...(suspect.signs?.warnings ?? [])]
    .slice(0, MOST.lines)
    .map((pattern) => lineClaim(role, pattern, seen, writer));
  return [...flows, ...share, ...lines].filter((id) => id !== null);
}

function flowClaim(role: ClaimRole, answer: Answer<LogSequenceRow>, index: number, writer: EvidenceWriter): string | null {
  return writer.moved(role, answer, index, SHARE_FIELDS, ['kind', 'first_seen']);
}

/** That a kind of line is new, or takes a larger share of its service's lines than before. */
export function lineClaim(role: ClaimRole, pattern: PlacedPattern, seen: Seen, writer: EvidenceWriter): string | null {
  const answer = answerOf(pattern, seen);
  if (answer === null) return null;
  if (pattern.row.baseline_count === null) return writer.counted(role, answer, pattern.index, 'count');
  // A count is only a count when nothing that matched was left out; a share stands by itself.
  const isNew = pattern.row.baseline_count === 0 && answer.complete;
  const since = pattern.row.first_seen === null ? [] : (['first_seen'] as const);
  return writer.moved(role, answer, pattern.index, isNew ? COUNT_FIELDS : SHARE_FIELDS, since);
}

/** Error lines of a service that nothing can be compared with: how many, and the line that there is most of. */
export function errorLinesOf(
  role: ClaimRole,
  index: number,
  severe: readonly PlacedPattern[],
  seen: Seen,
  writer: EvidenceWriter,
): string[] {
  const count = seen.shares === null ? null : writer.counted(role, seen.shares, index, 'error_lines');
  const lines = [...severe]
    .sort((a, b) => b.row.count - a.row.count)
    .slice(0, 1)
    .map((pattern) => {
      const answer = answerOf(pattern, seen);
      if (answer === null) return null;
      return writer.counted(role, answer, pattern.index, 'count') ?? writer.present(role, answer, pattern.index);
    });
  return [count, ...lines].filter((id) => id !== null);
}

export function answerOf({ invocation_id }: PlacedPattern, seen: Seen): Answer<LogPatternRow> | null {
  const answers = [seen.patterns, ...seen.followUps.values()];
  return answers.find((answer) => answer?.invocation_id === invocation_id) ?? null;
}

/**
 * The word of another tool on the leading cause in the same window, where its harm is error lines or is told by others alone:
 * its error share. When that fell, the claim says so and speaks against the cause.
 */
export function checkOf(suspect: Suspect, hasHarm: boolean, seen: Seen, writer: EvidenceWriter): string[] {
  const errs = suspect.changes.some(({ row }) => row.kind === 'error_line') || (suspect.signs?.severe.length ?? 0) > 0;
  const index = suspect.signs?.share?.index ?? -1;
  const row = seen.shares?.rows[index];
  // A risen share stands among the harm already.
  if ((!errs && hasHarm) || seen.shares === null || row === undefined || errorShareRose(row, writer.thresholds.logs)) return [];
  const id = writer.moved('check', seen.shares, index, ERROR_SHARE_FIELDS);
  return id === null ? [] : [id];
}

/**
 * What was found normal, service by service and family by family: where nothing convincing speaks against anybody. A service
 * with error lines and without a baseline is none of it; those are answered as symptoms.
 */
export function rangesOf(
  { seen, weighed }: Weighing,
  writer: EvidenceWriter,
  cleared: ReadonlySet<string>,
): Omit<Assessment, 'rank'>[] {
  const { shares } = seen;
  const isOpen = (service: string): boolean => !cleared.has(service) && !weighed.hints.some((hint) => hint.service === service);
  const severe = placedPatterns(seen).filter(({ row }) => isSevere(row.level));
  const symptoms: Omit<Assessment, 'rank'>[] = [];
  const busiest = (shares?.rows ?? []).map((row, index) => ({ row, index })).sort((a, b) => b.row.lines - a.row.lines);
  for (const { row, index } of busiest.slice(0, MOST.ranges)) {
    // A share of no lines at all says nothing of what is normal.
    if (shares === null || row.lines === 0 || !isOpen(row.service)) continue;
    if (hasBaseline(row)) errorShareClaim('range', writer, shares, index);
    else if (row.error_lines === 0) writer.counted('range', shares, index, 'error_lines');
    else {
      const own = severe.filter((pattern) => pattern.row.service === row.service);
      const claim_ids = errorLinesOf('symptom', index, own, seen, writer);
      symptoms.push({ subject: row.service, role: 'symptom', claim_ids });
    }
  }
  const byTraces = [...(seen.spans?.rows ?? [])].sort((a, b) => b.traces - a.traces).map(({ service }) => service);
  writeFirst(byTraces.filter(isOpen), (service) => spansNormal('range', service, seen, writer));
  const byScore = [...new Set((seen.metrics?.rows ?? []).map(({ service }) => service))];
  writeFirst(byScore.filter(isOpen), (service) => metricsNormal('range', service, seen, writer));
  return symptoms;
}

/** Writes for the first services that can be written about; a family needs no more to be stated. */
function writeFirst(services: readonly string[], write: (service: string) => string | null): void {
  let left: number = MOST.measuredRanges;
  for (const service of services) {
    if (left === 0) return;
    if (write(service) !== null) left -= 1;
  }
}

/** Whether the baseline holds any line of a service: a share of nothing compares with nothing. */
export function hasBaseline({ baseline_lines }: ErrorShareRow): boolean {
  return (baseline_lines ?? 0) > 0;
}

/** Whether a service has error lines enough to be named where there is nothing to compare with. */
export function isLoudWithoutBaseline(row: ErrorShareRow, all: readonly ErrorShareRow[], limits: Thresholds): boolean {
  const errors = all.reduce((sum, { error_lines }) => sum + error_lines, 0);
  const enough = Math.max(limits.logs.fewest, errors * limits.claims.loudPart);
  return row.error_lines >= enough && row.error_share >= limits.claims.loudShare;
}
