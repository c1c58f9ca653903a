import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { AgentInvoker } from '../../src/ports/agent-invoker.port';
import { DiagnosisTool, type ToolExecution } from '../../src/ports/diagnosis-tool.port';
import { ToolRunner } from '../../src/ports/tool-runner.port';
import type { JsonObject } from '../../src/protocol/json-value';
import type { ToolOutput } from '../../src/protocol/tool-output';

/** What a scripted role answers; `tools` is there for the executor. */
type ScriptedRole = (input: JsonObject, config: RunnableConfig, tools: ToolRunner) => Promise<string>;

interface Script {
  planner: ScriptedRole;
  executor: ScriptedRole;
  verifier: ScriptedRole;
  composer: ScriptedRole;
  tool: (args: JsonObject, execution: ToolExecution) => Promise<ToolOutput>;
}

/** Text that stands in inputs, reasoning and outputs of the script and must not be seen outside of them. */
export const MARKER = 'xq-marker-77';

const TOOL_NAME = 'unit_counts';

function toolOutput(): ToolOutput {
  return {
    matched_count: 2,
    records_scanned: 120,
    records_rejected: 0,
    complete: true,
    coverage: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z', filter: null },
    fields: {
      unit: { unit: 'text', entity: true },
      failures: { unit: 'count', window: 'incident' },
      baseline_failures: { unit: 'count', window: 'baseline' },
      note: { unit: 'text' },
    },
    server_time: null,
    data: {
      rows: [
        { unit: 'alder', failures: 42, baseline_failures: 1, note: MARKER },
        { unit: 'birch', failures: 3, baseline_failures: 3, note: 'calm' },
      ],
    },
  };
}

function initialScript(): Script {
  return {
    planner: async () =>
      JSON.stringify({
        schema: 'diagnosis_plan_v1',
        hypotheses: [{ hypothesis_id: 'h1', text: `One unit fails. ${MARKER}` }],
        steps: [{ step_id: 's1', tool_name: TOOL_NAME, arguments: {}, purpose: 'Count failures by unit.', gap_fact_id: null }],
        disproofs: [{ candidate: 'alder', step_id: 's1', disproved_if: 'Its failures did not rise.' }],
      }),
    executor: async (_input, config, tools) =>
      evidenceFor((await tools.run({ tool_name: TOOL_NAME, arguments: {} }, config)).invocation_id),
    verifier: async () =>
      JSON.stringify({
        schema: 'verifier_verdict_v1',
        verdict: 'PASS',
        facts: [{ fact_id: 'f1', claim_id: 'c1', is_critical: true, verification: 'direct_support', gap: null }],
        allowed: { claim_ids: ['c1'], assessment_subjects: ['alder'], missing_information: [], recommendations: [] },
      }),
    composer: async () =>
      JSON.stringify({
        schema: 'composer_answer_v1',
        sections: [{ heading: 'What happened', text: 'The counts show it: {{c1}}' }],
      }),
    tool: async () => toolOutput(),
  };
}

/** The executor's document over one call of the scripted tool. */
function evidenceFor(invocationId: string): string {
  const binding = (path: string): JsonObject => ({ source_invocation_id: invocationId, tool_name: TOOL_NAME, raw_path: path });
  return JSON.stringify({
    schema: 'executor_evidence_v2',
    claims: [
      {
        claim_id: 'c1',
        kind: 'fact',
        subject: 'alder',
        assertion: { op: 'rose', left: 0, right: 1, unit: 'count' },
        bindings: [binding('/rows/0/baseline_failures'), binding('/rows/0/failures'), binding('/rows/0/unit')],
      },
    ],
    assessments: [{ rank: 1, subject: 'alder', role: 'cause', claim_ids: ['c1'] }],
    limitations: [],
    no_evidence: null,
  });
}

/** The script that the classes below play; a test changes it and resets it afterwards. */
export const script: Script = initialScript();

export function resetScript(): void {
  Object.assign(script, initialScript());
}

function objectOf(input: string): JsonObject {
  return JSON.parse(input) as JsonObject;
}

@Injectable()
export class ScriptedPlanner extends AgentInvoker {
  constructor(private readonly tools: ToolRunner) {
    super();
  }

  override invoke(input: string, config: RunnableConfig): Promise<string> {
    return script.planner(objectOf(input), config, this.tools);
  }
}

@Injectable()
export class ScriptedExecutor extends AgentInvoker {
  constructor(private readonly tools: ToolRunner) {
    super();
  }

  override invoke(input: string, config: RunnableConfig): Promise<string> {
    return script.executor(objectOf(input), config, this.tools);
  }
}

@Injectable()
export class ScriptedVerifier extends AgentInvoker {
  constructor(private readonly tools: ToolRunner) {
    super();
  }

  override invoke(input: string, config: RunnableConfig): Promise<string> {
    return script.verifier(objectOf(input), config, this.tools);
  }
}

@Injectable()
export class ScriptedComposer extends AgentInvoker {
  constructor(private readonly tools: ToolRunner) {
    super();
  }

  override invoke(input: string, config: RunnableConfig): Promise<string> {
    return script.composer(objectOf(input), config, this.tools);
  }
}

@Injectable()
export class UnitCountsTool extends DiagnosisTool {
  override readonly name = TOOL_NAME;
  override readonly description = 'Failures by unit in the window and before it.';
  override readonly argumentsSchema = z.strictObject({}) as unknown as z.ZodType<JsonObject>;

  override execute(args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    return script.tool(args, execution);
  }
}

export const SCRIPTED_HOST = {
  hostTools: [UnitCountsTool],
  hostAgents: { planner: ScriptedPlanner, executor: ScriptedExecutor, verifier: ScriptedVerifier, composer: ScriptedComposer },
};

/** A folder of its own for one suite, removed by `remove`. */
export function temporaryFolder(): { readonly path: string; file(name: string): string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'nestjs-diagnosis-'));
  return { path, file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A promise and the function that settles it. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value) => open(value) };
}
