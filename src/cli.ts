#!/usr/bin/env node
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { ChatService } from './chat/chat.service';
import { RetentionService } from './chat/retention.service';
import { readAskArguments, readInspectArguments, readNoArguments, readSweepArguments, UsageError } from './cli-arguments';
import { importNotes, inert, inspectionNotes, note, noteRun, print, sweepLines, sweepNotes } from './cli-output';
import { DiagnosisModule } from './diagnosis.module';
import { DiagnosisError } from './errors/diagnosis-error';
import { parseDiagnosisOptions, type DiagnosisOptionsInput } from './options/diagnosis-options';
import { TelemetrySource } from './ports/telemetry-source.port';
import { CheckpointRepository } from './runs/checkpoint.repository';
import { openDiagnosisDataSource } from './runs/diagnosis-data-source';
import { RunEraserRepository } from './runs/run-eraser.repository';
import { RunRepository } from './runs/run.repository';
import { SystemClock } from './runs/system-clock.service';
import { readServiceSettings } from './service-settings';

const USAGE = `Usage:
  nestjs-diagnosis ask <question> [telemetry] [flags]  answer a question over a folder or file (default DIAGNOSIS_TELEMETRY)
      --from <time> --to <time>                        the window of the incident, ISO 8601 with a zone
      --baseline-from <time> --baseline-to <time>      the time to compare with
      --time-zone <zone>                               zone of clock times in the question (default UTC)
      --session <id>                                   go on with an earlier session
      --mapping <file>                                 a mapping for the folder, such as inspect prints
      --json                                           print the whole result as JSON, causes included
  nestjs-diagnosis inspect [telemetry] [flags]         print what is recognised there as a mapping that can be kept
      --mapping <file>                                 read the folder by this mapping
      --json                                           print every fact as JSON instead
  nestjs-diagnosis sweep [flags]                       erase what somebody asked to erase, and ended runs that are too old or too many
      --max-age-days <days>                            ended runs that came in longer ago go
      --max-runs <number>                              of more runs than these the oldest ended ones go
      --dry-run                                        tell what would go, and change nothing
      --json                                           print the numbers as JSON
  nestjs-diagnosis migrate                             bring the database at DATABASE_URL up to date
  nestjs-diagnosis --help | --version

Settings come from the environment: DATABASE_URL (default sqlite:diagnosis.sqlite), DIAGNOSIS_TELEMETRY and
DIAGNOSIS_MAPPING. The answer goes to stdout, progress and errors to stderr.
Exit code: 0 done, 1 failed, 2 not understood.
`;

