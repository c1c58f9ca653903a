import { Injectable, UnsupportedMediaTypeException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { DiagnosisError } from '../errors/diagnosis-error';

const JSON_MEDIA_TYPE = /^\s*application\/json\s*(?:;|$)/i;
/** Far deeper than any request is; what validates a body walks it by recursion. */
const MAX_BODY_DEPTH = 16;

/**
 * Lets a request through whose body is declared as JSON and is not nested beyond reason. It refuses every other one before
 * the body is looked at: 415, or REQUEST_INVALID.
 */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (!JSON_MEDIA_TYPE.test(request.headers['content-type'] ?? '')) throw new UnsupportedMediaTypeException();
    if (isDeeperThan(request.body, MAX_BODY_DEPTH)) {
      throw new DiagnosisError(
        'REQUEST_INVALID',
        `The body is nested too deeply; at most ${MAX_BODY_DEPTH} levels are accepted.`,
        {
          field: 'request',
        },
      );
    }
    return true;
  }
}

function isDeeperThan(body: unknown, limit: number): boolean {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value as Record<string, unknown>) : [],
    );
  }
  return false;
}
