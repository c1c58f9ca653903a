import type { AssertionOp } from '../vocabulary/evidence-terms';
import { executorEvidenceSchema, type Assessment, type Claim, type ExecutorEvidence } from './executor-evidence';
import { isFillerText } from './filler-text';
import { parseDocument, repeatedIndexes } from './parse-document';
import type { Parsed } from './parsed';

const OPS_OVER_TWO_BINDINGS: ReadonlySet<AssertionOp> = new Set([
  'rose',
  'fell',
  'appeared',
  'ratio',
  'difference',
  'percent_change',
  'duration',
]);
const OPS_AGAINST_BINDING_OR_VALUE: ReadonlySet<AssertionOp> = new Set(['equals', 'greater', 'less']);

/**
 * Strict parser of `executor_evidence_v2`. Beyond the shape it refuses: repeated claim ids or four-field binding keys,
 * `no_evidence` beside claims or no claims without it, assessments of unknown claims, of one subject twice or with two
 * causes of one rank, absence without a scope, assertions over bindings that are not there, claims that say nothing and
 * filler texts. It does not judge whether a claim is true: an unbound fact is legal here and the gatekeeper's business.
 */
export function parseExecutorEvidence(raw: unknown): Parsed<ExecutorEvidence> {
  return parseDocument(raw, executorEvidenceSchema, (document) => [
    ...repeatedIndexes(document.claims.map((claim) => claim.claim_id)).map((i) => `claims[${i}].claim_id: repeated`),
    ...document.claims.flatMap((claim, i) => claimProblems(claim, `claims[${i}]`)),
    ...assessmentProblems(document.assessments, new Set(document.claims.map((claim) => claim.claim_id))),
    ...noEvidenceProblems(document),
  ]);
}

function noEvidenceProblems({ claims, no_evidence }: ExecutorEvidence): string[] {
  if (claims.length > 0) return no_evidence === null ? [] : ['no_evidence: stands beside claims'];
  if (no_evidence === null) return ['no_evidence: missing though there are no claims'];
  return no_evidence.reason.trim() === '' ? ['no_evidence.reason: blank'] : [];
}

function claimProblems(claim: Claim, at: string): string[] {
  const problems: string[] = [];
  if (isFillerText(claim.subject)) problems.push(`${at}.subject: filler`);
  if (claim.statement !== undefined && isFillerText(claim.statement)) problems.push(`${at}.statement: filler`);
  if (claim.kind === 'hypothesis' && claim.statement === undefined) problems.push(`${at}.statement: missing in a hypothesis`);
  if (claim.kind === 'fact' && claim.statement === undefined && claim.assertion === undefined) {
    problems.push(`${at}: a fact without statement and assertion says nothing`);
  }
  const keys = claim.bindings.map((binding) =>
    JSON.stringify([binding.source_invocation_id, binding.tool_name, binding.raw_path]),
  );
  problems.push(...repeatedIndexes(keys).map((i) => `${at}.bindings[${i}]: repeated`));
  return [...problems, ...scopeProblems(claim, at), ...assertionProblems(claim, at)];
}

function scopeProblems({ kind, scope, assertion }: Claim, at: string): string[] {
  if (kind === 'fact') return scope === undefined ? [] : [`${at}.scope: belongs to absence claims`];
  if (kind !== 'absence') return [];
  if (scope === undefined) return [`${at}.scope: missing in an absence claim`];
  return [
    ...(assertion === undefined ? [] : [`${at}.assertion: an absence claim carries none`]),
    ...(isFillerText(scope.subject) ? [`${at}.scope.subject: filler`] : []),
    ...(Date.parse(scope.from) < Date.parse(scope.to) ? [] : [`${at}.scope: ends before it starts`]),
  ];
}

function assertionProblems({ assertion, bindings }: Claim, at: string): string[] {
  if (assertion === undefined) return [];
  const { op, left, right, value } = assertion;
  const problems: string[] = [];
  if (left >= bindings.length) problems.push(`${at}.assertion.left: no such binding`);
  if (right !== undefined && right >= bindings.length) problems.push(`${at}.assertion.right: no such binding`);
  if (right === left) problems.push(`${at}.assertion: compares a binding with itself`);
  if (OPS_OVER_TWO_BINDINGS.has(op) && right === undefined) problems.push(`${at}.assertion.right: missing for this op`);
  if (OPS_AGAINST_BINDING_OR_VALUE.has(op) && right === undefined && value === undefined) {
    problems.push(`${at}.assertion: needs a right binding or a value for this op`);
  }
  if (typeof value === 'string' && value.trim() === '') problems.push(`${at}.assertion.value: blank`);
  return problems;
}

function assessmentProblems(assessments: readonly Assessment[], claimIds: ReadonlySet<string>): string[] {
  const causes = assessments.filter((assessment) => assessment.role === 'cause');
  return [
    ...repeatedIndexes(assessments.map((assessment) => assessment.subject.trim())).map(
      (i) => `assessments[${i}].subject: repeated`,
    ),
    ...(repeatedIndexes(causes.map((cause) => String(cause.rank))).length > 0 ? ['assessments: two causes of one rank'] : []),
    ...assessments.flatMap((assessment, i) => [
      ...(isFillerText(assessment.subject) ? [`assessments[${i}].subject: filler`] : []),
      ...(assessment.claim_ids.every((id) => claimIds.has(id)) ? [] : [`assessments[${i}].claim_ids: no such claim`]),
      ...(repeatedIndexes(assessment.claim_ids).length > 0 ? [`assessments[${i}].claim_ids: repeated`] : []),
    ]),
  ];
}
