import { z } from 'zod';
import { DiagnosisError } from '../errors/diagnosis-error';
import { RUN_SORTS, SORT_ORDERS, type RunFilter } from '../ports/run-query-store.port';
import { instantSchema } from '../protocol/diagnosis-query';
import { wordKeysOf } from '../runs/question-words';
import { REASON_CODES } from '../vocabulary/reason-codes';
import { AGENT_FLOWS, RUN_STATUSES } from '../vocabulary/run-lifecycle';
import { FALLBACK_CLASSES } from '../vocabulary/statuses';
import { VERDICTS } from '../vocabulary/verdicts';

export const MAX_PAGE = 100;
export const DEFAULT_PAGE = 20;
/** Different words that a question may be looked for by. */
export const MAX_QUESTION_WORDS = 10;
export const MAX_QUESTION_LENGTH = 500;
const INSTANT_HINT = 'must be an RFC 3339 instant with a zone between 1970 and 9999, such as 2026-05-04T14:05:00Z';
const LIMIT_HINT = `must be a whole number from 1 to ${MAX_PAGE}`;
const QUESTION_HINT = `must be a text of 1 to ${MAX_QUESTION_WORDS} different words and at most ${MAX_QUESTION_LENGTH} characters`;

const pageShape = {
  limit: z.int({ error: LIMIT_HINT }).min(1, LIMIT_HINT).max(MAX_PAGE, LIMIT_HINT).optional(),
  cursor: z.string({ error: 'must be the `nextCursor` of a page' }).optional(),
  total: z.boolean({ error: 'must be true or false' }).optional(),
};
const pageQuerySchema = z.strictObject(pageShape);

const instant = z
  .string({ error: INSTANT_HINT })
  .refine((text) => instantSchema.safeParse(text).success && isStorable(Date.parse(text)), INSTANT_HINT)
  .optional();

const runListQuerySchema = z
  .strictObject({
    status: oneOf(RUN_STATUSES),
    verdict: oneOf([...VERDICTS, 'none']),
    degraded: z.boolean({ error: 'must be true or false' }).optional(),
    fallbackClass: oneOf(FALLBACK_CLASSES),
    fallbackReason: oneOf(REASON_CODES),
    sessionId: z.uuid({ error: 'must be the UUID of a session' }).toLowerCase().optional(),
    agentFlow: oneOf(AGENT_FLOWS),
    toolFailed: z.boolean({ error: 'must be true or false' }).optional(),
    question: z
      .string({ error: QUESTION_HINT })
      .max(MAX_QUESTION_LENGTH, QUESTION_HINT)
      .refine((text) => isSearchable(wordKeysOf(text).length), QUESTION_HINT)
      .optional(),
    from: instant,
    to: instant,
    sort: oneOf(RUN_SORTS),
    order: oneOf(SORT_ORDERS),
    ...pageShape,
  })
  .refine(({ from, to }) => from === undefined || to === undefined || Date.parse(from) < Date.parse(to), {
    path: ['from'],
    error: 'must be before `to`',
  });

/** Which part of a list: `limit` from 1 to 100 (20 where it is left out), `cursor` of the page before, `total` to count the whole list. */
export type PageQuery = z.input<typeof pageQuerySchema>;

/**
 * Which runs: those that meet every condition given. `verdict: 'none'` are runs without one; `question` holds words that all
 * stand in the question, in any order and case; `from` is inclusive, `to` exclusive, RFC 3339 with a zone, and both mean when
 * the run came in. Sorted by `start` (that same instant) unless by `duration`, which lists those runs alone that have one; newest
 * or longest first unless `order` is `asc`.
 */
export type RunListQuery = z.input<typeof runListQuerySchema>;

/** A page query whose form is right. Throws REQUEST_INVALID that names each field and what would be right. */
export function parsePageQuery(raw: unknown): PageQuery {
  return parsed(pageQuerySchema, raw);
}

/** A query of runs whose form is right. Throws REQUEST_INVALID that names each field and what would be right. */
export function parseRunListQuery(raw: unknown): RunListQuery {
  return parsed(runListQuerySchema, raw);
}

/** The conditions of a query as the store takes them. */
export function filterOf(query: RunListQuery): RunFilter {
  const { status, verdict, degraded, fallbackClass, fallbackReason, sessionId, agentFlow, toolFailed, question, from, to } =
    query;
  return {
    status,
    verdict: verdict === 'none' ? null : verdict,
    degraded,
    fallbackClass,
    fallbackReason,
    sessionId,
    agentFlow,
    toolFailed,
    question,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
}

function oneOf<const T extends readonly string[]>(values: T): z.ZodOptional<z.ZodEnum<{ [K in T[number]]: K }>> {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` }).optional();
}

function isStorable(ms: number): boolean {
  return ms >= 0 && ms < Date.UTC(10_000, 0, 1);
}

function isSearchable(words: number): boolean {
  return words > 0 && words <= MAX_QUESTION_WORDS;
}

function parsed<T>(schema: z.ZodType<T>, raw: unknown): T {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${key}: is not a known field`).join('; ')
      : `${issue.path.join('.') || 'request'}: ${issue.message}`,
  );
  const [first] = result.error.issues;
  const field = first?.code === 'unrecognized_keys' ? first.keys[0] : first?.path.join('.');
  throw new DiagnosisError('REQUEST_INVALID', `The request is not valid. ${problems.join('; ')}.`, { field: field || 'request' });
}
