import type { ApiResponseOptions } from '@nestjs/swagger';
import { PROBLEM_MEDIA_TYPE } from './problem-document';

/** OpenAPI description of an error response. */
export function problemResponse(status: number, description: string): ApiResponseOptions {
  return { status, description, content: { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: '#/components/schemas/ProblemDto' } } } };
}
