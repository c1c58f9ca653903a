import { parseRawPath } from './raw-path';

/** The name of the field that a raw path points at, indexes aside; `value` where it names none. */
export function fieldOf(rawPath: string): string {
  const tokens = parseRawPath(rawPath)?.tokens ?? [];
  return [...tokens].reverse().find((token) => !/^\d+$/.test(token)) ?? 'value';
}
