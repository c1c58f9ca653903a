import type { RunnableConfig } from '@langchain/core/runnables';

/**
 * Who stands behind a role of the graph. It is given the node's serialised input and the very config object that the
 * engine gave the node, and answers with the raw text of one document. It refuses to parse, judge or repair: parsers do.
 * Throws `DiagnosisError` AGENT_TRANSIENT (may be asked again), AGENT_PERMANENT, or for the executor TOOL_BLOCKED.
 */
export abstract class AgentInvoker {
  abstract invoke(input: string, config: RunnableConfig): Promise<string>;
}

/** Answers with `diagnosis_plan_v1`. */
export abstract class PlannerAgent extends AgentInvoker {}

/** Answers with `executor_evidence_v2`; the only role that calls tools. */
export abstract class ExecutorAgent extends AgentInvoker {}

/** Answers with `verifier_verdict_v1`. */
export abstract class VerifierAgent extends AgentInvoker {}

/** Answers with `composer_answer_v1`. */
export abstract class ComposerAgent extends AgentInvoker {}
