import { z } from 'zod';
import { fieldDeclarationSchema, type ToolOutput } from '../protocol/tool-output';
import { skipValue, stringsOfMembers, walkEnvelope } from '../protocol/json-source';
import { SUBJECT_ARGUMENTS } from '../protocol/claim-fidelity/scope-terms';
import type { InvocationRecord } from '../ports/tool-invocation-store.port';
import { DiagnosisError } from '../errors/diagnosis-error';

const fieldsSchema = z.record(z.string(), fieldDeclarationSchema);

/**
 * Entity names that a call recorded: the values of its declared entity fields, and the subjects that it was asked for. The
 * declarations are read from the output unless they are given.
 */
export function entityNamesOf(record: InvocationRecord, output: string, fields: ToolOutput['fields'] | null): Set<string> {
  const names = stringsOfMembers(record.arguments, SUBJECT_ARGUMENTS);
  try {
    const declared = Object.entries(fields ?? declaredFields(output)).flatMap(([field, { entity }]) =>
      entity === true ? [field] : [],
    );
    for (const name of stringsOfMembers(output, declared)) names.add(name);
  } catch (error) {
    if (!DiagnosisError.is(error, 'OUTPUT_CORRUPT') && !(error instanceof SyntaxError)) throw error;
  }
  return names;
}

function declaredFields(output: string): ToolOutput['fields'] {
  let fields: ToolOutput['fields'] = {};
  walkEnvelope(output, (name, at) => {
    const end = skipValue(output, at);
    if (name === 'fields') fields = fieldsSchema.safeParse(JSON.parse(output.slice(at, end))).data ?? {};
    return end;
  });
  return fields;
}
