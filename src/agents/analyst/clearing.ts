import type { LogPatternRow } from '../../ports/telemetry-source.port';
import type { Assessment } from '../../protocol/executor-evidence';
import { ERROR_SHARE_FIELDS, errorShareRose } from './control-check';
import type { EvidenceWriter } from './evidence-writer';
import { answerOf, hasBaseline } from './findings';
import { placedPatterns, type Weighing } from './first-round';
import type { Seen } from './seen';
import { hasRisen } from './line-ranking';
import { isMeasuredDeparting, measuredNormal } from './measure-findings';
import { firstFailureOf, namesService, type Suspect } from './suspects';
import type { Thresholds } from './thresholds';
import { isAlarming, isSevere } from './tool-rows';
import { innocentChanges } from './triggers';

const RATE_FIELDS = { baseline: 'baseline_rate_per_min', incident: 'rate_per_min', unit: 'per_minute', count: 'count' } as const;
const MOST_RULED_OUT = 5;

/**
 * Services that look suspicious and are not: named, changed and loud ones, and what a leader by spans or metrics calls; where
 * nothing is wrong only named ones.
 */
function innocents({ seen, weighed, paths }: Weighing): string[] {
  const guilty = new Set([
    ...weighed.causes.map(({ service }) => service),
    ...weighed.symptoms.map(({ suspect }) => suspect.service),
  ]);
  const changed = seen.changes.flatMap(({ rows }) =>
    rows.filter(({ level }) => !isAlarming(level)).map(({ service }) => service),
  );
  const recorded = (seen.recorded?.rows ?? []).map(({ service }) => service);
  const known = [seen.shares, seen.spans, seen.metrics].flatMap((answer) => (answer?.rows ?? []).map(({ service }) => service));
  const asked = known.filter((name) => namesService(seen.query.question, name));
  const [leader] = weighed.causes;
  const called = leader === undefined || leader.standing === 'logs' ? [] : [...paths.calleesOf(leader.service)].sort();
  const loud = (seen.patterns?.rows ?? [])
    .filter((row) => isLoud(row, seen))
    .sort((a, b) => b.count - a.count)
    .map(({ service }) => service);
  const looked = leader === undefined ? asked : [...asked, ...changed, ...recorded, ...loud, ...called];
  return [...new Set(looked)].filter((service) => !guilty.has(service));
}

/** Whether an alarming kind of line makes up much of all alarming lines. */
function isLoud(row: LogPatternRow, { patterns, thresholds }: Seen): boolean {
  const alarming = (patterns?.rows ?? []).filter(({ level }) => isAlarming(level));
  const all = alarming.reduce((sum, { count }) => sum + count, 0);
  return isAlarming(row.level) && row.count >= Math.max(thresholds.logs.fewest, all * thresholds.claims.loudPart);
}

/** That the loudest warning of a service comes as often as before. */
function steadyWarning(service: string, { seen }: Weighing, writer: EvidenceWriter): string[] {
  const [loudest] = placedPatterns(seen)
    .filter(({ row }) => row.service === service && isLoud(row, seen) && !isSevere(row.level))
    .filter(
      (pattern) =>
        (pattern.row.baseline_count ?? 0) > 0 &&
        !hasRisen(pattern, seen.thresholds.logs) &&
        isAsOften(pattern.row, seen.thresholds),
    )
    .sort((a, b) => b.row.count - a.row.count);
  const answer = loudest === undefined ? null : answerOf(loudest, seen);
  const id = loudest === undefined || answer === null ? null : writer.withinNormal('clear', answer, loudest.index, RATE_FIELDS);
  return id === null ? [] : [id];
}

function isAsOften({ rate_per_min, baseline_rate_per_min }: LogPatternRow, limits: Thresholds): boolean {
  return baseline_rate_per_min !== null && rate_per_min < baseline_rate_per_min * limits.claims.steadyFactor;
}

/** Clears suspicious services by what would have shown if they were guilty: every family that knows them shows them normal. */
export function ruleOut(weighing: Weighing, writer: EvidenceWriter): Omit<Assessment, 'rank'>[] {
  const { seen, weighed } = weighing;
  const hinted = new Set(weighed.hints.map(({ service }) => service));
  const cleared: Omit<Assessment, 'rank'>[] = [];
  for (const service of innocents(weighing)) {
    if (cleared.length >= MOST_RULED_OUT) break;
    const index = seen.shares?.rows.findIndex((row) => row.service === service) ?? -1;
    const row = seen.shares?.rows[index];
    if (hinted.has(service) || isMeasuredDeparting(service, seen)) continue;
    // Lines that nothing can be compared with clear nobody, whatever the other families show.
    if (row !== undefined && (row.lines === 0 || !hasBaseline(row) || errorShareRose(row, seen.thresholds.logs))) continue;
    const byLogs =
      seen.shares === null || row === undefined ? null : writer.withinNormal('clear', seen.shares, index, ERROR_SHARE_FIELDS);
    const normal = [...(byLogs === null ? [] : [byLogs]), ...measuredNormal('clear', service, seen, writer)];
    if (normal.length === 0) continue;
    const changes = weighed.causes.length === 0 ? [] : innocentChanges('clear', service, seen, writer);
    const claim_ids = [...normal, ...changes, ...steadyWarning(service, weighing, writer)];
    cleared.push({ subject: service, role: 'ruled_out', claim_ids });
  }
  return cleared;
}

/**
 * What a symptom that looks like more has beside its harm: its own changes where the cause failed first, and what clears it, a
 * warning that was always there. It refuses claims of the cause: what accuses somebody clears nobody.
 */
export function clearSymptom(suspect: Suspect, cause: Suspect | undefined, weighing: Weighing, writer: EvidenceWriter): string[] {
  const steady = steadyWarning(suspect.service, weighing, writer);
  const [first, own] = [cause === undefined ? null : firstFailureOf(cause), firstFailureOf(suspect)];
  if (first === null || own === null || first.at > own.at) return steady;
  return [...innocentChanges('symptom', suspect.service, weighing.seen, writer), ...steady];
}
