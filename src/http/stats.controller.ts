import { Controller, Get, Query, UseFilters, UsePipes } from '@nestjs/common';
import { RunStats } from '../chat/run-stats.service';
import { DiagnosisErrorFilter } from './diagnosis-error.filter';
import { DescribedGroup, DescribedModels, DescribedOperation, DescribedResponse } from './openapi-decorators';
import { problemResponse } from './problem-response';
import { ProblemDto } from './problem.dto';
import { requestValidation } from './request-validation';
import { StatsQueryDto, StatsResponseDto } from './stats.dto';

/** Gives numbers over runs for dashboards. It shows no run and no text of one. */
@Controller('api/v1/stats')
@DescribedGroup('stats')
@DescribedModels(ProblemDto)
@UseFilters(DiagnosisErrorFilter)
@UsePipes(requestValidation())
export class StatsController {
  constructor(private readonly stats: RunStats) {}

  @Get()
  @DescribedOperation({
    summary: 'Numbers over a window',
    description:
      'Runs by status and verdict, durations, fallbacks, retries and failed tool calls, in all and by bucket. A run counts where it was created.',
  })
  @DescribedResponse({ status: 200, type: StatsResponseDto, description: 'The numbers.' })
  @DescribedResponse(problemResponse(400, 'The query is not valid, or more than 92 days or 400 buckets are asked for.'))
  @DescribedResponse(problemResponse(503, 'The store is not available, or the numbers take too long.'))
  async numbers(@Query() query: StatsQueryDto): Promise<StatsResponseDto> {
    return this.stats.over(query);
  }
}
