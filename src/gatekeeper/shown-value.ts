import { areComparable, isShownAs, measureOf, PLAIN, readNumber, type Quantity } from '../protocol/claim-fidelity/quantities';
import type { WrittenNumber } from '../protocol/claim-fidelity/written-content';
import type { BoundPlace } from './source-invocation';

/** The number that a place holds, in the unit that its tool declares; null when it holds none. */
export function quantityOf(place: BoundPlace): Quantity | null {
  const number = readNumber(place.matchedText);
  const measure = place.field === null ? PLAIN : measureOf(place.field.unit);
  return number === null || measure === null ? null : { value: number.value, measure };
}

/** Whether a number of a sentence is what a place holds. */
export function shows(place: BoundPlace, number: WrittenNumber): boolean {
  const quantity = quantityOf(place);
  if (quantity === null) return false;
  const measure = number.measure === PLAIN ? quantity.measure : number.measure;
  return areComparable(quantity.measure, measure) && isShownAs(quantity, number.shown, measure, number.about);
}
