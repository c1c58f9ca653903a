import { epochNanoseconds, timesIn } from '../protocol/claim-fidelity/instants';
import { measureOf, PLAIN, readNumber, type Quantity } from '../protocol/claim-fidelity/quantities';
import { readEvidenceText } from '../protocol/claim-fidelity/written-content';
import type { BindingReasonCode } from '../vocabulary/reason-codes';
import type { BoundPlace } from './source-invocation';

/** A bound value that an assertion computes with. */
export type Operand =
  | { readonly type: 'number'; readonly quantity: Quantity }
  | { readonly type: 'instant'; readonly nanoseconds: bigint }
  | { readonly type: 'text'; readonly text: string };

/**
 * Reads the value that a place holds: a number in its declared unit, an instant, a number with its unit written behind it, or
 * else a text. It refuses an instant that has no zone.
 */
export function operandOf(place: BoundPlace): Operand | BindingReasonCode {
  const unit = place.field?.unit ?? null;
  const text = place.matchedText;
  const number = readNumber(text);
  const measure = unit === null ? PLAIN : measureOf(unit);
  if (number !== null && measure !== null) return { type: 'number', quantity: { value: number.value, measure } };
  const [time, ...others] = timesIn(text);
  const isWholeTime = time !== undefined && others.length === 0 && time.start === 0 && time.end === text.length;
  if (isWholeTime && time.date !== null && time.clock !== null) {
    const nanoseconds = epochNanoseconds(time, place.field?.text_zone ?? null);
    return nanoseconds === null ? 'AMBIGUOUS_ZONE' : { type: 'instant', nanoseconds };
  }
  if (unit === 'instant') return 'ASSERTION_MALFORMED';
  const [written, ...more] = readEvidenceText(text).numbers;
  if (written !== undefined && more.length === 0 && written.text === text) {
    return { type: 'number', quantity: { value: written.shown.value, measure: written.measure } };
  }
  return { type: 'text', text };
}
