import type { AssessmentRole } from '../vocabulary/evidence-terms';
import type { ReasonCode } from '../vocabulary/reason-codes';
import type { Verdict } from '../vocabulary/verdicts';
import type { ComposerAnswer } from './composer-answer';
import { fillPlacements, placedClaimIds } from './composer-placement';
import type { DiagnosisQuery } from './diagnosis-query';
import type { Assessment } from './executor-evidence';
import { codeSpan, headOf, inertInline, inertText } from './inert-markdown';
import { limitationWords } from './limitation-words';
import { isNothingWrong } from './nothing-wrong';
import { renderPreFallback } from './pre-fallback-markdown';
import { queryScopeLines } from './query-scope-markdown';
import { reasonWords } from './reason-words';
import type { AllowedMaterial, VerifiedClaim, VerifiedEvidence } from './verified-material';

/** Longest part of a matched text that an answer shows; the whole of it is in the run's evidence. */
const SHOWN_MATCHED_TEXT = 400;

const ROLE_ORDER: readonly AssessmentRole[] = ['cause', 'trigger', 'contributing', 'symptom', 'ruled_out'];
const ROLE_WORDS: Record<AssessmentRole, string> = {
  cause: 'Other possible cause',
  trigger: 'Trigger',
  contributing: 'Contributing',
  symptom: 'Symptom',
  ruled_out: 'Ruled out',
};

const VERDICT_WORDS: Record<Verdict, string> = {
  PASS: 'every critical fact is directly supported by recorded evidence.',
  LOW_CONFID: 'the evidence supports this only in part; take it as a lead, not as a result.',
  REJECT: 'the evidence does not support a diagnosis.',
};

type Verified = { readonly query: DiagnosisQuery; readonly verdict: Verdict; readonly allowed: AllowedMaterial };

/**
 * The answer of a run, as Markdown: verdict, worded assessments, the composer's sections with statements and numbered
 * citations put in, missing information, recommendations, scope and the list of evidence. All facts come from the allowed
 * material; claims that the composer left out are added, none is lost. Foreign text is inert. Equal input, equal bytes.
 */
export function renderComposedAnswer({
  query,
  verdict,
  allowed,
  answer,
}: Verified & { readonly answer: ComposerAnswer }): string {
  const placed = answer.sections.flatMap((section) => placedClaimIds(section.text));
  const citations = new Citations(allowed, placed);
  const sections = answer.sections.map(
    (section) => `## ${inertText(section.heading)}\n\n${sectionText(section.text, citations)}`,
  );
  const left = citations.claims.filter((claim) => !placed.includes(claim.claim_id));
  return blocks([
    verdictLine(verdict),
    conclusion(verdict, allowed, citations),
    ...sections,
    findings('Further findings', left, citations),
    ...closing(query, allowed, citations),
  ]);
}

/**
 * The safe answer when verified material could not be worded: the same material, claim by claim, and the reason in plain
 * words. It shows nothing but allowed material; without any it is the answer without claims.
 */
export function renderPostFallback({ query, verdict, allowed, reason }: Verified & { readonly reason: ReasonCode }): string {
  if (allowed.claims.length === 0) return renderPreFallback({ query, tools: [], reason });
  const citations = new Citations(allowed, []);
  return blocks([
    verdictLine(verdict),
    `The answer could not be worded, so the verified findings stand here as they are. ${reasonWords(reason).why}`,
    conclusion(verdict, allowed, citations),
    findings('Verified findings', citations.claims, citations),
    ...closing(query, allowed, citations),
  ]);
}

/** Numbers of the claims in the order in which a reader meets them: assessments, sections, the rest. */
class Citations {
  readonly claims: readonly VerifiedClaim[];
  private readonly numbers: ReadonlyMap<string, number>;

  constructor(allowed: AllowedMaterial, placed: readonly string[]) {
    const assessed = orderedAssessments(allowed.assessments).flatMap((assessment) => assessment.claim_ids);
    const order = new Set([...assessed, ...placed, ...allowed.claims.map((claim) => claim.claim_id)]);
    const byId = new Map(allowed.claims.map((claim) => [claim.claim_id, claim]));
    this.claims = [...order].flatMap((id) => byId.get(id) ?? []);
    this.numbers = new Map(this.claims.map((claim, index) => [claim.claim_id, index + 1]));
  }

  mark(claimIds: readonly string[]): string {
    const numbers = claimIds.flatMap((id) => this.numbers.get(id) ?? []).sort((a, b) => a - b);
    return numbers.map((number) => `[${number}]`).join('');
  }

