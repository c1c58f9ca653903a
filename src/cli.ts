#!/usr/bin/env node
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { ChatService, type ChatProgress } from './chat/chat.service';
import { DiagnosisModule } from './diagnosis.module';
import { DiagnosisError } from './errors/diagnosis-error';
import { parseDiagnosisOptions, type DiagnosisOptionsInput } from './options/diagnosis-options';
import { TelemetrySource } from './ports/telemetry-source.port';
import { openDiagnosisDataSource } from './runs/diagnosis-data-source';
import { readServiceSettings } from './service-settings';

const USAGE = `Usage:
  nestjs-diagnosis migrate                     bring the database at DATABASE_URL up to date
  nestjs-diagnosis ask <question> [telemetry]  answer a question over a folder or mapping file (default DIAGNOSIS_TELEMETRY)
  nestjs-diagnosis inspect <telemetry>         show what is read of a folder or mapping file
  nestjs-diagnosis --help | --version

Settings come from the environment: DATABASE_URL (default sqlite:diagnosis.sqlite) and DIAGNOSIS_TELEMETRY.
The answer goes to stdout, progress and errors to stderr. Exit code: 0 done, 1 failed, 2 not understood.
`;

type Command = (args: readonly string[], options: DiagnosisOptionsInput) => Promise<void>;

const COMMANDS: Readonly<Record<string, { readonly arity: readonly [number, number]; readonly run: Command }>> = {
  migrate: {
    arity: [0, 0],
    run: async (_args, options) => {
      const parsed = parseDiagnosisOptions({ ...options, database: { ...options.database, runMigrations: true } });
      await (await openDiagnosisDataSource(parsed)).destroy();
      print('The database is up to date.');
    },
  },
  ask: {
    arity: [1, 2],
    run: ([question = '', folder], options) =>
      withContext({ ...options, ...(folder === undefined ? {} : { telemetry: { path: folder } }) }, async (context) => {
        const controller = new AbortController();
        process.once('SIGINT', () => controller.abort());
        const { answer, runId } = await context
          .get(ChatService)
          .chat({ message: question }, { signal: controller.signal, onProgress: printProgress });
        print(`${answer}\n\nRun: ${runId}`);
      }),
  },
  inspect: {
    arity: [1, 1],
    run: ([folder = ''], options) =>
      withContext({ ...options, database: { url: 'sqlite::memory:' }, telemetry: { path: folder } }, async (context) => {
        print(JSON.stringify(await context.get(TelemetrySource).inspect(), null, 2));
      }),
  },
};

async function withContext(
  options: DiagnosisOptionsInput,
  work: (context: INestApplicationContext) => Promise<void>,
): Promise<void> {
  const context = await NestFactory.createApplicationContext(DiagnosisModule.forRoot({ ...options, controllers: false }), {
    logger: false,
    abortOnError: false,
  });
  try {
    await work(context);
  } finally {
    await context.close();
  }
}

/** One line on stderr for each node that starts and each tool call that ends, so that the answer alone is on stdout. */
function printProgress(event: ChatProgress): void {
  if (event.type === 'node_started') process.stderr.write(`  ${event.node}\n`);
  if (event.type === 'tool_finished') process.stderr.write(`    ${event.tool_name}: ${event.status}\n`);
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

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs one command and answers the exit code: 0 done, 1 failed with a message on stderr, 2 for a command that is none. */
export async function runCommand(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const [name = '', ...args] = argv;
  if (name === '--help' || name === '-h') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (name === '--version') {
    print(packageVersion());
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined || args.length < command.arity[0] || args.length > command.arity[1]) {
    process.stderr.write(USAGE);
    return 2;
  }
  try {
    await command.run(args, readServiceSettings(environment).options);
    return 0;
  } catch (error) {
    process.stderr.write(DiagnosisError.is(error) ? `${error.code}: ${error.message}\n` : 'INTERNAL: the command failed.\n');
    return 1;
  }
}

if (require.main === module) {
  void runCommand(process.argv.slice(2), process.env).then((code) => {
    process.exitCode = code;
  });
}
