import { Body, Controller, Get, Param, Put, UseFilters, UseGuards, UsePipes } from '@nestjs/common';
import { RunOutcomes } from '../chat/run-outcomes.service';
import { DiagnosisErrorFilter } from './diagnosis-error.filter';
import { JsonBodyGuard } from './json-body.guard';
import { DescribedGroup, DescribedModels, DescribedOperation, DescribedParam, DescribedResponse } from './openapi-decorators';
import { OutcomeRequestDto, OutcomeResponseDto } from './outcome.dto';
import { problemResponse } from './problem-response';
import { ProblemDto } from './problem.dto';
import { requestValidation } from './request-validation';
import { RunIdPipe } from './run-id.pipe';

/** Takes what somebody found out about an answer, and reads it back. It changes nothing of the run. */
@Controller('api/v1/runs/:id/outcome')
@DescribedGroup('runs')
@DescribedModels(ProblemDto)
@UseFilters(DiagnosisErrorFilter)
@UsePipes(requestValidation())
export class OutcomeController {
  constructor(private readonly outcomes: RunOutcomes) {}

  @Put()
  @UseGuards(JsonBodyGuard)
  @DescribedOperation({
    summary: 'Tell what it really was',
    description: 'The newest word counts; an answer of the graph is scored by it (evaluation `outcome`).',
  })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 200, type: OutcomeResponseDto, description: 'The outcome as it is stored.' })
  @DescribedResponse(problemResponse(400, 'The id is no UUID, or the body is not valid; `detail` names each field.'))
  @DescribedResponse(problemResponse(404, 'There is no such run.'))
  @DescribedResponse(problemResponse(409, 'The run has not ended yet.'))
  @DescribedResponse(problemResponse(415, 'The body is not declared as application/json.'))
  async tell(@Param('id', RunIdPipe) id: string, @Body() body: OutcomeRequestDto): Promise<OutcomeResponseDto> {
    return this.outcomes.tell(id, body);
  }

  @Get()
  @DescribedOperation({ summary: 'Read what it really was' })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 200, type: OutcomeResponseDto, description: 'The outcome.' })
  @DescribedResponse(problemResponse(400, 'The id is no UUID.'))
  @DescribedResponse(problemResponse(404, 'There is no such run, or nobody told its outcome.'))
  async outcome(@Param('id', RunIdPipe) id: string): Promise<OutcomeResponseDto> {
    return this.outcomes.outcome(id);
  }
}
