import { z } from 'zod';

/** An instant in RFC 3339 with an explicit zone, e.g. `2026-05-04T14:05:00.000Z`. */
export const instantSchema = z.iso.datetime({ offset: true });

/**
 * Where a window came from. `alert`: around the start of an alert. `onset`: the stretch of the telemetry that departs most from
 * the rest. `session`: taken over from an earlier run of the session, named by `run_id`. `telemetry`: the last quarter of what
 * it covers. `default`: the last hour, where there is nothing to take a window from. Of a baseline: `preceding` lies before
 * the incident window, of the same length, or all that comes before when nobody named a window; `following` is all that
 * comes after a window with which the telemetry begins.
 */
export const WINDOW_SOURCES = [
  'request',
  'question',
  'alert',
  'session',
  'onset',
  'telemetry',
  'preceding',
  'following',
  'default',
] as const;

const windowSchema = z.strictObject({
  from: instantSchema,
  to: instantSchema,
  source: z.enum(WINDOW_SOURCES),
  /** Run of the session that the window was taken over from. */
  run_id: z.string().min(1).optional(),
});
export type QueryWindow = z.infer<typeof windowSchema>;

/** What a follow-up asks for. */
const FOLLOW_UP_ASKS = ['lines', 'changes', 'why_not'] as const;

/** Longest name that a follow-up may ask about. */
export const MAX_SUBJECT_LENGTH = 100;

const subjectSchema = z.string().min(1).max(MAX_SUBJECT_LENGTH);

/**
 * The question of a run with everything that must not move between a first attempt and its retry: the pinned clock, the
 * window (`from` inclusive, `to` exclusive), the baseline or null when there is none, the zone and the locale; and for a
 * follow-up what it narrows or asks for.
 * It refuses anything that is not plain JSON.
 */
export const diagnosisQuerySchema = z.strictObject({
  schema: z.literal('diagnosis_query_v1'),
  question: z.string().min(1),
  now: instantSchema,
  window: windowSchema,
  baseline: windowSchema.nullable(),
  time_zone: z.string().min(1),
  locale: z.string().min(1),
  /** The only part of the system to look at, as the asker wrote it; `service` where that is the name of one. */
  scope: z.strictObject({ text: subjectSchema, service: z.string().min(1).optional() }).optional(),
  /** What a follow-up wants to be told beside the cause; `subject` as the asker wrote it; `before`: before the window only. */
  focus: z
    .strictObject({ ask: z.enum(FOLLOW_UP_ASKS), subject: subjectSchema.optional(), before: z.literal(true).optional() })
    .optional(),
  /** The alert that the question came with. */
  alert: z
    .strictObject({
      starts_at: instantSchema,
      ends_at: instantSchema.nullable(),
      labels: z.record(z.string(), z.string()),
      annotations: z.record(z.string(), z.string()),
    })
    .optional(),
});
export type DiagnosisQuery = z.infer<typeof diagnosisQuerySchema>;
export type QueryFocus = NonNullable<DiagnosisQuery['focus']>;
export type QueryAlert = NonNullable<DiagnosisQuery['alert']>;

/** PASS answers of the session's earlier runs, newest last, each with its run; read by the planner alone. */
export const sessionContextSchema = z.strictObject({
  earlier_answers: z.array(z.strictObject({ run_id: z.string(), question: z.string(), answer: z.string() })),
});
export type SessionContext = z.infer<typeof sessionContextSchema>;
