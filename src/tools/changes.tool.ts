import { Injectable } from '@nestjs/common';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import { changesArgumentsSchema, logFilterText } from '../protocol/tool-outputs/log-question';
import { CHANGES_FIELDS, type ChangesData } from '../protocol/tool-outputs/changes-data';
import { answerOutput } from './answer-output';
import { logSummary, parseToolArguments } from './log-answer';

/**
 * Deploys, flags, configuration changes and migrations before and in a window. It does not say whether one of them is the cause.
 * `coverage` is null where the source holds no record of changes; `complete` is false when the limit left some out.
 */
@Injectable()
export class ChangesTool extends DiagnosisTool {
  override readonly name = 'changes';
  override readonly description =
    'Lists deploys, flags, configuration changes and migrations from some minutes before a window to its end, with the minutes between each and the start of the window. The nearest come first.';
  override readonly readsTelemetry = true;
  override readonly argumentsSchema = changesArgumentsSchema;

  constructor(private readonly telemetry: TelemetrySource) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const query = parseToolArguments(changesArgumentsSchema, args, this.name);
    const answer = await this.telemetry.changes(query, execution.signal);
    const data: ChangesData = {
      summary: logSummary(answer),
      changes: answer.rows.map((row) => ({
        service: row.service,
        kind: row.kind,
        text: row.text,
        time: row.time,
        minutes_before: row.minutes_before,
      })),
    };
    return answerOutput(
      answer,
      logFilterText({ errorsOnly: false, service: query.service, contains: null }),
      CHANGES_FIELDS,
      data,
    );
  }
}
