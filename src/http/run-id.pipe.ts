import { ParseUUIDPipe, type ArgumentMetadata } from '@nestjs/common';
import { DiagnosisError } from '../errors/diagnosis-error';

/** The id of a run in a path, as it is stored: UUIDs mean the same in either case. It refuses what is no UUID: REQUEST_INVALID. */
export class RunIdPipe extends ParseUUIDPipe {
  constructor() {
    super({
      exceptionFactory: () =>
        new DiagnosisError('REQUEST_INVALID', 'id: must be the UUID of a run, as `runId` of an answer gives it.', {
          field: 'id',
        }),
    });
  }

  override async transform(value: string, metadata: ArgumentMetadata): Promise<string> {
    return (await super.transform(value, metadata)).toLowerCase();
  }
}
