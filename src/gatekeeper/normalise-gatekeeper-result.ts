import type { Claim, ExecutorEvidence } from '../protocol/executor-evidence';
import {
  gatekeeperResultSchema,
  type CheckedBinding,
  type GatekeeperAudit,
  type GatekeeperResult,
} from '../protocol/gatekeeper-result';
import type { ReasonCode } from '../vocabulary/reason-codes';
import type { GatekeeperStatus } from '../vocabulary/statuses';
import type { VerdictCeiling } from '../vocabulary/verdicts';

/** The gatekeeper's word as it may travel, and the result it was read from; `result` is null when that cannot be trusted. */
export interface NormalisedGatekeeperResult {
  readonly status: GatekeeperStatus;
  readonly ceiling: VerdictCeiling | null;
  readonly audit: GatekeeperAudit;
  readonly reason_code: ReasonCode;
  readonly result: GatekeeperResult | null;
}

const UNTRUSTED: NormalisedGatekeeperResult = {
  status: 'REJECT',
  ceiling: null,
  audit: { status: 'REJECT', ceiling: null, passed: 0, failed: 0, reason_codes: ['GATEKEEPER_RESULT_UNTRUSTED'] },
  reason_code: 'GATEKEEPER_RESULT_UNTRUSTED',
  result: null,
};

/**
 * Reads what `validateRun` returned, or undefined when it threw. It fails closed to REJECT: a missing or unknown value, a
 * foreign run, a pass with a failed binding, a severity or no passed binding, a fail without severity, a passed binding
 * without matched text or not exactly once in the executor's document by its four fields. The audit counts as passed only
 * bindings of facts and absences, because nothing else can become evidence.
 */
export function normaliseGatekeeperResult(
  raw: unknown,
  runId: string,
  executorOutput: ExecutorEvidence,
): NormalisedGatekeeperResult {
  const parsed = gatekeeperResultSchema.safeParse(raw);
  if (!parsed.success || parsed.data.run_id !== runId) return UNTRUSTED;
  const result = parsed.data;
  if (!result.checked_bindings.every(isConsistent) || !areOfDocument(result.checked_bindings, executorOutput.claims))
    return UNTRUSTED;

  const bearing = new Set(executorOutput.claims.filter(({ kind }) => kind !== 'hypothesis').map(({ claim_id }) => claim_id));
  const passed = result.checked_bindings.filter((binding) => binding.passed && bearing.has(binding.claim_id)).length;
  const failed = result.checked_bindings.filter((binding) => !binding.passed).length;
  const isPass = result.result === 'pass';
  if (isPass && (failed > 0 || passed === 0 || result.severity !== undefined)) return UNTRUSTED;
  if (!isPass && result.severity === undefined) return UNTRUSTED;

  const status: GatekeeperStatus = isPass ? 'PASS' : result.severity === 'reject' ? 'REJECT' : 'LOW_CONFID';
  const ceiling = status === 'REJECT' ? null : status;
  const codes = [...result.reasons.map(({ code }) => code), ...result.checked_bindings.map(({ reason_code }) => reason_code)];
  const reason_codes = [...new Set<string>(codes)].filter((code) => code !== 'OK').sort();
  return {
    status,
    ceiling,
    audit: { status, ceiling, passed, failed, reason_codes },
    reason_code: reasonOf(result, status, passed),
    result,
  };
}

function isConsistent({ passed, reason_code, matched_text }: CheckedBinding): boolean {
  return passed
    ? reason_code === 'OK' && matched_text !== null && matched_text.trim() !== ''
    : reason_code !== 'OK' && matched_text === null;
}

function keyOf(claimId: string, binding: Pick<CheckedBinding, 'source_invocation_id' | 'tool_name' | 'raw_path'>): string {
  return JSON.stringify([claimId, binding.source_invocation_id, binding.tool_name, binding.raw_path]);
}

function areOfDocument(checked: readonly CheckedBinding[], claims: readonly Claim[]): boolean {
  const counts = new Map<string, number>();
  for (const { claim_id, bindings } of claims) {
    for (const binding of bindings) counts.set(keyOf(claim_id, binding), (counts.get(keyOf(claim_id, binding)) ?? 0) + 1);
  }
  const passed = checked.filter((binding) => binding.passed).map((binding) => keyOf(binding.claim_id, binding));
  return passed.every((key) => counts.get(key) === 1) && new Set(passed).size === passed.length;
}

function reasonOf(result: GatekeeperResult, status: GatekeeperStatus, passed: number): ReasonCode {
  if (status === 'PASS') return 'OK';
  const has = (code: string): boolean => result.reasons.some((reason) => reason.code === code);
  if (status === 'REJECT') return 'FOREIGN_EVIDENCE';
  if (has('NO_CLAIMS')) return 'NO_EVIDENCE';
  if (passed === 0) return 'NOTHING_VERIFIED';
  return has('UNTYPED_COMPARISON') && !has('BINDING_FAILED') ? 'UNTYPED_COMPARISON' : 'BINDING_FAILED';
}
