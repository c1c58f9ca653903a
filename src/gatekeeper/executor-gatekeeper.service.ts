import { Injectable } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';
import { EntityIndex } from '../protocol/claim-fidelity/written-content';
import type { Binding, Claim, ExecutorEvidence } from '../protocol/executor-evidence';
import type { CheckedBinding, GatekeeperResult } from '../protocol/gatekeeper-result';
import type { ToolOutput } from '../protocol/tool-output';
import { slipOf } from '../protocol/invocation-id';
import { ToolInvocationStore, type InvocationRecord } from '../ports/tool-invocation-store.port';
import type { BindingReasonCode, GatekeeperReasonCode } from '../vocabulary/reason-codes';
import { judgeAbsence } from './absence-check';
import { entityNamesOf } from './entity-names';
import { assertsCause, judgeFact } from './fact-check';
import { isBindable, resolveBindings, type BindingOutcome, type BoundPlace } from './source-invocation';
import { parseRawPath } from '../protocol/raw-path';
import { supportedAssessments } from './supported-assessments';

const FOREIGN: readonly BindingReasonCode[] = ['INVOCATION_UNKNOWN', 'INVOCATION_OF_ANOTHER_RUN', 'TOOL_MISMATCH'];

/** What one validation has read of a run, each output once. */
interface RunMaterial {
  readonly runId: string;
  readonly records: ReadonlyMap<string, InvocationRecord>;
  readonly outputs: Map<string, string | null>;
  readonly fields: Map<string, ToolOutput['fields']>;
}

interface JudgedClaim {
  readonly bindings: CheckedBinding[];
  readonly reasons: GatekeeperReasonCode[];
}

/**
 * Checks, without any model, that every claim points at the recorded output of a tool call of this very run and says nothing
 * that is absent from it. It reads invocations and outputs from the store, each output once, and writes nothing. It refuses
 * to judge whether a claim matters. Throws what the store throws, but for a corrupt output: that fails its bindings.
 */
@Injectable()
export class ExecutorGatekeeperService {
  constructor(private readonly store: ToolInvocationStore) {}

  /**
   * @param runId the run whose invocations alone may bear evidence
   * @param executorOutput a parsed `executor_evidence_v2`
   * @returns one checked binding for each binding of the document, in its order, each with one reason code
   */
  async validateRun(runId: string, executorOutput: ExecutorEvidence): Promise<GatekeeperResult> {
    const list = await this.store.listByRun(runId);
    const ofRun = list.filter((record) => record.run_id === runId);
    const material: RunMaterial = {
      runId,
      records: new Map(ofRun.map((record) => [record.invocation_id, record])),
      outputs: new Map(),
      fields: new Map(),
    };
    const outcomes = await this.resolveAll(material, executorOutput.claims);
    const speaks = executorOutput.claims.some((claim) => claim.kind !== 'hypothesis' && claim.statement !== undefined);
    const entities = new EntityIndex(speaks ? await this.entityNames(material) : []);
    const judged = executorOutput.claims.map((claim) => judgeClaim(claim, outcomes, entities));

    const checked_bindings = judged.flatMap(({ bindings }) => bindings);
    const reasons: GatekeeperResult['reasons'] = judged.flatMap(({ reasons: codes }, index) =>
      codes.map((code) => ({ code, claim_id: executorOutput.claims[index]?.claim_id ?? null })),
    );
    const bearing = new Set(executorOutput.claims.filter(({ kind }) => kind !== 'hypothesis').map(({ claim_id }) => claim_id));
    if (!checked_bindings.some((binding) => binding.passed && bearing.has(binding.claim_id)) && reasons.length === 0) {
      reasons.push({ code: 'NO_CLAIMS', claim_id: null });
    }
    const isForeign = checked_bindings.some((binding) => FOREIGN.includes(binding.reason_code));
    const severity = isForeign ? 'reject' : reasons.length > 0 ? 'low_confid' : null;
    if (supportedAssessments(executorOutput, checked_bindings).length < executorOutput.assessments.length) {
      reasons.push({ code: 'ASSESSMENT_UNSUPPORTED', claim_id: null });
    }
    return {
      result: severity === null ? 'pass' : 'fail',
      ...(severity === null ? {} : { severity }),
      run_id: runId,
      checked_bindings,
      reasons,
    };
  }

