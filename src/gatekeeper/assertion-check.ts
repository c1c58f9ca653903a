import { epochNanoseconds, timesIn } from '../protocol/claim-fidelity/instants';
import {
  areComparable,
  Decimal,
  inBase,
  isShownAs,
  measureOf,
  POINTS,
  readNumber,
  type Dimension,
  type Measure,
  type Quantity,
  type ShownNumber,
} from '../protocol/claim-fidelity/quantities';
import type { Assertion } from '../protocol/executor-evidence';
import type { BindingReasonCode } from '../vocabulary/reason-codes';
import { operandOf, type Operand } from './operand';
import { judgeOrder, judgeRows } from './row-check';
import type { BoundPlace } from './source-invocation';

/** What the gate computed: the derived number that a statement beside the assertion may repeat, or why it does not hold. */
export type AssertionJudgement = { readonly derived: readonly Quantity[] } | { readonly failed: BindingReasonCode };

const HOLDS: AssertionJudgement = { derived: [] };
const TEMPORAL: readonly string[] = ['rose', 'fell', 'appeared', 'percent_change'];
const fail = (failed: BindingReasonCode): AssertionJudgement => ({ failed });

/** The places that an assertion computes with; null when one of its indexes is none. */
export function operandPlaces(assertion: Assertion, places: readonly BoundPlace[]): BoundPlace[] | null {
  const indexes = assertion.right === undefined ? [assertion.left] : [assertion.left, assertion.right];
  const found = indexes.flatMap((index) => places[index] ?? []);
  return found.length === indexes.length ? found : null;
}

/**
 * Evaluates an assertion on the stored output, see `ASSERTION_OPS` for the directions. Units convert exactly; `value` is
 * compared as it is shown. It refuses operands of different rows or subjects, baseline and incident exchanged, units that
 * differ from the declared ones, and counts of an incomplete source.
 */
export function judgeAssertion(assertion: Assertion, operands: readonly BoundPlace[], subject: string): AssertionJudgement {
  const [leftPlace, rightPlace] = operands;
  if (leftPlace === undefined) return fail('ASSERTION_MALFORMED');
  const left = operandOf(leftPlace);
  if (typeof left === 'string') return fail(left);
  if (rightPlace === undefined) return judgeAlone(assertion, leftPlace, left);
  const right = operandOf(rightPlace);
  if (typeof right === 'string') return fail(right);
  const rows = judgeRows(leftPlace, rightPlace, subject);
  if (rows !== null) return fail(rows);
  if (TEMPORAL.includes(assertion.op)) {
    const order = judgeOrder(leftPlace, rightPlace);
    if (order !== null) return fail(order);
  }
  return judgePair(assertion, leftPlace, rightPlace, left, right);
}

function judgeAlone(assertion: Assertion, place: BoundPlace, operand: Operand): AssertionJudgement {
  const { op, value, unit } = assertion;
  if (op === 'count') return judgeCount(assertion, place, operand);
  if ((op !== 'equals' && op !== 'greater' && op !== 'less') || value === undefined) return fail('ASSERTION_MALFORMED');
  if (operand.type === 'text') {
    if (op !== 'equals' || typeof value !== 'string' || (unit !== undefined && unit !== 'text'))
      return fail('ASSERTION_MALFORMED');
    return value === operand.text ? HOLDS : fail('ASSERTION_FALSE');
  }
  if (operand.type === 'instant') return judgeInstant(op, operand.nanoseconds, String(value));
  const stated = statedNumber(value);
  if (stated === null) return fail('ASSERTION_MALFORMED');
  const incomplete = incompleteCount(operand.quantity, [place]);
  if (incomplete !== null) return fail(incomplete);
  const measure = unit === undefined ? operand.quantity.measure : measureOf(unit);
  if (measure === null || !areComparable(operand.quantity.measure, measure)) return fail('UNIT_MISMATCH');
  if (op === 'equals') {
    if (isShownAs(operand.quantity, stated, measure, false)) return HOLDS;
    return fail(operand.quantity.value.eq(stated.value) ? 'UNIT_MISMATCH' : 'ASSERTION_FALSE');
  }
  const sign = inBase(operand.quantity.value, operand.quantity.measure).cmp(inBase(stated.value, measure));
  return (op === 'greater' ? sign > 0 : sign < 0) ? HOLDS : fail('ASSERTION_FALSE');
}

