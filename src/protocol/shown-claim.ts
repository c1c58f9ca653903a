import type { DiagnosisQuery } from './diagnosis-query';
import { codeSpan, headOf, inertSentence, inertText } from './inert-markdown';
import { statesNoDeparture } from './nothing-wrong';
import { fieldOf } from './raw-path-field';
import type { AllowedMaterial, VerifiedClaim, VerifiedEvidence } from './verified-material';

/** Longest part of a matched text that an answer shows; the whole of it is in the run's evidence. */
const SHOWN_MATCHED_TEXT = 400;

type Shown = Pick<AllowedMaterial, 'evidence' | 'assessments'>;

/**
 * A claim as an answer says it, as one inert line without a final period. It says nothing but the claim's statement, beside
 * two words that code can see: that a value is normal, and that the test of a cause lies inside the baseline.
 */
export function shownClaim(claim: VerifiedClaim, query: Pick<DiagnosisQuery, 'baseline'>, allowed: Shown): string {
  return inertSentence(wordsOf(claim, query, allowed));
}

/** Why a subject is ruled out, as the rest of a line behind its name; null for a claim that does not begin with the name. */
export function shownReason(claim: VerifiedClaim, query: Pick<DiagnosisQuery, 'baseline'>, allowed: Shown): string | null {
  const words = wordsOf(claim, query, allowed);
  const lead = `${claim.subject}: `;
  if (!words.startsWith(lead)) return null;
  return `${inertText(claim.subject)}, ${claim.assertion === undefined ? '' : 'its '}${inertSentence(words.slice(lead.length))}`;
}

/** Whether an answer says a claim, in its own line or as the reason behind a subject. */
export function isShown(answer: string, claim: VerifiedClaim, query: Pick<DiagnosisQuery, 'baseline'>, allowed: Shown): boolean {
  const reason = shownReason(claim, query, allowed);
  return answer.includes(shownClaim(claim, query, allowed)) || (reason !== null && answer.includes(reason));
}

/** The evidence of a claim in one line: calls, paths relative to `data`, and the matched texts that its sentence does not say. */
export function evidenceLine(claim: VerifiedClaim, evidence: readonly VerifiedEvidence[]): string {
  const rows = evidence.filter((row) => row.claim_id === claim.claim_id);
  const calls = new Map<string, VerifiedEvidence[]>();
  for (const row of rows) {
    const call = `${codeSpan(row.tool_name)} ${codeSpan(row.source_invocation_id)}`;
    calls.set(call, [...(calls.get(call) ?? []), row]);
  }
  const places = [...calls].map(([call, own]) => `${call} ${shortPaths(own.map(({ raw_path }) => raw_path))}`);
  const texts = [...new Set(rows.filter((row) => isWorthShowing(row, claim)).map((row) => row.matched_text))];
  return `${places.join('; ')}${texts.length === 0 ? '' : `: ${texts.map(cutSpan).join(', ')}`}`;
}

/** The number of an answer's list of evidence that opens a claim; null when the answer has no such list. */
export function citationOf(claim: VerifiedClaim, evidence: readonly VerifiedEvidence[], answer: string): number | null {
  const line = evidenceLine(claim, evidence);
  const said = inertSentence(withoutPeriod(claim.statement));
  const numbers = answer.split('\n').flatMap((text) => {
    const entry = /^(\d+)\. (.*)$/.exec(text);
    return entry !== null && entry[2] === line ? [Number(entry[1])] : [];
  });
  // Two claims may rest on the same places; then their sentences tell them apart.
  return numbers.find((number) => answer.includes(`${said} [${number}]`)) ?? numbers[0] ?? null;
}

/** The text of a claim's binding by the name of its field; null where it is not bound. */
export function textOfField(claim: VerifiedClaim, field: string, evidence: readonly VerifiedEvidence[]): string | null {
  const row = evidence.find(({ claim_id, raw_path }) => claim_id === claim.claim_id && fieldOf(raw_path) === field);
  return row?.matched_text ?? null;
}

