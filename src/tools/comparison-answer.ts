import type { QueryAnswer } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { FieldDeclaration, ToolOutput } from '../protocol/tool-output';
import { logFilterText } from '../protocol/tool-outputs/log-question';

/** The envelope of an answer around its data; the filter names the service that was asked for. */
export function answerOutput(
  answer: QueryAnswer<unknown>,
  service: string | null,
  fields: Readonly<Record<string, FieldDeclaration>>,
  data: JsonObject,
): ToolOutput {
  return {
    matched_count: answer.matched_count,
    records_scanned: answer.records_scanned,
    records_rejected: answer.records_rejected,
    complete: answer.complete,
    coverage: {
      from: answer.covered?.from ?? null,
      to: answer.covered?.to ?? null,
      filter: logFilterText({ errorsOnly: false, service, contains: null }),
    },
    fields: { ...fields },
    server_time: null,
    data,
  };
}
