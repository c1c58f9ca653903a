import { createHash } from 'node:crypto';
import type { JsonValue } from '../protocol/json-value';

/** JSON text with the keys of every object in code-unit order, so that equal arguments are equal text. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/**
 * Key under which a call's result is found again. `ordinal` counts how often this very question had to be asked anew in its
 * round because an earlier try left no result (its process died, or it was abandoned): 0 for the first. It does not count
 * the run's calls, so a resumed run that asks in another order still finds its results.
 */
export function callKeyOf(round: number, toolName: string, canonicalArguments: string, ordinal: number): string {
  return createHash('sha256')
    .update(JSON.stringify([round, toolName, canonicalArguments, ordinal]))
    .digest('hex');
}
