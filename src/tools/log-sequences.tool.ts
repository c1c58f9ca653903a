import { Injectable } from '@nestjs/common';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import { logFilterText, logSequencesArgumentsSchema } from '../protocol/tool-outputs/log-question';
import { type LogSequencesData, logSequencesFields } from '../protocol/tool-outputs/log-sequences-data';
import { answerOutput } from './answer-output';
import { cutSample, logSummary, parseToolArguments } from './log-answer';

/**
 * What follows each step of a flow in a window, beside what followed it in a baseline: flows cut short, callees no longer
 * called, new error lines, new routes. It refuses a question without a baseline, and its ranks (`votes`, `score`) cannot be
 * cited. `complete` is false when the limit left rows out.
 */
@Injectable()
export class LogSequencesTool extends DiagnosisTool {
  override readonly name = 'log_sequences';
  override readonly description =
    'Compares what follows each step of a request (or of an instance without trace ids) in a window with a baseline: flows cut short, callees no longer called, error lines, new routes. The most telling changes come first.';
  override readonly argumentsSchema = logSequencesArgumentsSchema;
  override readonly readsTelemetry = true;

  constructor(private readonly telemetry: TelemetrySource) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const query = parseToolArguments(logSequencesArgumentsSchema, args, this.name);
    const answer = await this.telemetry.logSequences(query, execution.signal);
    const data: LogSequencesData = {
      summary: { ...logSummary(answer), by_trace: answer.by_trace },
      sequences: answer.rows.map((row) => {
        const sample = cutSample(row.sample);
        return {
          service: row.service,
          kind: row.kind,
          step_service: row.step_service,
          step: row.step,
          count: row.count,
          total: row.total,
          share: rounded(row.share),
          baseline_count: row.baseline_count,
          baseline_total: row.baseline_total,
          baseline_share: rounded(row.baseline_share),
          first_seen: row.first_seen,
          votes: row.votes,
          score: rounded(row.score),
          sample,
          sample_cut: sample.length < row.sample.length,
        };
      }),
    };
    return answerOutput(
      answer,
      logFilterText({ errorsOnly: false, service: query.service, contains: null }),
      logSequencesFields(answer.text_zone ?? null),
      data,
    );
  }
}

/** Four decimals are more than a share of flows can mean. */
function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
