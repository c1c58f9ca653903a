import type { AssessmentRole } from '../vocabulary/evidence-terms';
import { composerAnswerSchema, type ComposerAnswer } from './composer-answer';
import { fillPlacements, placedClaimIds } from './composer-placement';
import { isConnectiveProse, isHeadingProse, isWholeHeading, partNamedBy } from './composer-vocabulary';
import { isFillerText } from './filler-text';
import { parseDocument, repeatedIndexes } from './parse-document';
import type { Parsed } from './parsed';
import type { AllowedMaterial } from './verified-material';

/** ASCII letters, plain punctuation and dashes: no Markdown but a list's dash, and no mark of doubt behind a claim. */
const PROSE_ONLY = /^[A-Za-z\s.,;:()—–-]*$/;
const RULE_OR_LIST = /^[ \t]*(?:-[ \t]*-|[—–-]{2})/m;
const QUESTION_END = /\?\s*$/;
const INNER_MARK = /[A-Za-z][.:-]+[A-Za-z]/;
const INNER_CAPITAL = /[a-z][A-Z]/;
const AROUND_TOKEN = /^[.,;:()—–-]+|[.,;:()—–-]+$/g;

/**
 * Strict parser of `composer_answer_v1`, held against the allowed material. Every section places at least one allowed claim,
 * each at most once in a section. Own words of a heading or text are those of the closed composer vocabulary, and name no
 * subject; a heading that speaks of a cause or of something ruled out stands over claims of that part alone. It refuses any
 * answer when nothing is allowed: there is nothing to place.
 */
export function parseComposerAnswer(raw: unknown, allowed: AllowedMaterial): Parsed<ComposerAnswer> {
  const claimIds = new Set(allowed.claims.map((claim) => claim.claim_id));
  const subjects = subjectsOf(allowed);
  return parseDocument(raw, composerAnswerSchema, (answer) =>
    answer.sections.flatMap(({ heading, text }, i) => [
      ...headingProblems(heading, subjects).map((problem) => `sections[${i}].heading: ${problem}`),
      ...partProblems(heading, placedClaimIds(text), allowed).map((problem) => `sections[${i}].heading: ${problem}`),
      ...textProblems(text, claimIds, subjects).map((problem) => `sections[${i}].text: ${problem}`),
    ]),
  );
}

function subjectsOf(allowed: AllowedMaterial): string[] {
  return [...allowed.claims, ...allowed.assessments]
    .map(({ subject }) => subject.trim().toLowerCase())
    .filter((subject) => subject !== '');
}

function headingProblems(heading: string, subjects: readonly string[]): string[] {
  if (isWholeHeading(heading)) return [];
  const words = heading.replace(QUESTION_END, '');
  const problems = proseProblems(words, subjects);
  if (!isHeadingProse(words)) problems.push('holds a word outside the vocabulary of headings');
  if (/[\r\n]/.test(heading)) problems.push('more than one line');
  if (isFillerText(heading)) problems.push('filler');
  return problems;
}

function partProblems(heading: string, placed: readonly string[], { assessments }: AllowedMaterial): string[] {
  const carriedBy = (roles: readonly AssessmentRole[]): Set<string> =>
    new Set(assessments.filter(({ role }) => roles.includes(role)).flatMap(({ claim_ids }) => claim_ids));
  switch (partNamedBy(heading)) {
    case null:
      return [];
    case 'both':
      return ['names a cause and clears it at once'];
    case 'cause': {
      const blamed = carriedBy(['cause', 'trigger', 'contributing']);
      return placed.every((id) => blamed.has(id)) ? [] : ['calls a cause what no allowed cause rests on'];
    }
    case 'cleared': {
      const blamed = carriedBy(['cause']);
      return placed.some((id) => blamed.has(id)) ? ['clears what an allowed cause rests on'] : [];
    }
  }
}

function textProblems(text: string, claimIds: ReadonlySet<string>, subjects: readonly string[]): string[] {
  const placed = placedClaimIds(text);
  const words = fillPlacements(
    text,
    (own) => own,
    () => ' ',
  );
  const problems = proseProblems(words, subjects);
  if (!isConnectiveProse(words)) problems.push('holds a word outside the vocabulary of connectives');
  if (RULE_OR_LIST.test(text)) problems.push('holds a rule or a list within a list');
  if (placed.length === 0) problems.push('places no claim');
  if (placed.some((id) => !claimIds.has(id))) problems.push('places a claim that is not allowed');
  if (repeatedIndexes(placed).length > 0) problems.push('places a claim twice');
  return problems;
}

function proseProblems(words: string, subjects: readonly string[]): string[] {
  const problems: string[] = [];
  if (!PROSE_ONLY.test(words)) problems.push('holds more than prose');
  if (words.split(/\s+/).some(isIdentifier) || namesSubject(words, subjects)) problems.push('holds an identifier of its own');
  return problems;
}

function isIdentifier(word: string): boolean {
  return INNER_MARK.test(word) || INNER_CAPITAL.test(word);
}

function namesSubject(words: string, subjects: readonly string[]): boolean {
  const spaced = ` ${words
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replace(AROUND_TOKEN, ''))
    .join(' ')} `;
  return subjects.some((subject) => spaced.includes(` ${subject} `));
}
