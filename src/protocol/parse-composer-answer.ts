import { composerAnswerSchema, type ComposerAnswer } from './composer-answer';
import { fillPlacements, placedClaimIds } from './composer-placement';
import { isFillerText } from './filler-text';
import { parseDocument, repeatedIndexes } from './parse-document';
import type { Parsed } from './parsed';
import type { AllowedMaterial } from './verified-material';

/** Letters of any script, plain punctuation, dashes and apostrophes: prose, and no Markdown but a list's dash. */
const PROSE_ONLY = /^[\p{L}\p{M}\s.,;:!?()'’‘—–…-]*$/u;
const QUOTED = /(?:^|[\s(])['‘’]/u;
const INNER_MARK = /[.:-]/;
const INNER_CAPITAL = /\p{L}\p{Lu}/u;
const AROUND_TOKEN = /^[.,;:!?()'’—–…]+|[.,;:!?()'’—–…]+$/gu;
const LIST_DASH = /^[—–-]$/u;
const DENIAL = /\b(?:not|never|cannot|false|untrue|incorrect|opposite|contrary)\b|n['’]t\b/i;
const QUANTITY_OR_TIME =
  /\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|billions?|dozens?|twice|thrice|percent|noon|midnight|yesterday|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i;

/**
 * Strict parser of `composer_answer_v1`, held against the allowed material. Every section places at least one allowed claim,
 * each at most once in a section. Own words of a heading or text hold no digits, numbers in words, times, quotations,
 * identifiers (subjects of the material included), links, images or HTML, and a text denies nothing around a claim. It
 * refuses any answer when nothing is allowed: there is nothing to place.
 */
export function parseComposerAnswer(raw: unknown, allowed: AllowedMaterial): Parsed<ComposerAnswer> {
  const claimIds = new Set(allowed.claims.map((claim) => claim.claim_id));
  const subjects = [...allowed.claims, ...allowed.assessments].map((item) => item.subject.trim());
  return parseDocument(raw, composerAnswerSchema, (answer) =>
    answer.sections.flatMap((section, i) => [
      ...headingProblems(section.heading, subjects).map((problem) => `sections[${i}].heading: ${problem}`),
      ...textProblems(section.text, claimIds, subjects).map((problem) => `sections[${i}].text: ${problem}`),
    ]),
  );
}

function headingProblems(heading: string, subjects: readonly string[]): string[] {
  const problems = proseProblems(heading, subjects);
  if (/[\r\n]/.test(heading)) problems.push('more than one line');
  if (isFillerText(heading)) problems.push('filler');
  return problems;
}

function textProblems(text: string, claimIds: ReadonlySet<string>, subjects: readonly string[]): string[] {
  const placed = placedClaimIds(text);
  const words = fillPlacements(
    text,
    (own) => own,
    () => ' ',
  );
  const problems = proseProblems(words, subjects);
  if (placed.length === 0) problems.push('places no claim');
  if (placed.some((id) => !claimIds.has(id))) problems.push('places a claim that is not allowed');
  if (repeatedIndexes(placed).length > 0) problems.push('places a claim twice');
  if (DENIAL.test(words)) problems.push('denies something around a claim');
  return problems;
}

function proseProblems(words: string, subjects: readonly string[]): string[] {
  const problems: string[] = [];
  if (!PROSE_ONLY.test(words)) problems.push('holds more than prose');
  if (QUOTED.test(words)) problems.push('holds a quotation');
  if (QUANTITY_OR_TIME.test(words)) problems.push('holds a quantity or a time of its own');
  if (words.split(/\s+/).some(isIdentifier) || namesSubject(words, subjects)) problems.push('holds an identifier of its own');
  return problems;
}

function isIdentifier(word: string): boolean {
  if (LIST_DASH.test(word)) return false;
  const token = word.replace(AROUND_TOKEN, '');
  return INNER_MARK.test(token) || INNER_CAPITAL.test(token);
}

function namesSubject(words: string, subjects: readonly string[]): boolean {
  const spaced = ` ${words
    .split(/\s+/)
    .map((word) => word.replace(AROUND_TOKEN, ''))
    .join(' ')} `;
  return subjects.some((subject) => subject !== '' && spaced.includes(` ${subject} `));
}
