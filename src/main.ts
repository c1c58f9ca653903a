import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Logger } from 'nestjs-pino';
import { AppModule } from './app.module';
import { DiagnosisError } from './errors/diagnosis-error';
import { publishOpenApi } from './http/openapi';
import { serviceSettings, type ServiceSettings } from './service-settings';

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
  app.useLogger(logger);
  app.disable('x-powered-by');
  app.useBodyParser('json', { limit: BODY_LIMIT });
  app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });
  await publishOpenApi(app).catch((error: unknown) => {
    if (!DiagnosisError.is(error)) throw error;
    logger.warn(error.message);
  });
  return app;
}

async function start(): Promise<void> {
  const app = await configureService(
    await NestFactory.create<NestExpressApplication>(AppModule, { bodyParser: false, bufferLogs: true, abortOnError: false }),
  );
  const { port } = app.get<ServiceSettings>(serviceSettings.KEY);
  await app.listen(port, HOST);
  process.stdout.write(`nestjs-diagnosis listens on ${await app.getUrl()} (API description: /docs)\n`);
}

if (require.main === module) {
  start().catch((error: unknown) => {
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
