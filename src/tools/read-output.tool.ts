import { Injectable } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { DiagnosisTool, type ToolExecution } from '../ports/diagnosis-tool.port';
import { ToolInvocationStore } from '../ports/tool-invocation-store.port';
import { findPaths, scalarText, skipValue, walkEnvelope, WantedPaths } from '../protocol/json-source';
import type { JsonObject } from '../protocol/json-value';
import { parseRawPath } from '../protocol/raw-path';
import { decodeLines } from '../protocol/text-lines';
import type { ToolOutput } from '../protocol/tool-output';
import { readOutputArgumentsSchema } from '../protocol/tool-outputs/log-question';
import { READ_OUTPUT_FIELDS, type ReadOutputData } from '../protocol/tool-outputs/read-output-data';
import { parseToolArguments } from './log-answer';

/**
 * A part of the recorded output of an earlier call of the same run, by path or by lines, for an output that was too long to
 * be shown at once. It reads no other run and no call without an output, and nothing that it shows can be cited as its own:
 * claims cite the call that the part comes from. `complete` is false when the limit left some of the part out.
 * Errors: TOOL_ARGUMENTS_INVALID for an unknown call and for a path that leads nowhere.
 */
@Injectable()
export class ReadOutputTool extends DiagnosisTool {
  override readonly name = 'read_output';
  override readonly description =
    'Shows a part of the recorded output of an earlier call of this run, by JSON pointer or by lines of a text, from an offset on. Use it when a view was truncated; cite the earlier call, not this one.';
  override readonly argumentsSchema = readOutputArgumentsSchema;
  /** Where nothing else can be asked, there is nothing to read again. */
  override readonly readsTelemetry = true;

  constructor(private readonly invocations: ToolInvocationStore) {
    super();
  }

  override async execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    const { invocation_id, path, offset, limit } = parseToolArguments(readOutputArgumentsSchema, args, this.name);
    const record = await this.invocations.findOfRun(execution.runId, invocation_id);
    if (record === null || record.output_sha256 === null) {
      throw invalid('invocation_id: is no earlier call of this run that left an output');
    }
    const part = partOf(await this.invocations.readOutput(record.id), path);
    const text = part.slice(offset, offset + limit);
    const data: ReadOutputData = {
      source_invocation_id: record.invocation_id,
      source_tool: record.tool_name,
      path,
      text,
      offset,
      characters_shown: text.length,
      characters_total: part.length,
    };
    return {
      matched_count: 1,
      records_scanned: 1,
      records_rejected: 0,
      complete: text.length === part.length,
      coverage: { from: null, to: null, filter: null },
      fields: { ...READ_OUTPUT_FIELDS },
      server_time: null,
      data,
    };
  }
}

function invalid(problem: string): DiagnosisError {
  return new DiagnosisError('TOOL_ARGUMENTS_INVALID', `The arguments of read_output are not valid: ${problem}.`);
}

/** Containers and numbers as they stand in the source, texts decoded. */
function partOf(output: string, path: string): string {
  const parsed = parseRawPath(path);
  if (parsed === null) throw invalid('path: is neither a JSON pointer nor lines of a text');
  const wanted = new WantedPaths();
  const found = wanted.add(parsed.tokens, parsed.lines);
  walkEnvelope(output, (name, at) => (name === 'data' ? findPaths(output, at, wanted, new Set()) : skipValue(output, at)));
  const { place, span } = found();
  if (place === null) throw invalid('path: leads nowhere in that output');
  if (parsed.lines !== null) {
    if (span === null) throw invalid('path: names lines that are not there, or of something that is no text');
    return decodeLines(output, span);
  }
  return place.kind === 'string' ? scalarText(output, place) : output.slice(place.start, place.end);
}
