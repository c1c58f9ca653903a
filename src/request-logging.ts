import type { LoggerService } from '@nestjs/common';
import type { Params } from 'nestjs-pino';
import type { LogLevel } from './service-settings';

interface LoggedRequest {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly url?: string;
}

/**
 * How the service logs: one JSON line a request with method, path and status. It refuses to log bodies, headers, query
 * strings, and the text of errors, because each of them may hold a credential or telemetry.
 */
export function requestLogging(level: LogLevel): Params {
  return {
    pinoHttp: {
      level,
      serializers: {
        req: ({ id, method, url }: LoggedRequest) => ({ id, method, path: url?.replace(/[?#].*$/s, '') }),
        res: ({ statusCode }: { readonly statusCode?: unknown }) => ({ statusCode }),
        err: (error: { readonly type?: unknown; readonly code?: unknown }) => ({ type: error.type, code: error.code }),
      },
      customErrorMessage: () => 'request failed',
      redact: ['req.headers', 'res.headers', 'req.body', 'req.query', 'req.params'],
    },
  };
}

/** Under these names Nest tells of modules, routes and its own start. */
const START_UP = ['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication'];

/** A log that keeps what Nest tells of its own start for those who ask for `debug`; its warnings and errors stay. */
export function withQuietStart(logger: LoggerService): LoggerService {
  return {
    log: (message: unknown, ...rest: unknown[]) => {
      if (START_UP.includes(String(rest.at(-1)))) logger.debug?.(message, ...rest);
      else logger.log(message, ...rest);
    },
    error: (message: unknown, ...rest: unknown[]) => void logger.error(message, ...rest),
    warn: (message: unknown, ...rest: unknown[]) => void logger.warn(message, ...rest),
    debug: (message: unknown, ...rest: unknown[]) => void logger.debug?.(message, ...rest),
    verbose: (message: unknown, ...rest: unknown[]) => void logger.verbose?.(message, ...rest),
    fatal: (message: unknown, ...rest: unknown[]) => void logger.fatal?.(message, ...rest),
  };
}
