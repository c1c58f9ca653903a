import { findWords, type WordFindings } from '../protocol/claim-fidelity/english-words';
import type { Quantity } from '../protocol/claim-fidelity/quantities';
import { offencesOf, type EvidenceText } from '../protocol/claim-fidelity/statement-fidelity';
import { readSentence, type EntityIndex, type WrittenContent } from '../protocol/claim-fidelity/written-content';
import type { Claim } from '../protocol/executor-evidence';
import type { AssertionOp } from '../vocabulary/evidence-terms';
import type { BindingReasonCode } from '../vocabulary/reason-codes';
import { judgeAssertion, operandPlaces } from './assertion-check';
import { quantityOf, shows } from './shown-value';
import { argumentTexts, isNamedIn, ownsName, speaksOf } from './subject-check';
import { judgeWording } from './wording-check';
import type { BoundPlace } from './source-invocation';

/** How a claim stands: why its bindings fail together, and whether its wording caps the verdict. */
export interface ClaimJudgement {
  readonly failed: BindingReasonCode | null;
  readonly untyped: boolean;
}

const stands = (failed: BindingReasonCode | null, untyped = false): ClaimJudgement => ({ failed, untyped });

/** Whether a claim's wording asserts a cause; such a fact is a hypothesis and is never verified. */
export function assertsCause(claim: Claim, entities: EntityIndex): boolean {
  return claim.statement !== undefined && findWords(readSentence(claim.statement, entities).unquoted).causal;
}

/** Judges a fact on the places of its bindings that resolved; `places` holds all of them when the fact is typed. */
export function judgeFact(claim: Claim, places: readonly BoundPlace[], entities: EntityIndex): ClaimJudgement {
  const { assertion, statement, subject } = claim;
  if (assertion === undefined && statement === undefined) return stands('ASSERTION_MALFORMED');
  if (assertion === undefined) {
    const failed = judgeSubject(places, places, subject);
    return failed === null ? judgeStatement(claim, places, [], entities) : stands(failed);
  }
  const operands = operandPlaces(assertion, places);
  if (operands === null) return stands('ASSERTION_MALFORMED');
  const failed = judgeSubject(operands, places, subject);
  if (failed !== null) return stands(failed);
  const judgement = judgeAssertion(assertion, operands, subject);
  if ('failed' in judgement) return stands(judgement.failed);
  return statement === undefined ? stands(null) : judgeStatement(claim, places, judgement.derived, entities);
}

/** Every place that a claim rests on speaks of its subject; what is shown beside it may be silent, but not of another row. */
function judgeSubject(bearing: readonly BoundPlace[], all: readonly BoundPlace[], subject: string): BindingReasonCode | null {
  const speaking = all.filter((place) => speaksOf(place, subject));
  if (speaking.length === 0 || !bearing.some((place) => speaking.includes(place))) return 'SUBJECT_NOT_FOUND';
  const silent = all.filter((place) => !speaking.includes(place));
  return silent.some((place) => bearing.includes(place) || place.entities.length > 0) ? 'ROW_MISMATCH' : null;
}

function judgeStatement(
  claim: Claim,
  places: readonly BoundPlace[],
  derived: readonly Quantity[],
  entities: EntityIndex,
): ClaimJudgement {
  const content = readSentence(claim.statement ?? '', entities);
  const words = findWords(content.unquoted);
  const texts = places.map(evidenceText);
  const nameTexts = [
    claim.subject,
    ...places.flatMap((place) => [
      ...place.pathNames,
      place.fieldName ?? '',
      ...argumentTexts(place.source.args).map(({ text }) => text),
    ]),
  ];
  // "fell by 40 %" names the size of a change of -40 %
  const sizes = derived.map(({ value, measure }) => ({ value: value.abs(), measure }));
  const offence = offencesOf(content, { texts, nameTexts, derived: [...derived, ...sizes] })[0];
  if (offence !== undefined) return stands(offence.code);
  const stray = content.names.find(
    (name) => entities.isEntity(name) && !places.some((place) => ownsName(place, name, claim.subject)),
  );
  if (stray !== undefined) return stands('IDENTIFIER_NOT_FOUND');
  const incomplete = judgeCompleteness(content, words, places);
  if (incomplete !== null) return stands(incomplete);
  if (claim.assertion === undefined) {
    if (!isNamedIn(claim.statement ?? '', claim.subject)) return stands('SUBJECT_NOT_FOUND');
    const { failed, untyped, tellsChange } = judgeWording(claim.subject, content, places);
    if (failed !== null) return stands(failed);
    const misplaced = tellsChange ? null : judgeWindow(content, places);
    return stands(misplaced, misplaced === null && untyped);
  }
  const contradiction = judgeAgainstAssertion(claim, content, words, places, derived);
  if (contradiction !== null) return stands(contradiction);
  const misplaced = claim.assertion.right === undefined ? judgeWindow(content, places) : null;
  return stands(misplaced, misplaced === null && words.quantifies);
}

