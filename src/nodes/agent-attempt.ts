import type { RunnableConfig } from '@langchain/core/runnables';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { AgentInvoker } from '../ports/agent-invoker.port';
import type { RunContext } from '../ports/run-context';
import { serialiseAgentInput } from '../protocol/agent-input';
import type { ReasonCode } from '../vocabulary/reason-codes';
import type { RetriedAgentStatus } from '../vocabulary/statuses';
import { isTransientFailure } from './transient-failure';

/** Why an agent gave no text at all; each is a reason code of an event. */
export type AgentFailure = Extract<ReasonCode, 'AGENT_TRANSIENT' | 'AGENT_PERMANENT' | 'TOOL_DENIED' | 'RUN_DEADLINE'>;

/** What one exchange with an agent gave: its raw text for a parser, or why there is none. Sizes in bytes of UTF-8. */
export type AgentReply =
  | { readonly answered: true; readonly raw: unknown; readonly input_bytes: number; readonly output_bytes?: number }
  | { readonly answered: false; readonly failure: AgentFailure; readonly input_bytes: number };

/**
 * Asks an agent once: serialises the projection and hands over the very config object it was given. It refuses to ask again,
 * to read the answer, or to swallow an abort: what an agent threw while the run's signal was aborted is thrown on.
 */
export async function askAgent(agent: AgentInvoker, projection: object, config: RunnableConfig): Promise<AgentReply> {
  const input = serialiseAgentInput(projection);
  const input_bytes = Buffer.byteLength(input, 'utf8');
  try {
    const raw: unknown = await agent.invoke(input, config);
    return {
      answered: true,
      raw,
      input_bytes,
      output_bytes: typeof raw === 'string' ? Buffer.byteLength(raw, 'utf8') : undefined,
    };
  } catch (error) {
    if (wasAborted(config)) throw error;
    return { answered: false, failure: failureOf(error, config), input_bytes };
  }
}

/** Whether the run's own signal is aborted: an attempt that threw then has no status and leaves no event. */
export function wasAborted(config: RunnableConfig): boolean {
  return config.signal?.aborted === true;
}

/** Status and reason of a failed exchange for the roles that may be asked a second time. */
export function failedAttempt(failure: AgentFailure): { readonly status: RetriedAgentStatus; readonly reason_code: ReasonCode } {
  switch (failure) {
    case 'AGENT_TRANSIENT':
      return { status: 'RETRYABLE_FAILED', reason_code: failure };
    case 'RUN_DEADLINE':
      return { status: 'NON_RETRYABLE_FAILED', reason_code: failure };
    default:
      return { status: 'NON_RETRYABLE_FAILED', reason_code: 'AGENT_PERMANENT' };
  }
}

function failureOf(error: unknown, config: RunnableConfig): AgentFailure {
  const run = config.configurable?.['run'] as RunContext | undefined;
  // Past the deadline a second attempt has no time left, whatever the agent blames.
  if (run?.deadline?.aborted === true) return 'RUN_DEADLINE';
  if (isTransientFailure(error)) return 'AGENT_TRANSIENT';
  if (DiagnosisError.is(error, 'TOOL_BLOCKED')) return 'TOOL_DENIED';
  return 'AGENT_PERMANENT';
}
