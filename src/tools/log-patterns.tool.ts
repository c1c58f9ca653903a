import { Injectable } from '@nestjs/common';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import { type LogPatternsData, logPatternsFields } from '../protocol/tool-outputs/log-patterns-data';
import { logFilterText, logPatternsArgumentsSchema } from '../protocol/tool-outputs/log-question';
import { answerOutput } from './answer-output';
import { cutSample, logSummary, parseToolArguments } from './log-answer';

/**
 * Log lines grouped by template, with counts, share of the service's lines and rate against a baseline window, and first and
 * last time. It refuses a baseline that overlaps the window, takes no pattern and no SQL, and does not say what the cause
 * is: `score` orders the rows and cannot be cited. `complete` is false when the limit left rows out.
 */
@Injectable()
export class LogPatternsTool extends DiagnosisTool {
  override readonly name = 'log_patterns';
  override readonly description =
    'Groups log lines by template within a window: count, share of the service, rate, first and last seen, each beside its value in a baseline window. The most telling changes come first.';
  override readonly argumentsSchema = logPatternsArgumentsSchema;
  override readonly readsTelemetry = true;

  constructor(private readonly telemetry: TelemetrySource) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const query = parseToolArguments(logPatternsArgumentsSchema, args, this.name);
    const answer = await this.telemetry.logPatterns(query, execution.signal);
    const data: LogPatternsData = {
      summary: logSummary(answer),
      patterns: answer.rows.map((row) => {
        const sample = cutSample(row.sample);
        return {
          service: row.service,
          level: row.level,
          template: row.template,
          count: row.count,
          baseline_count: row.baseline_count,
          share: row.share,
          baseline_share: row.baseline_share,
          rate_per_min: row.rate_per_min,
          baseline_rate_per_min: row.baseline_rate_per_min,
          first_seen: row.first_seen,
          last_seen: row.last_seen,
          score: row.score,
          sample,
          sample_cut: sample.length < row.sample.length,
        };
      }),
    };
    return answerOutput(
      answer,
      logFilterText({ errorsOnly: false, service: query.service, part: query.part, contains: query.contains }),
      logPatternsFields(answer.text_zone ?? null),
      data,
    );
  }
}
