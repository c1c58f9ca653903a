import { Injectable } from '@nestjs/common';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import { logFilterText, overviewArgumentsSchema } from '../protocol/tool-outputs/log-question';
import { TELEMETRY_OVERVIEW_FIELDS, type TelemetryOverviewData } from '../protocol/tool-outputs/telemetry-overview-data';
import { answerOutput } from './answer-output';
import { parseToolArguments } from './log-answer';

/**
 * Which kinds of telemetry there are, of which services, and from when to when. It shows no line and no value, and does not
 * say what is wrong. `matched_count` counts records; `complete` is false when the limit left services out.
 */
@Injectable()
export class TelemetryOverviewTool extends DiagnosisTool {
  override readonly name = 'telemetry_overview';
  override readonly description =
    'Lists the kinds of telemetry that there are (logs, metrics, spans, changes, graph) and their services, with the number of records and the first and last time of each. Ask it first when it is not known what can be asked.';
  override readonly argumentsSchema = overviewArgumentsSchema;
  override readonly readsTelemetry = true;

  constructor(private readonly telemetry: TelemetrySource) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const query = parseToolArguments(overviewArgumentsSchema, args, this.name);
    const answer = await this.telemetry.overview(query, execution.signal);
    const description = await this.telemetry.describe(execution.signal);
    const data: TelemetryOverviewData = {
      families: description.families.map((family) => ({
        family: family.family,
        records: family.records,
        records_rejected: family.rejected,
        services_total: family.services.length,
        first_seen: family.from,
        last_seen: family.to,
      })),
      services: answer.rows.map(({ service, family, records, first_seen, last_seen }) => ({
        service,
        family,
        records,
        first_seen,
        last_seen,
      })),
      rows_total: answer.rows_total ?? answer.rows.length,
      files: description.files,
      files_skipped: answer.files_skipped ?? 0,
    };
    const filter = logFilterText({ errorsOnly: false, service: query.service, contains: null });
    return answerOutput(answer, filter, TELEMETRY_OVERVIEW_FIELDS, data);
  }
}
