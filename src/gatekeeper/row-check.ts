import type { JsonValue } from '../protocol/json-value';
import type { FieldDeclaration } from '../protocol/tool-output';
import type { BindingReasonCode } from '../vocabulary/reason-codes';
import { speaksOf } from './subject-check';
import type { BoundPlace } from './source-invocation';

/** Operands of one row, or the same field of rows that both speak of the subject. */
export function judgeRows(left: BoundPlace, right: BoundPlace, subject: string): BindingReasonCode | null {
  if (isOneRow(left, right)) return null;
  if (left.kind !== right.kind || left.fieldName !== right.fieldName) return 'ROW_MISMATCH';
  if (!speaksOf(left, subject) || !speaksOf(right, subject)) return 'ROW_MISMATCH';
  // rows that name more than the subject (a host, an operation) must agree on it
  return left.entities.every(({ name, text }) => !right.entities.some((other) => other.name === name && other.text !== text))
    ? null
    : 'ROW_MISMATCH';
}

function isOneRow(left: BoundPlace, right: BoundPlace): boolean {
  if (left.source.record.id !== right.source.record.id || left.row !== right.row) return false;
  return left.fieldName !== null || left.binding.raw_path === right.binding.raw_path;
}

/**
 * Whether the left place is the earlier measurement of what the right one measures: by declared windows (baseline, then
 * incident, of one measure), else by the instants of their rows, else by the windows that their calls were asked for.
 */
export function judgeOrder(left: BoundPlace, right: BoundPlace): BindingReasonCode | null {
  const before = left.field?.window;
  const after = right.field?.window;
  if ([left, right].some((place) => Object.values(place.source.envelope.fields).some(({ window }) => window !== undefined))) {
    if (before !== 'baseline' || after !== 'incident') return 'WINDOW_MISMATCH';
    return isOneMeasure(left, right) ? null : 'ROW_MISMATCH';
  }
  if (isOneRow(left, right)) return null;
  const at = left.instants.at(-1);
  const later = right.instants.find(({ name }) => name === at?.name);
  if (at !== undefined && later !== undefined) {
    return Date.parse(at.text) < Date.parse(later.text) ? null : 'WINDOW_MISMATCH';
  }
  const from = windowStart(left.source.args);
  const then = windowStart(right.source.args);
  return from === null || then === null || left.source.record.id === right.source.record.id || from < then
    ? null
    : 'WINDOW_MISMATCH';
}

function windowStart(args: JsonValue): number | null {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return null;
  const window = args['window'];
  const holder = window !== null && typeof window === 'object' && !Array.isArray(window) ? window : args;
  const from = holder['from'];
  const at = typeof from === 'string' ? Date.parse(from) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

const WINDOW_WORDS = /(?:^|_)(?:baseline|incident|before|after|previous|prev|prior|current|curr|old|new|now|then|normal)(?=_|$)/g;

function measureName(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(WINDOW_WORDS, '')
    .replace(/^_+|_+$/g, '');
}

/** `baseline_count` and `count` are one measure; other names are when the output has no second pair of that unit. */
function isOneMeasure(left: BoundPlace, right: BoundPlace): boolean {
  if (left.fieldName === null || right.fieldName === null) return false;
  if (measureName(left.fieldName) === measureName(right.fieldName)) return true;
  const unit = left.field?.unit;
  const only = (window: FieldDeclaration['window'], place: BoundPlace): boolean =>
    Object.values(place.source.envelope.fields).filter((field) => field.window === window && field.unit === unit).length === 1;
  return unit === right.field?.unit && only('baseline', left) && only('incident', right);
}
