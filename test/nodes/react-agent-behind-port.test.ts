import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { ChatResult } from '@langchain/core/outputs';
import type { RunnableConfig } from '@langchain/core/runnables';
import { tool } from '@langchain/core/tools';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { createAgent, createMiddleware } from 'langchain';
import { z } from 'zod';
import { ExecutorNode } from '../../src/nodes/executor.node';
import { ExecutorAgent } from '../../src/ports/agent-invoker.port';
import { runIdOf } from '../../src/ports/run-context';
import { NO_EVIDENCE, RUN_ID, runConfig, stateOf, invocationsOf } from './incident-material';

/** Calls the one tool first and answers with the document once it has the tool's result. */
class TwoStepModel extends BaseChatModel {
  constructor(private readonly document: string) {
    super({});
  }

  _llmType(): string {
    return 'two-step';
  }

  override bindTools(): this {
    return this;
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const hasResult = messages.some((message) => message.getType() === 'tool');
    const message = hasResult
      ? new AIMessage(this.document)
      : new AIMessage({
          content: '',
          tool_calls: [{ id: 'call-1', name: 'error_share', args: { service: 'order-db' }, type: 'tool_call' }],
        });
    return { generations: [{ text: message.text, message }] };
  }
}

interface Sightings {
  readonly configs: RunnableConfig[];
  readonly middleware: unknown[];
  readonly tools: unknown[];
  readonly inputs: unknown[];
}

/** A real agent of LangChain behind the port: it derives a copy of the config with the run in `context`. */
class ReactExecutor extends ExecutorAgent {
  constructor(
    private readonly document: string,
    private readonly seen: Sightings,
  ) {
    super();
  }

  async invoke(input: string, config: RunnableConfig): Promise<string> {
    this.seen.configs.push(config);
    const errorShare = tool(
      async (_args: { service: string }, toolConfig: RunnableConfig) => {
        this.seen.tools.push({ runId: runIdOf(toolConfig), thread: toolConfig.configurable?.['thread_id'] });
        return '{"rows":[]}';
      },
      { name: 'error_share', description: 'share of error lines', schema: z.object({ service: z.string() }) },
    );
    const watcher = createMiddleware({
      name: 'watcher',
      contextSchema: z.object({ runId: z.string() }),
      beforeModel: (state, runtime) => {
        this.seen.middleware.push(runtime.context.runId);
        this.seen.inputs.push(state.messages[0]?.text);
      },
    });
    const agent = createAgent({
      model: new TwoStepModel(this.document),
      tools: [errorShare],
      middleware: [watcher],
      checkpointer: false,
    });
    const result = await agent.invoke(
      { messages: [{ role: 'user', content: input }] },
      { ...config, recursionLimit: 12, context: { runId: runIdOf(config) } },
    );
    return result.messages.at(-1)?.text ?? '';
  }
}

/** The node inside a compiled graph, so that the engine gives it the config. */
async function runInGraph(node: ExecutorNode, config: RunnableConfig) {
  const given: RunnableConfig[] = [];
  const results: Awaited<ReturnType<ExecutorNode['run']>>[] = [];
  const graph = new StateGraph(Annotation.Root({ done: Annotation<boolean> }))
    .addNode('executor', async (_state, engineConfig: RunnableConfig) => {
      given.push(engineConfig);
      results.push(await node.run(stateOf(), engineConfig));
      return { done: true };
    })
    .addEdge(START, 'executor')
    .addEdge('executor', END)
    .compile();
  await graph.invoke({ done: false }, config);
  return { given, results };
}

describe('a LangChain agent behind ExecutorAgent', () => {
  it('[B1] its tools and middleware see the run of the config that the engine gave the node', async () => {
    const seen: Sightings = { configs: [], middleware: [], tools: [], inputs: [] };
    const node = new ExecutorNode(new ReactExecutor(JSON.stringify(NO_EVIDENCE), seen), invocationsOf([]));
    const { given, results } = await runInGraph(node, runConfig());
    expect(seen.configs).toHaveLength(1);
    expect(seen.configs[0]).toBe(given[0]);
    expect(seen.tools).toEqual([{ runId: RUN_ID, thread: RUN_ID }]);
    expect(seen.middleware).toEqual([RUN_ID, RUN_ID]);
    expect(results[0]?.update).toEqual({ executor_status: 'COMPLETED', executor_output: NO_EVIDENCE });
  });

  it('[B2] [B3] it is told the projection alone, and prose of it is INVALID_OUTPUT', async () => {
    const seen: Sightings = { configs: [], middleware: [], tools: [], inputs: [] };
    const { results } = await runInGraph(
      new ExecutorNode(new ReactExecutor('It was the database.', seen), invocationsOf([])),
      runConfig(),
    );
    expect(Object.keys(JSON.parse(seen.inputs[0] as string) as object)).toEqual([
      'diagnosis_plan',
      'diagnosis_query',
      'evidence_retry_context',
      'planner_mode',
    ]);
    expect(results[0]?.update).toEqual({ executor_status: 'INVALID_OUTPUT' });
  });
});
