import type { AssessmentRole } from '../vocabulary/evidence-terms';
import type { DiagnosisQuery } from './diagnosis-query';
import type { Assessment } from './executor-evidence';
import { codeSpan, headOf, inertText } from './inert-markdown';
import { clockTime } from './query-scope-markdown';
import { shownReason, textOfField } from './shown-claim';
import type { AllowedMaterial, VerifiedClaim } from './verified-material';

const SHOWN_QUOTE = 200;

const ROLE_ORDER: readonly AssessmentRole[] = ['cause', 'trigger', 'contributing', 'symptom', 'ruled_out'];
const ROLE_WORDS: Record<AssessmentRole, string> = {
  cause: 'Other possible cause',
  trigger: 'Trigger',
  contributing: 'Contributing',
  symptom: 'Symptom',
  ruled_out: 'Ruled out',
};

/** One line of the conclusion, and the claim that it says in full, if any. */
export interface ConclusionLine {
  readonly text: string;
  readonly claim_ids: readonly string[];
  readonly says: string | null;
}

/** Assessments in the order in which a reader meets them: by role, then by rank. */
export function orderedAssessments(assessments: readonly Assessment[]): Assessment[] {
  return [...assessments].sort((a, b) => ROLE_ORDER.indexOf(a.role) - ROLE_ORDER.indexOf(b.role) || a.rank - b.rank);
}

/**
 * What each subject has to do with it, with the most telling line that its claims quote, or why it is ruled out. Words and
 * times come from matched texts and statements of the assessment's own claims only.
 */
export function conclusionLines(query: DiagnosisQuery, allowed: AllowedMaterial): ConclusionLine[] {
  return orderedAssessments(allowed.assessments).map((assessment, index) => {
    const { role, subject, claim_ids } = assessment;
    const words = role === 'cause' && index === 0 ? 'Most likely cause' : ROLE_WORDS[role];
    const claims = claim_ids.flatMap((id) => allowed.claims.find(({ claim_id }) => claim_id === id) ?? []);
    if (role !== 'ruled_out') {
      return { text: `${words}: ${inertText(subject)}${strongestLine(subject, claims, query, allowed)}`, claim_ids, says: null };
    }
    const [first] = claims.filter((claim) => claim.subject === subject);
    const reason = first === undefined ? null : shownReason(first, query, allowed);
    if (first === undefined || reason === null) return { text: `${words}: ${inertText(subject)}`, claim_ids, says: null };
    return { text: `${words}: ${reason}`, claim_ids, says: first.claim_id };
  });
}

function strongestLine(
  subject: string,
  claims: readonly VerifiedClaim[],
  { window, time_zone }: DiagnosisQuery,
  { evidence }: AllowedMaterial,
): string {
  const quotes = claims.flatMap((claim) => {
    const sample = textOfField(claim, 'sample', evidence);
    if (sample === null || sample.trim() === '') return [];
    return [
      {
        sample,
        first: textOfField(claim, 'first_seen', evidence),
        weight: weightOf(claim, evidence),
        own: Number(claim.subject === subject),
      },
    ];
  });
  const [best] = quotes.sort((a, b) => b.own - a.own || b.weight - a.weight);
  if (best === undefined) return '';
  const line = best.sample.replace(/\s+/gu, ' ').trim();
  const { head, omitted } = headOf(line, SHOWN_QUOTE);
  const first = best.first ?? quotes.find(({ sample, first: at }) => sample === best.sample && at !== null)?.first ?? null;
  const since = first === null ? null : clockTime(first, window, time_zone);
  return ` - ${codeSpan(omitted === 0 ? head : `${head}\u2026`)}${since === null ? '' : `, first at ${since}`}`;
}

/** How telling the quoted line of a claim is: an error line of a flow, a new kind of line, any other kind of line, the rest. */
function weightOf(claim: VerifiedClaim, evidence: AllowedMaterial['evidence']): number {
  if (textOfField(claim, 'kind', evidence) === 'error_line') return 3;
  if (claim.assertion?.op === 'appeared') return 2;
  return claim.bindings.some(({ raw_path }) => raw_path.startsWith('/patterns/')) ? 1 : 0;
}
