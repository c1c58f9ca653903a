import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Logger } from 'nestjs-pino';
import { AppModule } from './app.module';
import { DiagnosisError } from './errors/diagnosis-error';
import { publishOpenApi } from './http/openapi';
import { withQuietStart } from './request-logging';
import { readServiceSettings, type ServiceSettings } from './service-settings';

/** The service is reached from its own machine alone; whoever opens it to a network puts an authenticating proxy before it. */
const HOST = '127.0.0.1';
/** Largest body, far above the longest message and far below what could hurt. */
const BODY_LIMIT = '64kb';

/**
 * Makes an application the service, without listening yet: body limit, log, `/docs`, orderly end on SIGTERM and SIGINT.
 * The application is created with `bodyParser: false`.
 */
export async function configureService(app: NestExpressApplication): Promise<NestExpressApplication> {
  const logger = app.get(Logger);
  app.useLogger(withQuietStart(logger));
  app.disable('x-powered-by');
  app.useBodyParser('json', { limit: BODY_LIMIT });
  app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });
  await publishOpenApi(app).catch((error: unknown) => {
    if (!DiagnosisError.is(error)) throw error;
    logger.warn(error.message);
  });
  return app;
}

/** What whoever starts the service should know before the first question is refused; null when there is telemetry to ask. */
export function telemetryGap({ options }: ServiceSettings): string | null {
  const path = options.telemetry?.path ?? null;
  if (path === null) return 'DIAGNOSIS_TELEMETRY is not set: questions are refused until it names a folder of log files.';
  return existsSync(path)
    ? null
    : `DIAGNOSIS_TELEMETRY: there is nothing at ${resolve(path)}; questions are refused until there is.`;
}

/**
 * Starts the service by the environment and answers it listening.
 * @throws DiagnosisError OPTIONS_INVALID, before anything of Nest is built or logged
 */
export async function startService(): Promise<NestExpressApplication> {
  const settings = readServiceSettings(process.env);
  // Without a log until ours is in place: a failed start is told once, by `startFailure`.
  const app = await configureService(
    await NestFactory.create<NestExpressApplication>(AppModule, {
      bodyParser: false,
      logger: false,
      abortOnError: false,
      // A client that holds an idle connection must not hold the process; streams have had their last event by then.
      forceCloseConnections: true,
    }),
  );
  const gap = telemetryGap(settings);
  if (gap !== null) app.get(Logger).warn(gap);
  await app.listen(settings.port, HOST);
  process.stdout.write(`nestjs-diagnosis listens on ${await app.getUrl()} (API description: /docs)\n`);
  return app;
}

if (require.main === module) {
  startService().catch((error: unknown) => {
    process.stderr.write(`${startFailure(error)}\n`);
    process.exitCode = 1;
  });
}

function startFailure(error: unknown): string {
  if (DiagnosisError.is(error)) return `${error.code}: ${error.message}`;
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  if (code === 'EADDRINUSE') return 'PORT: something else listens on this port already; set PORT to another one.';
  if (code === 'EACCES') return 'PORT: this port needs rights that the process does not have; set PORT to one from 1024 on.';
  return `INTERNAL: the service did not start (${error instanceof Error ? error.constructor.name : typeof error}).`;
}
