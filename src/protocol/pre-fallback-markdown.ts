import type { ReasonCode } from '../vocabulary/reason-codes';
import type { InvocationStatus } from '../vocabulary/run-lifecycle';
import type { DiagnosisQuery } from './diagnosis-query';
import { codeSpan } from './inert-markdown';
import { queryScopeLines, windowText } from './query-scope-markdown';
import { reasonWords } from './reason-words';

/** A tool that was asked in this run and how the call ended; nothing of what it answered. */
export interface AskedTool {
  readonly tool_name: string;
  readonly status: string;
}

const STATUS_WORDS: ReadonlyMap<string, string> = new Map<InvocationStatus, string>([
  ['RUNNING', 'had not answered'],
  ['OK', 'answered'],
  ['TRUNCATED', 'answered, cut at its limit'],
  ['ERROR', 'failed'],
  ['DENIED', 'was not allowed'],
  ['ABANDONED', 'was given up'],
]);

const ANSWERED: ReadonlySet<string> = new Set<InvocationStatus>(['OK', 'TRUNCATED']);

/** Names of denied calls are an agent's words: only what looks like a name of a tool is shown. */
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/;

/**
 * The safe answer of a run in which nothing could be verified: question, window, tools asked and how they ended, the reason
 * in plain words and what to do next. It takes no claim and no tool output, so it cannot show any. `tools` is null when the
 * calls could not be read. Equal input, equal bytes.
 */
export function renderPreFallback({
  query,
  tools,
  reason,
}: {
  query: DiagnosisQuery;
  tools: readonly AskedTool[] | null;
  reason: ReasonCode;
}): string {
  const { why, next } = reasonWords(reason);
  return [
    '**No verified answer.** Nothing was found that may be stated with evidence, so nothing is claimed about the cause.',
    `## Why\n\n${why}${reason === 'NO_EVIDENCE' ? lookedAt(query, tools) : ''}`,
    `## What was asked\n\n${queryScopeLines(query).join('\n')}`,
    `## Tools asked\n\n${toolLines(tools).join('\n')}`,
    `## Next step\n\n${next}`,
  ].join('\n\n');
}

/** Which times were looked at; nothing where no tool answered. */
function lookedAt({ window, baseline, time_zone }: DiagnosisQuery, tools: readonly AskedTool[] | null): string {
  if (tools !== null && !tools.some(({ status }) => ANSWERED.has(status))) return '';
  const compared = baseline === null ? '' : `, compared with ${windowText(baseline, time_zone)}`;
  return ` The range looked at is ${windowText(window, time_zone)}${compared}.`;
}

function toolLines(tools: readonly AskedTool[] | null): string[] {
  if (tools === null) return ['The list of tool calls of this run could not be read.'];
  if (tools.length === 0) return ['No tool was asked.'];
  const counts = new Map<string, number>();
  for (const tool of tools) {
    const name = TOOL_NAME.test(tool.tool_name) ? codeSpan(tool.tool_name) : 'a tool that does not exist';
    const words = STATUS_WORDS.get(tool.status);
    const line = `- ${name}: ${words === undefined ? 'ended in an unknown way' : `${tool.status}, ${words}`}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} calls)`));
}
