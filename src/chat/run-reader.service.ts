import { Injectable } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { RunStore, type RunRecord } from '../ports/run-store.port';
import { ToolInvocationStore, type InvocationRecord } from '../ports/tool-invocation-store.port';
import type { DiagnosisQuery } from '../protocol/diagnosis-query';
import { citationOf } from '../protocol/shown-claim';
import type { VerifiedClaim, VerifiedEvidence } from '../protocol/verified-material';
import { contextOf } from './output-context';
import type {
  BindingView,
  ContextLine,
  EvidenceClaimView,
  EvidenceView,
  InvocationAnswer,
  InvocationView,
  OutputPart,
  RunView,
} from './run-views';

/**
 * The reading side of runs: a run, the evidence of its answer, a recorded tool call. It shows what is stored and says what is
 * not kept, the audit only with a graph run, and refuses calls under another run's id. Throws `DiagnosisError` NOT_FOUND,
 * OUTPUT_CORRUPT.
 */
@Injectable()
export class RunReader {
  constructor(
    private readonly runs: RunStore,
    private readonly invocations: ToolInvocationStore,
  ) {}

  async run(runId: string): Promise<RunView> {
    return viewOf(await this.existing(runId));
  }

  async evidence(runId: string): Promise<EvidenceView> {
    const run = await this.existing(runId);
    const stored = await this.runs.findEvidence(runId);
    if (stored === null) return { runId, claims: [], emptyReason: reasonWithout(run) };
    const outputs = new OutputsOfRun(runId, this.invocations);
    const claims: EvidenceClaimView[] = [];
    for (const claim of stored.claims) {
      const bindings: BindingView[] = [];
      for (const binding of claim.bindings) {
        const matched = matchedTextOf(claim, binding, stored.evidence);
        if (matched === null) continue;
        bindings.push({
          source_invocation_id: binding.source_invocation_id,
          tool_name: binding.tool_name,
          raw_path: binding.raw_path,
          quote: binding.quote ?? null,
          matched_text: matched,
          context: await outputs.context(binding.source_invocation_id, binding.raw_path),
        });
      }
      const { claim_id, kind, subject, statement } = claim;
      claims.push({
        citation: citationOf(claim, stored.evidence, run.answer ?? ''),
        claim_id,
        kind,
        subject,
        statement,
        bindings,
      });
    }
    claims.sort((a, b) => (a.citation ?? Infinity) - (b.citation ?? Infinity));
    return { runId, claims, emptyReason: stored.empty_reason };
  }

  /** @param range characters of the stored output; without it the whole */
  async invocation(
    runId: string,
    invocationId: string,
    range: { readonly offset?: number | undefined; readonly limit?: number | undefined } = {},
  ): Promise<InvocationAnswer> {
    const run = await this.existing(runId);
    const record = await this.invocations.findOfRun(runId, invocationId);
    if (record === null) {
      throw new DiagnosisError(
        'NOT_FOUND',
        'There is no such tool call of this run; the evidence of the run names those it cites.',
      );
    }
    const text = record.output_sha256 === null ? null : await this.outputOf(run, record.id);
    return { runId, invocation: invocationView(record), output: text === null ? null : partOf(text, range) };
  }

  private async outputOf(run: RunRecord, recordId: string): Promise<string> {
    try {
      return await this.invocations.readOutput(recordId);
    } catch (error) {
      // What is erased is no corrupt output; it may have gone since the run was read.
      const why = whyWithoutContent(await this.existing(run.id));
      throw why === null ? error : new DiagnosisError('NOT_FOUND', `The output of this call is not there: ${why}.`);
    }
  }

  private async existing(runId: string): Promise<RunRecord> {
    const run = await this.runs.find(runId);
    if (run === null) throw new DiagnosisError('NOT_FOUND', 'There is no such run; `runId` of an answer names one.');
    return run;
  }
}

/** Outputs of one run, each read at most once. */
class OutputsOfRun {
  private readonly texts = new Map<string, string | null>();

