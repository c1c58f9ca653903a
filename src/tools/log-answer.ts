import type { z } from 'zod';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { QueryAnswer } from '../ports/telemetry-source.port';
import { type LogPatternsData, MAX_SAMPLE_CHARACTERS } from '../protocol/tool-outputs/log-patterns-data';

/** Arguments by their schema; TOOL_ARGUMENTS_INVALID names each problem and repeats no value. */
export function parseToolArguments<T>(schema: z.ZodType<T>, args: unknown, tool: string): T {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
  throw new DiagnosisError('TOOL_ARGUMENTS_INVALID', `The arguments of ${tool} are not valid: ${problems.join('; ')}.`);
}

/** The summary that both log tools begin with. */
export function logSummary(answer: QueryAnswer<unknown>): LogPatternsData['summary'] {
  const { baseline } = answer;
  return {
    matched_count: answer.matched_count,
    records_scanned: answer.records_scanned,
    records_rejected: answer.records_rejected,
    files_skipped: answer.files_skipped ?? 0,
    rows_total: answer.rows_total ?? answer.rows.length,
    rows_shown: answer.rows.length,
    baseline_matched_count: baseline?.matched_count ?? null,
    baseline_records_scanned: baseline?.records_scanned ?? null,
    covered_from: answer.covered?.from ?? null,
    covered_to: answer.covered?.to ?? null,
    baseline_covered_from: baseline?.covered?.from ?? null,
    baseline_covered_to: baseline?.covered?.to ?? null,
  };
}

/** The beginning of a sample line that is longer than a tool shows. */
export function cutSample(line: string): string {
  if (line.length <= MAX_SAMPLE_CHARACTERS) return line;
  // Half of a surrogate pair is no character.
  return line.slice(0, MAX_SAMPLE_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
}
