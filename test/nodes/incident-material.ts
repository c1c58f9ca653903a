import type { RunnableConfig } from '@langchain/core/runnables';
import { initialState, type DiagnosisState } from '../../src/blueprint/state-fields';
import type { AgentInvoker } from '../../src/ports/agent-invoker.port';
import type { InvocationRecord, ToolInvocationStore } from '../../src/ports/tool-invocation-store.port';
import type { ToolRunner } from '../../src/ports/tool-runner.port';
import type { DiagnosisPlan } from '../../src/protocol/diagnosis-plan';
import type { DiagnosisQuery } from '../../src/protocol/diagnosis-query';
import type { Claim, ExecutorEvidence } from '../../src/protocol/executor-evidence';
import type { CheckedBinding, GatekeeperResult } from '../../src/protocol/gatekeeper-result';
import type { VerifierVerdict } from '../../src/protocol/verifier-verdict';

export const RUN_ID = '01900000-0000-7000-8000-000000000001';

export const QUERY: DiagnosisQuery = {
  schema: 'diagnosis_query_v1',
  question: 'Why do orders fail?',
  now: '2026-05-04T15:00:00.000Z',
  window: { from: '2026-05-04T14:00:00.000Z', to: '2026-05-04T14:30:00.000Z', source: 'request' },
  baseline: { from: '2026-05-04T13:00:00.000Z', to: '2026-05-04T13:30:00.000Z', source: 'request' },
  time_zone: 'UTC',
  locale: 'en',
};

/** The config of a run as the graph builds it, with its context. */
export function runConfig(signal?: AbortSignal, deadline: AbortSignal = new AbortController().signal): RunnableConfig {
  return {
    configurable: { thread_id: RUN_ID, run: { runId: RUN_ID, deadline, round: 0 } },
    metadata: { runId: RUN_ID, sessionId: 's1' },
    signal,
    recursionLimit: 19,
  };
}

export const PLAN: DiagnosisPlan = {
  schema: 'diagnosis_plan_v1',
  hypotheses: [{ hypothesis_id: 'h1', text: 'errors of one service rose' }],
  steps: [
    {
      step_id: 'p1',
      tool_name: 'error_share',
      arguments: { service: 'order-db' },
      purpose: 'compare error lines',
      gap_fact_id: null,
    },
  ],
  disproofs: [{ candidate: 'order-db', step_id: 'p1', disproved_if: 'its error share did not rise' }],
};

/** A typed fact over two bindings: the later value is on the right, as `rose` wants it. */
export function roseClaim(claim_id: string, subject: string, invocation = 't1-aaaa', row = 0): Claim {
  return {
    claim_id,
    kind: 'fact',
    subject,
    assertion: { op: 'rose', left: 0, right: 1 },
    bindings: [
      { source_invocation_id: invocation, tool_name: 'error_share', raw_path: `/rows/${row}/baseline_error_lines` },
      { source_invocation_id: invocation, tool_name: 'error_share', raw_path: `/rows/${row}/error_lines` },
    ],
  };
}

export function statedClaim(claim_id: string, kind: Claim['kind'], subject: string, statement: string, row = 0): Claim {
  return {
    claim_id,
    kind,
    subject,
    statement,
    bindings: [{ source_invocation_id: 't2-bbbb', tool_name: 'log_patterns', raw_path: `/rows/${row}/sample` }],
  };
}

export const ABSENCE: Claim = {
  claim_id: 'a1',
  kind: 'absence',
  subject: 'cache',
  scope: { subject: 'cache', filter: 'service=cache contains=panic', from: QUERY.window.from, to: QUERY.window.to },
  bindings: [{ source_invocation_id: 't3-cccc', tool_name: 'log_patterns', raw_path: '/matched' }],
};

export function evidenceOf(claims: Claim[], more: Partial<ExecutorEvidence> = {}): ExecutorEvidence {
  return { schema: 'executor_evidence_v2', claims, assessments: [], limitations: [], no_evidence: null, ...more };
}

