import type { JsonObject } from './json-value';
import type { Parsed } from './parsed';
import { scanJsonObject } from './strict-json-object';

/** Longest model answer that is looked at, in UTF-16 code units. */
export const MAX_MODEL_TEXT_LENGTH = 4 * 1024 * 1024;

const BYTE_ORDER_MARK = '\uFEFF';
const LEADING_THINK = /^\s*<(think|thinking)>/i;
const THINK_OPENS = /<think(?:ing)?>/i;
const THINK_CLOSES = /<\/think(?:ing)?>/i;
const BRACKETS = /[{}[\]]/;

/**
 * Takes the one JSON object out of a model's answer. It unwraps only: a byte-order mark, one closed leading think block,
 * and prose or code fences around exactly one object, with no `{ } [ ]` outside of it. It refuses to edit anything inside:
 * what strict JSON does not allow, duplicate keys, prototype keys and a root that is no object make the answer not JSON.
 * `problems` hold positions and kinds, never text of the answer. It never throws.
 */
export function unwrapModelJson(raw: unknown): Parsed<JsonObject> {
  if (raw === undefined || raw === null) return missing('there is no answer');
  if (typeof raw !== 'string') return notJson('the answer is no text');
  if (raw.length > MAX_MODEL_TEXT_LENGTH) return notJson(`the answer is longer than ${MAX_MODEL_TEXT_LENGTH} characters`);
  const answer = raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(1) : raw;
  if (answer.trim() === '') return missing('the answer is empty');

  const think = LEADING_THINK.exec(answer);
  const text = think === null ? answer : afterThinkBlock(answer, think[0].length, (think[1] as string).toLowerCase());
  if (text === null) return notJson('the think block is not closed');

  const start = text.indexOf('{');
  if (start === -1) return notJson('there is no object');
  const extent = scanJsonObject(text, start);
  if ('problem' in extent) return notJson(extent.problem);

  const before = text.slice(0, start);
  const after = text.slice(extent.end);
  if (BRACKETS.test(before) || BRACKETS.test(after))
    return notJson('there is more than one object around the answer, or a stray bracket');
  if (
    THINK_OPENS.test(before) ||
    THINK_OPENS.test(after) ||
    THINK_CLOSES.test(after) ||
    (think !== null && THINK_CLOSES.test(before))
  ) {
    return notJson('there is a think tag outside of one closed leading block');
  }
  if (before.endsWith('"') && after.startsWith('"')) return notJson('the object stands inside a string');

  return { ok: true, value: JSON.parse(text.slice(start, extent.end)) as JsonObject };
}

function afterThinkBlock(answer: string, bodyStart: number, name: string): string | null {
  const close = new RegExp(`</${name}>`, 'i').exec(answer.slice(bodyStart));
  return close === null ? null : answer.slice(bodyStart + close.index + close[0].length);
}

function missing(problem: string): Parsed<JsonObject> {
  return { ok: false, reason_code: 'OUTPUT_MISSING', problems: [problem] };
}

function notJson(problem: string): Parsed<JsonObject> {
  return { ok: false, reason_code: 'OUTPUT_NOT_JSON', problems: [problem] };
}
