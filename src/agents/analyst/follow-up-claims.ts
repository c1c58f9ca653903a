import type { LogPatternRow } from '../../ports/telemetry-source.port';
import type { DiagnosisQuery, QueryFocus } from '../../protocol/diagnosis-query';
import type { Assessment } from '../../protocol/executor-evidence';
import type { ClaimRole } from './claim-roles';
import { ERROR_SHARE_FIELDS, errorShareRose } from './control-check';
import { type EvidenceWriter, summaryBinding } from './evidence-writer';
import { hasBaseline, SHARE_FIELDS } from './findings';
import type { Seen } from './seen';
import { isPart } from './follow-up-scope';
import { servicesNamed } from './follow-up-subject';
import { isMeasuredDeparting, measuredNormal, metricsCompared, recordedChange, spansCompared } from './measure-findings';
import { changesQuestion, changeWindow, patternsQuestion } from './questions';
import type { Answer, TelemetryLook } from './telemetry-look';
import { CHANGES, isAlarming, isSevere, LOG_PATTERNS } from './tool-rows';

const MOST = { lines: 5, changes: 10, services: 3, told: 3 } as const;

interface Told {
  readonly focus: QueryFocus;
  readonly seen: Seen;
  readonly look: TelemetryLook;
  readonly writer: EvidenceWriter;
}

/**
 * What a follow-up asks for, as claims beside those of the diagnosis: kinds of lines with a line each, changes, or what
 * clears a name that was asked about. The assessments with those that it adds; as they are where nothing was asked for. It
 * refuses to call anything cleared that departs.
 */
export async function tellFollowUp(
  seen: Seen,
  assessments: Assessment[],
  look: TelemetryLook,
  writer: EvidenceWriter,
): Promise<Assessment[]> {
  const { focus } = seen.query;
  if (focus === undefined) return assessments;
  const told: Told = { focus, seen, look, writer };
  switch (focus.ask) {
    case 'lines':
      await tellLines(told, assessments);
      return assessments;
    case 'changes':
      await tellChanges(told);
      return assessments;
    case 'why_not':
      return [...assessments, ...(await tellWhyNot(told, assessments))];
  }
}

/** That a part has no line in the window, where that is all there is to say of it. It claims nothing of a part that has any. */
export function absentPart({ query, patterns }: Seen, look: TelemetryLook, writer: EvidenceWriter): void {
  const { scope, window } = query;
  if (scope === undefined || !isPart(scope) || patterns === null || patterns.matched_count !== 0) return;
  look.note('SCOPE_EMPTY');
  writer.add('asked', {
    kind: 'absence',
    subject: 'all services',
    scope: { subject: 'all services', filter: scope.text, from: window.from, to: window.to },
    bindings: [summaryBinding(patterns, 'matched_count')],
  });
}

function knownServices({ shares, patterns, spans, metrics, recorded, edges }: Seen): string[] {
  const answers = [shares, patterns, spans, metrics, recorded];
  const named = answers.flatMap((answer) => (answer?.rows ?? []).map(({ service }) => service));
  const linked = (edges?.rows ?? []).flatMap(({ caller, callee }) => [caller, callee]);
  return [...new Set([...named, ...linked])].sort();
}

/** Kinds of lines of the named services, else of the leading cause, else whatever the window's lines show first. */
async function tellLines({ focus, seen, look, writer }: Told, assessments: readonly Assessment[]): Promise<void> {
  const cause = assessments.find(({ role }) => role === 'cause')?.subject;
  const asked = focus.subject === undefined ? [] : servicesNamed(focus.subject, knownServices(seen));
  if (focus.subject !== undefined && asked.length === 0) look.note('SUBJECT_UNKNOWN');
  const services = asked.length > 0 ? asked.slice(0, MOST.services) : cause === undefined ? [] : [cause];
  const answers: (Answer<LogPatternRow> | null)[] = [];
  for (const service of services) {
    answers.push(seen.followUps.get(service) ?? (await linesOf(service, seen.query, look)));
  }
  if (services.length === 0) answers.push(seen.patterns);
  for (const answer of answers) {
    if (answer !== null) linesIn(answer, writer);
  }
  if (!writer.claims.some(({ claim_id }) => claim_id.startsWith('line-'))) look.note('NO_LINES');
}

function linesOf(service: string, { window, baseline }: DiagnosisQuery, look: TelemetryLook) {
  return look.ask(LOG_PATTERNS, patternsQuestion(window, baseline, { service }));
}

function linesIn(answer: Answer<LogPatternRow>, writer: EvidenceWriter): void {
  const weight = ({ level }: LogPatternRow): number => Number(isSevere(level)) + Number(isAlarming(level));
  const there = answer.rows.map((row, index) => ({ row, index })).filter(({ row }) => row.count > 0);
  there.sort((a, b) => weight(b.row) - weight(a.row) || b.row.count - a.row.count || a.index - b.index);
  for (const { index } of there.slice(0, MOST.lines)) {
    const counted = writer.counted('line', answer, index, 'count', ['first_seen', 'last_seen']);
    if (counted === null) writer.present('line', answer, index);
  }
}