export const NO_EVIDENCE: ExecutorEvidence = evidenceOf([], { no_evidence: { reason: 'no telemetry family covers the window' } });

/** Every binding of the claims as checked: passed with the given texts in order, or failed where the text is null. */
export function checkedOf(claims: readonly Claim[], texts: readonly (string | null)[]): CheckedBinding[] {
  const places = claims.flatMap((claim) => claim.bindings.map((binding) => ({ claim, binding })));
  return places.map(({ claim, binding }, index) => {
    const text = texts[index] ?? null;
    const { source_invocation_id, tool_name, raw_path } = binding;
    const place = { claim_id: claim.claim_id, source_invocation_id, tool_name, raw_path };
    return text === null
      ? { ...place, passed: false, reason_code: 'PATH_NOT_FOUND', matched_text: null }
      : { ...place, passed: true, reason_code: 'OK', matched_text: text };
  });
}

export function passResult(checked_bindings: CheckedBinding[]): GatekeeperResult {
  return { result: 'pass', run_id: RUN_ID, checked_bindings, reasons: [] };
}

export function failResult(severity: 'low_confid' | 'reject', checked_bindings: CheckedBinding[]): GatekeeperResult {
  const code = severity === 'reject' ? 'FOREIGN_EVIDENCE' : 'BINDING_FAILED';
  return { result: 'fail', severity, run_id: RUN_ID, checked_bindings, reasons: [{ code, claim_id: null }] };
}

export function verdictOf(verdict: VerifierVerdict['verdict'], more: Partial<VerifierVerdict> = {}): VerifierVerdict {
  return {
    schema: 'verifier_verdict_v1',
    verdict,
    facts: [{ fact_id: 'f1', claim_id: 'c1', is_critical: true, verification: 'direct_support', gap: null }],
    allowed: { claim_ids: ['c1'], assessment_subjects: [], missing_information: [], recommendations: [] },
    ...more,
  };
}

export function stateOf(fields: Partial<DiagnosisState> = {}): DiagnosisState {
  const intake = { schema_version: 1 as const, diagnosis_query: QUERY, session_context: { earlier_answers: [] } };
  return { ...initialState(intake), ...fields };
}

/** An agent that answers from a script, or throws what stands there, and remembers what it was asked with. */
export class ScriptedAgent implements AgentInvoker {
  readonly inputs: string[] = [];
  readonly configs: RunnableConfig[] = [];

  constructor(private readonly script: readonly unknown[]) {}

  async invoke(input: string, config: RunnableConfig): Promise<string> {
    const answer = this.script[Math.min(this.inputs.length, this.script.length - 1)];
    this.inputs.push(input);
    this.configs.push(config);
    if (answer instanceof Error) throw answer;
    return answer as string;
  }
}

/** A tool runner that only names its tools. */
export function toolsNamed(...names: string[]): ToolRunner {
  return {
    describe: () => names.map((name) => ({ name, description: name, arguments: {} })),
    run: () => Promise.reject(new Error('nodes call no tool')),
    release: () => undefined,
  };
}

export function recordOf(fields: Partial<InvocationRecord>): InvocationRecord {
  return {
    id: 'row',
    run_id: RUN_ID,
    invocation_id: 't1-aaaa',
    call_key: 'key',
    round: 0,
    ordinal: 1,
    tool_name: 'error_share',
    arguments: '{}',
    status: 'OK',
    output_sha256: null,
    output_bytes: null,
    error_code: null,
    started_at: new Date(0),
    duration_ms: 1,
    ...fields,
  };
}

/** A store that lists the given records of the run and of no other, or fails. */
export function invocationsOf(records: readonly InvocationRecord[] | Error): ToolInvocationStore {
  const listByRun = async (runId: string): Promise<InvocationRecord[]> => {
    if (records instanceof Error) throw records;
    return records.filter((record) => record.run_id === runId);
  };
  return { listByRun } as unknown as ToolInvocationStore;
}
