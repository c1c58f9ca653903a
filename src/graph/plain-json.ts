import { DiagnosisError } from '../errors/diagnosis-error';
import type { JsonValue } from '../protocol/json-value';

/** Deepest nesting that a state value may have; it also ends the walk over a value that holds itself. */
const MAX_DEPTH = 128;

function refuse(what: string): never {
  throw new DiagnosisError('STATE_INVALID', `State is plain JSON; it cannot hold ${what}.`, { found: what });
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The root prototype is recognised by having none itself, so that objects of another realm count as plain too.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function copy(value: unknown, depth: number): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) return refuse('a number that is not finite');
      return value === 0 ? 0 : value;
    case 'object':
      break;
    default:
      return refuse(`a value of type ${typeof value}`);
  }
  if (value === null) return null;
  if (depth > MAX_DEPTH) return refuse('a value nested too deep or within itself');
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (let index = 0; index < value.length; index += 1) items.push(copy(value[index], depth + 1));
    return Object.freeze(items) as JsonValue[];
  }
  if (!isPlainObject(value)) return refuse('an object with a class of its own');
  const object: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return refuse('a key named __proto__');
    const member: unknown = (value as Record<string, unknown>)[key];
    if (member !== undefined) object[key] = copy(member, depth + 1);
  }
  return Object.freeze(object);
}

/**
 * A deep, frozen copy of a JSON value; members that are `undefined` are left out. It refuses everything that would not
 * survive JSON unchanged: Date, NaN, BigInt, functions, class instances, holes of an array, cycles.
 * Throws `DiagnosisError` STATE_INVALID; the message names the kind of value and never the value.
 */
export function frozenJson(value: unknown): JsonValue {
  return copy(value, 0);
}
