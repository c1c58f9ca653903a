import { Injectable } from '@nestjs/common';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { TelemetrySource } from '../ports/telemetry-source.port';
import type { JsonObject } from '../protocol/json-value';
import type { ToolOutput } from '../protocol/tool-output';
import { metricArgumentsSchema, logFilterText } from '../protocol/tool-outputs/log-question';
import { METRIC_ANOMALIES_FIELDS, type MetricAnomaliesData } from '../protocol/tool-outputs/metric-anomalies-data';
import { answerOutput } from './answer-output';
import { logSummary, parseToolArguments } from './log-answer';

/**
 * Series of metrics that stand out in a window beside a baseline: medians, spread, since when, and a calibrated score that
 * cannot be cited. It refuses a baseline that overlaps the window and does not say what the cause is. `matched_count` counts
 * values; `complete` is false when the limit left series out.
 */
@Injectable()
export class MetricAnomaliesTool extends DiagnosisTool {
  override readonly name = 'metric_anomalies';
  override readonly description =
    'Compares each metric of each service within a window with a baseline: median of the part that stands out most, since when, median and interquartile range of the baseline. The most unusual series come first.';
  override readonly readsTelemetry = true;
  override readonly argumentsSchema = metricArgumentsSchema;

  constructor(private readonly telemetry: TelemetrySource) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const query = parseToolArguments(metricArgumentsSchema, args, this.name);
    const answer = await this.telemetry.metricAnomalies(query, execution.signal);
    const data: MetricAnomaliesData = {
      summary: logSummary(answer),
      metrics: answer.rows.map((row) => ({
        service: row.service,
        metric: row.metric,
        statistic: row.statistic,
        unit: row.unit,
        kind: row.kind,
        direction: row.direction,
        median: row.median,
        baseline_median: row.baseline_median,
        baseline_iqr: row.baseline_iqr,
        change: row.change,
        rows: row.rows,
        segment_rows: row.segment_rows,
        baseline_rows: row.baseline_rows,
        coverage: row.coverage,
        statistics: row.statistics,
        first_seen: row.first_seen,
        last_seen: row.last_seen,
        score: row.score,
      })),
    };
    return answerOutput(
      answer,
      logFilterText({ errorsOnly: false, service: query.service, contains: null }),
      METRIC_ANOMALIES_FIELDS,
      data,
    );
  }
}
