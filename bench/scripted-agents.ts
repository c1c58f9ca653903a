import { setTimeout } from 'node:timers/promises';
import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { DiagnosisModuleExtras } from '../src/diagnosis.module';
import { AgentInvoker } from '../src/ports/agent-invoker.port';
import { DiagnosisTool } from '../src/ports/diagnosis-tool.port';
import { ToolRunner } from '../src/ports/tool-runner.port';
import type { JsonObject } from '../src/protocol/json-value';
import type { ToolOutput } from '../src/protocol/tool-output';

const TOOL = 'unit_counts';
const ROWS = 40;

/** Forty units, of which the first fails; about 3 kB. */
const OUTPUT: ToolOutput = {
  matched_count: ROWS,
  records_scanned: 12_000,
  records_rejected: 0,
  complete: true,
  coverage: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z', filter: null },
  fields: {
    unit: { unit: 'text', entity: true },
    failures: { unit: 'count', window: 'incident' },
    baseline_failures: { unit: 'count', window: 'baseline' },
  },
  server_time: null,
  data: {
    rows: Array.from({ length: ROWS }, (_, row) => ({
      unit: `unit-${row}`,
      failures: row === 0 ? 420 : 3,
      baseline_failures: 3,
    })),
  },
};

/**
 * What the scripted agents know beside their inputs: how many calls a round makes, whether the first round has a gap, and how
 * long an agent takes for its answer, in ms.
 */
export const scenario = { calls: 1, hasGap: false, thinkMs: 0 };

interface Retried {
  readonly evidence_retry_context: { readonly gaps: readonly { readonly fact_id: string }[] } | null;
}

@Injectable()
class ScriptedPlanner extends AgentInvoker {
  override invoke(input: string): Promise<string> {
    const { evidence_retry_context: retry } = JSON.parse(input) as Retried;
    const gap_fact_id = retry?.gaps[0]?.fact_id ?? null;
    return answer({
      schema: 'diagnosis_plan_v1',
      hypotheses: [{ hypothesis_id: 'h1', text: 'One unit fails.' }],
      steps: [{ step_id: 's1', tool_name: TOOL, arguments: {}, purpose: 'Count failures by unit.', gap_fact_id }],
      disproofs: [{ candidate: 'unit-0', step_id: 's1', disproved_if: 'Its failures did not rise.' }],
    });
  }
}

@Injectable()
class ScriptedExecutor extends AgentInvoker {
  constructor(private readonly tools: ToolRunner) {
    super();
  }

  override async invoke(_input: string, config: RunnableConfig): Promise<string> {
    let source_invocation_id = '';
    for (let call = 0; call < scenario.calls; call += 1) {
      ({ invocation_id: source_invocation_id } = await this.tools.run({ tool_name: TOOL, arguments: { call } }, config));
    }
    const bindings = ['/rows/0/baseline_failures', '/rows/0/failures', '/rows/0/unit'].map((raw_path) => ({
      source_invocation_id,
      tool_name: TOOL,
      raw_path,
    }));
    return answer({
      schema: 'executor_evidence_v2',
      claims: [
        {
          claim_id: 'c1',
          kind: 'fact',
          subject: 'unit-0',
          assertion: { op: 'rose', left: 0, right: 1, unit: 'count' },
          bindings,
        },
      ],
      assessments: [{ rank: 1, subject: 'unit-0', role: 'cause', claim_ids: ['c1'] }],
      limitations: [],
      no_evidence: null,
    });
  }
}

@Injectable()
class ScriptedVerifier extends AgentInvoker {
  override invoke(input: string): Promise<string> {
    const { evidence_retry_context: retry } = JSON.parse(input) as Retried;
    const isOpen = scenario.hasGap && retry === null;
    return answer({
      schema: 'verifier_verdict_v1',
      verdict: isOpen ? 'LOW_CONFID' : 'PASS',
      facts: [
        {
          fact_id: 'f1',
          claim_id: 'c1',
          is_critical: true,
          verification: isOpen ? 'indirect_support' : 'direct_support',
          gap: isOpen ? 'The counts of the other units.' : null,
        },
      ],
      allowed: { claim_ids: ['c1'], assessment_subjects: ['unit-0'], missing_information: [], recommendations: [] },
    });
  }
}

@Injectable()
class ScriptedComposer extends AgentInvoker {
  override invoke(): Promise<string> {
    return answer({
      schema: 'composer_answer_v1',
      sections: [{ heading: 'What happened', text: 'The counts show it: {{c1}}' }],
    });
  }
}

@Injectable()
class UnitCountsTool extends DiagnosisTool {
  override readonly name = TOOL;
  override readonly description = 'Failures by unit in the window and before it.';
  override readonly argumentsSchema = z.strictObject({ call: z.number() }) as unknown as z.ZodType<JsonObject>;

  override execute(): Promise<ToolOutput> {
    return Promise.resolve(OUTPUT);
  }
}

async function answer(document: JsonObject): Promise<string> {
  if (scenario.thinkMs > 0) await setTimeout(scenario.thinkMs);
  return JSON.stringify(document);
}

/** The module's agents and tool for a bench: what they answer is fixed, so that what is measured is everything but them. */
export const SCRIPTED: Pick<DiagnosisModuleExtras, 'hostTools' | 'hostAgents'> = {
  hostTools: [UnitCountsTool],
  hostAgents: { planner: ScriptedPlanner, executor: ScriptedExecutor, verifier: ScriptedVerifier, composer: ScriptedComposer },
};

/** A question with its windows, so that no telemetry has to be looked at for them. */
export const QUESTION = {
  message: 'Which unit fails?',
  window: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z' },
  baseline: { from: '2026-05-04T13:00:00Z', to: '2026-05-04T14:00:00Z' },
};
