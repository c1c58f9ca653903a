import { Controller, Get, UseFilters } from '@nestjs/common';
import { RunStore } from '../ports/run-store.port';
import { DiagnosisErrorFilter } from './diagnosis-error.filter';
import { DescribedGroup, DescribedOperation, DescribedResponse } from './openapi-decorators';
import { problemResponse } from './problem-response';

const NO_RUN = '00000000-0000-0000-0000-000000000000';

/** Says whether the service can work: it is up and its database answers. */
@Controller('health')
@DescribedGroup('health')
@UseFilters(DiagnosisErrorFilter)
export class HealthController {
  constructor(private readonly runs: RunStore) {}

  @Get()
  @DescribedOperation({ summary: 'Whether the service can work' })
  @DescribedResponse({ status: 200, description: 'Up, and the database answers.', schema: { example: { status: 'ok' } } })
  @DescribedResponse(problemResponse(503, 'The database does not answer.'))
  async health(): Promise<{ readonly status: 'ok' }> {
    await this.runs.find(NO_RUN);
    return { status: 'ok' };
  }
}
