import { Injectable } from '@nestjs/common';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import { spanArgumentsSchema, logFilterText } from '../protocol/tool-outputs/log-question';
import { SERVICE_GRAPH_FIELDS, type ServiceGraphData } from '../protocol/tool-outputs/service-graph-data';
import { answerOutput } from './answer-output';
import { logSummary, parseToolArguments } from './log-answer';

/**
 * Who calls whom, from spans of a window and a baseline and from graph files. It refuses a baseline that overlaps the window.
 * `matched_count` counts calls in spans; `complete` is false when the limit left edges out.
 */
@Injectable()
export class ServiceGraphTool extends DiagnosisTool {
  override readonly name = 'service_graph';
  override readonly description =
    'Lists which service calls which, with the number of calls within a window and in a baseline; edges that only a graph file states have no numbers. The most frequent come first.';
  override readonly readsTelemetry = true;
  override readonly argumentsSchema = spanArgumentsSchema;

  constructor(private readonly telemetry: TelemetrySource) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const query = parseToolArguments(spanArgumentsSchema, args, this.name);
    const answer = await this.telemetry.serviceGraph(query, execution.signal);
    const data: ServiceGraphData = {
      summary: logSummary(answer),
      edges: answer.rows.map((row) => ({
        caller: row.caller,
        callee: row.callee,
        count: row.count,
        baseline_count: row.baseline_count,
      })),
    };
    return answerOutput(
      answer,
      logFilterText({ errorsOnly: false, service: query.service, contains: null }),
      SERVICE_GRAPH_FIELDS,
      data,
    );
  }
}