/** Recorded changes and lines that tell of some, before the window or in it too; else that there is none. */
async function tellChanges({ focus, seen, look, writer }: Told): Promise<void> {
  const start = Date.parse(seen.query.window.from);
  const isMeant = (at: number): boolean => !(focus.before === true && at >= start);
  const said = writer.claims.length;
  const isFull = (): boolean => writer.claims.length - said >= MOST.changes;
  let found = 0;
  (seen.recorded?.rows ?? []).forEach((row, index) => {
    if (!isMeant(Date.parse(row.time))) return;
    found += 1;
    if (!isFull()) recordedChange('change', index, seen, writer);
  });
  for (const answer of seen.changes) {
    answer.rows.forEach((row, index) => {
      const at = row.first_seen === null ? Number.NaN : Date.parse(row.first_seen);
      if (isAlarming(row.level) || Number.isNaN(at) || !isMeant(at)) return;
      found += 1;
      if (!isFull()) writer.counted('change', answer, index, 'count', ['first_seen']);
    });
  }
  if (found === 0) await tellNoChange({ focus, seen, look, writer });
}

/** The stretch that was asked about, looked through again by itself: an absence holds for the very range that was asked. */
async function tellNoChange({ focus, seen, look, writer }: Told): Promise<void> {
  const { query } = seen;
  const { from, to } = changeWindow(query);
  const stretch = { from, to: focus.before === true ? query.window.from : to };
  const recorded =
    seen.recorded === null ? null : await look.ask(CHANGES, { ...changesQuestion(query), window: stretch, lookback_minutes: 0 });
  if (recorded !== null) absence('change', recorded, '', stretch, writer);
  for (const answer of seen.changes) {
    const word = answer.arguments['contains'];
    // An absence of words within a part would be narrowed twice.
    if (typeof word === 'string' && !isPart(query.scope)) absence('change', answer, word, { from, to }, writer);
  }
  if (!writer.claims.some(({ claim_id }) => claim_id.startsWith('change-'))) look.note('NO_CHANGES');
}

/** That a complete look found nothing in a range; nothing where it did not reach over it. */
function absence(
  role: ClaimRole,
  answer: Answer<unknown>,
  filter: string,
  { from, to }: { readonly from: string; readonly to: string },
  writer: EvidenceWriter,
): void {
  const { coverage, matched_count, records_scanned, records_rejected, complete } = answer;
  if (matched_count !== 0 || records_scanned <= 0 || records_rejected > 0 || !complete) return;
  if (coverage === null || coverage.from === null || coverage.to === null) return;
  // What the telemetry does not reach to was not looked through.
  if (Date.parse(coverage.from) > Date.parse(from) || Date.parse(coverage.to) < Date.parse(to)) return;
  const service = answer.arguments['service'];
  const subject = typeof service === 'string' ? service : 'all services';
  writer.add(role, {
    kind: 'absence',
    subject,
    scope: { subject, filter, from, to },
    bindings: [summaryBinding(answer, 'matched_count')],
  });
}

/** What clears the services that a name stands for, or that they depart as well. */
async function tellWhyNot(told: Told, assessments: readonly Assessment[]): Promise<Assessment[]> {
  const { focus, seen, look } = told;
  const subject = focus.subject ?? '';
  const services = servicesNamed(subject, knownServices(seen)).slice(0, MOST.services);
  if (services.length === 0) {
    look.note('SUBJECT_UNKNOWN');
    await tellLinesAbout(subject, told);
    return [];
  }
  const cleared: Assessment[] = [];
  for (const service of services) {
    // One that is assessed already is answered by its assessment, whichever it is.
    if (assessments.some((assessment) => assessment.subject === service)) continue;
    const claim_ids = clearOf(service, told);
    if (claim_ids.length > 0) {
      cleared.push({ rank: assessments.length + cleared.length + 1, subject: service, role: 'ruled_out', claim_ids });
    }
  }
  return cleared;
}

/** The claims that show a service normal in every family that knows it; where one does not, the claims that it departs. */
function clearOf(service: string, { seen, look, writer }: Told): string[] {
  const { shares, spans, metrics, thresholds } = seen;
  const index = shares?.rows.findIndex((row) => row.service === service) ?? -1;
  const row = shares?.rows[index];
  const errs = row !== undefined && (!hasBaseline(row) || errorShareRose(row, thresholds.logs));
  if (errs || isMeasuredDeparting(service, seen)) {
    if (errs && shares !== null) {
      const moved = writer.moved('asked', shares, index, ERROR_SHARE_FIELDS);
      if (moved === null) writer.counted('asked', shares, index, 'error_lines');
    }
    if (spans !== null) spansCompared('asked', service, spans, writer);
    if (metrics !== null) metricsCompared('asked', service, metrics, writer);
    return [];
  }
  const byLogs = shares === null || row === undefined ? null : writer.withinNormal('clear', shares, index, ERROR_SHARE_FIELDS);
  const normal = [...(byLogs === null ? [] : [byLogs]), ...measuredNormal('clear', service, seen, writer)];
  if (normal.length === 0) look.note('SUBJECT_UNKNOWN');
  return normal;
}

/** Where no service has the name: how lines that hold it moved, or that there is none. */
async function tellLinesAbout(subject: string, { seen, look, writer }: Told): Promise<void> {
  const { window, baseline, scope } = seen.query;
  const answer = await look.ask(LOG_PATTERNS, patternsQuestion(window, baseline, { contains: subject }));
  if (answer === null) return;
  if (!isPart(scope)) absence('asked', answer, subject, window, writer);
  const there = answer.rows.map((row, index) => ({ row, index })).filter(({ row }) => row.count > 0);
  there.sort((a, b) => Number(isAlarming(b.row.level)) - Number(isAlarming(a.row.level)) || b.row.count - a.row.count);
  for (const { row, index } of there.slice(0, MOST.told)) {
    const counted = row.baseline_count === null ? writer.counted('asked', answer, index, 'count') : null;
    const normal = counted ?? writer.withinNormal('asked', answer, index, SHARE_FIELDS);
    if (normal === null) writer.moved('asked', answer, index, SHARE_FIELDS);
  }
}
