import type { RunnableConfig } from '@langchain/core/runnables';
import { DiagnosisError } from '../../errors/diagnosis-error';
import type { RunContext } from '../../ports/run-context';
import type { TimeRange } from '../../ports/telemetry-source.port';
import type { ToolResult, ToolRunner } from '../../ports/tool-runner.port';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { JsonObject, JsonValue } from '../../protocol/json-value';
import type { LimitationCode } from '../../vocabulary/limitation-codes';
import type { Thresholds } from './thresholds';
import { isPart, withinScope } from './follow-up-scope';
import type { ReadableTool } from './tool-rows';

/** What one recorded call gave, in rows; a row's index is its place in the stored output, so paths can be written from it. */
export interface Answer<Row> {
  readonly invocation_id: string;
  readonly tool_name: string;
  readonly rowsAt: string;
  readonly arguments: JsonObject;
  readonly rows: readonly Row[];
  readonly matched_count: number;
  readonly records_scanned: number;
  readonly records_rejected: number;
  readonly by_trace: boolean;
  /** Members of the output's summary, e.g. the range that was covered. */
  readonly summary: JsonObject;
  /** Filter and range that the tool says it looked through. */
  readonly coverage: ToolResult['coverage'];
  readonly complete: boolean;
  /** Set where the answer compares with another time than the one that the question of the run names. */
  readonly ownBaseline?: true;
}

const SMALLEST_LIMIT = 4;
/** Share of a window that may be without records before the window counts as not covered. */
const UNCOVERED_TOLERANCE = 0.25;

/**
 * Asks the recorder and remembers what stood in the way as limitation codes. It refuses to interpret rows, to ask after the
 * run's deadline, and to hide an abort: `DiagnosisError` CANCELLED.
 */
export class TelemetryLook {
  private readonly codes = new Set<LimitationCode>();

  constructor(
    private readonly tools: ToolRunner,
    private readonly config: RunnableConfig,
    readonly thresholds: Thresholds,
    private readonly scope?: DiagnosisQuery['scope'],
  ) {
    if (isPart(scope)) this.note('SCOPE_LOGS_ONLY');
  }

  limitations(): LimitationCode[] {
    return [...this.codes];
  }

  note(code: LimitationCode): void {
    this.codes.add(code);
  }

  has(tool: ReadableTool<unknown>): boolean {
    return this.tools.describe().some(({ name }) => name === tool.name);
  }

  /** The answer in rows, or null when the tool could not answer; a view that was cut is asked again with fewer rows. */
  async ask<Row>(tool: ReadableTool<Row>, asked: JsonObject): Promise<Answer<Row> | null> {
    const args = withinScope(tool.name, asked, this.scope);
    if (args === null) return null;
    if (this.config.signal?.aborted === true) throw new DiagnosisError('CANCELLED', 'The run was stopped.');
    const run = this.config.configurable?.['run'] as RunContext | undefined;
    if (run?.deadline?.aborted === true) {
      this.note('DEADLINE');
      return null;
    }
    const result = await this.tools.run({ tool_name: tool.name, arguments: args }, this.config);
    if (result.status !== 'OK' && result.status !== 'TRUNCATED') {
      this.noteFailure(tool, result);
      return null;
    }
    const limit = args['limit'];
    if (result.view_truncated && typeof limit === 'number' && limit > SMALLEST_LIMIT) {
      return this.ask(tool, { ...args, limit: Math.max(SMALLEST_LIMIT, Math.floor(limit / 3)) });
    }
    return this.read(tool, args, result);
  }

  private read<Row>(tool: ReadableTool<Row>, args: JsonObject, result: ToolResult): Answer<Row> | null {
    const data = asObject(result.data);
    const listed = data?.[tool.rowsAt];
    const summary = asObject(data?.['summary']) ?? {};
    if (data === null || !Array.isArray(listed)) {
      this.note('TOOL_FAILED');
      return null;
    }
    const rows: Row[] = [];
    for (const value of listed) {
      const row = tool.row.safeParse(value);
      // An unreadable row ends the list: skipping it would shift the paths of the rows behind it.
      if (!row.success) {
        this.note('SOURCE_INCOMPLETE');
        break;
      }
      rows.push(row.data);
    }
    if ((result.records_rejected ?? 0) > 0) this.note('RECORDS_REJECTED');
    if (Number(summary['files_skipped'] ?? 0) > 0) this.note('FILES_SKIPPED');
    // Kinds of line and series come most telling first, so a tail that was left out is no loss; a left-out service is one.
    if (!result.complete && tool.tailMatters) this.note('SOURCE_INCOMPLETE');
    // A baseline of one family says nothing of how far another one reaches, and a family without records is noted as such.
    if ((args['contains'] === null || args['contains'] === undefined) && tool.absent === 'NO_LOGS')
      this.noteCoverage(args, result);
    return {
      invocation_id: result.invocation_id,
      tool_name: tool.name,
      rowsAt: tool.rowsAt,
      arguments: args,
      rows,
      matched_count: result.matched_count ?? rows.length,
      records_scanned: result.records_scanned ?? 0,
      records_rejected: result.records_rejected ?? 0,
      by_trace: summary['by_trace'] === true,
      summary,
      coverage: result.coverage,
      complete: result.complete,
    };
  }

  private noteCoverage(args: JsonObject, { coverage }: ToolResult): void {
    const asked = args['window'] as unknown as TimeRange | undefined;
    if (asked === undefined || coverage === null || coverage.from === null || coverage.to === null) return;
    const length = Date.parse(asked.to) - Date.parse(asked.from);
    const covered = Date.parse(coverage.to) - Date.parse(coverage.from);
    if (covered < length * (1 - UNCOVERED_TOLERANCE)) this.note('WINDOW_NOT_COVERED');
  }

  private noteFailure(tool: ReadableTool<unknown>, { status, data }: ToolResult): void {
    if (status !== 'DENIED' && asObject(asObject(data)?.['error'])?.['code'] === 'TELEMETRY_EMPTY') {
      if (tool.absent !== null) this.note(tool.absent);
    } else if (status !== 'DENIED') this.note('TOOL_FAILED');
    // A tool that may be called and is refused all the same has met a budget.
    else this.note(this.has(tool) ? 'BUDGET_EXHAUSTED' : 'TOOL_DENIED');
  }
}

function asObject(value: JsonValue | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}
