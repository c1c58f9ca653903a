import type { Assessment } from '../../protocol/executor-evidence';
import type { EvidenceWriter } from './evidence-writer';
import { isLoudWithoutBaseline, lineClaim } from './findings';
import { placedPatterns, type Seen } from './first-round';
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
    .filter(({ row }) => isLoudWithoutBaseline(row))
    .sort((a, b) => b.row.error_lines - a.row.error_lines);
  const ofService = (service: string) => severe.filter(({ row }) => row.service === service);
  const blames = new Map(loud.map(({ row }) => [row.service, blamedService(row.service, ofService(row.service), services)]));
  const ordered = [...loud].sort(
    (a, b) => Number(blames.get(a.row.service) !== null) - Number(blames.get(b.row.service) !== null),
  );
  const assessments = ordered.slice(0, 4).flatMap(({ row, index }, place): Omit<Assessment, 'rank'>[] => {
    const role = place === 0 ? 'cause' : blames.get(row.service) === null ? 'contributing' : 'symptom';
    const claims = [
      writer.counted(place === 0 ? 'harm' : 'symptom', shares, index, 'error_lines'),
      ...ofService(row.service)
        .slice(0, 1)
        .map((pattern) => lineClaim(place === 0 ? 'harm' : 'symptom', pattern, seen, writer)),
    ].filter((id) => id !== null);
    return claims.length === 0 ? [] : [{ subject: row.service, role, claim_ids: claims }];
  });
  if (assessments.length === 0) {
    shares.rows.slice(0, 12).forEach((_row, index) => writer.counted('range', shares, index, 'error_lines'));
  }
  return assessments.map((assessment, index) => ({ rank: index + 1, ...assessment }));
}
