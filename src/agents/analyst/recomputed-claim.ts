import type { VerifiedClaim, VerifiedEvidence } from '../../protocol/verified-material';

/** What the matched texts of a claim say, computed again: whether it holds, and whether it states a departure upwards. */
export interface RecomputedClaim {
  readonly claim: VerifiedClaim;
  readonly holds: boolean;
  readonly direction: 'up' | 'down' | 'level' | 'absent' | 'plain';
  /** Later less earlier value, 0 where nothing is compared. */
  readonly change: number;
  /** Later value, null where there is no number. */
  readonly value: number | null;
}

const SAME = 1e-9;

/** Computes a verified claim again from its matched texts alone. An assertion over texts that are no numbers does not hold. */
export function recompute(claim: VerifiedClaim, evidence: readonly VerifiedEvidence[]): RecomputedClaim {
  const { assertion } = claim;
  if (claim.kind === 'absence') {
    const found = claim.bindings.map((binding) => numberAt(claim, binding, evidence)).find((value) => value !== null) ?? 0;
    return { claim, holds: found === 0, direction: 'absent', change: 0, value: found };
  }
  if (assertion === undefined) return { claim, holds: true, direction: 'plain', change: 0, value: null };
  const at = (index: number | undefined): number | null => {
    const binding = index === undefined ? undefined : claim.bindings[index];
    return binding === undefined ? null : numberAt(claim, binding, evidence);
  };
  if (assertion.op === 'equals' && assertion.unit === 'instant' && assertion.right === undefined) {
    const field = claim.bindings[assertion.left]?.raw_path.split('/').at(-1) ?? '';
    const recorded = Date.parse(textOfField(claim, field, evidence) ?? '');
    return { claim, holds: recorded === Date.parse(String(assertion.value)), direction: 'level', change: 0, value: null };
  }
  const left = at(assertion.left);
  const right = assertion.right === undefined ? numberOf(assertion.value) : at(assertion.right);
  if (left === null || right === null) return { claim, holds: false, direction: 'plain', change: 0, value: left };
  const change = right - left;
  const compared = { claim, change, value: right };
  switch (assertion.op) {
    case 'rose':
      return { ...compared, holds: change > 0, direction: 'up' };
    case 'appeared':
      return { ...compared, holds: left === 0 && right > 0, direction: 'up' };
    case 'fell':
      return { ...compared, holds: change < 0, direction: 'down' };
    case 'equals':
      return { ...compared, holds: Math.abs(change) < SAME, direction: 'level' };
    case 'less':
      return { claim, change: left - right, value: left, holds: left < right, direction: 'down' };
    case 'greater':
      return { claim, change: left - right, value: left, holds: left > right, direction: 'up' };
    case 'count':
      return { claim, change: 0, value: left, holds: Math.abs(change) < SAME, direction: 'plain' };
    default:
      // Ratios, differences and durations were computed by the gate; what they mean depends on their value alone.
      return { ...compared, holds: true, direction: 'plain' };
  }
}

function numberAt(
  claim: VerifiedClaim,
  binding: VerifiedClaim['bindings'][number],
  evidence: readonly VerifiedEvidence[],
): number | null {
  const found = evidence.find(
    (item) =>
      item.claim_id === claim.claim_id &&
      item.source_invocation_id === binding.source_invocation_id &&
      item.tool_name === binding.tool_name &&
      item.raw_path === binding.raw_path,
  );
  return numberOf(found?.matched_text);
}

function numberOf(value: string | number | undefined): number | null {
  if (value === undefined || (typeof value === 'string' && value.trim() === '')) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** The text that a claim binds at a field of its row, null when it binds none. */
export function textOfField(claim: VerifiedClaim, field: string, evidence: readonly VerifiedEvidence[]): string | null {
  const item = evidence.find(({ claim_id, raw_path }) => claim_id === claim.claim_id && raw_path.endsWith(`/${field}`));
  return item?.matched_text ?? null;
}