  statement(claim: VerifiedClaim): string {
    return `${inertText(claim.statement.trim().replace(/(?<!\.)\.$/, ''))} ${this.mark([claim.claim_id])}`;
  }

  statementOf(claimId: string): string {
    const claim = this.claims.find((candidate) => candidate.claim_id === claimId);
    return claim === undefined ? '' : this.statement(claim);
  }
}

function blocks(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function verdictLine(verdict: Verdict): string {
  return `**Verdict: ${verdict}** (${VERDICT_WORDS[verdict].replace(/\.$/, '')})`;
}

function orderedAssessments(assessments: readonly Assessment[]): Assessment[] {
  return [...assessments].sort((a, b) => ROLE_ORDER.indexOf(a.role) - ROLE_ORDER.indexOf(b.role) || a.rank - b.rank);
}

function conclusion(verdict: Verdict, allowed: AllowedMaterial, citations: Citations): string {
  const assessments = orderedAssessments(allowed.assessments);
  const lines = assessments.map((assessment, index) => {
    const words = assessment.role === 'cause' && index === 0 ? 'Most likely cause' : ROLE_WORDS[assessment.role];
    return `- ${words}: ${inertText(assessment.subject)} ${citations.mark(assessment.claim_ids)}`;
  });
  const lead = assessments.some((assessment) => assessment.role === 'cause') ? '' : leadWithoutCause(verdict, allowed);
  return blocks([lead, lines.join('\n')]);
}

function leadWithoutCause(verdict: Verdict, allowed: AllowedMaterial): string {
  if (!isNothingWrong(verdict, allowed)) return 'No cause was established from the evidence.';
  return verdict === 'PASS'
    ? 'Nothing departs from normal in the window.'
    : 'Nothing was seen to depart from normal in the window, with low confidence.';
}

function sectionText(text: string, citations: Citations): string {
  return text
    .split(/\r\n?|\n/)
    .map((line) => {
      const words = line
        .trim()
        .replace(/(\p{L}|\}\})(?=\{\{)/gu, '$1 ')
        .replace(/\}\}(?=\p{L})/gu, '}} ');
      const item = /^-\s+(.*)$/.exec(words);
      const filled = fillPlacements(item?.[1] ?? words, inertInline, (id) => citations.statementOf(id));
      return item === null ? filled : `- ${filled}`;
    })
    .join('\n');
}

function findings(heading: string, claims: readonly VerifiedClaim[], citations: Citations): string {
  return list(
    heading,
    claims.map((claim) => citations.statement(claim)),
  );
}

function list(heading: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `## ${heading}\n\n${items.map((item) => `- ${item}`).join('\n')}`;
}

function closing(query: DiagnosisQuery, allowed: AllowedMaterial, citations: Citations): string[] {
  const limitations = allowed.limitations
    .filter((text) => text.trim() !== '')
    .map((text) => limitationWords(text) ?? inertText(text));
  return [
    list('Missing information', allowed.missing_information.map(inertText)),
    list('Recommendations', allowed.recommendations.map(inertText)),
    list('Limits and sources not looked at', limitations.length === 0 ? ['None was reported.'] : limitations),
    `## Scope\n\n${queryScopeLines(query).join('\n')}`,
    evidenceList(allowed.evidence, citations),
  ];
}

function evidenceList(evidence: readonly VerifiedEvidence[], citations: Citations): string {
  if (citations.claims.length === 0) return '';
  const entries = citations.claims.map((claim, index) => {
    const number = `${index + 1}. `;
    const rows = evidence.filter((row) => row.claim_id === claim.claim_id);
    return [
      `${number}${inertText(claim.statement)}`,
      ...rows.map((row) => `${' '.repeat(number.length)}- ${evidenceRow(row)}`),
    ].join('\n');
  });
  return `## Evidence\n\n${entries.join('\n')}`;
}

function evidenceRow(row: VerifiedEvidence): string {
  const { head, omitted } = headOf(row.matched_text, SHOWN_MATCHED_TEXT);
  const cut = omitted === 0 ? '' : ` (cut here, ${omitted} more characters in the run's evidence)`;
  const path = row.raw_path === '' ? 'whole data' : codeSpan(row.raw_path);
  return `${codeSpan(head)}${cut}, tool ${codeSpan(row.tool_name)}, invocation ${codeSpan(row.source_invocation_id)}, path ${path}`;
}
