import {
  All,
  Body,
  Controller,
  HttpCode,
  MethodNotAllowedException,
  Post,
  Req,
  Res,
  UseFilters,
  UseGuards,
  UsePipes,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { ChatService } from '../chat/chat.service';
import type { ChatResult } from '../chat/chat-request';
import { ChatRequestDto } from './chat-request.dto';
import { ChatResultDto } from './chat-result.dto';
import { DiagnosisErrorFilter } from './diagnosis-error.filter';
import { EventStream } from './event-stream';
import { JsonBodyGuard } from './json-body.guard';
import {
  DescribedGroup,
  DescribedModels,
  DescribedOperation,
  DescribedResponse,
  UndescribedOperation,
} from './openapi-decorators';
import { problemOf } from './problem-document';
import { problemResponse } from './problem-response';
import { ProblemDto } from './problem.dto';
import { requestValidation } from './request-validation';

/** Asks the diagnosis over HTTP. A caller that hangs up cancels its run; nothing is decided here. */
@Controller('api/v1/chat')
@DescribedGroup('chat')
@DescribedModels(ProblemDto)
@UseFilters(DiagnosisErrorFilter)
@UsePipes(requestValidation())
export class ChatController {
  constructor(private readonly chat: ChatService) {}

  @Post()
  @HttpCode(200)
  @UseGuards(JsonBodyGuard)
  @DescribedOperation({
    summary: 'Ask, and wait for the answer',
    description: 'A fallback answer is an answer too: see `degraded`.',
  })
  @DescribedResponse({ status: 200, type: ChatResultDto, description: 'The answer and its run.' })
  @DescribedResponse(problemResponse(400, 'The request is not valid; `detail` names each field.'))
  @DescribedResponse(problemResponse(404, 'There is no such session.'))
  @DescribedResponse(problemResponse(413, 'The message or the body is too large; `limitBytes` is the limit.'))
  @DescribedResponse(problemResponse(415, 'The body is not declared as application/json.'))
  @DescribedResponse(problemResponse(422, 'Telemetry is missing, empty, unreadable or wrongly mapped.'))
  @DescribedResponse(problemResponse(500, 'The run has no answer; `runId` names it.'))
  @DescribedResponse(problemResponse(503, 'Too many runs at once, or the service is shutting down.'))
  async ask(@Body() body: ChatRequestDto, @Res({ passthrough: true }) response: Response): Promise<ChatResult> {
    return this.chat.chat(body, { signal: hangUpOf(response) });
  }

  @Post('stream')
  @HttpCode(200)
  @UseGuards(JsonBodyGuard)
  @DescribedOperation({
    summary: 'Ask, and watch',
    description:
      'Server-sent events: `run` (ids), `node` and `tool` as they happen, then exactly one `result` or `error`. What is wrong before a run exists is a plain problem document.',
  })
  @DescribedResponse({
    status: 200,
    description: 'Events `run`, `node`, `tool`, and at the end `result` (as from POST /chat) or `error` (a problem document).',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  })
  @DescribedResponse(problemResponse(400, 'The request is not valid; `detail` names each field.'))
  @DescribedResponse(problemResponse(404, 'There is no such session.'))
  @DescribedResponse(problemResponse(413, 'The message or the body is too large; `limitBytes` is the limit.'))
  @DescribedResponse(problemResponse(415, 'The body is not declared as application/json.'))
  @DescribedResponse(problemResponse(503, 'Too many runs at once, or the service is shutting down.'))
  async watch(@Body() body: ChatRequestDto, @Res() response: Response): Promise<void> {
    const stream = new EventStream(response);
    try {
      const result = await this.chat.chat(body, {
        signal: hangUpOf(response),
        onProgress: (event) => {
          const { type, ...facts } = event;
          if (type === 'run') stream.send('run', facts);
          else if (type === 'node_started' || type === 'node_finished') stream.send('node', { ...facts, phase: phaseOf(type) });
          else stream.send('tool', { ...facts, phase: phaseOf(type) });
        },
      });
      stream.end('result', result);
    } catch (error) {
      if (!stream.started) throw error;
      stream.end('error', problemOf(error));
    } finally {
      stream.close();
    }
  }

  @All(['', 'stream'])
  @UndescribedOperation(true)
  otherMethod(@Req() request: Request, @Res() response: Response): void {
    response.setHeader('allow', 'POST');
    if (request.method !== 'OPTIONS') throw new MethodNotAllowedException();
    response.status(204).end();
  }
}

function phaseOf(type: 'node_started' | 'node_finished' | 'tool_started' | 'tool_finished'): 'started' | 'finished' {
  return type === 'node_started' || type === 'tool_started' ? 'started' : 'finished';
}

/** Aborted when the connection closes before the response was written. */
function hangUpOf(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}
