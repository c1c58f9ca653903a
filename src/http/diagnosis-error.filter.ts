import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { DiagnosisError } from '../errors/diagnosis-error';
import { PROBLEM_MEDIA_TYPE, problemOf } from './problem-document';

/** Seconds after which a refused caller may try again. */
const RETRY_AFTER_S = 5;

/**
 * Maps whatever is thrown to one problem document. It refuses to write after the response has begun, and to log or show the
 * text of an error that is not its own.
 */
@Catch()
export class DiagnosisErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(DiagnosisErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const problem = problemOf(thrown);
    if (problem.status >= 500) {
      this.logger.error({ msg: 'request failed', code: problem.code, thrown: nameOf(thrown), frames: framesOf(thrown) });
    }
    const response = host.switchToHttp().getResponse<Response>();
    if (response.headersSent) {
      response.end();
      return;
    }
    if (problem.code === 'OVERLOADED') response.setHeader('retry-after', String(RETRY_AFTER_S));
    response.status(problem.status).type(PROBLEM_MEDIA_TYPE).send(JSON.stringify(problem));
  }
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.constructor.name : typeof thrown;
}

// The first lines of a stack are the message, which may hold telemetry or a secret; the frames do not.
function framesOf(thrown: unknown): string[] {
  if (!(thrown instanceof Error) || thrown instanceof HttpException || DiagnosisError.is(thrown)) return [];
  return (thrown.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at .+:\d+:\d+\)?$/.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
}
