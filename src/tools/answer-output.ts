import type { QueryAnswer } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { FieldDeclaration, ToolOutput } from '../protocol/tool-output';

/** The envelope of a telemetry answer around its data; `filter` states what was looked through, null for everything. */
export function answerOutput(
  answer: QueryAnswer<unknown>,
  filter: string | null,
  fields: Readonly<Record<string, FieldDeclaration>>,
  data: JsonObject,
): ToolOutput {
  return {
    matched_count: answer.matched_count,
    records_scanned: answer.records_scanned,
    records_rejected: answer.records_rejected,
    complete: answer.complete,
    coverage: { from: answer.covered?.from ?? null, to: answer.covered?.to ?? null, filter },
    fields: { ...fields },
    server_time: null,
    data,
  };
}
