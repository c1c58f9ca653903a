import type { Assessment } from '../../protocol/executor-evidence';
import type { EvidenceWriter } from './evidence-writer';
import { errorLinesOf, isLoudWithoutBaseline } from './findings';
import { placedPatterns } from './first-round';
import type { Seen } from './seen';
import type { PlacedPattern } from './line-ranking';
import { blamedService } from './suspects';
import { isSevere } from './tool-rows';

/**
 * What can be said without anything to compare with: plain counts of error lines, and the loudest service that does not name
 * another one as the failing callee. It refuses to call anything new or risen.
 */
export function withoutBaseline(seen: Seen, writer: EvidenceWriter): Assessment[] {
  const { shares } = seen;
  if (shares === null) return [];
  const services = shares.rows.map(({ service }) => service);
  const severe = placedPatterns(seen).filter(({ row }) => isSevere(row.level));
  const loud = shares.rows
    .map((row, index) => ({ row, index }))
    .filter(({ row }) => isLoudWithoutBaseline(row, shares.rows, seen.thresholds))
    .sort((a, b) => b.row.error_lines - a.row.error_lines);
  const ofService = (service: string) => severe.filter(({ row }) => row.service === service);
  const blames = new Map(
    loud.map(({ row }) => [row.service, blamedService(row.service, ofService(row.service), services, seen.thresholds.logs)]),
  );
  const named = (service: string) => [...blames.values()].filter((blamed) => blamed === service).length;
  const ordered = [...loud].sort(
    (a, b) =>
      Number(blames.get(a.row.service) !== null) - Number(blames.get(b.row.service) !== null) ||
      named(b.row.service) - named(a.row.service),
  );
  const assessments = ordered.slice(0, 4).flatMap(({ row, index }, place): Omit<Assessment, 'rank'>[] => {
    const role = place === 0 ? 'cause' : 'symptom';
    const claims = errorLinesOf(place === 0 ? 'harm' : 'symptom', index, ofService(row.service), seen, writer);
    return claims.length === 0 ? [] : [{ subject: row.service, role, claim_ids: claims }];
  });
  if (assessments.length === 0) assessments.push(...quietErrors(seen, severe, writer));
  if (assessments.length === 0) {
    shares.rows.slice(0, 12).forEach((_row, index) => writer.counted('range', shares, index, 'error_lines'));
  }
  return assessments.map((assessment, index) => ({ rank: index + 1, ...assessment }));
}

/** Services with error lines of which nobody can say whether they are usual: symptoms, never normal. */
function quietErrors(seen: Seen, severe: readonly PlacedPattern[], writer: EvidenceWriter): Omit<Assessment, 'rank'>[] {
  return (seen.shares?.rows ?? [])
    .map((row, index) => ({ row, index }))
    .filter(({ row }) => row.error_lines > 0)
    .sort((a, b) => b.row.error_lines - a.row.error_lines)
    .slice(0, 4)
    .flatMap(({ row, index }) => {
      const own = severe.filter((pattern) => pattern.row.service === row.service);
      const claim_ids = errorLinesOf('symptom', index, own, seen, writer);
      return claim_ids.length === 0 ? [] : [{ subject: row.service, role: 'symptom' as const, claim_ids }];
    });
}
