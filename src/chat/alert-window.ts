import { z } from 'zod';
import { instantSchema, type QueryAlert } from '../protocol/diagnosis-query';
import { readMoment, type QuestionTimes, type WindowMs } from './question-window';

/**
 * How long before an alert its window starts, in ms: a rule that averages over five minutes and waits five more before it
 * fires is up to ten minutes late.
 */
const ALERT_LEAD_MS = 600_000;
/** Most of what the telemetry holds before an alert that its window takes; the rest is left to compare with. */
const LEAD_SHARE = 0.5;
const MAX_LABELS = 32;
const MAX_LABEL_NAME = 100;
const MAX_LABEL_TEXT = 1000;

const INSTANT_HINT = 'must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z';
const alertInstantSchema = z
  .string({ error: INSTANT_HINT })
  .refine((text) => instantSchema.safeParse(text).success, INSTANT_HINT);
const LABELS_HINT = `must be at most ${MAX_LABELS} names of at most ${MAX_LABEL_NAME} characters, each with a text of at most ${MAX_LABEL_TEXT}`;
const labelsSchema = z
  .record(z.string().max(MAX_LABEL_NAME), z.string().max(MAX_LABEL_TEXT), { error: LABELS_HINT })
  .refine((labels) => Object.keys(labels).length <= MAX_LABELS, LABELS_HINT);

/**
 * An alert in the shape that Alertmanager sends it. `endsAt` before `startsAt`, as the zero time that it sends while an alert
 * fires, means that it has not ended. `generatorURL` and `fingerprint` are taken so that an alert can be sent as it came, and
 * not used. Unknown fields are refused.
 */
export const alertSchema = z.strictObject(
  {
    startsAt: alertInstantSchema,
    endsAt: alertInstantSchema.optional(),
    status: z.enum(['firing', 'resolved'], { error: 'must be firing or resolved' }).optional(),
    labels: labelsSchema.optional(),
    annotations: labelsSchema.optional(),
    generatorURL: z.string().max(2000).optional(),
    fingerprint: z.string().max(200).optional(),
  },
  { error: 'must be an object { startsAt, endsAt?, status?, labels?, annotations?, generatorURL?, fingerprint? }' },
);
export type Alert = z.infer<typeof alertSchema>;

/** Words that make a message an alert's own text. */
const ALERT_WORDS =
  /\bstartsAt\b|\[(?:FIRING|RESOLVED)\b|\bFIRING\b|\b(?:fired|firing|triggered|active)\s+(?:at|since|on)\b|\b(?:ausgelöst|feuert)\s+(?:um|seit)\b|\bdéclenchée?\s+(?:à|depuis)\s|\bdisparada?\s+(?:a|desde)\s/iu;
/** What stands before the time of an alert's start in its text. */
const START_WORDS =
  /\b(?:startsAt|started at|fired at|fired on|triggered at|active since|firing since|firing at|since|starting at)\b["']?\s*[:=]?\s*["']?/giu;
const JSON_START = /[{[]/;

/** The alert as a run's query holds it; several alerts are one, from the first start to the last end. */
function queryAlert(alerts: readonly Alert[], nowMs: number): QueryAlert | null {
  const [first] = [...alerts].sort((a, b) => Date.parse(a.startsAt) - Date.parse(b.startsAt));
  if (first === undefined) return null;
  const ends = alerts.map((alert) => endOf(alert, nowMs));
  const last = ends.every((end) => end !== null) ? Math.max(...ends) : null;
  return {
    starts_at: new Date(first.startsAt).toISOString(),
    ends_at: last === null ? null : new Date(last).toISOString(),
    labels: first.labels ?? {},
    annotations: first.annotations ?? {},
  };
}

/** When an alert ended, in ms; null while it fires. An end in the future is when a silent one would be given up. */
function endOf({ startsAt, endsAt, status }: Alert, nowMs: number): number | null {
  if (endsAt === undefined || status === 'firing') return null;
  const end = Date.parse(endsAt);
  return end > Date.parse(startsAt) && end <= nowMs ? end : null;
}

/**
 * The alert that a question came with: the request's own, else one that was pasted into the message as Alertmanager's JSON
 * (one, a list, a webhook's body), else the start that an alert's text names ("[FIRING:1] … since 14:05", "fired at 14:05").
 * Null when there is none. @throws DiagnosisError REQUEST_INVALID for times in such a text that cannot be read with certainty
 */
export function readAlert(alert: Alert | undefined, message: string, times: QuestionTimes): QueryAlert | null {
  if (alert !== undefined) return queryAlert([alert], times.nowMs);
  if (!ALERT_WORDS.test(message)) return null;
  const pasted = queryAlert(pastedAlerts(message), times.nowMs);
  if (pasted !== null) return pasted;
  const start = readMoment(message.replaceAll(START_WORDS, 'at '), times);
  if (start === null) return null;
  return { starts_at: new Date(start).toISOString(), ends_at: null, labels: {}, annotations: {} };
}

function pastedAlerts(message: string): Alert[] {
  const from = message.search(JSON_START);
  const to = Math.max(message.lastIndexOf('}'), message.lastIndexOf(']'));
  if (from < 0 || to <= from) return [];
  let value: unknown;
  try {
    value = JSON.parse(message.slice(from, to + 1));
  } catch {
    return [];
  }
  const inside = (value as { readonly alerts?: unknown } | null)?.alerts ?? value;
  return (Array.isArray(inside) ? inside : [inside]).flatMap((one: unknown) => {
    const known = z.object(alertSchema.shape).safeParse(one);
    return known.success ? [known.data] : [];
  });
}

/**
 * The window of an alert: from ten minutes before it started, or half of what the telemetry holds before it where that is
 * less, to its end, else the end of the telemetry.
 * @param covered what the telemetry holds; null when it is unknown
 */
export function alertWindow(alert: QueryAlert, covered: WindowMs | null, nowMs: number): WindowMs {
  const start = Date.parse(alert.starts_at);
  const before = covered === null || covered.from >= start ? Infinity : (start - covered.from) * LEAD_SHARE;
  const from = start - Math.floor(Math.min(ALERT_LEAD_MS, before));
  const end = alert.ends_at === null ? (covered?.to ?? nowMs) : Date.parse(alert.ends_at);
  return { from, to: end > start ? end : Math.max(nowMs, start + 60_000) };
}