function evidenceText(place: BoundPlace): EvidenceText {
  return { text: place.matchedText, unit: place.field?.unit ?? null, textZone: place.field?.text_zone ?? null };
}

function judgeCompleteness(
  content: WrittenContent,
  words: WordFindings,
  places: readonly BoundPlace[],
): BindingReasonCode | null {
  const incomplete = places.filter((place) => !place.source.complete && place.source.record.status !== 'ERROR');
  if (incomplete.length === 0) return null;
  if (words.quantifies || words.negates) return 'SOURCE_INCOMPLETE';
  const counts = incomplete.filter((place) => place.field?.unit === 'count');
  return counts.some((place) => content.numbers.some((number) => shows(place, number))) ? 'SOURCE_INCOMPLETE' : null;
}

const BASELINE_WORDS =
  /\b(?:baseline|before(?:hand)?|previous(?:ly)?|earlier|prior|normal(?:ly)?|usual(?:ly)?|formerly|preceding)\b/i;

/** A baseline value is no statement about the incident unless the sentence says so, and the other way round. */
function judgeWindow(content: WrittenContent, places: readonly BoundPlace[]): BindingReasonCode | null {
  const saysBaseline = BASELINE_WORDS.test(content.unquoted);
  const inBaseline = places.filter((place) => place.field?.window === 'baseline');
  const inIncident = places.filter((place) => place.field?.window === 'incident');
  if (saysBaseline) return inBaseline.length === 0 && inIncident.length > 0 ? 'WINDOW_MISMATCH' : null;
  const others = places.filter((place) => !inBaseline.includes(place));
  const borrowed = content.numbers.some(
    (number) => inBaseline.some((place) => shows(place, number)) && !others.some((place) => shows(place, number)),
  );
  return borrowed || (others.length === 0 && inBaseline.length > 0) ? 'WINDOW_MISMATCH' : null;
}

/** A sentence beside an assertion must not say its opposite: no negation, no other direction, no values exchanged. */
function judgeAgainstAssertion(
  { assertion }: Claim,
  content: WrittenContent,
  words: WordFindings,
  places: readonly BoundPlace[],
  derived: readonly Quantity[],
): BindingReasonCode | null {
  if (assertion === undefined) return null;
  const { op, left, right } = assertion;
  const isZero = quantityOf(places[left] as BoundPlace)?.value.eq(0) === true;
  if (words.negates && !(isZero && (op === 'equals' || op === 'count' || op === 'appeared'))) return 'ASSERTION_FALSE';
  if ((op === 'rose' || op === 'appeared' || op === 'greater') && words.falling && !words.rising) return 'ASSERTION_FALSE';
  if ((op === 'fell' || op === 'less') && words.rising && !words.falling) return 'ASSERTION_FALSE';
  if (op === 'equals' && right === undefined && (words.rising || words.falling)) return 'ASSERTION_FALSE';
  const change = changeOf(assertion.op, derived[0], places[left] as BoundPlace);
  if ((change > 0 && words.falling && !words.rising) || (change < 0 && words.rising && !words.falling)) return 'ASSERTION_FALSE';
  const range = /\bfrom\b/i.exec(content.unquoted);
  if (range === null || right === undefined) return null;
  const [first, second] = content.numbers.filter((number) => number.start > range.index);
  if (first === undefined || second === undefined || !/^[\s\S]*\bto\b/i.test(content.unquoted.slice(first.start, second.start)))
    return null;
  const earlier = places[op === 'less' || op === 'greater' ? right : left] as BoundPlace;
  const later = places[op === 'less' || op === 'greater' ? left : right] as BoundPlace;
  return shows(earlier, first) && shows(later, second) ? null : 'ASSERTION_FALSE';
}

/** Sign of the change that a derived number states, seen from baseline to incident; 0 when it states none. */
function changeOf(op: AssertionOp, derived: Quantity | undefined, left: BoundPlace): number {
  if (derived === undefined) return 0;
  if (op === 'percent_change') return derived.value.cmp(0);
  const window = left.field?.window;
  if (window === undefined || (op !== 'difference' && op !== 'ratio')) return 0;
  const sign = derived.value.cmp(op === 'ratio' ? 100 : 0);
  return window === 'baseline' ? -sign : sign;
}
