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
