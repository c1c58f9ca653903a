import { z } from 'zod';
import { DiagnosisError } from '../errors/diagnosis-error';

const telemetryOptionsSchema = z.strictObject({
  /** Folder of telemetry files, or a mapping file that names them. @default null (no telemetry: questions answer "could not look") */
  path: z.string().min(1).nullable().default(null),
  /** Mapping file for the folder at `path`, in place of its own `mapping.json`. @default null */
  mapping: z.string().min(1).nullable().default(null),
  /** Most memory that the telemetry engine takes, in MiB. @default 512 */
  memoryLimitMb: z.number().int().min(64).default(512),
  /** Most disk that the telemetry engine spills to, in MiB. @default 1024 */
  spillLimitMb: z.number().int().min(0).default(1024),
  /** Queries at once; more than two starve the thread pool. @default 2 */
  maxConcurrentQueries: z.number().int().min(1).max(2).default(2),
});

const databaseOptionsSchema = z.strictObject({
  /** `sqlite:<file>`, `sqlite::memory:`, or `mysql|mariadb://user:password@host:3306/name`. @default 'sqlite:diagnosis.sqlite' */
  url: z.string().min(1).default('sqlite:diagnosis.sqlite'),
  /** Prefix of every table. @default 'diagnosis_' */
  tablePrefix: z
    .string()
    .regex(/^[a-z0-9_]{0,20}$/)
    .default('diagnosis_'),
  /** Table in which applied migrations are noted. @default 'diagnosis_migrations' */
  migrationsTable: z
    .string()
    .regex(/^[a-z0-9_]{1,40}$/)
    .default('diagnosis_migrations'),
  /** Whether start-up applies pending migrations. @default true */
  runMigrations: z.boolean().default(true),
  /** Connections to a database server at once; SQLite has one. @default 10 */
  poolSize: z.number().int().min(1).max(200).default(10),
});

const runOptionsSchema = z.strictObject({
  /** Longest that a run may work before it ends in a labelled answer, in ms. @default 120000 */
  deadlineMs: z.number().int().min(100).default(120_000),
  /** How long a run is protected against being taken for dead without a sign of life, in ms. @default 30000 */
  leaseMs: z.number().int().min(1_000).default(30_000),
  /** Runs at once; one more is refused with OVERLOADED. @default 8 */
  maxConcurrent: z.number().int().min(1).default(8),
  /** Longest message, in bytes of UTF-8. @default 8192 */
  maxMessageBytes: z.number().int().min(1).default(8_192),
});

const toolOptionsSchema = z.strictObject({
  /** Names of the tools that runs may call; null allows every registered tool. @default null */
  allow: z.array(z.string().min(1)).nullable().default(null),
  /** Longest that one call may take, in ms. @default 30000 */
  timeoutMs: z.number().int().min(10).default(30_000),
  /** Calls a run may make. @default 40 */
  maxCallsPerRun: z.number().int().min(1).default(40),
  /** Largest output that is stored, in bytes of UTF-8; a larger one is an ERROR. @default 16777216 */
  maxOutputBytes: z
    .number()
    .int()
    .min(1_024)
    .default(16 * 1024 * 1024),
  /** Largest view of an output that an agent gets, in bytes. @default 65536 */
  maxViewBytes: z
    .number()
    .int()
    .min(256)
    .default(64 * 1024),
});

const httpOptionsSchema = z.strictObject({
  /** Whether the module brings its controllers. @default true */
  controllers: z.boolean().default(true),
});

const checkpointOptionsSchema = z.strictObject({
  /** Whether a run leaves checkpoints of its state while it works; they go when it ends, whatever its end. @default false */
  keep: z.boolean().default(false),
  /** `async`: a checkpoint is written while the next node works; `sync`: before it. @default 'async' */
  durability: z.enum(['async', 'sync']).default('async'),
});

const contentOptionsSchema = z.strictObject({
  /** Whether question, answer, evidence, tool arguments and outputs outlive a run; without, hashes, sizes, times and outcomes do. @default true */
  store: z.boolean().default(true),
});

const retentionOptionsSchema = z.strictObject({
  /** Days after its question came in that an ended run is erased. @default null (never) */
  maxAgeDays: z.number().positive().max(36_500).nullable().default(null),
  /** Runs that are kept, the newest; older ones are erased once they have ended. @default null (all) */
  maxRuns: z.number().int().min(0).nullable().default(null),
  /** Minutes between two sweeps of a process; there are none where nothing above is bounded and `checkpoints.keep` is off. @default 60 */
  everyMinutes: z.number().positive().max(10_080).default(60),
  /** Runs that are looked up at a time to be erased. @default 200 */
  batch: z.number().int().min(1).max(1_000).default(200),
});

const diagnosisOptionsSchema = z.strictObject({
  telemetry: telemetryOptionsSchema.prefault({}),
  database: databaseOptionsSchema.prefault({}),
  run: runOptionsSchema.prefault({}),
  tools: toolOptionsSchema.prefault({}),
  checkpoints: checkpointOptionsSchema.prefault({}),
  content: contentOptionsSchema.prefault({}),
  retention: retentionOptionsSchema.prefault({}),
  http: httpOptionsSchema.prefault({}),
});

/** What a host may write; everything has a default. */
export type DiagnosisOptionsInput = z.input<typeof diagnosisOptionsSchema>;
/** Options after they were parsed once at boot. */
export type DiagnosisOptions = z.output<typeof diagnosisOptionsSchema>;

/** Token of the parsed options. */
export const DIAGNOSIS_OPTIONS = Symbol('DIAGNOSIS_OPTIONS');

/** Parses options once at boot; refuses unknown names and wrong values with OPTIONS_INVALID that names each of them. */
export function parseDiagnosisOptions(input: DiagnosisOptionsInput): DiagnosisOptions {
  const parsed = diagnosisOptionsSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`);
  throw new DiagnosisError('OPTIONS_INVALID', `The options are not valid: ${problems.join('; ')}.`);
}
