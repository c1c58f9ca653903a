import { findVerbatim } from '../protocol/claim-fidelity/quoted-span';
import { namesIn } from '../protocol/claim-fidelity/tokens';
import { ALL_SUBJECTS } from '../protocol/claim-fidelity/scope-terms';
import type { JsonValue } from '../protocol/json-value';
import type { BoundPlace, NamedText } from './source-invocation';

/** String leaves of recorded arguments with the name of the member they stand under. */
export function argumentTexts(args: JsonValue, name = ''): NamedText[] {
  if (typeof args === 'string') return [{ name, text: args }];
  if (args === null || typeof args !== 'object') return [];
  if (Array.isArray(args)) return args.flatMap((element) => argumentTexts(element, name));
  return Object.entries(args).flatMap(([key, value]) => argumentTexts(value, key));
}

function holdsName(text: string, name: string): boolean {
  return namesIn(text).has(name) || findVerbatim(text, name) !== null;
}

/**
 * Whether a place speaks of a subject: the subject is an entity of the place's own row or of an object around it, a member
 * name on its path, or a name in the text itself; where the row names no other, a recorded argument decides. A row that
 * names another subject is never overruled by a free text argument.
 */
export function speaksOf(place: BoundPlace, subject: string): boolean {
  if (place.entities.some(({ text }) => text === subject) || place.pathNames.includes(subject)) return true;
  if (place.kind === 'string' && holdsName(place.context, subject)) return true;
  const { args, envelope, record } = place.source;
  if (record.status === 'ERROR' && record.tool_name === subject) return true;
  const given = argumentTexts(args).filter(({ text }) => text === subject);
  if (place.entities.length === 0) {
    if (given.length > 0) return true;
    return ALL_SUBJECTS.includes(subject) && !argumentTexts(args).some(({ name }) => envelope.fields[name]?.entity === true);
  }
  return given.some(
    ({ name }) => envelope.fields[name]?.entity === true && !place.entities.some((entity) => entity.name === name),
  );
}
