import type { JsonValue } from '../protocol/json-value';
import { findPaths, scalarText, skipValue, walkEnvelope, WantedPaths, type SourceKind } from '../protocol/json-source';
import { findQuotedSpan } from '../protocol/claim-fidelity/quoted-span';
import { parseRawPath, type RawPath } from '../protocol/raw-path';
import { decodeLines } from '../protocol/text-lines';
import { toolOutputSchema, type FieldDeclaration, type ToolOutput } from '../protocol/tool-output';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { Binding } from '../protocol/executor-evidence';
import type { InvocationRecord } from '../ports/tool-invocation-store.port';
import type { BindingReasonCode } from '../vocabulary/reason-codes';

type Envelope = Omit<ToolOutput, 'data'>;

/** A recorded call as the gate sees it: its arguments and the envelope of its stored output. */
export interface SourceInvocation {
  readonly record: InvocationRecord;
  readonly args: JsonValue;
  readonly envelope: Envelope;
  /** Whether counts, absence and "all" may rest on it. */
  readonly complete: boolean;
}

export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** A binding that leads to a text. */
export interface BoundPlace {
  readonly source: SourceInvocation;
  readonly binding: Binding;
  readonly matchedText: string;
  readonly kind: SourceKind;
  /** Name and declaration of the field that the value stands in; null outside of objects or undeclared. */
  readonly fieldName: string | null;
  readonly field: FieldDeclaration | null;
  /** Member names on the path before the field itself. */
  readonly pathNames: readonly string[];
  /** Identity of the row: the nearest object with an entity, else the nearest object. */
  readonly row: string;
  /** Declared entities and instants of all objects around the value. */
  readonly entities: readonly NamedText[];
  readonly instants: readonly NamedText[];
  /** For a text: the whole lines around the matched span, at most 2,000 characters each way. */
  readonly context: string;
}

export type BindingOutcome = BoundPlace | { readonly failed: BindingReasonCode };

const envelopeSchema = toolOutputSchema.omit({ data: true });
const LONGEST_TEXT = 2_000;
const MOST_LINES = 20;
const ERROR_POINTERS: readonly string[] = ['error/code', 'error/message'];

/** Whether a call of this status may bear the binding at all. */
export function isBindable(record: InvocationRecord, path: RawPath | null): boolean {
  if (record.status === 'OK' || record.status === 'TRUNCATED') return true;
  return record.status === 'ERROR' && path !== null && ERROR_POINTERS.includes(path.tokens.join('/'));
}

/**
 * Resolves all bindings of one call in one pass over its stored output. It refuses, one reason each: paths that are none,
 * that lead nowhere, to a container, to nothing, to what the tool concludes, or to more than 2,000 characters or 20 lines
 * without a quote.
 */
export function resolveBindings(record: InvocationRecord, output: string, bindings: readonly Binding[]): BindingOutcome[] {
  const wanted = new WantedPaths();
  const asked = bindings.map((binding) => {
    const path = parseRawPath(binding.raw_path);
    return { binding, path, found: path === null ? null : wanted.add(path.tokens, path.lines) };
  });
  let source: SourceInvocation;
  try {
    source = readSource(record, output, wanted);
  } catch (error) {
    if (!DiagnosisError.is(error, 'OUTPUT_CORRUPT')) throw error;
    return bindings.map(() => ({ failed: 'OUTPUT_CORRUPT' }));
  }
  const texts = new Map<number, string>();
  return asked.map(({ binding, path, found }) => {
    if (path === null || found === null) return { failed: 'PATH_SYNTAX' };
    if (!isBindable(record, path)) return { failed: 'STATUS_NOT_BINDABLE' };
    return placeOf(source, output, binding, path, found(), texts);
  });
}

