import { Controller, Get, Param, Query, UseFilters, UsePipes } from '@nestjs/common';
import { RunReader } from '../chat/run-reader.service';
import { DiagnosisErrorFilter } from './diagnosis-error.filter';
import { DescribedGroup, DescribedModels, DescribedOperation, DescribedParam, DescribedResponse } from './openapi-decorators';
import { problemResponse } from './problem-response';
import { ProblemDto } from './problem.dto';
import { requestValidation } from './request-validation';
import { RunIdPipe } from './run-id.pipe';
import { EvidenceResponseDto, InvocationResponseDto, OutputRangeDto, RunResponseDto } from './run-responses.dto';

/** Reads runs, their evidence and their tool calls. It shows what is stored and derives nothing. */
@Controller('api/v1/runs')
@DescribedGroup('runs')
@DescribedModels(ProblemDto)
@UseFilters(DiagnosisErrorFilter)
@UsePipes(requestValidation())
export class RunsController {
  constructor(private readonly reader: RunReader) {}

  @Get(':id')
  @DescribedOperation({
    summary: 'Read a run',
    description: '`run.orchestrationTrace` is the audit of a graph run and exists nowhere else.',
  })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 200, type: RunResponseDto, description: 'The run.' })
  @DescribedResponse(problemResponse(400, 'The id is no UUID.'))
  @DescribedResponse(problemResponse(404, 'There is no such run.'))
  async run(@Param('id', RunIdPipe) id: string): Promise<RunResponseDto> {
    return { run: await this.reader.run(id) };
  }

  @Get(':id/evidence')
  @DescribedOperation({
    summary: 'Open the evidence of an answer',
    description: 'Each claim that was shown, the place in a recorded output that it cites, and the lines around that place.',
  })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 200, type: EvidenceResponseDto, description: 'Claims with their bindings; empty with a reason.' })
  @DescribedResponse(problemResponse(400, 'The id is no UUID.'))
  @DescribedResponse(problemResponse(404, 'There is no such run.'))
  async evidence(@Param('id', RunIdPipe) id: string): Promise<EvidenceResponseDto> {
    return this.reader.evidence(id);
  }

  @Get(':id/tool-invocations/:invocationId')
  @DescribedOperation({
    summary: 'Read a recorded tool call',
    description: 'With its stored output, whole or a range of characters. The call must be of this run.',
  })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedParam({ name: 'invocationId', description: 'Short id as claims cite it, or the id of the row.' })
  @DescribedResponse({ status: 200, type: InvocationResponseDto, description: 'The call and its output.' })
  @DescribedResponse(problemResponse(400, 'The id is no UUID, or the range is none.'))
  @DescribedResponse(problemResponse(404, 'There is no such run, or no such call of this run.'))
  async invocation(
    @Param('id', RunIdPipe) id: string,
    @Param('invocationId') invocationId: string,
    @Query() range: OutputRangeDto,
  ): Promise<InvocationResponseDto> {
    return this.reader.invocation(id, invocationId, range);
  }
}
