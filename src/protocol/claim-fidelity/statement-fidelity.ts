import type { Unit } from '../../vocabulary/evidence-terms';
import type { BindingReasonCode } from '../../vocabulary/reason-codes';
import { compareTimes, type WrittenTime } from './instants';
import { areComparable, inBase, isShownAs, measureOf, PLAIN, readNumber, type Quantity } from './quantities';
import { findVerbatim } from './quoted-span';
import { namesIn } from './tokens';
import { readEvidenceText, type WrittenContent, type WrittenNumber } from './written-content';

/** A matched text with what its tool declared of the field it stands in. */
export interface EvidenceText {
  readonly text: string;
  readonly unit: Unit | null;
  readonly textZone: string | null;
}

/** All that a sentence may rest on. Numbers and times come from `texts` and `derived` alone, names from `nameTexts` too. */
export interface SentenceEvidence {
  readonly texts: readonly EvidenceText[];
  /** Recorded arguments, names on the raw path, and the subject once it was found. */
  readonly nameTexts: readonly string[];
  readonly derived: readonly Quantity[];
}

export interface Offence {
  readonly code: BindingReasonCode;
  readonly text: string;
}

interface ReadEvidence {
  readonly numbers: readonly { readonly quantity: Quantity }[];
  readonly times: readonly { readonly time: WrittenTime; readonly zone: string | null }[];
}

function readEvidence(evidence: SentenceEvidence): ReadEvidence {
  const numbers: { quantity: Quantity }[] = evidence.derived.map((quantity) => ({ quantity }));
  const times: { time: WrittenTime; zone: string | null }[] = [];
  for (const { text, unit, textZone } of evidence.texts) {
    const whole = readNumber(text);
    if (whole !== null) {
      const measure = unit === null ? PLAIN : measureOf(unit);
      if (measure !== null || unit === 'text') numbers.push({ quantity: { value: whole.value, measure: measure ?? PLAIN } });
      continue;
    }
    const read = readEvidenceText(text);
    numbers.push(...read.numbers.map(({ shown, measure }) => ({ quantity: { value: shown.value, measure } })));
    times.push(...read.times.map((time) => ({ time, zone: textZone })));
  }
  return { numbers, times };
}

/** Everything in a sentence that its evidence does not hold; empty when the sentence is faithful. */
export function offencesOf(content: WrittenContent, evidence: SentenceEvidence): Offence[] {
  const offences: Offence[] = [];
  for (const quotation of content.quotations) {
    if (!evidence.texts.some(({ text }) => findVerbatim(text, quotation) !== null)) {
      offences.push({ code: 'QUOTATION_NOT_FOUND', text: quotation });
    }
  }
  const texts = [...evidence.texts.map(({ text }) => text), ...evidence.nameTexts];
  if (content.names.length > 0) {
    const known = new Set<string>(texts);
    for (const text of texts) for (const name of namesIn(text)) known.add(name);
    for (const name of content.names) {
      if (!isKnown(name, known, texts)) offences.push({ code: 'IDENTIFIER_NOT_FOUND', text: name });
    }
  }
  if (content.times.length > 0 || content.numbers.length > 0) {
    const read = readEvidence(evidence);
    for (const time of content.times) {
      const code = timeOffence(time, read.times);
      if (code !== null) offences.push({ code, text: content.unquoted.slice(time.start, time.end) });
    }
    for (const number of content.numbers) {
      const code = numberOffence(number, read.numbers);
      if (code !== null) offences.push({ code, text: number.text });
    }
  }
  return offences;
}

function isKnown(name: string, known: ReadonlySet<string>, texts: readonly string[]): boolean {
  if (known.has(name)) return true;
  // a name at the head of a sentence is written with a capital
  if (/^\p{Lu}\p{Ll}*$/u.test(name) && known.has(name.charAt(0).toLowerCase() + name.slice(1))) return true;
  return /\s/u.test(name) && texts.some((text) => findVerbatim(text, name) !== null);
}

function timeOffence(time: WrittenTime, recorded: ReadEvidence['times']): BindingReasonCode | null {
  const answers = recorded.map((entry) => compareTimes(time, entry.time, entry.zone));
  if (answers.includes('equal')) return null;
  return answers.includes('ambiguous') || time.offset === 'unclear' ? 'AMBIGUOUS_ZONE' : 'TIME_NOT_FOUND';
}

function numberOffence(number: WrittenNumber, recorded: ReadEvidence['numbers']): BindingReasonCode | null {
  let sameDigits = false;
  for (const { quantity } of recorded) {
    const bare = number.measure === PLAIN;
    if (bare || areComparable(quantity.measure, number.measure)) {
      if (isShownAs(quantity, number.shown, bare ? quantity.measure : number.measure, number.about)) return null;
    }
    sameDigits ||= quantity.value.eq(number.shown.value);
    sameDigits ||= number.measure.dimension === 'points' && inBase(quantity.value, quantity.measure).eq(number.shown.value);
  }
  return sameDigits ? 'UNIT_MISMATCH' : 'NUMBER_NOT_FOUND';
}
