import { Controller, Delete, HttpStatus, Param, Req, Res, UseFilters } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RunErasure } from '../chat/run-erasure.service';
import { RUN_STATUSES, type RunStatus } from '../vocabulary/run-lifecycle';
import { DiagnosisErrorFilter } from './diagnosis-error.filter';
import {
  DescribedGroup,
  DescribedModels,
  DescribedOperation,
  DescribedParam,
  DescribedProperty,
  DescribedResponse,
} from './openapi-decorators';
import { problemResponse } from './problem-response';
import { ProblemDto } from './problem.dto';
import { RunIdPipe } from './run-id.pipe';

/** An erasure that is under way. */
class ErasingResponseDto {
  @DescribedProperty({ type: String, format: 'uuid' })
  runId!: string;

  @DescribedProperty({ enum: ['ERASING'] })
  state!: 'ERASING';

  @DescribedProperty({ enum: RUN_STATUSES, description: 'How far the run itself was.' })
  status!: RunStatus;
}

/** Erases runs. It answers 204 for what is gone alone. */
@Controller('api/v1/runs')
@DescribedGroup('runs')
@DescribedModels(ProblemDto)
@UseFilters(DiagnosisErrorFilter)
export class RunErasureController {
  constructor(private readonly erasure: RunErasure) {}

  @Delete(':id')
  @DescribedOperation({
    summary: 'Erase a run',
    description:
      'With its steps, tool calls and their outputs, evidence, evaluations, outcome, words and checkpoints. A run that has not ended is cancelled and goes right after its end; until then it can be read, with `eraseRequestedAt`.',
  })
  @DescribedParam({ name: 'id', format: 'uuid' })
  @DescribedResponse({ status: 204, description: 'Nothing of the run is left.' })
  @DescribedResponse({
    status: 202,
    type: ErasingResponseDto,
    description: 'The run has not ended yet; `Location` is where to look until it is 404.',
    headers: { Location: { description: 'The run.', schema: { type: 'string' } } },
  })
  @DescribedResponse(problemResponse(400, 'The id is no UUID.'))
  @DescribedResponse(problemResponse(404, 'There is no such run.'))
  @DescribedResponse(problemResponse(503, 'The store is not available; what was begun is carried on later.'))
  async erase(
    @Param('id', RunIdPipe) id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ErasingResponseDto | undefined> {
    const erasure = await this.erasure.erase(id);
    if (erasure.state === 'ERASED') {
      response.status(HttpStatus.NO_CONTENT);
      return undefined;
    }
    response.status(HttpStatus.ACCEPTED);
    response.setHeader('location', request.originalUrl.replace(/[?#].*$/s, ''));
    return erasure;
  }
}
