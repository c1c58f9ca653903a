import Big from 'big.js';
import type { Unit } from '../vocabulary/evidence-terms';
import { ALL_SUBJECTS } from './claim-fidelity/scope-terms';
import type { Assertion, Binding, Claim } from './executor-evidence';
import { fieldOf } from './raw-path-field';
import { contextWords, measureUnit, measureWords } from './tool-outputs/field-words';

const UNIT_SIGNS: Partial<Record<Unit, string>> = { ratio: ' %', percent: ' %', per_second: '/s', per_minute: '/min' };
const BARE_UNITS: readonly Unit[] = ['none', 'count', 'text', 'instant'];
const SUCCESSION_PATHS: readonly string[] = ['matched_count', 'covered_from', 'covered_to'].map((name) => `/summary/${name}`);
const LONGEST_CONTEXT = 300;
const MOST_DIGITS = 4;

/** What a sentence must know of the run beyond its claim. */
export interface SentenceSetting {
  /** False where the logs carry no trace ids, so that nothing may be called a flow. */
  readonly hasTraces: boolean;
}

/**
 * The sentence that code writes for a claim: from its assertion or scope and the matched texts of its bindings (aligned, null
 * where one did not pass); bindings that the assertion does not compute with stand behind it as quoted context. For an
 * untyped claim it is the claim's own statement. It refuses to word anything that the gate did not compute.
 */
export function claimSentence(
  claim: Claim,
  matchedTexts: readonly (string | null)[],
  setting: SentenceSetting = { hasTraces: true },
): string {
  if (claim.kind === 'absence' && claim.scope !== undefined) return absenceSentence(claim.scope);
  if (claim.assertion === undefined) return claim.statement ?? '';
  const unchanged = noChangedSuccession(claim, matchedTexts);
  if (unchanged !== null) return `${claim.subject}: no changed succession of log lines${unchanged}`;
  const { left, right } = claim.assertion;
  const hasTraces = setting.hasTraces && !claim.bindings.some((at, index) => isTraceless(at, matchedTexts[index]));
  const context = matchedTexts.flatMap((text, index) => {
    if (text === null || index === left || index === right || text === claim.subject) return [];
    const { tool_name, raw_path } = claim.bindings[index] as Binding;
    const field = fieldOf(raw_path);
    if (tool_name === 'log_sequences' && field === 'by_trace') return [];
    // A kind is said by the words of the measure.
    if (field === 'kind' && measureWords(tool_name, fieldOf(claim.bindings[left]?.raw_path ?? ''), text) !== null) return [];
    return [contextWords(tool_name, field, text) ?? quoted(text)];
  });
  const sentence = `${claim.subject}: ${assertionSentence(claim, claim.assertion, matchedTexts, hasTraces)}`;
  return context.length === 0 ? sentence : `${sentence} (${context.join('; ')})`;
}

function isTraceless({ tool_name, raw_path }: Binding, text: string | null | undefined): boolean {
  return tool_name === 'log_sequences' && fieldOf(raw_path) === 'by_trace' && text === 'false';
}

/** The covered range, or nothing where it is not bound, of a claim that a look at successions counted no change; else null. */
function noChangedSuccession({ assertion, bindings }: Claim, texts: readonly (string | null)[]): string | null {
  const at = bindings[assertion?.left ?? -1];
  if (assertion?.op !== 'count' || at?.tool_name !== 'log_sequences' || at.raw_path !== '/summary/matched_count') return null;
  if (texts[assertion.left] !== '0' || !bindings.every(({ raw_path }) => SUCCESSION_PATHS.includes(raw_path))) return null;
  const textOf = (path: string) => texts[bindings.findIndex(({ raw_path }) => raw_path === path)] ?? null;
  const [from, to] = [textOf('/summary/covered_from'), textOf('/summary/covered_to')];
  return from === null || to === null ? '' : ` from ${from} to ${to}`;
}

function absenceSentence({ subject, filter, from, to }: NonNullable<Claim['scope']>): string {
  const where = ALL_SUBJECTS.includes(subject) ? 'all services' : subject;
  const what = filter === '' ? 'no record' : `no record with ${quoted(filter)} in its text or names`;
  return `${where}: ${what} between ${from} and ${to}`;
}

function assertionSentence(claim: Claim, assertion: Assertion, texts: readonly (string | null)[], hasTraces: boolean): string {
  const { op, left, right, value, unit } = assertion;
  const ofField = unitOf(claim.bindings[left]);
  const [one, two] = [texts[left] ?? '?', right === undefined ? '' : (texts[right] ?? '?')];
  const [before, after] = shownPair(one, two, ofField ?? unit);
  // Unit and value of these are the result's; what was recorded is shown in the unit of its field.
  const [raw, otherRaw] = ofField === undefined ? [one, two] : [before, after];
  const kind = kindOf(claim, texts);
  const name = labelOf(claim.bindings[left], kind, hasTraces);
  const other = right === undefined ? '' : labelOf(claim.bindings[right], kind, hasTraces);
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
      if (right === undefined) return `${name} is ${word} than ${stated} (recorded: ${raw})`;
      return isBesideBaseline(claim.bindings[left], claim.bindings[right])
        ? `${measure} is ${before}, ${op === 'greater' ? 'above' : 'below'} the baseline's ${after}`
        : `${name} of ${before} is ${word} than ${other} of ${after}`;
    }
    case 'ratio':
      return `${name} divided by ${other} is ${stated} (${raw} to ${otherRaw})`;
    case 'difference':
      return `${name} minus ${other} is ${withUnit(String(value), unit, true)} (${raw} and ${otherRaw})`;
    case 'percent_change': {
      if (isBesideBaseline(claim.bindings[right ?? -1], claim.bindings[left])) {
        return `${measure} is ${otherRaw}, ${raw} before`;
      }
      const change = withUnit(String(value), unit ?? 'percent');
      return `${measure} changed by ${change} (from ${raw} to ${otherRaw})`;
    }
    case 'duration':
      return `${stated} from ${name} to ${other} (${texts[left] ?? '?'} to ${texts[right ?? -1] ?? '?'})`;
  }
}

/** What a row says of its own kind, where the claim binds it. */
function kindOf(claim: Claim, texts: readonly (string | null)[]): string | null {
  return texts[claim.bindings.findIndex(({ raw_path }) => fieldOf(raw_path) === 'kind')] ?? null;
}

/** Whether two bindings are one measure of a built-in tool in one row, of the window asked about and of its baseline. */
function isBesideBaseline(incident: Binding | undefined, baseline: Binding | undefined): boolean {
  if (incident === undefined || baseline === undefined || incident.tool_name !== baseline.tool_name) return false;
  const field = fieldOf(incident.raw_path);
  return (
    incident.source_invocation_id === baseline.source_invocation_id &&
    measureWords(incident.tool_name, field, null) !== null &&
    incident.raw_path.endsWith(`/${field}`) &&
    baseline.raw_path === `${incident.raw_path.slice(0, -field.length)}baseline_${field}`
  );
}

function unitOf(binding: Binding | undefined): Unit | undefined {
  return binding === undefined ? undefined : measureUnit(binding.tool_name, fieldOf(binding.raw_path));
}

function labelOf(binding: Binding | undefined, kind: string | null, hasTraces: boolean): string {
  const field = fieldOf(binding?.raw_path ?? '');
  const words = measureWords(binding?.tool_name ?? '', field, kind, hasTraces);
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
