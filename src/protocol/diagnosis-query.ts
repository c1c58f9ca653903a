import { z } from 'zod';

/** An instant in RFC 3339 with an explicit zone, e.g. `2026-05-04T14:05:00.000Z`. */
export const instantSchema = z.iso.datetime({ offset: true });

/**
 * Where a window came from. `preceding` is a baseline directly before the incident window: of the same length, or all that
 * comes before when nobody named a window. `default` is the last hour, where there is nothing to take a window from.
 */
export const WINDOW_SOURCES = ['request', 'question', 'telemetry', 'preceding', 'default'] as const;

const windowSchema = z.strictObject({ from: instantSchema, to: instantSchema, source: z.enum(WINDOW_SOURCES) });
export type QueryWindow = z.infer<typeof windowSchema>;

/**
 * The question of a run with everything that must not move between a first attempt and its retry: the pinned clock, the
 * window (`from` inclusive, `to` exclusive), the baseline or null when there is none, the zone and the locale.
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
});
export type DiagnosisQuery = z.infer<typeof diagnosisQuerySchema>;

/** PASS answers of the session's earlier runs, newest last, each with its run; read by the planner alone. */
export const sessionContextSchema = z.strictObject({
  earlier_answers: z.array(z.strictObject({ run_id: z.string(), question: z.string(), answer: z.string() })),
});
export type SessionContext = z.infer<typeof sessionContextSchema>;