  private async resolveAll(material: RunMaterial, claims: readonly Claim[]): Promise<Map<Binding, BindingOutcome>> {
    const outcomes = new Map<Binding, BindingOutcome>();
    const byRecord = new Map<InvocationRecord, Binding[]>();
    for (const binding of claims.flatMap((claim) => claim.bindings)) {
      const record = material.records.get(binding.source_invocation_id);
      if (record === undefined) outcomes.set(binding, { failed: await this.whyUnknown(material, binding.source_invocation_id) });
      else if (record.tool_name !== binding.tool_name) outcomes.set(binding, { failed: 'TOOL_MISMATCH' });
      else if (!isBindable(record, parseRawPath(binding.raw_path))) outcomes.set(binding, { failed: 'STATUS_NOT_BINDABLE' });
      else byRecord.set(record, [...(byRecord.get(record) ?? []), binding]);
    }
    for (const [record, bindings] of byRecord) {
      const output = await this.readOnce(material, record);
      const resolved = output === null ? null : resolveBindings(record, output, bindings);
      const place = resolved?.find((outcome): outcome is BoundPlace => !('failed' in outcome));
      if (place !== undefined) material.fields.set(record.id, place.source.envelope.fields);
      bindings.forEach((binding, index) => outcomes.set(binding, resolved?.[index] ?? { failed: 'OUTPUT_CORRUPT' }));
    }
    return outcomes;
  }

  private async whyUnknown(material: RunMaterial, invocationId: string): Promise<BindingReasonCode> {
    if (slipOf(material.runId, invocationId, [...material.records.keys()]) !== null) return 'INVOCATION_ID_SLIP';
    return (await this.store.existsInAnotherRun(material.runId, invocationId))
      ? 'INVOCATION_OF_ANOTHER_RUN'
      : 'INVOCATION_UNKNOWN';
  }

  /** Null when the stored bytes are no longer what they were. */
  private async readOnce(material: RunMaterial, record: InvocationRecord): Promise<string | null> {
    const known = material.outputs.get(record.id);
    if (known !== undefined) return known;
    let output: string | null;
    try {
      output = await this.store.readOutput(record.id);
    } catch (error) {
      if (!DiagnosisError.is(error, 'OUTPUT_CORRUPT')) throw error;
      output = null;
    }
    material.outputs.set(record.id, output);
    return output;
  }

  private async entityNames(material: RunMaterial): Promise<Set<string>> {
    const names = new Set<string>();
    for (const record of material.records.values()) {
      if (record.status !== 'OK' && record.status !== 'TRUNCATED') continue;
      const output = await this.readOnce(material, record);
      if (output !== null)
        for (const name of entityNamesOf(record, output, material.fields.get(record.id) ?? null)) names.add(name);
    }
    return names;
  }
}

function judgeClaim(claim: Claim, outcomes: ReadonlyMap<Binding, BindingOutcome>, entities: EntityIndex): JudgedClaim {
  const own = claim.bindings.map((binding): BindingOutcome => outcomes.get(binding) ?? { failed: 'INVOCATION_UNKNOWN' });
  const places = own.filter((outcome): outcome is BoundPlace => !('failed' in outcome));
  const causal = claim.kind !== 'hypothesis' && assertsCause(claim, entities);
  let failed: BindingReasonCode | null = null;
  let untyped = false;
  if (claim.kind !== 'hypothesis' && claim.bindings.length > 0) {
    if (causal) failed = 'CAUSAL_STATEMENT';
    else if (places.length > 0) ({ failed, untyped } = judgePlaces(claim, places, entities));
  }
  const bindings = claim.bindings.map((binding, index): CheckedBinding => {
    const outcome = own[index] as BindingOutcome;
    const reason_code = 'failed' in outcome ? outcome.failed : (failed ?? 'OK');
    const passed = reason_code === 'OK' && !('failed' in outcome);
    const { source_invocation_id, tool_name, raw_path } = binding;
    const matched_text = passed ? outcome.matchedText : null;
    return { claim_id: claim.claim_id, source_invocation_id, tool_name, raw_path, passed, reason_code, matched_text };
  });
  const codes = bindings.map((binding) => binding.reason_code);
  const reasons: GatekeeperReasonCode[] = [];
  if (claim.kind !== 'hypothesis' && claim.bindings.length === 0) reasons.push('UNBOUND_CLAIM');
  if (codes.some((code) => FOREIGN.includes(code))) reasons.push('FOREIGN_EVIDENCE');
  if (codes.some((code) => code !== 'OK' && !FOREIGN.includes(code))) reasons.push('BINDING_FAILED');
  if (untyped) reasons.push('UNTYPED_COMPARISON');
  if (causal || failed === 'CAUSAL_STATEMENT') reasons.push('CAUSAL_STATEMENT');
  return { bindings, reasons };
}

function judgePlaces(
  claim: Claim,
  places: readonly BoundPlace[],
  entities: EntityIndex,
): { failed: BindingReasonCode | null; untyped: boolean } {
  // the indexes of an assertion and the proof of an absence count on every binding
  if ((claim.assertion !== undefined || claim.kind === 'absence') && places.length < claim.bindings.length) {
    return { failed: claim.kind === 'absence' ? 'ABSENCE_NOT_PROVEN' : 'ASSERTION_MALFORMED', untyped: false };
  }
  return claim.kind === 'absence'
    ? { failed: judgeAbsence(claim, places, entities), untyped: false }
    : judgeFact(claim, places, entities);
}
