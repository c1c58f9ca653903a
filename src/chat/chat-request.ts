import { z } from 'zod';
import { DiagnosisError } from '../errors/diagnosis-error';
import { instantSchema } from '../protocol/diagnosis-query';
import type { RankedCause } from '../protocol/run-evidence';
import type { Verdict } from '../vocabulary/verdicts';
import { alertSchema } from './alert-window';

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

const INSTANT_HINT = 'must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z';
/** A character that a reader sees; characters without width are none, and neither is the empty Braille cell. */
const VISIBLE = /[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
const MESSAGE_HINT = 'must be the question as a text that is not blank';

const requestInstantSchema = z
  .string({ error: INSTANT_HINT })
  .refine((text) => instantSchema.safeParse(text).success, INSTANT_HINT);

const requestWindowSchema = z
  .strictObject({ from: requestInstantSchema, to: requestInstantSchema }, { error: describeShape('an object { from, to }') })
  .refine((window) => Date.parse(window.from) < Date.parse(window.to), '`from` must be before `to`');

const chatRequestSchema = z
  .strictObject(
    {
      message: z.string({ error: MESSAGE_HINT }).refine((text) => VISIBLE.test(text), MESSAGE_HINT),
      sessionId: z
        .uuid({ error: 'must be the UUID of an earlier answer, or left out to start a session' })
        .toLowerCase()
        .optional(),
      window: requestWindowSchema.optional(),
      baseline: requestWindowSchema.optional(),
      alert: alertSchema.optional(),
      timeZone: z
        .string({ error: 'must be the name of a time zone' })
        .refine(isTimeZone, 'must be a known IANA time zone, such as Europe/Berlin or UTC')
        .optional(),
      locale: z
        .string({ error: 'must be a language tag' })
        .refine(isLocale, 'must be a BCP 47 language tag, such as en or de-CH')
        .optional(),
    },
    { error: describeShape('an object { message, sessionId?, window?, baseline?, alert?, timeZone?, locale? }') },
  )
  .superRefine((request, context) => {
    if (request.baseline === undefined || request.window === undefined) return;
    const apart =
      Date.parse(request.baseline.to) <= Date.parse(request.window.from) ||
      Date.parse(request.baseline.from) >= Date.parse(request.window.to);
    if (!apart)
      context.addIssue({
        code: 'custom',
        path: ['baseline'],
        message: 'must not overlap the window: a window is never its own baseline',
      });
  });

/**
 * A question. `window` and `baseline` are `from` inclusive, `to` exclusive, RFC 3339 with a zone. An `alert` names the window
 * where there is no `window`.
 */
export type ChatRequest = z.infer<typeof chatRequestSchema>;

/** The answer of a run. `causes` come from what the verifier allowed, and are empty when nothing was verified. */
export interface ChatResult {
  /** Markdown. */
  readonly answer: string;
  readonly sessionId: string;
  readonly runId: string;
  /** Effective verdict of the final round; null when no verifier spoke. */
  readonly verdict: Verdict | null;
  /** Whether the deterministic fallback answered. */
  readonly degraded: boolean;
  readonly causes: readonly RankedCause[];
}

/**
 * Checks a question strictly; unknown fields are refused.
 * @param raw what a caller sent
 * @param maxMessageBytes longest message in bytes of UTF-8
 * @throws DiagnosisError REQUEST_TOO_LARGE, or REQUEST_INVALID that names each field and what would be right
 */
export function parseChatRequest(raw: unknown, maxMessageBytes: number): ChatRequest {
  const message = (raw as { message?: unknown } | null | undefined)?.message;
  if (typeof message === 'string' && Buffer.byteLength(message, 'utf8') > maxMessageBytes) {
    throw new DiagnosisError(
      'REQUEST_TOO_LARGE',
      `message: is ${Buffer.byteLength(message, 'utf8')} bytes long; at most ${maxMessageBytes} bytes of UTF-8 are accepted.`,
      { field: 'message', limitBytes: maxMessageBytes },
    );
  }
  const parsed = chatRequestSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'request'}: ${issue.message}`);
  const field = parsed.error.issues[0]?.path.join('.') || 'request';
  throw new DiagnosisError('REQUEST_INVALID', `The request is not valid. ${problems.join('; ')}.`, { field });
}

function describeShape(shape: string): (issue: { code?: string; keys?: readonly string[] }) => string {
  return (issue) =>
    issue.code === 'unrecognized_keys'
      ? `has unknown fields (${(issue.keys ?? []).join(', ')}); it must be ${shape}`
      : `must be ${shape}`;
}
