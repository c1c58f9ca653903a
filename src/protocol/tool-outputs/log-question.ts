import { z } from 'zod';
import { instantSchema } from '../diagnosis-query';

/** Most rows that a log tool answers with. */
export const MAX_LOG_ROWS = 1000;

const rangeSchema = z
  .strictObject({ from: instantSchema, to: instantSchema })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { message: 'from must be before to' });

const questionShape = {
  window: rangeSchema.describe('Incident window: from inclusive, to exclusive, RFC 3339 with a zone'),
  baseline: rangeSchema
    .nullable()
    .describe('Window of normal operation to compare with, apart from the incident window; null for none'),
  service: z.string().min(1).max(200).nullable().describe('Only lines of this service, exactly; null for all'),
  limit: z.number().int().min(1).max(MAX_LOG_ROWS).describe(`Most rows, 1 to ${MAX_LOG_ROWS}; the most telling come first`),
};

const part = z
  .string()
  .min(1)
  .max(100)
  .nullable()
  .optional()
  .describe(
    'Only lines of which the name of the service or the instance holds these words, such as a region, or, where no name does, the line itself; null or left out for all',
  );

interface TwoRanges {
  readonly window: z.infer<typeof rangeSchema>;
  readonly baseline: z.infer<typeof rangeSchema> | null;
}

function areApart({ window, baseline }: TwoRanges): boolean {
  if (baseline === null) return true;
  return Date.parse(baseline.to) <= Date.parse(window.from) || Date.parse(window.to) <= Date.parse(baseline.from);
}

const OVERLAP = { message: 'the baseline overlaps the window; a window is never its own baseline', path: ['baseline'] };

/** Arguments of `log_patterns`. */
export const logPatternsArgumentsSchema = z
  .strictObject({
    ...questionShape,
    contains: z
      .string()
      .min(1)
      .max(500)
      .nullable()
      .describe('Only lines that hold this plain text, upper and lower case alike; null for all'),
    part,
  })
  .refine(areApart, OVERLAP);

/** Arguments of `error_share`. */
export const errorShareArgumentsSchema = z.strictObject({ ...questionShape, part }).refine(areApart, OVERLAP);

/** Arguments of `log_sequences`: a comparison needs something to compare with. */
export const logSequencesArgumentsSchema = z
  .strictObject({
    ...questionShape,
    baseline: rangeSchema.describe('Window of normal operation to compare with, apart from the incident window'),
  })
  .refine(areApart, OVERLAP);

/** Most rows of `metric_anomalies`: a service has many series. */
export const MAX_METRIC_ROWS = 5000;
/** Longest time before the window that `changes` looks through: four weeks. */
export const MAX_LOOKBACK_MINUTES = 40_320;

/** Arguments of `span_analysis` and `service_graph`. */
export const spanArgumentsSchema = z
  .strictObject({ ...questionShape, service: questionShape.service.describe('Only this service, exactly; null for all') })
  .refine(areApart, OVERLAP);

/** Arguments of `metric_anomalies`. */
export const metricArgumentsSchema = z
  .strictObject({
    ...questionShape,
    service: questionShape.service.describe('Only series of this service, exactly; null for all'),
    limit: z
      .number()
      .int()
      .min(1)
      .max(MAX_METRIC_ROWS)
      .describe(`Most rows, 1 to ${MAX_METRIC_ROWS}; the most telling come first`),
  })
  .refine(areApart, OVERLAP);

/** Arguments of `changes`. */
export const changesArgumentsSchema = z.strictObject({
  window: questionShape.window,
  lookback_minutes: z
    .number()
    .min(0)
    .max(MAX_LOOKBACK_MINUTES)
    .describe(`Minutes before the window to look through too, 0 to ${MAX_LOOKBACK_MINUTES}`),
  service: questionShape.service.describe('Only changes of this service, exactly; null for all'),
  limit: questionShape.limit.describe(`Most rows, 1 to ${MAX_LOG_ROWS}; the nearest to the start of the window come first`),
});

/** Arguments of `telemetry_overview`. */
export const overviewArgumentsSchema = z.strictObject({
  service: questionShape.service.describe('Only this service, exactly; null for all'),
  limit: questionShape.limit.describe(`Most rows, 1 to ${MAX_LOG_ROWS}; the ones with the most records come first`),
});

/** Most characters that `read_output` answers with at once. */
export const MAX_OUTPUT_CHARACTERS = 20_000;

/** Arguments of `read_output`. */
export const readOutputArgumentsSchema = z.strictObject({
  invocation_id: z.string().min(1).max(100).describe('Short id of an earlier call of this run'),
  path: z
    .string()
    .max(2000)
    .describe('JSON pointer below its data, empty for all of it; #L12-L14 at its end for lines of a text, counted from 1'),
  offset: z.number().int().min(0).describe('Characters of that part to leave out at its start, 0 for none'),
  limit: z.number().int().min(1).max(MAX_OUTPUT_CHARACTERS).describe(`Most characters, 1 to ${MAX_OUTPUT_CHARACTERS}`),
});

/**
 * The filter of a log question as `coverage.filter` states it and as the scope of an absence claim must repeat it: its parts
 * in the order kind, service, part, contains, joined by `; `, texts as given. Null when everything was looked through.
 */
export function logFilterText(parts: {
  readonly errorsOnly: boolean;
  readonly service: string | null;
  readonly part?: string | null | undefined;
  readonly contains: string | null;
}): string | null {
  const stated = [
    parts.errorsOnly ? 'error lines' : null,
    parts.service === null ? null : `service=${parts.service}`,
    (parts.part ?? null) === null ? null : `part=${parts.part}`,
    parts.contains === null ? null : `contains=${parts.contains}`,
  ].filter((part) => part !== null);
  return stated.length === 0 ? null : stated.join('; ');
}
