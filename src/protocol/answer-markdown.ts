import type { ReasonCode } from '../vocabulary/reason-codes';
import type { Verdict } from '../vocabulary/verdicts';
import type { ComposerAnswer } from './composer-answer';
import { conclusionLines, orderedAssessments, type ConclusionLine } from './conclusion-markdown';
import { fillPlacements, placedClaimIds } from './composer-placement';
import type { DiagnosisQuery } from './diagnosis-query';
import { inertInline, inertSentence, inertText } from './inert-markdown';
import { limitationWords } from './limitation-words';
import { isNothingWrong } from './nothing-wrong';
import { renderPreFallback } from './pre-fallback-markdown';
import { queryScopeLines } from './query-scope-markdown';
import { reasonWords } from './reason-words';
import { evidenceLine, shownClaim } from './shown-claim';
import type { AllowedMaterial, VerifiedClaim, VerifiedEvidence } from './verified-material';

const VERDICT_WORDS: Record<Verdict, string> = {
  PASS: 'every critical fact is directly supported by recorded evidence.',
  LOW_CONFID: 'the evidence supports this only in part; take it as a lead, not as a result.',
  REJECT: 'the evidence does not support a diagnosis.',
};

const EVIDENCE_LEAD =
  'Each number opens at `GET /api/v1/runs/<run>/evidence`; paths are relative to the `data` of the recorded output.';

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
  const citations = new Citations(query, allowed, placed);
  const sections = answer.sections.map((section) => {
    const text = sectionText(section.text, citations);
    return text === '' ? '' : `## ${inertText(section.heading)}\n\n${text}`;
  });
  const left = citations.claims.filter(({ claim_id }) => !placed.includes(claim_id) && !citations.isSaid(claim_id));
  return blocks([
    verdictLine(verdict),
    conclusion(query, verdict, allowed, citations),
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
  const citations = new Citations(query, allowed, []);
  return blocks([
    verdictLine(verdict),
    `The answer could not be worded, so the verified findings stand here as they are. ${reasonWords(reason).why}`,
    conclusion(query, verdict, allowed, citations),
    findings(
      'Verified findings',
      citations.claims.filter(({ claim_id }) => !citations.isSaid(claim_id)),
      citations,
    ),
    ...closing(query, allowed, citations),
  ]);
}

/** Numbers of the claims in the order in which a reader meets them: assessments, sections, the rest. */
class Citations {
  readonly claims: readonly VerifiedClaim[];
  private readonly numbers: ReadonlyMap<string, number>;

  readonly conclusion: readonly ConclusionLine[];

  constructor(
    private readonly query: DiagnosisQuery,
    private readonly allowed: AllowedMaterial,
    placed: readonly string[],
  ) {
    this.conclusion = conclusionLines(query, allowed);
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
    return `${shownClaim(claim, this.query, this.allowed)} ${this.mark([claim.claim_id])}`;
  }

  /** Whether the conclusion says a claim in full already. */
  isSaid(claimId: string): boolean {
    return this.conclusion.some(({ says }) => says === claimId);
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

function conclusion(query: DiagnosisQuery, verdict: Verdict, allowed: AllowedMaterial, citations: Citations): string {
  const lines = citations.conclusion.map(({ text, claim_ids }) => `- ${text} ${citations.mark(claim_ids)}`);
  const hasCause = allowed.assessments.some(({ role }) => role === 'cause');
  return blocks([hasCause ? '' : leadWithoutCause(query, verdict, allowed), lines.join('\n')]);
}

function leadWithoutCause({ baseline }: DiagnosisQuery, verdict: Verdict, allowed: AllowedMaterial): string {
  if (baseline === null || allowed.limitations.includes('NO_BASELINE')) {
    return 'The window could not be compared with anything; this is what it holds:';
  }
  if (!isNothingWrong(verdict, allowed)) return 'No cause was established from the evidence.';
  return verdict === 'PASS'
    ? 'Nothing departs from normal in the window.'
    : 'Nothing was seen to depart from normal in the window, with low confidence.';
}

function sectionText(text: string, citations: Citations): string {
  return text
    .split(/\r\n?|\n/)
    .flatMap((line) => {
      // A line that does nothing but place what stands above already would say it twice.
      const [only, ...more] = placedClaimIds(line);
      if (only !== undefined && more.length === 0 && citations.isSaid(only) && /^\s*-?\s*\{\{[^}]*\}\}\s*\.?\s*$/.test(line))
        return [];
      const words = line
        .trim()
        .replace(/(\p{L}|\}\})(?=\{\{)/gu, '$1 ')
        .replace(/\}\}(?=\p{L})/gu, '}} ');
      const item = /^-\s+(.*)$/.exec(words);
      const filled = fillPlacements(item?.[1] ?? words, inertInline, (id) => citations.statementOf(id));
      return item === null ? filled : `- ${filled}`;
    })
    .join('\n')
    .trim();
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
    list('Missing information', allowed.missing_information.map(inertSentence)),
    list('Recommendations', allowed.recommendations.map(inertSentence)),
    list('Limits and sources not looked at', limitations.length === 0 ? ['None was reported.'] : limitations),
    `## Scope\n\n${queryScopeLines(query).join('\n')}`,
    evidenceList(allowed.evidence, citations),
  ];
}

function evidenceList(evidence: readonly VerifiedEvidence[], citations: Citations): string {
  if (citations.claims.length === 0) return '';
  const entries = citations.claims.map((claim, index) => `${index + 1}. ${evidenceLine(claim, evidence)}`);
  return `## Evidence\n\n${EVIDENCE_LEAD}\n\n${entries.join('\n')}`;
}
