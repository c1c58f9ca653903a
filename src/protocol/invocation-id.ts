import { createHash } from 'node:crypto';

const CHECK_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const CHECK_LENGTH = 4;
const FORM = /^t([1-9]\d{0,5})-([a-z2-9]{4})$/;

function checkOf(runId: string, ordinal: number): string {
  const digest = createHash('sha256').update(`${runId}:${ordinal}`).digest();
  return Array.from(digest.subarray(0, CHECK_LENGTH), (byte) => CHECK_ALPHABET[byte % CHECK_ALPHABET.length]).join('');
}

/** Short id of a run's tool call, e.g. `t3-k7qa`: its ordinal (from 1) and a check over run and ordinal. */
export function mintInvocationId(runId: string, ordinal: number): string {
  return `t${ordinal}-${checkOf(runId, ordinal)}`;
}

/** Whether an id is well formed and its check belongs to this run. */
export function isInvocationIdOf(runId: string, id: string): boolean {
  const match = FORM.exec(id);
  return match !== null && checkOf(runId, Number(match[1])) === match[2];
}

/**
 * The one known id that `id` is a slip of: the check of `id` does not belong to this run and exactly one known id differs
 * from it by a single insertion, deletion, replacement or swap of neighbours. Null otherwise; a slip is never evidence.
 */
export function slipOf(runId: string, id: string, known: readonly string[]): string | null {
  if (isInvocationIdOf(runId, id)) return null;
  const near = known.filter((candidate) => candidate !== id && isOneEditAway(candidate, id));
  return near.length === 1 ? (near[0] as string) : null;
}

function isOneEditAway(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  const restA = a.slice(start);
  const restB = b.slice(start);
  return (
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    restA.slice(1) === restB.slice(1) ||
    (restA.length >= 2 && restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2))
  );
}
