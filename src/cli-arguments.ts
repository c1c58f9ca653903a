import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { ChatRequest } from './chat/chat-request';

/** A command line that was not understood; the message says what is wrong with which argument. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What `ask` is asked to do. */
export interface AskArguments {
  readonly request: ChatRequest;
  /** Folder or file of telemetry; null for the one of the environment. */
  readonly telemetry: string | null;
  readonly mapping: string | null;
  readonly json: boolean;
}

/** What `inspect` is asked to do. */
export interface InspectArguments {
  readonly telemetry: string | null;
  readonly mapping: string | null;
  readonly json: boolean;
}

/** What `sweep` is asked to do; null leaves a bound to the options, which have none by default. */
export interface SweepArguments {
  readonly dryRun: boolean;
  readonly maxAgeDays: number | null;
  readonly maxRuns: number | null;
  readonly json: boolean;
}

const TEXT = { type: 'string' } as const;
const SWITCH = { type: 'boolean', default: false } as const;
const ASK_FLAGS = {
  from: TEXT,
  to: TEXT,
  'baseline-from': TEXT,
  'baseline-to': TEXT,
  'time-zone': TEXT,
  session: TEXT,
  mapping: TEXT,
  json: SWITCH,
} as const;
const INSPECT_FLAGS = { mapping: TEXT, json: SWITCH } as const;

const SWEEP_FLAGS = { 'dry-run': SWITCH, 'max-age-days': TEXT, 'max-runs': TEXT, json: SWITCH } as const;

type Flags = NonNullable<ParseArgsConfig['options']>;

function parsed<T extends Flags>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(String((error as { readonly message?: unknown }).message).split('\n')[0]);
  }
}

function range(
  from: string | undefined,
  to: string | undefined,
  names: readonly [string, string],
): { from: string; to: string } | undefined {
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined) throw new UsageError(`${names[1]} needs ${names[0]} beside it`);
  if (to === undefined) throw new UsageError(`${names[0]} needs ${names[1]} beside it`);
  return { from, to };
}

/** Reads the arguments of `ask`. @throws UsageError for unknown flags, half a window, and a missing or second question */
export function readAskArguments(args: readonly string[]): AskArguments {
  const { values, positionals } = parsed(args, ASK_FLAGS);
  const [question, telemetry, extra] = positionals;
  if (question === undefined || question.trim() === '') throw new UsageError('ask needs a question');
  if (extra !== undefined) throw new UsageError('ask takes a question and one folder; put the question in quotes');
  const window = range(values.from, values.to, ['--from', '--to']);
  const baseline = range(values['baseline-from'], values['baseline-to'], ['--baseline-from', '--baseline-to']);
  return {
    request: {
      message: question,
      ...(values.session === undefined ? {} : { sessionId: values.session }),
      ...(window === undefined ? {} : { window }),
      ...(baseline === undefined ? {} : { baseline }),
      ...(values['time-zone'] === undefined ? {} : { timeZone: values['time-zone'] }),
    },
    telemetry: telemetry ?? null,
    mapping: values.mapping ?? null,
    json: values.json,
  };
}

/** Reads the arguments of `inspect`. @throws UsageError for unknown flags and more than one folder */
export function readInspectArguments(args: readonly string[]): InspectArguments {
  const { values, positionals } = parsed(args, INSPECT_FLAGS);
  if (positionals.length > 1) throw new UsageError('inspect takes one folder or file');
  return { telemetry: positionals[0] ?? null, mapping: values.mapping ?? null, json: values.json };
}

/** Reads the arguments of `sweep`. @throws UsageError for unknown flags, any place, and bounds that are no number */
export function readSweepArguments(args: readonly string[]): SweepArguments {
  const { values, positionals } = parsed(args, SWEEP_FLAGS);
  if (positionals.length > 0) throw new UsageError('sweep takes flags alone; DATABASE_URL names the database');
  const age = boundOf(
    values['max-age-days'],
    /^\d{1,5}(\.\d{1,6})?$/,
    '--max-age-days needs a number of days above 0, such as 30',
  );
  if (age === 0) throw new UsageError('--max-age-days needs a number of days above 0, such as 30');
  const runs = boundOf(values['max-runs'], /^\d{1,9}$/, '--max-runs needs a whole number of runs, such as 1000');
  return { dryRun: values['dry-run'], maxAgeDays: age, maxRuns: runs, json: values.json };
}

function boundOf(text: string | undefined, form: RegExp, problem: string): number | null {
  if (text === undefined) return null;
  if (!form.test(text)) throw new UsageError(problem);
  return Number(text);
}

/** Refuses any argument. */
export function readNoArguments(args: readonly string[]): null {
  if (args.length > 0) throw new UsageError('migrate takes no arguments');
  return null;
}
