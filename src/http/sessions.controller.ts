import { Controller, Get, Param, ParseUUIDPipe, Query, UseFilters, UsePipes } from '@nestjs/common';
import { RunQueries } from '../chat/run-queries.service';
import { DiagnosisError } from '../errors/diagnosis-error';
import { DiagnosisErrorFilter } from './diagnosis-error.filter';
import { DescribedGroup, DescribedModels, DescribedOperation, DescribedParam, DescribedResponse } from './openapi-decorators';
import { problemResponse } from './problem-response';
import { ProblemDto } from './problem.dto';
import { requestValidation } from './request-validation';
import { SessionPageDto, SessionResponseDto } from './run-list-responses.dto';
import { PageQueryDto } from './run-list.dto';

const sessionId = new ParseUUIDPipe({
  exceptionFactory: () =>
    new DiagnosisError('REQUEST_INVALID', 'id: must be the UUID of a session, as `sessionId` of an answer gives it.', {
      field: 'id',
    }),
});

/** Lists sessions and reads one. Its runs are with the list of runs, by `sessionId`. */
@Controller('api/v1/sessions')
@DescribedGroup('sessions')
@DescribedModels(ProblemDto)
@UseFilters(DiagnosisErrorFilter)
@UsePipes(requestValidation())
export class SessionsController {
  constructor(private readonly queries: RunQueries) {}

  @Get()
  @DescribedOperation({ summary: 'List sessions', description: 'Newest first.' })
  @DescribedResponse({ status: 200, type: SessionPageDto, description: 'A page of sessions.' })
  @DescribedResponse(problemResponse(400, 'A parameter is unknown, repeated or not valid; `detail` names each field.'))
  async sessions(@Query() page: PageQueryDto): Promise<SessionPageDto> {
    return this.queries.sessions(page);
  }

  @Get(':id')
  @DescribedOperation({ summary: 'Read a session', description: 'With the number of its runs.' })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 200, type: SessionResponseDto, description: 'The session.' })
  @DescribedResponse(problemResponse(400, 'The id is no UUID.'))
  @DescribedResponse(problemResponse(404, 'There is no such session.'))
  async session(@Param('id', sessionId) id: string): Promise<SessionResponseDto> {
    return this.queries.session(id.toLowerCase());
  }
}
