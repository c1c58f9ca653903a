import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { RUN_OUTCOMES, type RunOutcomeKind } from '../vocabulary/run-lifecycle';
import { DescribedProperty } from './openapi-decorators';

const MAX_CAUSE_LENGTH = 255;

/** What somebody found out about an answer; the rules across its fields are those of `RunOutcomes`. */
export class OutcomeRequestDto {
  @DescribedProperty({ enum: RUN_OUTCOMES, description: 'Whether the answer was right.' })
  @IsIn(RUN_OUTCOMES, { message: `outcome must be ${RUN_OUTCOMES.join(' or ')}` })
  outcome!: RunOutcomeKind;

  @DescribedProperty({
    type: String,
    required: false,
    nullable: true,
    minLength: 1,
    maxLength: MAX_CAUSE_LENGTH,
    example: 'order-db',
    description: 'The service or thing that it really was, where that is known; with `wrong` alone.',
  })
  @IsOptional()
  @IsString({ message: 'actualCause must be a text' })
  @MaxLength(MAX_CAUSE_LENGTH, { message: `actualCause must be at most ${MAX_CAUSE_LENGTH} characters` })
  actualCause?: string | null;
}

/** The outcome of a run as it is stored. */
export class OutcomeResponseDto {
  @DescribedProperty({ type: String, format: 'uuid' })
  runId!: string;

  @DescribedProperty({ enum: RUN_OUTCOMES })
  outcome!: RunOutcomeKind;

  @DescribedProperty({ type: String, nullable: true, description: 'Null where nobody said what it was.' })
  actualCause!: string | null;

  @DescribedProperty({ type: String, format: 'date-time', description: 'When the first outcome was told.' })
  createdAt!: string;

  @DescribedProperty({ type: String, format: 'date-time', description: 'When it last changed.' })
  updatedAt!: string;
}
