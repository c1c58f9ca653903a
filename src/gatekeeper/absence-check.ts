import {
  ABSENCE_FIELDS,
  ALL_SUBJECTS,
  FILTER_ARGUMENTS,
  NEUTRAL_ARGUMENTS,
  SUBJECT_ARGUMENTS,
} from '../protocol/claim-fidelity/scope-terms';
import { offencesOf } from '../protocol/claim-fidelity/statement-fidelity';
import { readSentence, type EntityIndex } from '../protocol/claim-fidelity/written-content';
import type { AbsenceScope, Claim } from '../protocol/executor-evidence';
import type { JsonValue } from '../protocol/json-value';
import type { BindingReasonCode } from '../vocabulary/reason-codes';
import type { BoundPlace, SourceInvocation } from './source-invocation';

/**
 * Judges an absence claim on its bound places; null when it is proven. Each place repeats a count of the envelope and at
 * least one is `matched_count`. Of the source: nothing matched, something was scanned, nothing was rejected, it is complete,
 * its coverage includes the scope, and its recorded arguments are the scope: `service` (or another subject argument) is the
 * subject, null being one of `ALL_SUBJECTS`; `contains` is the filter, null being ''; `window.from` and `.to` are the range.
 * Any other argument that is set narrows the search, and the scope is refused.
 */
export function judgeAbsence(claim: Claim, places: readonly BoundPlace[], entities: EntityIndex): BindingReasonCode | null {
  const scope = claim.scope;
  if (scope === undefined || claim.assertion !== undefined || places.length === 0) return 'ABSENCE_NOT_PROVEN';
  if (scope.subject !== claim.subject) return 'SCOPE_MISMATCH';
  for (const place of places) {
    const code = judgePlace(place) ?? judgeSource(place.source, scope);
    if (code !== null) return code;
  }
  if (!places.some((place) => place.fieldName === 'matched_count')) return 'ABSENCE_NOT_PROVEN';
  if (claim.statement === undefined) return null;
  const texts = [...places.map((place) => place.matchedText), scope.subject, scope.filter, scope.from, scope.to];
  const evidence = texts.map((text) => ({ text, unit: null, textZone: null }));
  return offencesOf(readSentence(claim.statement, entities), { texts: evidence, nameTexts: [], derived: [] })[0]?.code ?? null;
}

function judgePlace(place: BoundPlace): BindingReasonCode | null {
  if (place.source.record.status === 'ERROR') return 'STATUS_NOT_BINDABLE';
  const field = ABSENCE_FIELDS.find((name) => name === place.fieldName);
  if (field === undefined || place.entities.length > 0) return 'ABSENCE_NOT_PROVEN';
  return place.matchedText === String(place.source.envelope[field]) ? null : 'ABSENCE_NOT_PROVEN';
}

function judgeSource(source: SourceInvocation, scope: AbsenceScope): BindingReasonCode | null {
  const { envelope } = source;
  if (!source.complete || envelope.records_rejected > 0) return 'SOURCE_INCOMPLETE';
  if (envelope.matched_count !== 0 || envelope.records_scanned <= 0) return 'ABSENCE_NOT_PROVEN';
  const from = Date.parse(scope.from);
  const to = Date.parse(scope.to);
  const { coverage } = envelope;
  if (!(from < to) || coverage.from === null || coverage.to === null) return 'SCOPE_MISMATCH';
  if (Date.parse(coverage.from) > from || Date.parse(coverage.to) < to) return 'SCOPE_MISMATCH';
  return argumentsAre(source.args, scope) && isWithinScope(coverage.filter, scope) ? null : 'SCOPE_MISMATCH';
}

function argumentsAre(args: JsonValue, scope: AbsenceScope): boolean {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return false;
  const given = Object.entries(args).filter(([, value]) => value !== null);
  const subjects = given.filter(([name]) => SUBJECT_ARGUMENTS.includes(name)).map(([, value]) => value);
  const filters = given.filter(([name, value]) => FILTER_ARGUMENTS.includes(name) && value !== '').map(([, value]) => value);
  const known = [...SUBJECT_ARGUMENTS, ...FILTER_ARGUMENTS, ...NEUTRAL_ARGUMENTS];
  if (given.some(([name]) => !known.includes(name))) return false;
  const subjectFits =
    subjects.length === 0 ? ALL_SUBJECTS.includes(scope.subject) : subjects.length === 1 && subjects[0] === scope.subject;
  const filterFits = filters.length === 0 ? scope.filter === '' : filters.length === 1 && filters[0] === scope.filter;
  const window = args['window'] ?? args;
  if (typeof window !== 'object' || Array.isArray(window)) return false;
  return subjectFits && filterFits && isInstant(window['from'], scope.from) && isInstant(window['to'], scope.to);
}

function isInstant(given: JsonValue | undefined, instant: string): boolean {
  return typeof given === 'string' && Date.parse(given) === Date.parse(instant);
}

const FILTER_WORDS = new RegExp(
  `\\b(?:${[...SUBJECT_ARGUMENTS, ...FILTER_ARGUMENTS, 'and', 'text'].join('|')})\\b|[\\s=:;,"'&()]+`,
  'gi',
);

/** A coverage filter may name the scope's own subject and filter; anything else narrowed what was looked through. */
function isWithinScope(filter: string | null, scope: AbsenceScope): boolean {
  let rest = filter ?? '';
  for (const part of [scope.filter, scope.subject]) if (part !== '') rest = rest.split(part).join(' ');
  return rest.replace(FILTER_WORDS, '') === '';
}