  constructor(
    private readonly runId: string,
    private readonly invocations: ToolInvocationStore,
  ) {}

  async context(invocationId: string, rawPath: string): Promise<ContextLine[] | null> {
    const text = await this.read(invocationId);
    return text === null ? null : contextOf(text, rawPath);
  }

  private async read(invocationId: string): Promise<string | null> {
    const known = this.texts.get(invocationId);
    if (known !== undefined) return known;
    const record = await this.invocations.findOfRun(this.runId, invocationId);
    const text = record === null || record.output_sha256 === null ? null : await this.invocations.readOutput(record.id);
    this.texts.set(invocationId, text);
    return text;
  }
}

function matchedTextOf(
  claim: VerifiedClaim,
  binding: VerifiedClaim['bindings'][number],
  evidence: readonly VerifiedEvidence[],
): string | null {
  const match = evidence.find(
    (entry) =>
      entry.claim_id === claim.claim_id &&
      entry.source_invocation_id === binding.source_invocation_id &&
      entry.tool_name === binding.tool_name &&
      entry.raw_path === binding.raw_path,
  );
  return match?.matched_text ?? null;
}

/** Why contents of a run may be missing that were stored once; null when they may not. */
function whyWithoutContent(run: RunRecord): string | null {
  if (run.erase_requested_at !== null) return 'the run is being erased';
  return run.keeps_content ? null : 'no contents of this run are kept, only hashes and sizes';
}

function reasonWithout(run: RunRecord): string {
  if (run.agent_flow === 'DIRECT') return 'The run quotes an earlier answer; the evidence is with the run that it names.';
  if (run.status === 'PENDING' || run.status === 'RUNNING') return 'The run has not ended yet.';
  const why = run.status === 'SUCCESS' ? whyWithoutContent(run) : null;
  return why === null
    ? `The run has no answer (${run.failure_code ?? run.status}).`
    : `The evidence of the answer is not there: ${why}.`;
}

function lookOf({ schema: _schema, question: _question, ...look }: DiagnosisQuery): RunView['query'] {
  return look;
}

function viewOf(run: RunRecord): RunView {
  const view: RunView = {
    id: run.id,
    sessionId: run.session_id,
    message: run.keeps_content ? run.message : null,
    status: run.status,
    agent_flow: run.agent_flow,
    query: run.query === null ? null : lookOf(run.query),
    answer: run.answer,
    verdict: run.verdict,
    degraded: run.degraded,
    causes: run.causes,
    failureCode: run.failure_code,
    metrics: run.metrics,
    selfEvaluation: run.self_evaluation,
    createdAt: run.created_at.toISOString(),
    startedAt: run.started_at?.toISOString() ?? null,
    finishedAt: run.finished_at?.toISOString() ?? null,
    keepsContent: run.keeps_content,
    eraseRequestedAt: run.erase_requested_at?.toISOString() ?? null,
  };
  return run.agent_flow === 'DIAGNOSIS_GRAPH' ? { ...view, orchestrationTrace: run.trace } : view;
}

function invocationView(record: InvocationRecord): InvocationView {
  return {
    id: record.id,
    invocation_id: record.invocation_id,
    tool_name: record.tool_name,
    arguments: record.arguments,
    status: record.status,
    error_code: record.error_code,
    round: record.round,
    ordinal: record.ordinal,
    started_at: record.started_at.toISOString(),
    duration_ms: record.duration_ms,
    output_sha256: record.output_sha256,
    output_bytes: record.output_bytes,
  };
}

function partOf(text: string, range: { readonly offset?: number | undefined; readonly limit?: number | undefined }): OutputPart {
  const offset = Math.min(range.offset ?? 0, text.length);
  const end = range.limit === undefined ? text.length : Math.min(text.length, offset + range.limit);
  return { offset, text: text.slice(offset, end), total: text.length, next: end < text.length ? end : null };
}