function judgeCount({ value, unit }: Assertion, place: BoundPlace, operand: Operand): AssertionJudgement {
  if (operand.type !== 'number') return fail('ASSERTION_MALFORMED');
  const { quantity } = operand;
  const isBare = quantity.measure.dimension === 'count' || quantity.measure.dimension === 'plain';
  if (!isBare || (unit !== undefined && unit !== 'count' && unit !== 'none')) return fail('UNIT_MISMATCH');
  if (!quantity.value.mod(1).eq(0) || quantity.value.lt(0)) return fail('ASSERTION_MALFORMED');
  if (!place.source.complete) return fail('SOURCE_INCOMPLETE');
  if (value === undefined) return HOLDS;
  const stated = statedNumber(value);
  if (stated === null) return fail('ASSERTION_MALFORMED');
  return stated.value.eq(quantity.value) ? HOLDS : fail('ASSERTION_FALSE');
}

function judgeInstant(op: 'equals' | 'greater' | 'less', nanoseconds: bigint, value: string): AssertionJudgement {
  const [time] = timesIn(value);
  if (time === undefined || time.start !== 0 || time.end !== value.length) return fail('ASSERTION_MALFORMED');
  if (time.date === null || time.clock === null) return fail('ASSERTION_MALFORMED');
  const stated = epochNanoseconds(time, null);
  if (stated === null) return fail('AMBIGUOUS_ZONE');
  if (op !== 'equals') return (op === 'greater' ? nanoseconds > stated : nanoseconds < stated) ? HOLDS : fail('ASSERTION_FALSE');
  const { second, fraction } = time.clock;
  const step = second === null ? 60_000_000_000n : 10n ** BigInt(9 - fraction.length);
  return nanoseconds >= stated && nanoseconds < stated + step ? HOLDS : fail('ASSERTION_FALSE');
}

function judgePair(
  assertion: Assertion,
  leftPlace: BoundPlace,
  rightPlace: BoundPlace,
  left: Operand,
  right: Operand,
): AssertionJudgement {
  const { op, value, unit } = assertion;
  if (op === 'count') return fail('ASSERTION_MALFORMED');
  const isDerived = op === 'ratio' || op === 'difference' || op === 'percent_change' || op === 'duration';
  if (isDerived !== (value !== undefined)) return fail('ASSERTION_MALFORMED');
  if (left.type !== right.type) return fail('ASSERTION_MALFORMED');
  if (left.type === 'text' || right.type === 'text') {
    if (op !== 'equals' || left.type !== 'text' || right.type !== 'text') return fail('ASSERTION_MALFORMED');
    return left.text === right.text ? HOLDS : fail('ASSERTION_FALSE');
  }
  if (left.type === 'instant' || right.type === 'instant') {
    if (left.type !== 'instant' || right.type !== 'instant') return fail('ASSERTION_MALFORMED');
    if (op === 'duration') return judgeDuration(assertion, new Decimal(String(right.nanoseconds - left.nanoseconds)));
    return compare(op, left.nanoseconds < right.nanoseconds ? -1 : left.nanoseconds > right.nanoseconds ? 1 : 0);
  }
  const incomplete = incompleteCount(left.quantity, [leftPlace]) ?? incompleteCount(right.quantity, [rightPlace]);
  if (incomplete !== null) return fail(incomplete);
  if (!areComparable(left.quantity.measure, right.quantity.measure)) return fail('UNIT_MISMATCH');
  const before = inBase(left.quantity.value, left.quantity.measure);
  const after = inBase(right.quantity.value, right.quantity.measure);
  if (!isDerived) {
    const shown = unit === undefined ? left.quantity.measure : measureOf(unit);
    if (shown === null || !isSame(shown, left.quantity.measure) || !isSame(shown, right.quantity.measure))
      return fail('UNIT_MISMATCH');
    if (op !== 'appeared') return compare(op, before.cmp(after));
    if (!leftPlace.source.complete || !rightPlace.source.complete) return fail('SOURCE_INCOMPLETE');
    return before.eq(0) && after.gt(0) ? HOLDS : fail('ASSERTION_FALSE');
  }
  const base = (dimension: Dimension): Measure => ({ dimension, size: '1' });
  switch (op) {
    case 'duration':
      return left.quantity.measure.dimension === 'time' ? judgeDuration(assertion, after.minus(before)) : fail('UNIT_MISMATCH');
    case 'difference': {
      const measure = left.quantity.measure;
      const stated = unit === undefined ? measure : measureOf(unit);
      if (stated === null || !areComparable(measure, stated)) return fail('UNIT_MISMATCH');
      const truth = { value: before.minus(after), measure: base(measure.dimension) };
      if (measure.dimension !== 'share') return judgeDerived(value, truth, stated);
      return judgeDerived(value, { ...truth, measure: POINTS }, { ...POINTS, size: stated.size });
    }
    case 'ratio':
      if (after.eq(0)) return fail('ASSERTION_FALSE');
      if (unit !== undefined && unit !== 'none' && unit !== 'ratio' && unit !== 'percent') return fail('UNIT_MISMATCH');
      return judgeDerived(value, { value: before.div(after).times(100), measure: base('share') }, shareMeasure(unit ?? 'ratio'));
    default:
      if (before.eq(0)) return fail('ASSERTION_FALSE');
      if (unit !== undefined && unit !== 'percent' && unit !== 'ratio') return fail('UNIT_MISMATCH');
      return judgeDerived(
        value,
        { value: after.minus(before).div(before.abs()).times(100), measure: base('share') },
        shareMeasure(unit ?? 'percent'),
      );
  }
}

