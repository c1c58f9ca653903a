import { Injectable } from '@nestjs/common';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import { spanArgumentsSchema, logFilterText } from '../protocol/tool-outputs/log-question';
import { SPAN_ANALYSIS_FIELDS, type SpanAnalysisData } from '../protocol/tool-outputs/span-analysis-data';
import { answerOutput } from './answer-output';
import { logSummary, parseToolArguments } from './log-answer';

/**
 * Where the time of traces goes in a window beside a baseline, service by service: self time, caller-callee gap, traces with
 * high spans, error spans, traffic. Its ranks cannot be cited. It refuses a baseline that overlaps the window and does not say
 * what the cause is. `matched_count` counts spans; `complete` is false when the limit left services out.
 */
@Injectable()
export class SpanAnalysisTool extends DiagnosisTool {
  override readonly name = 'span_analysis';
  override readonly description =
    'Compares the traces of a window with a baseline, service by service: time spent in itself, time lost in calls into it, traces with spans far above normal, share of error spans, traffic. The most telling services come first.';
  override readonly readsTelemetry = true;
  override readonly argumentsSchema = spanArgumentsSchema;

  constructor(private readonly telemetry: TelemetrySource) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const query = parseToolArguments(spanArgumentsSchema, args, this.name);
    const answer = await this.telemetry.spanAnalysis(query, execution.signal);
    const data: SpanAnalysisData = {
      summary: logSummary(answer),
      services: answer.rows.map((row) => ({
        service: row.service,
        traces: row.traces,
        baseline_traces: row.baseline_traces,
        high_traces: row.high_traces,
        baseline_high_traces: row.baseline_high_traces,
        high_share: row.high_share,
        baseline_high_share: row.baseline_high_share,
        self_ms: row.self_ms,
        baseline_self_ms: row.baseline_self_ms,
        gap_ms: row.gap_ms,
        baseline_gap_ms: row.baseline_gap_ms,
        excess_ms: row.excess_ms,
        baseline_excess_ms: row.baseline_excess_ms,
        error_share: row.error_share,
        baseline_error_share: row.baseline_error_share,
        rate_per_min: row.rate_per_min,
        baseline_rate_per_min: row.baseline_rate_per_min,
        first_seen: row.first_seen,
        unanswered_share: row.unanswered_share,
        role: row.role,
        gain: row.gain,
        precision: row.precision,
        score: row.score,
      })),
    };
    return answerOutput(
      answer,
      logFilterText({ errorsOnly: false, service: query.service, contains: null }),
      SPAN_ANALYSIS_FIELDS,
      data,
    );
  }
}
