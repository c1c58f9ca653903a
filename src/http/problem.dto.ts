import { DIAGNOSIS_ERROR_CODES, type DiagnosisErrorCode } from '../errors/diagnosis-error';
import { DescribedProperty } from './openapi-decorators';

/** An error as `application/problem+json` (RFC 9457), with a code of the closed list. */
export class ProblemDto {
  @DescribedProperty({ type: String, example: 'urn:problem:nestjs-diagnosis:REQUEST_INVALID' })
  type!: string;

  @DescribedProperty({ type: String, example: 'Bad Request' })
  title!: string;

  @DescribedProperty({ type: Number, example: 400 })
  status!: number;

  @DescribedProperty({ type: String, description: 'What is wrong and what would be right.' })
  detail!: string;

  @DescribedProperty({ enum: DIAGNOSIS_ERROR_CODES })
  code!: DiagnosisErrorCode;

  @DescribedProperty({ type: String, format: 'uuid', required: false, description: 'The run that failed, where there is one.' })
  runId?: string;
}