function readSource(record: InvocationRecord, output: string, wanted: WantedPaths): SourceInvocation {
  const members: Record<string, unknown> = {};
  let dataAt = -1;
  let entered = false;
  const enter = (at: number): number => {
    entered = true;
    return findPaths(output, at, wanted, contextNames(members['fields']));
  };
  walkEnvelope(output, (name, at) => {
    if (name === 'data') {
      dataAt = at;
      return members['fields'] === undefined ? skipValue(output, at) : enter(at);
    }
    const end = skipValue(output, at);
    members[name] = parseSlice(output.slice(at, end));
    return end;
  });
  const envelope = envelopeSchema.safeParse(members);
  if (!envelope.success || dataAt === -1) throw new DiagnosisError('OUTPUT_CORRUPT', 'The stored output is no tool output.');
  if (!entered) enter(dataAt);
  const complete = record.status === 'OK' && envelope.data.complete;
  return { record, args: parseSlice(record.arguments), envelope: envelope.data, complete };
}

function parseSlice(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new DiagnosisError('OUTPUT_CORRUPT', 'A part of the stored call is no JSON text.');
  }
}

function contextNames(fields: unknown): Set<string> {
  const names = new Set<string>();
  for (const [name, field] of Object.entries((fields ?? {}) as Record<string, Partial<FieldDeclaration> | null>)) {
    if (field?.entity === true || field?.unit === 'instant') names.add(name);
  }
  return names;
}

function placeOf(
  source: SourceInvocation,
  output: string,
  binding: Binding,
  path: RawPath,
  found: ReturnType<ReturnType<WantedPaths['add']>>,
  texts: Map<number, string>,
): BindingOutcome {
  const { place, span } = found;
  if (place === null) return { failed: 'PATH_NOT_FOUND' };
  const { fields } = source.envelope;
  const declared = (name: string): FieldDeclaration | null => (Object.hasOwn(fields, name) ? (fields[name] ?? null) : null);
  if (place.names.some((name) => declared(name)?.concludes === true)) return { failed: 'CONCLUSION_NOT_CITEABLE' };
  if (place.kind === 'object' || place.kind === 'array') return { failed: 'PATH_IS_CONTAINER' };
  let text: string;
  if (path.lines !== null) {
    if (span === null) return { failed: 'PATH_NOT_FOUND' };
    text = decodeLines(output, span);
  } else {
    text = texts.get(place.start) ?? scalarText(output, place);
    texts.set(place.start, text);
  }
  if (place.kind === 'null' || text.trim() === '') return { failed: 'TEXT_EMPTY' };
  let matchedText = text;
  if (binding.quote !== undefined) {
    const search = findQuotedSpan(text, binding.quote);
    if ('missing' in search) return { failed: search.missing };
    matchedText = search.found;
  }
  const lineCount =
    path.lines === null || binding.quote !== undefined ? countLines(matchedText) : path.lines.to - path.lines.from + 1;
  if (matchedText.length > LONGEST_TEXT || lineCount > MOST_LINES) return { failed: 'RANGE_TOO_WIDE' };
  const named = place.objects.flatMap((object) =>
    object.scalars
      .filter((scalar) => scalar.kind === 'string' || scalar.kind === 'number')
      .map((scalar) => ({ name: scalar.name, text: scalarText(output, scalar), pointer: object.pointer })),
  );
  const entities = named.filter(({ name }) => declared(name)?.entity === true);
  const fieldName = place.names.at(-1) ?? null;
  return {
    source,
    binding,
    matchedText,
    kind: place.kind,
    fieldName,
    field: fieldName === null ? null : declared(fieldName),
    pathNames: place.names.slice(0, -1),
    row: entities.at(-1)?.pointer ?? place.objects.at(-1)?.pointer ?? '',
    entities,
    instants: named.filter(({ name }) => declared(name)?.unit === 'instant'),
    context: contextOf(text, matchedText),
  };
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function contextOf(text: string, matched: string): string {
  if (text === matched) return matched;
  const at = text.indexOf(matched);
  const before = Math.max(text.lastIndexOf('\n', at) + 1, at - LONGEST_TEXT);
  const lineEnd = text.indexOf('\n', at + matched.length);
  return text.slice(before, Math.min(lineEnd === -1 ? text.length : lineEnd, at + matched.length + LONGEST_TEXT));
}
