import { z } from 'zod';
import { DiagnosisError } from '../errors/diagnosis-error';
import { globProblem } from './file-glob';
import { LINE_SHAPE_NAMES, namedGroups } from './line-shapes';
import { LEVEL_SCALES } from './log-level';
import { TABLE_FORMATS } from './table-format';

const OFFSET = /^[+-](?:0\d|1[0-4]):[0-5]\d$/;

/** Whether a zone is `UTC`, an offset such as `+08:00`, or a zone name of the IANA database. */
export function isZone(zone: string): boolean {
  if (zone === 'UTC' || OFFSET.test(zone)) return true;
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const zoneSchema = z.string().refine(isZone, 'is no UTC, offset like +08:00, or IANA zone name');
const columnSchema = z.string().min(1).max(200);
const filesSchema = z
  .array(
    z
      .string()
      .min(1)
      .refine((pattern) => !/^(?:[/\\]|[A-Za-z]:)/.test(pattern) && !pattern.split(/[/\\]/).includes('..'), {
        message: 'must be relative to the folder of the mapping file and stay inside it',
      })
      .superRefine((pattern, context) => {
        const problem = globProblem(pattern);
        if (problem !== null) context.addIssue({ code: 'custom', message: problem });
      }),
  )
  .min(1);

const timeRuleSchema = z.strictObject({
  /** `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`, or strptime directives such as `%d/%b/%Y:%H:%M:%S %z`; without it ISO 8601 and epochs are told apart by their form. */
  format: z.string().min(1).max(100).optional(),
  /** Zone of times that name none. @default 'UTC' */
  zone: zoneSchema.default('UTC'),
  /** For times that name no year: the latest instant that they may mean. Without it, the file's last change. */
  not_after: z.iso.datetime({ offset: true }).optional(),
});
export type TimeRule = z.infer<typeof timeRuleSchema>;

const serviceSchema = z.union([
  columnSchema,
  z.strictObject({ column: columnSchema, strip_suffix_parts: z.number().int().min(0).max(5).default(0) }),
  z.strictObject({ constant: z.string().min(1).max(200) }),
]);

/** Where the name of a service stands: a column, a column with parts of a pod's name at its end, or nowhere. */
export type ServiceRule = z.infer<typeof serviceSchema>;

/** What makes an error of a line whose level says less. */
const raisingShape = {
  /** Column of an HTTP status: 5xx is an error, 4xx a warning where there is no level. */
  status: columnSchema.optional(),
  /** Column of a stack trace: a line that has one is an error. */
  failure: columnSchema.optional(),
};

const tabularSchema = z.strictObject({
  files: filesSchema,
  format: z.enum(TABLE_FORMATS),
  /** One character; CSV only. Without it, the header tells. */
  delimiter: z.string().length(1).optional(),
  time: timeRuleSchema.extend({ column: columnSchema }),
  message: columnSchema,
  /** A column, one whose numbers are of a scale, or a regular expression (RE2) over the message whose first group is the level. */
  level: z
    .union([
      columnSchema,
      z.strictObject({ column: columnSchema, scale: z.enum(LEVEL_SCALES) }),
      z.strictObject({ pattern: z.string().min(1).max(500) }),
    ])
    .optional(),
  ...raisingShape,
  /** Without it, the service is the file's name without its endings. */
  service: serviceSchema.optional(),
  trace: columnSchema.optional(),
  span: columnSchema.optional(),
  instance: columnSchema.optional(),
  /** Member of the message, when that is a JSON object around the line. */
  unwrap: z.string().min(1).max(100).optional(),
  /** Members of a JSON line that stands inside the message; where they are, they count more than the record's own. */
  inner: z
    .strictObject({
      message: columnSchema,
      level: columnSchema.optional(),
      ...raisingShape,
      service: columnSchema.optional(),
      trace: columnSchema.optional(),
      span: columnSchema.optional(),
    })
    .optional(),
  /** JSON lines only: each line of a stack trace has a record of its own and joins the one before. */
  join_lines: z.boolean().optional(),
  /** Zone of clock times inside the message. */
  text_zone: zoneSchema.optional(),
});
export type TabularLogs = z.infer<typeof tabularSchema>;

const textSchema = z.strictObject({
  files: filesSchema,
  format: z.literal('text'),
  /** A known line shape, or a regular expression (RE2) with named groups `time`, and optionally `level`, `service`, `message`, `trace`, `span`. */
  text_pattern: z
    .string()
    .min(1)
    .max(1000)
    .refine((pattern) => (LINE_SHAPE_NAMES as readonly string[]).includes(pattern) || namedGroups(pattern).has('time'), {
      message: `must be one of ${LINE_SHAPE_NAMES.join(', ')} or a regular expression with a group named time`,
    }),
  time: timeRuleSchema.prefault({}),
  service: z.strictObject({ constant: z.string().min(1).max(200) }).optional(),
  text_zone: zoneSchema.optional(),
});
export type TextLogs = z.infer<typeof textSchema>;

const documentLogsSchema = z.strictObject({
  files: filesSchema,
  /** Export requests of OpenTelemetry as JSON, or `journalctl -o export`: what stands where is known. */
  format: z.enum(['otlp', 'journal_export']),
  text_zone: zoneSchema.optional(),
});
export type DocumentLogs = z.infer<typeof documentLogsSchema>;
export type TableLogs = TabularLogs | TextLogs;

const changesSchema = z.strictObject({
  files: filesSchema,
  format: z.enum(TABLE_FORMATS).default('jsonl'),
  delimiter: z.string().length(1).optional(),
  time: timeRuleSchema.extend({ column: columnSchema }),
  service: columnSchema,
  kind: columnSchema,
  text: columnSchema,
});
export type ChangeRecords = z.infer<typeof changesSchema>;

/** An empty name is the column without one, as an unnamed index is written. */
const timeColumnSchema = timeRuleSchema.extend({ column: z.string().max(200) });
const nameSchema = z.union([columnSchema, z.strictObject({ constant: z.string().min(1).max(200) })]);
const tableShape = {
  files: filesSchema,
  format: z.enum(TABLE_FORMATS).default('csv'),
  /** One character; CSV only. Without it, the header tells. */
  delimiter: z.string().length(1).optional(),
};

function isColumnPattern(pattern: string): boolean {
  const groups = namedGroups(pattern);
  return groups.has('service') && groups.has('metric');
}

const longMetricsSchema = z.strictObject({
  ...tableShape,
  /** A row a value. */
  layout: z.literal('long'),
  time: timeColumnSchema,
  /** Without it, the service is the file's name without its endings. */
  service: serviceSchema.optional(),
  metric: nameSchema,
  statistic: nameSchema.optional(),
  /** Column that names the unit. */
  unit: columnSchema.optional(),
  value: columnSchema,
});
export type LongMetrics = z.infer<typeof longMetricsSchema>;

const wideMetricsSchema = z.strictObject({
  ...tableShape,
  format: z.enum(['csv', 'parquet']).default('csv'),
  /** A column a metric. */
  layout: z.literal('wide'),
  time: timeColumnSchema,
  service: serviceSchema.optional(),
  statistic: z.strictObject({ constant: z.string().min(1).max(200) }).optional(),
  /** For columns named after a service and a metric: a regular expression with groups named `service` and `metric`. */
  column_pattern: z
    .string()
    .min(1)
    .max(200)
    .refine(isColumnPattern, 'must be a regular expression with groups named service and metric')
    .optional(),
  /** Columns that are no metrics; those without any number are left out by themselves. */
  ignore: z.array(columnSchema).default([]),
});
export type WideMetrics = z.infer<typeof wideMetricsSchema>;

/** What a row of a header with several rows says of its columns. */
export const HEADER_ROWS = ['service', 'metric', 'statistic', 'unit', 'ignore'] as const;

const headedMetricsSchema = z.strictObject({
  ...tableShape,
  format: z.literal('csv').default('csv'),
  /** A column a series, named by several header rows; the first column is the time. */
  layout: z.literal('headers'),
  header_rows: z
    .array(z.enum(HEADER_ROWS))
    .min(1)
    .max(10)
    .refine((rows) => rows.includes('metric'), 'one header row must name the metric'),
  time: timeRuleSchema.prefault({}),
  /** For files whose header names no service. */
  service: z.strictObject({ constant: z.string().min(1).max(200) }).optional(),
});
export type HeadedMetrics = z.infer<typeof headedMetricsSchema>;

const documentMetricsSchema = z.strictObject({
  files: filesSchema,
  layout: z.undefined().optional(),
  /** Export requests of OpenTelemetry as JSON, or answers of Prometheus' query API. */
  format: z.enum(['otlp', 'prometheus']),
});
export type DocumentMetrics = z.infer<typeof documentMetricsSchema>;

/** Units of durations. */
export const DURATION_UNITS = ['ns', 'us', 'ms', 's'] as const;

const tableSpansSchema = z
  .strictObject({
    ...tableShape,
    trace: columnSchema,
    span: columnSchema,
    /** Without it, a span hangs under the one that encloses it. */
    parent: columnSchema.optional(),
    service: serviceSchema,
    operation: columnSchema.optional(),
    start: timeColumnSchema,
    end: timeColumnSchema.optional(),
    duration: z.strictObject({ column: columnSchema, unit: z.enum(DURATION_UNITS) }).optional(),
    /** Column of the status: `ERROR`, `STATUS_CODE_ERROR`, `2`, `true`, `failed` and 5xx mark an error span. */
    status: columnSchema.optional(),
    /** Column of the kind: the time of a `SERVER` or `CONSUMER` span is never that of a call. */
    kind: columnSchema.optional(),
  })
  .refine((entry) => (entry.end === undefined) !== (entry.duration === undefined), 'needs either end or duration');
export type TableSpans = z.infer<typeof tableSpansSchema>;

const documentSpansSchema = z.strictObject({
  files: filesSchema,
  /** Export requests of OpenTelemetry as JSON, or what Jaeger's query API answers. */
  format: z.enum(['otlp', 'jaeger']),
});
export type DocumentSpans = z.infer<typeof documentSpansSchema>;

const graphSchema = z.discriminatedUnion('layout', [
  z.strictObject({
    ...tableShape,
    /** A row a call. */
    layout: z.literal('edges'),
    caller: columnSchema,
    callee: columnSchema,
  }),
  z.strictObject({
    ...tableShape,
    format: z.literal('csv').default('csv'),
    /** Callers in the first column, callees in the first row, anything but 0 and nothing for a call. */
    layout: z.literal('matrix'),
  }),
]);
export type GraphRecords = z.infer<typeof graphSchema>;

const mappingSchema = z.strictObject({
  schema: z.literal('telemetry_mapping_v1'),
  logs: z.array(z.discriminatedUnion('format', [tabularSchema, textSchema, documentLogsSchema])).default([]),
  metrics: z
    .array(z.discriminatedUnion('layout', [longMetricsSchema, wideMetricsSchema, headedMetricsSchema, documentMetricsSchema]))
    .default([]),
  spans: z.array(z.discriminatedUnion('format', [tableSpansSchema, documentSpansSchema])).default([]),
  graph: z.array(graphSchema).default([]),
  changes: z.array(changesSchema).default([]),
});

/** What a mapping file says: which files hold what, and which columns mean what. */
export type TelemetryMapping = z.infer<typeof mappingSchema>;
export type LogsMapping = TelemetryMapping['logs'][number];
export type MetricsMapping = TelemetryMapping['metrics'][number];
export type SpanRecords = TelemetryMapping['spans'][number];

/** Whether an entry names a format in which everything has its place. */
export function isDocumentLogs(entry: LogsMapping): entry is DocumentLogs {
  return entry.format === 'otlp' || entry.format === 'journal_export';
}

/** The same of spans. */
export function isDocumentSpans(entry: SpanRecords): entry is DocumentSpans {
  return entry.format === 'otlp' || entry.format === 'jaeger';
}

/**
 * Parses a mapping file strictly: unknown members, unknown formats and zones, and files outside its folder are refused with
 * MAPPING_INVALID that names each problem. Whether the columns exist is checked against the files, when they are opened.
 */
export function parseTelemetryMapping(text: string, name: string): TelemetryMapping {
  let raw: unknown;
  try {
    raw = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new DiagnosisError(
      'MAPPING_INVALID',
      `The mapping file ${name} is no valid JSON; it must be one telemetry_mapping_v1 object.`,
    );
  }
  const parsed = mappingSchema.safeParse(raw);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'mapping'}: ${issue.message}`);
    throw new DiagnosisError('MAPPING_INVALID', `The mapping file ${name} is not valid: ${problems.join('; ')}.`);
  }
  const { logs, metrics, spans, graph, changes } = parsed.data;
  if ([logs, metrics, spans, graph, changes].every((entries) => entries.length === 0)) {
    throw new DiagnosisError(
      'MAPPING_INVALID',
      `The mapping file ${name} names no files; give at least one entry under logs, metrics, spans, graph or changes.`,
    );
  }
  return parsed.data;
}
