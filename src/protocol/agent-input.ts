import { DiagnosisError } from '../errors/diagnosis-error';

/**
 * Text of an agent's input: compact JSON with keys in code-unit order, so that equal values give equal bytes whatever order
 * they were built in. Properties that are `undefined` are left out. It refuses anything that is not plain JSON (dates, class
 * instances, functions, NaN, big integers, cycles) with STATE_INVALID.
 */
export function serialiseAgentInput(value: unknown): string {
  return serialise(value, new Set());
}

function serialise(value: unknown, open: Set<object>): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw notPlain();
    return JSON.stringify(value);
  }
  if (typeof value !== 'object' || open.has(value)) throw notPlain();
  open.add(value);
  const text = Array.isArray(value)
    ? `[${Array.from(value, (item) => serialise(item, open)).join(',')}]`
    : serialiseObject(value, open);
  open.delete(value);
  return text;
}

function serialiseObject(value: object, open: Set<object>): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain();
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${serialise(member, open)}`);
  return `{${members.join(',')}}`;
}

function notPlain(): DiagnosisError {
  return new DiagnosisError('STATE_INVALID', 'The input of an agent holds something that is not plain JSON.');
}
