import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';

/** Checks bodies and queries against their DTOs; unknown fields are refused with REQUEST_INVALID that names each field. */
export function requestValidation(): ValidationPipe {
  return new ValidationPipe({
    whitelist: true,
    forbidNonWhitelisted: true,
    transform: true,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => {
      const problems = errors.flatMap((error) => problemsOf(error, ''));
      return new DiagnosisError('REQUEST_INVALID', `The request is not valid. ${problems.join('; ')}.`, {
        field: errors[0]?.property ?? 'request',
      });
    },
  });
}

function problemsOf(error: ValidationError, parent: string): string[] {
  const path = parent === '' ? error.property : `${parent}.${error.property}`;
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) =>
    rule === 'whitelistValidation' ? `${path}: is not a known field` : `${path}: ${message.replace(`${error.property} `, '')}`,
  );
  return [...new Set(own), ...(error.children ?? []).flatMap((child) => problemsOf(child, path))];
}