function wordsOf(claim: VerifiedClaim, query: Pick<DiagnosisQuery, 'baseline'>, allowed: Shown): string {
  const test = testInsideBaseline(claim, query, allowed);
  if (test !== null) return test;
  return `${withoutPeriod(claim.statement)}${isNormalChange(claim, allowed) ? ' (within normal)' : ''}`;
}

function withoutPeriod(statement: string): string {
  return statement.trim().replace(/(?<!\.)\.$/, '');
}

function isNormalChange(claim: VerifiedClaim, { evidence, assessments }: Shown): boolean {
  if (claim.assertion?.op !== 'percent_change' || !statesNoDeparture(claim, evidence)) return false;
  return assessments.every(({ role, claim_ids }) => role === 'ruled_out' || !claim_ids.includes(claim.claim_id));
}

/** A look at successions that found none, over a part of the baseline, for a cause that rests on such a look itself. */
function testInsideBaseline(
  claim: VerifiedClaim,
  { baseline }: Pick<DiagnosisQuery, 'baseline'>,
  { evidence, assessments }: Shown,
): string | null {
  const counted = claim.bindings[claim.assertion?.left ?? -1];
  const from = textOfField(claim, 'covered_from', evidence);
  const to = textOfField(claim, 'covered_to', evidence);
  if (baseline === null || from === null || to === null || claim.assertion?.op !== 'count') return null;
  if (counted?.tool_name !== 'log_sequences' || counted.raw_path !== '/summary/matched_count') return null;
  if (textOfField(claim, 'matched_count', evidence) !== '0') return null;
  const isInside = Date.parse(from) >= Date.parse(baseline.from) && Date.parse(to) <= Date.parse(baseline.to);
  const tested = assessments.find(({ role, claim_ids }) => role === 'cause' && claim_ids.includes(claim.claim_id));
  const isSame = evidence.some(
    ({ claim_id, raw_path }) => tested?.claim_ids.includes(claim_id) && raw_path.startsWith('/sequences/'),
  );
  if (!isInside || !isSame || tested?.subject !== claim.subject) return null;
  return `${claim.subject}: the same comparison inside the baseline (${from} to ${to}) shows no such change`;
}

/** Texts that the sentence computed with, as recorded, and those that it does not hold; a kind and the subject say nothing. */
function isWorthShowing(row: VerifiedEvidence, claim: VerifiedClaim): boolean {
  const { assertion, bindings, statement, subject } = claim;
  if (assertion === undefined) return true;
  const operands = [assertion.left, assertion.right].flatMap((index) => bindings[index ?? -1] ?? []);
  const isOperand = operands.some(
    ({ source_invocation_id, raw_path }) => source_invocation_id === row.source_invocation_id && raw_path === row.raw_path,
  );
  if (isOperand) return true;
  const isSaid = statement.includes(row.matched_text.replace(/\s+/gu, ' ').trim());
  return row.matched_text !== subject && fieldOf(row.raw_path) !== 'kind' && !isSaid;
}

function cutSpan(text: string): string {
  const { head, omitted } = headOf(text, SHOWN_MATCHED_TEXT);
  return `${codeSpan(head)}${omitted === 0 ? '' : ` (cut here, ${omitted} more characters in the run's evidence)`}`;
}

/** Paths with their common heads said once, e.g. `/rows/0/{count,sample}`. */
function shortPaths(paths: readonly string[]): string {
  const tails = new Map<string, string[]>();
  for (const path of new Set(paths)) {
    const at = path.lastIndexOf('/') + 1;
    tails.set(path.slice(0, at), [...(tails.get(path.slice(0, at)) ?? []), path.slice(at)]);
  }
  return [...tails]
    .map(([head, [first = '', ...more]]) => {
      if (more.length > 0) return codeSpan(`${head}{${[first, ...more].join(',')}}`);
      return head + first === '' ? 'whole data' : codeSpan(head + first);
    })
    .join(', ');
}