function shareMeasure(unit: 'none' | 'ratio' | 'percent'): Measure {
  return { dimension: 'share', size: unit === 'percent' ? '1' : '100' };
}

function compare(op: Assertion['op'], sign: number): AssertionJudgement {
  switch (op) {
    case 'equals':
      return sign === 0 ? HOLDS : fail('ASSERTION_FALSE');
    case 'greater':
    case 'fell':
      return sign > 0 ? HOLDS : fail('ASSERTION_FALSE');
    case 'less':
    case 'rose':
      return sign < 0 ? HOLDS : fail('ASSERTION_FALSE');
    default:
      return fail('ASSERTION_MALFORMED');
  }
}

function judgeDuration({ value, unit }: Assertion, nanoseconds: Quantity['value']): AssertionJudgement {
  if (unit === undefined) return fail('ASSERTION_MALFORMED');
  const measure = measureOf(unit);
  if (measure === null || measure.dimension !== 'time') return fail('UNIT_MISMATCH');
  if (nanoseconds.lt(0)) return fail('ASSERTION_FALSE');
  return judgeDerived(value, { value: nanoseconds, measure: { dimension: 'time', size: '1' } }, measure);
}

/** A recomputed number: what the rounding to the stated decimals gives is enough, but zero stands for zero alone. */
function judgeDerived(value: Assertion['value'], truth: Quantity, measure: Measure): AssertionJudgement {
  const stated = value === undefined ? null : statedNumber(value);
  if (stated === null) return fail('ASSERTION_MALFORMED');
  const shown = { ...stated, significant: stated.value.eq(0) ? 0 : Math.max(2, stated.significant) };
  if (isShownAs(truth, shown, measure, false)) return { derived: [truth] };
  return fail(inBase(truth.value, truth.measure).eq(stated.value) ? 'UNIT_MISMATCH' : 'ASSERTION_FALSE');
}

function isSame(a: Measure, b: Measure): boolean {
  return areComparable(a, b) && new Decimal(a.size).eq(b.size);
}

/** A number of an assertion; a JSON number beyond exact integers must be written as a string. */
function statedNumber(value: string | number): ShownNumber | null {
  if (typeof value === 'string') return readNumber(value.trim());
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return null;
  return readNumber(String(value));
}

function incompleteCount(quantity: Quantity, places: readonly BoundPlace[]): BindingReasonCode | null {
  const counts = quantity.measure.dimension === 'count';
  return counts && places.some((place) => !place.source.complete) ? 'SOURCE_INCOMPLETE' : null;
}
