import type { z } from 'zod';
import { unwrapModelJson } from './model-json';
import type { Parsed } from './parsed';

/** Most problems that a refused document lists. */
const MAX_PROBLEMS = 20;

/** Keys under this one are the document's own words and never show in a problem. */
const FREE_KEYS_UNDER = 'arguments';

/**
 * The way of every document: unwrap, schema, rules across fields. It refuses to change a value on the way and never throws
 * for anything that a model can write. `rulesOf` returns the broken rules, without text of the document.
 */
export function parseDocument<T>(raw: unknown, schema: z.ZodType<T>, rulesOf: (document: T) => string[]): Parsed<T> {
  const unwrapped = unwrapModelJson(raw);
  if (!unwrapped.ok) return unwrapped;
  const shaped = schema.safeParse(unwrapped.value);
  if (!shaped.success) return brokenContract(shaped.error.issues.map((issue) => `${pathText(issue.path)}: ${issue.code}`));
  const problems = rulesOf(shaped.data);
  return problems.length === 0 ? { ok: true, value: shaped.data } : brokenContract(problems);
}

/** Values that occur more than once, by index of their second and later occurrence. */
export function repeatedIndexes(values: readonly string[]): number[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    const repeated = seen.has(value);
    seen.add(value);
    return repeated ? [index] : [];
  });
}

function brokenContract<T>(problems: readonly string[]): Parsed<T> {
  return { ok: false, reason_code: 'OUTPUT_BREAKS_CONTRACT', problems: [...new Set(problems)].slice(0, MAX_PROBLEMS) };
}

function pathText(path: readonly PropertyKey[]): string {
  const free = path.indexOf(FREE_KEYS_UNDER);
  const shown = free === -1 ? path : path.slice(0, free + 1);
  return (
    shown.reduce<string>(
      (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}${text === '' ? '' : '.'}${String(part)}`),
      '',
    ) || 'document'
  );
}