/** Signals that end a command in order: what it opened is closed, and its run is marked as cancelled. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

type Command = (args: readonly string[], options: DiagnosisOptionsInput) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  migrate: async (args, options) => {
    readNoArguments(args);
    const parsed = parseDiagnosisOptions({ ...options, database: { ...options.database, runMigrations: true } });
    await (await openDiagnosisDataSource(parsed)).destroy();
    print('The database is up to date.');
  },
  ask: async (args, options) => {
    const { request, telemetry, mapping, json } = readAskArguments(args);
    await withContext(placed(options, telemetry, mapping), async (context, signal) => {
      // Before the run begins, so that a long import does not use up its time.
      await withImportNotes(context.get(TelemetrySource), (source) => source.describe(signal));
      const result = await context.get(ChatService).chat(request, { signal, onProgress: noteRun });
      print(json ? JSON.stringify(result, null, 2) : `${result.answer}\n\nRun: ${result.runId}\nSession: ${result.sessionId}`);
    });
  },
  sweep: async (args, options) => {
    const { dryRun, maxAgeDays, maxRuns, json } = readSweepArguments(args);
    const report = await withRetention(options, (retention, signal) =>
      retention.sweep({
        dryRun,
        signal,
        onProgress: sweepNotes(),
        ...(maxAgeDays === null ? {} : { maxAgeDays }),
        ...(maxRuns === null ? {} : { maxRuns }),
      }),
    );
    print(json ? JSON.stringify(report, null, 2) : sweepLines(report).join('\n'));
  },
  inspect: async (args, options) => {
    const { telemetry, mapping, json } = readInspectArguments(args);
    await withContext(
      { ...placed(options, telemetry, mapping), database: { url: 'sqlite::memory:' } },
      async (context, signal) => {
        const facts = await withImportNotes(context.get(TelemetrySource), (source) => source.inspect(signal));
        if (!json) for (const line of inspectionNotes(facts)) note(line);
        print(JSON.stringify(json ? facts : facts['mapping'], null, 2));
      },
    );
  },
};

function placed(options: DiagnosisOptionsInput, path: string | null, mapping: string | null): DiagnosisOptionsInput {
  const named = {
    ...(path === null ? {} : { path }),
    ...(mapping === null ? {} : { mapping }),
    // A mapping alone says where its files are: beside it.
    ...(path === null && mapping !== null && options.telemetry?.path === undefined ? { path: dirname(mapping) } : {}),
  };
  return { ...options, telemetry: { ...options.telemetry, ...named } };
}

async function withImportNotes<T>(source: TelemetrySource, work: (source: TelemetrySource) => Promise<T>): Promise<T> {
  const stop = source.watchImport(importNotes());
  try {
    return await work(source);
  } finally {
    stop();
  }
}

async function stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  for (const name of STOP_SIGNALS) process.on(name, stop);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of STOP_SIGNALS) process.off(name, stop);
  }
}

async function withContext(
  options: DiagnosisOptionsInput,
  work: (context: INestApplicationContext, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await stoppable(async (signal) => {
    const context = await NestFactory.createApplicationContext(DiagnosisModule.forRoot({ ...options, controllers: false }), {
      logger: false,
      abortOnError: false,
    });
    try {
      await work(context, signal);
    } finally {
      await context.close();
    }
  });
}

/** Without the module, whose start would end dead runs already: a dry run must change nothing. */
async function withRetention<T>(
  options: DiagnosisOptionsInput,
  work: (retention: RetentionService, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return stoppable(async (signal) => {
    const parsed = parseDiagnosisOptions(options);
    const dataSource = await openDiagnosisDataSource(parsed);
    const clock = new SystemClock();
    const checkpoints = new CheckpointRepository(dataSource, clock);
    const eraser = new RunEraserRepository(dataSource, checkpoints);
    try {
      return await work(new RetentionService(new RunRepository(dataSource, parsed), eraser, checkpoints, clock, parsed), signal);
    } finally {
      await dataSource.destroy();
    }
  });
}

/** The version in the package's own manifest, which lies above the sources and, one folder deeper, above the build. */
function packageVersion(): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    try {
      return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string }).version;
    } catch (error) {
      if (folder === dirname(folder)) throw error;
    }
  }
}

/** Runs one command and answers the exit code: 0 done, 1 failed with a message on stderr, 2 for what was not understood. */
export async function runCommand(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const [name = '', ...args] = argv;
  if (name === '--help' || name === '-h' || args.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (name === '--version') {
    print(packageVersion());
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    if (name !== '') note(`There is no command ${JSON.stringify(name)}.\n`);
    note(USAGE);
    return 2;
  }
  try {
    await command(args, readServiceSettings(environment).options);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      note(`${name}: ${inert(error.message).replace(/\. To specify.*$/, '')}.\nnestjs-diagnosis --help shows what can be given.`);
      return 2;
    }
    note(DiagnosisError.is(error) ? `${error.code}: ${inert(error.message)}` : 'INTERNAL: the command failed.');
    return DiagnosisError.is(error, 'REQUEST_INVALID') ? 2 : 1;
  }
}

if (require.main === module) {
  // Who reads may stop reading at any time: the command then ends as it would, and what could not be written is a failure.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') process.exitCode = 1;
    });
  }
  void runCommand(process.argv.slice(2), process.env).then((code) => {
    process.exitCode ||= code;
  });
}
