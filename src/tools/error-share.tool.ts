import { Injectable } from '@nestjs/common';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import { ERROR_SHARE_FIELDS, type ErrorShareData } from '../protocol/tool-outputs/error-share-data';
import { errorShareArgumentsSchema, logFilterText } from '../protocol/tool-outputs/log-question';
import { answerOutput } from './answer-output';
import { logSummary, parseToolArguments } from './log-answer';

/**
 * Lines and error lines of each service in a window, beside a baseline window. An error line has level ERROR or worse, or
 * no level and a stack trace. `matched_count` counts error lines. It refuses a baseline that overlaps the window and does
 * not say what the cause is. `complete` is false when the limit left services out.
 */
@Injectable()
export class ErrorShareTool extends DiagnosisTool {
  override readonly name = 'error_share';
  override readonly description =
    'Counts log lines and error lines of each service within a window, with the share of errors and the rate of lines, each beside its value in a baseline window. The largest rise comes first.';
  override readonly argumentsSchema = errorShareArgumentsSchema;
  override readonly readsTelemetry = true;

  constructor(private readonly telemetry: TelemetrySource) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const query = parseToolArguments(errorShareArgumentsSchema, args, this.name);
    const answer = await this.telemetry.errorShare(query, execution.signal);
    const data: ErrorShareData = {
      summary: logSummary(answer),
      services: answer.rows.map((row) => ({
        service: row.service,
        lines: row.lines,
        baseline_lines: row.baseline_lines,
        error_lines: row.error_lines,
        baseline_error_lines: row.baseline_error_lines,
        error_share: row.error_share,
        baseline_error_share: row.baseline_error_share,
        rate_per_min: row.rate_per_min,
        baseline_rate_per_min: row.baseline_rate_per_min,
      })),
    };
    return answerOutput(
      answer,
      logFilterText({ errorsOnly: true, service: query.service, part: query.part, contains: null }),
      ERROR_SHARE_FIELDS,
      data,
    );
  }
}
