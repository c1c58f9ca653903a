import type { ErrorShareRow, LogPatternRow, LogSequenceRow } from '../../ports/telemetry-source.port';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { ClaimRole } from './claim-roles';
import { type EvidenceWriter, summaryBinding } from './evidence-writer';
import { errorCountsOf, hasRisen, type PlacedPattern } from './line-ranking';
import { errorShareQuestion, halvesOf, patternsQuestion, ROW_LIMITS, sequencesQuestion } from './questions';
import type { PlacedSequence } from './sequence-ranking';
import { gStatistic, riseOf } from './significance';
import type { Answer, TelemetryLook } from './telemetry-look';
import type { Suspect } from './suspects';
import type { Thresholds } from './thresholds';
import { ERROR_SHARE, LOG_PATTERNS, LOG_SEQUENCES } from './tool-rows';

/** Fields of an `error_share` row that say the same of both windows. */
export const ERROR_SHARE_FIELDS = {
  baseline: 'baseline_error_share',
  incident: 'error_share',
  unit: 'ratio',
  count: 'error_lines',
} as const;

/** Whether a service's error share rose by more than chance and noise. */
export function errorShareRose(row: ErrorShareRow, limits: Thresholds['logs']): boolean {
  const counts = errorCountsOf(row);
  return counts !== null && gStatistic(counts) >= limits.chanceG && riseOf(counts) >= limits.noiseRise;
}

/** A claim on a service's error share: that it rose when it did, else that it stayed within what is normal. */
export function errorShareClaim(
  role: ClaimRole,
  writer: EvidenceWriter,
  answer: Answer<ErrorShareRow>,
  index: number,
): string | null {
  const row = answer.rows[index];
  if (row === undefined) return null;
  return errorShareRose(row, writer.thresholds.logs)
    ? writer.moved(role, answer, index, ERROR_SHARE_FIELDS)
    : writer.withinNormal(role, answer, index, ERROR_SHARE_FIELDS);
}

/**
 * The query that would disprove a cause: the same question asked between the halves of the baseline. If the change shows
 * there as well, it is no mark of the incident. Its claims have the role `control`; none when the tools could not answer.
 */
export async function controlOf(
  { service, changes, signs }: Pick<Suspect, 'service' | 'changes' | 'signs'>,
  query: DiagnosisQuery,
  look: TelemetryLook,
  writer: EvidenceWriter,
): Promise<string[]> {
  if (query.baseline === null) return [];
  const { first, second } = halvesOf(query.baseline);
  if (changes.length > 0 && look.has(LOG_SEQUENCES)) {
    const answer = await look.ask(LOG_SEQUENCES, sequencesQuestion(second, first, service));
    const ids = answer === null ? [] : sequenceControl(service, changes, answer, writer);
    if (ids.length > 0) return ids;
  }
  const lines = [...(signs?.severe ?? []), ...(signs?.warnings ?? [])];
  if (changes.length === 0 && lines.length > 0) {
    const answer = await look.ask(LOG_PATTERNS, patternsQuestion(second, first, { service, limit: ROW_LIMITS.follow_up }));
    const ids = answer === null ? [] : lineControl(lines, answer, writer);
    if (ids.length > 0) return ids;
  }
  const answer = await look.ask(ERROR_SHARE, errorShareQuestion(second, first, service));
  return answer === null ? [] : errorShareControl(service, answer, writer);
}

/** Control by kinds of line: those that speak against the service, compared between the halves of the baseline. */
function lineControl(lines: readonly PlacedPattern[], answer: Answer<LogPatternRow>, writer: EvidenceWriter): string[] {
  const known = new Set(lines.map(({ row }) => lineKind(row)));
  const same = answer.rows.map((row, index) => ({ row, index })).filter(({ row }) => known.has(lineKind(row)));
  const fields = { baseline: 'baseline_share', incident: 'share', unit: 'ratio', count: 'count' } as const;
  return same.flatMap(({ row, index }) => {
    const risen = row.baseline_count !== null && hasRisen({ row }, writer.thresholds.logs);
    return (risen ? writer.moved('control', answer, index, fields) : writer.withinNormal('control', answer, index, fields)) ?? [];
  });
}

function lineKind({ service, level, template }: LogPatternRow): string {
  return JSON.stringify([service, level, template]);
}

/** Control by flows: the same change inside the baseline, or that the service shows no change of flow there at all. */
export function sequenceControl(
  service: string,
  changes: readonly Pick<PlacedSequence, 'row'>[],
  answer: Answer<LogSequenceRow>,
  writer: EvidenceWriter,
): string[] {
  const again = answer.rows.findIndex(
    (row) => row.service === service && changes.some((change) => isSameChange(change.row, row)),
  );
  if (again >= 0) {
    const id = writer.moved('control', answer, again, { baseline: 'baseline_share', incident: 'share', unit: 'ratio' });
    return id === null ? [] : [id];
  }
  const none = noChangeOf('control', service, answer, writer);
  return none === null ? [] : [none];
}

/** Control by lines: how the service's error share differs between the halves of the baseline. */
export function errorShareControl(service: string, answer: Answer<ErrorShareRow>, writer: EvidenceWriter): string[] {
  const index = answer.rows.findIndex((row) => row.service === service);
  const id = index < 0 ? null : errorShareClaim('control', writer, answer, index);
  return id === null ? [] : [id];
}

function isSameChange(a: LogSequenceRow, b: LogSequenceRow): boolean {
  return a.kind === b.kind && a.step === b.step && a.step_service === b.step_service;
}

/**
 * That a complete look counted no change of a service, with the range it covered. Null when something matched, or when the
 * look had limits: rejected records or an output that is not complete.
 */
export function noChangeOf(role: ClaimRole, service: string, answer: Answer<unknown>, writer: EvidenceWriter): string | null {
  const { matched_count, records_scanned, records_rejected, complete, summary } = answer;
  if (matched_count !== 0 || records_scanned <= 0 || records_rejected > 0 || !complete) return null;
  if (summary['matched_count'] !== 0 || answer.arguments['service'] !== service) return null;
  const covered = ['covered_from', 'covered_to'].filter((name) => typeof summary[name] === 'string');
  return writer.add(role, {
    kind: 'fact',
    subject: service,
    assertion: { op: 'count', left: 0, value: 0, unit: 'count' },
    bindings: ['matched_count', ...covered].map((name) => summaryBinding(answer, name)),
  });
}
