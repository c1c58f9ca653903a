import { Controller, Get, Param, Query, UseFilters, UsePipes } from '@nestjs/common';
import { RunQueries } from '../chat/run-queries.service';
import { DiagnosisErrorFilter } from './diagnosis-error.filter';
import { DescribedGroup, DescribedModels, DescribedOperation, DescribedParam, DescribedResponse } from './openapi-decorators';
import { problemResponse } from './problem-response';
import { ProblemDto } from './problem.dto';
import { requestValidation } from './request-validation';
import { RunIdPipe } from './run-id.pipe';
import { EvaluationPageDto, EvaluationResponseDto, InvocationPageDto, RunPageDto, StepPageDto } from './run-list-responses.dto';
import { PageQueryDto, RunListQueryDto } from './run-list.dto';

const INVALID_QUERY = problemResponse(400, 'A parameter is unknown, repeated or not valid; `detail` names each field.');
const INVALID_PAGE = problemResponse(400, 'The id is no UUID, or a parameter is not valid.');
const NO_RUN = problemResponse(404, 'There is no such run.');

/** Lists runs and what belongs to one, a page at a time. It shows no question, answer, argument or output whole. */
@Controller('api/v1/runs')
@DescribedGroup('runs')
@DescribedModels(ProblemDto)
@UseFilters(DiagnosisErrorFilter)
@UsePipes(requestValidation())
export class RunListsController {
  constructor(private readonly queries: RunQueries) {}

  @Get()
  @DescribedOperation({
    summary: 'List runs',
    description:
      'Newest first unless asked otherwise. `nextCursor` leads to the page behind the last item, whatever was added or erased meanwhile.',
  })
  @DescribedResponse({ status: 200, type: RunPageDto, description: 'A page of runs.' })
  @DescribedResponse(INVALID_QUERY)
  async runs(@Query() query: RunListQueryDto): Promise<RunPageDto> {
    return this.queries.runs(query);
  }

  @Get(':id/steps')
  @DescribedOperation({ summary: 'List the attempts of a run', description: 'Oldest first: node, outcome, time, sizes, tokens.' })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 200, type: StepPageDto, description: 'A page of attempts.' })
  @DescribedResponse(INVALID_PAGE)
  @DescribedResponse(NO_RUN)
  async steps(@Param('id', RunIdPipe) id: string, @Query() page: PageQueryDto): Promise<StepPageDto> {
    return this.queries.steps(id, page);
  }

  @Get(':id/tool-invocations')
  @DescribedOperation({
    summary: 'List the tool calls of a run',
    description: 'In their order, without arguments and output: those are with the single call.',
  })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 200, type: InvocationPageDto, description: 'A page of tool calls.' })
  @DescribedResponse(INVALID_PAGE)
  @DescribedResponse(NO_RUN)
  async invocations(@Param('id', RunIdPipe) id: string, @Query() page: PageQueryDto): Promise<InvocationPageDto> {
    return this.queries.invocations(id, page);
  }

  @Get(':id/evaluation')
  @DescribedOperation({ summary: 'List the evaluations of a run', description: 'Oldest first, without their detail.' })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 200, type: EvaluationPageDto, description: 'A page of evaluations.' })
  @DescribedResponse(INVALID_PAGE)
  @DescribedResponse(NO_RUN)
  async evaluations(@Param('id', RunIdPipe) id: string, @Query() page: PageQueryDto): Promise<EvaluationPageDto> {
    return this.queries.evaluations(id, page);
  }

  @Get(':id/evaluation/:kind')
  @DescribedOperation({ summary: 'Read an evaluation of a run', description: 'With what its score was reckoned from.' })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedParam({ name: 'kind', example: 'expected_label' })
  @DescribedResponse({ status: 200, type: EvaluationResponseDto, description: 'The evaluation.' })
  @DescribedResponse(problemResponse(400, 'The id is no UUID.'))
  @DescribedResponse(problemResponse(404, 'There is no such run, or no such evaluation of this run.'))
  async evaluation(@Param('id', RunIdPipe) id: string, @Param('kind') kind: string): Promise<EvaluationResponseDto> {
    return this.queries.evaluation(id, kind);
  }
}
