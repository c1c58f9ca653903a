import Big from 'big.js';
import type { Unit } from '../vocabulary/evidence-terms';
import { ALL_SUBJECTS } from './claim-fidelity/scope-terms';
import type { Assertion, Binding, Claim } from './executor-evidence';
import { parseRawPath } from './raw-path';
import { contextWords, measureWords } from './tool-outputs/field-words';

const UNIT_SIGNS: Partial<Record<Unit, string>> = { ratio: ' %', percent: ' %', per_second: '/s', per_minute: '/min' };
const BARE_UNITS: readonly Unit[] = ['none', 'count', 'text', 'instant'];
const LONGEST_CONTEXT = 300;
const MOST_DIGITS = 4;

/**
 * The sentence that code writes for a claim: from its assertion or scope and the matched texts of its bindings (aligned, null
 * where one did not pass); bindings that the assertion does not compute with stand behind it as quoted context. For an
 * untyped claim it is the claim's own statement. It refuses to word anything that the gate did not compute.
 */
export function claimSentence(claim: Claim, matchedTexts: readonly (string | null)[]): string {
  if (claim.kind === 'absence' && claim.scope !== undefined) return absenceSentence(claim.scope);
  if (claim.assertion === undefined) return claim.statement ?? '';
  const { left, right } = claim.assertion;
  const context = matchedTexts.flatMap((text, index) => {
    if (text === null || index === left || index === right || text === claim.subject) return [];
    const { tool_name, raw_path } = claim.bindings[index] as Binding;
    const field = fieldOf(raw_path);
    // A kind is said by the words of the measure.
    if (field === 'kind' && measureWords(tool_name, fieldOf(claim.bindings[left]?.raw_path ?? ''), text) !== null) return [];
    return [contextWords(tool_name, field, text) ?? quoted(text)];
  });
  const sentence = `${claim.subject}: ${assertionSentence(claim, claim.assertion, matchedTexts)}`;
  return context.length === 0 ? sentence : `${sentence} (${context.join('; ')})`;
}

function absenceSentence({ subject, filter, from, to }: NonNullable<Claim['scope']>): string {
  const where = ALL_SUBJECTS.includes(subject) ? 'all services' : subject;
  const what = filter === '' ? 'no record' : `no record with ${quoted(filter)}`;
  return `${where}: ${what} between ${from} and ${to}`;
}

function assertionSentence(claim: Claim, assertion: Assertion, texts: readonly (string | null)[]): string {
  const { op, left, right, value, unit } = assertion;
  const [before, after] = shownPair(texts[left] ?? '?', right === undefined ? '' : (texts[right] ?? '?'), unit);
  const kind = kindOf(claim, texts);
  const name = labelOf(claim.bindings[left], kind);
  const other = right === undefined ? '' : labelOf(claim.bindings[right], kind);
  const measure = right === undefined ? name : withoutWindow(other);
  const stated = value === undefined ? '' : withUnit(String(value), unit);
  switch (op) {
    case 'rose':
    case 'fell':
      return `${measure} ${op} from ${before} to ${after}`;
    case 'appeared':
      return `${measure} appeared: ${before} before, ${after} in the incident window`;
    case 'count':
      return `${name} is ${before}`;
    case 'equals':
      if (right === undefined) return `${name} is ${stated}`;
      return withoutWindow(name) === withoutWindow(other)
        ? `${measure} is unchanged at ${after}`
        : `${name} equals ${other}: ${after}`;
    case 'greater':
    case 'less': {
      const word = op === 'greater' ? 'greater' : 'less';
      return right === undefined
        ? `${name} is ${word} than ${stated} (recorded: ${texts[left] ?? '?'})`
        : `${name} of ${before} is ${word} than ${other} of ${after}`;
    }
    case 'ratio':
      return `${name} divided by ${other} is ${stated} (${texts[left] ?? '?'} to ${texts[right ?? -1] ?? '?'})`;
    case 'difference':
      return `${name} minus ${other} is ${withUnit(String(value), unit, true)} (${texts[left] ?? '?'} and ${texts[right ?? -1] ?? '?'})`;
    case 'percent_change': {
      const change = withUnit(String(value), unit ?? 'percent');
      return `${measure} changed by ${change} (from ${texts[left] ?? '?'} to ${texts[right ?? -1] ?? '?'})`;
    }
    case 'duration':
      return `${stated} from ${name} to ${other} (${texts[left] ?? '?'} to ${texts[right ?? -1] ?? '?'})`;
  }
}

/** What a row says of its own kind, where the claim binds it. */
function kindOf(claim: Claim, texts: readonly (string | null)[]): string | null {
  return texts[claim.bindings.findIndex(({ raw_path }) => fieldOf(raw_path) === 'kind')] ?? null;
}

function fieldOf(rawPath: string): string {
  const tokens = parseRawPath(rawPath)?.tokens ?? [];
  return [...tokens].reverse().find((token) => !/^\d+$/.test(token)) ?? 'value';
}

function labelOf(binding: Binding | undefined, kind: string | null): string {
  const field = fieldOf(binding?.raw_path ?? '');
  const words = measureWords(binding?.tool_name ?? '', field, kind);
  if (words !== null) return field.startsWith('baseline_') ? `baseline ${words}` : words;
  return field
    .replace(/[_-]+/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}

function withoutWindow(label: string): string {
  return label.replace(/\b(?:baseline|incident)\b\s*/g, '').trim() || label;
}

function quoted(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return `\u201C${line.length > LONGEST_CONTEXT ? `${line.slice(0, LONGEST_CONTEXT)}\u2026` : line}\u201D`;
}

/** Both values shortened alike, but never so far that they look the same when they are not. */
function shownPair(left: string, right: string, unit: Unit | undefined): [string, string] {
  const short: [string, string] = [withUnit(shortened(left, unit), unit), withUnit(shortened(right, unit), unit)];
  return short[0] === short[1] && left !== right ? [withUnit(left, unit), withUnit(right, unit)] : short;
}

function shortened(text: string, unit: Unit | undefined): string {
  if (unit === 'text' || !isNumber(text)) return text;
  const number = new Big(text);
  const digits = text
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '').length;
  if (!text.includes('.') || digits <= MOST_DIGITS) return text;
  const whole = number.abs().round(0, 0).toFixed();
  if (whole.length >= MOST_DIGITS) return number.round(0, 1).toFixed();
  return number.prec(MOST_DIGITS, 1).toFixed();
}

function withUnit(text: string, unit: Unit | undefined, isDifference = false): string {
  if (unit === undefined || BARE_UNITS.includes(unit) || !isNumber(text)) return text;
  const number = unit === 'ratio' ? new Big(text).times(100).toFixed() : text;
  if (isDifference && (unit === 'ratio' || unit === 'percent')) return `${number} percentage points`;
  return `${number}${UNIT_SIGNS[unit] ?? ` ${unit}`}`;
}

function isNumber(text: string): boolean {
  return /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?$/.test(text);
}
