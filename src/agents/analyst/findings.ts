import type { ErrorShareRow, LogPatternRow, LogSequenceRow } from '../../ports/telemetry-source.port';
import type { Assessment } from '../../protocol/executor-evidence';
import type { ClaimRole } from './claim-roles';
import { ERROR_SHARE_FIELDS, errorShareClaim, errorShareRose } from './control-check';
import type { EvidenceWriter } from './evidence-writer';
import { placedPatterns, type Seen, type Weighing } from './first-round';
import { hasRisen, type PlacedPattern } from './line-ranking';
import { firstFailureOf, namesService, type Suspect } from './suspects';
import type { Answer } from './telemetry-look';
import { isAlarming, isSevere } from './tool-rows';

const SHARE_FIELDS = { baseline: 'baseline_share', incident: 'share', unit: 'ratio' } as const;
const RATE_FIELDS = { baseline: 'baseline_rate_per_min', incident: 'rate_per_min', unit: 'per_minute', count: 'count' } as const;
const COUNT_FIELDS = { baseline: 'baseline_count', incident: 'count', unit: 'count' } as const;
const MOST = { changes: 2, lines: 2, ruledOut: 5, ranges: 12, loudLines: 20 } as const;

/** Writes what speaks against one service: its changed flows, its error share, its new lines; strongest first. */
export function claimsAgainst(role: ClaimRole, suspect: Suspect, seen: Seen, writer: EvidenceWriter): string[] {
  const { sequences, shares } = seen;
  const flows =
    sequences === null
      ? []
      : suspect.changes.slice(0, MOST.changes).map(({ index }) => flowClaim(role, sequences, index, writer));
  const shareIndex = suspect.signs?.share?.index ?? -1;
  const risen = shares?.rows[shareIndex];
  const share =
    shares !== null && risen !== undefined && errorShareRose(risen)
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
  return writer.moved(role, answer, pattern.index, isNew ? COUNT_FIELDS : SHARE_FIELDS);
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

function answerOf({ invocation_id }: PlacedPattern, seen: Seen): Answer<LogPatternRow> | null {
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
  if ((!errs && hasHarm) || seen.shares === null || row === undefined || errorShareRose(row)) return [];
  const id = writer.moved('check', seen.shares, index, ERROR_SHARE_FIELDS);
  return id === null ? [] : [id];
}

/** Changes of a service shortly before it went wrong, as claims on the lines that tell of them. */
export function triggersOf(service: string, seen: Seen, writer: EvidenceWriter, role: ClaimRole = 'trigger'): string[] {
  const end = Date.parse(seen.query.window.to);
  const ids: string[] = [];
  for (const answer of seen.changes) {
    answer.rows.forEach((row, index) => {
      const at = row.first_seen === null ? Number.NaN : Date.parse(row.first_seen);
      if (row.service !== service || isAlarming(row.level) || !(at < end) || ids.length >= MOST.lines) return;
      const id = writer.counted(role, answer, index, 'count', ['first_seen']);
      if (id !== null) ids.push(id);
    });
  }
  return ids;
}

/** Services that look suspicious and are not: named and changed ones, then loud ones; where nothing is wrong only named ones. */
function innocents({ seen, weighed }: Weighing): string[] {
  const guilty = new Set([
    ...weighed.causes.map(({ service }) => service),
    ...weighed.symptoms.map(({ suspect }) => suspect.service),
  ]);
  const changed = seen.changes.flatMap(({ rows }) =>
    rows.filter(({ level }) => !isAlarming(level)).map(({ service }) => service),
  );
  const asked = (seen.shares?.rows ?? []).map(({ service }) => service).filter((name) => namesService(seen.query.question, name));
  const loud = (seen.patterns?.rows ?? [])
    .filter((row) => isAlarming(row.level) && row.count >= MOST.loudLines)
    .sort((a, b) => b.count - a.count)
    .map(({ service }) => service);
  const looked = weighed.causes.length === 0 ? asked : [...asked, ...changed, ...loud];
  return [...new Set(looked)].filter((service) => !guilty.has(service));
}

/** That the loudest warning of a service comes as often as before. */
function steadyWarning(service: string, { seen }: Weighing, writer: EvidenceWriter): string[] {
  const [loudest] = placedPatterns(seen)
    .filter(({ row }) => row.service === service && isAlarming(row.level) && !isSevere(row.level) && row.count >= MOST.loudLines)
    .filter((pattern) => (pattern.row.baseline_count ?? 0) > 0 && !hasRisen(pattern) && isAsOften(pattern.row))
    .sort((a, b) => b.row.count - a.row.count);
  const answer = loudest === undefined ? null : answerOf(loudest, seen);
  const id = loudest === undefined || answer === null ? null : writer.withinNormal('clear', answer, loudest.index, RATE_FIELDS);
  return id === null ? [] : [id];
}

function isAsOften({ rate_per_min, baseline_rate_per_min }: LogPatternRow): boolean {
  return baseline_rate_per_min !== null && rate_per_min < baseline_rate_per_min * 1.5;
}

/** Clears suspicious services by what would have shown if they were guilty: their error share, which did not rise. */
export function ruleOut(weighing: Weighing, writer: EvidenceWriter): Omit<Assessment, 'rank'>[] {
  const { shares } = weighing.seen;
  if (shares === null) return [];
  const hinted = new Set(weighing.weighed.hints.map(({ service }) => service));
  return innocents(weighing)
    .filter((service) => {
      const row = shares.rows.find((candidate) => candidate.service === service);
      return row !== undefined && !hinted.has(service) && hasBaseline(row) && !errorShareRose(row);
    })
    .slice(0, MOST.ruledOut)
    .flatMap((service) => {
      const index = shares.rows.findIndex((row) => row.service === service);
      const share = writer.withinNormal('clear', shares, index, ERROR_SHARE_FIELDS);
      if (share === null) return [];
      const changes = weighing.weighed.causes.length === 0 ? [] : triggersOf(service, weighing.seen, writer, 'clear');
      const claim_ids = [share, ...changes, ...steadyWarning(service, weighing, writer)];
      return [{ subject: service, role: 'ruled_out' as const, claim_ids }];
    });
}

/** What clears a symptom that looks like more: a change of it while the cause failed first, a warning that was always there. */
export function clearSymptom(suspect: Suspect, cause: Suspect | undefined, weighing: Weighing, writer: EvidenceWriter): string[] {
  const { seen } = weighing;
  const steady = steadyWarning(suspect.service, weighing, writer);
  const [first, own] = [cause === undefined ? null : firstFailureOf(cause), firstFailureOf(suspect)];
  if (first === null || own === null || first.at > own.at) return steady;
  const changes = triggersOf(suspect.service, seen, writer, 'clear');
  if (changes.length === 0) return steady;
  const order = [first.line, own.line].flatMap((line) => {
    const answer = answerOf(line, seen);
    if (answer === null) return [];
    return writer.moved('clear', answer, line.index, SHARE_FIELDS, ['first_seen']) ?? [];
  });
  return [...changes, ...order, ...steady];
}

/**
 * What was found normal, service by service: where nothing convincing speaks against anybody. A service with error lines and
 * without a baseline is none of it; those are answered as symptoms.
 */
export function rangesOf(
  { seen, weighed }: Weighing,
  writer: EvidenceWriter,
  cleared: ReadonlySet<string>,
): Omit<Assessment, 'rank'>[] {
  const { shares } = seen;
  if (shares === null) return [];
  const hinted = new Set(weighed.hints.map(({ service }) => service));
  const severe = placedPatterns(seen).filter(({ row }) => isSevere(row.level));
  const symptoms: Omit<Assessment, 'rank'>[] = [];
  const busiest = shares.rows.map((row, index) => ({ row, index })).sort((a, b) => b.row.lines - a.row.lines);
  for (const { row, index } of busiest.slice(0, MOST.ranges)) {
    if (cleared.has(row.service) || hinted.has(row.service)) continue;
    if (hasBaseline(row)) errorShareClaim('range', writer, shares, index);
    else if (row.error_lines === 0) writer.counted('range', shares, index, 'error_lines');
    else {
      const own = severe.filter((pattern) => pattern.row.service === row.service);
      const claim_ids = errorLinesOf('symptom', index, own, seen, writer);
      symptoms.push({ subject: row.service, role: 'symptom', claim_ids });
    }
  }
  return symptoms;
}

/** Whether the baseline holds any line of a service: a share of nothing compares with nothing. */
export function hasBaseline({ baseline_lines }: ErrorShareRow): boolean {
  return (baseline_lines ?? 0) > 0;
}

/** Whether a service has error lines enough to be named where there is nothing to compare with. */
export function isLoudWithoutBaseline(row: ErrorShareRow): boolean {
  return row.error_lines >= MOST.loudLines && row.error_share >= 0.2;
}
