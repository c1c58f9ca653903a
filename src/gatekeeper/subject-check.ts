import { findVerbatim } from '../protocol/claim-fidelity/quoted-span';
import { namesIn } from '../protocol/claim-fidelity/tokens';
import { ALL_SUBJECTS, SUBJECT_ARGUMENTS } from '../protocol/claim-fidelity/scope-terms';
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

/**
 * Whether a sentence may use an entity's name for what stands at a place: the name is an entity of its row, on its path, or
 * the subject that the call was asked for. A free text lends a name to its row's sentence only where the row names nobody,
 * and then only the claim's subject; anybody else whom it mentions may be quoted, not told.
 */
export function ownsName(place: BoundPlace, name: string, subject: string): boolean {
  const isName = (text: string): boolean => text === name || isCapitalised(name, text);
  if (place.entities.some(({ text }) => isName(text)) || place.pathNames.some(isName)) return true;
  const { args, envelope, record } = place.source;
  if (record.status === 'ERROR' && isName(record.tool_name)) return true;
  if (place.entities.length === 0 && place.kind === 'string' && isName(subject) && holdsName(place.context, subject)) return true;
  return argumentTexts(args).some(
    (given) =>
      isName(given.text) &&
      (envelope.fields[given.name]?.entity === true || SUBJECT_ARGUMENTS.includes(given.name)) &&
      !place.entities.some((entity) => entity.name === given.name),
  );
}

function isCapitalised(name: string, text: string): boolean {
  return /^\p{Lu}\p{Ll}*$/u.test(name) && text === name.charAt(0).toLowerCase() + name.slice(1);
}

/** Whether a statement names its subject at all, in a quotation too; a subject that stands for everything needs no name. */
export function isNamedIn(statement: string, subject: string): boolean {
  return ALL_SUBJECTS.includes(subject) || holdsName(statement.toLowerCase(), subject.toLowerCase());
}
