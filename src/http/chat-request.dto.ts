import { Type } from 'class-transformer';
import { IsISO8601, IsNotEmpty, IsObject, IsOptional, IsString, IsTimeZone, IsUUID, ValidateNested } from 'class-validator';
import { DescribedProperty } from './openapi-decorators';

const INSTANT = { type: String, format: 'date-time', example: '2026-05-04T14:05:00Z' } as const;

/** Time range, `from` inclusive, `to` exclusive. */
export class TimeWindowDto {
  @DescribedProperty({ ...INSTANT, description: 'Start, inclusive: RFC 3339 with a zone.' })
  @IsISO8601({ strict: true }, { message: '$property must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z' })
  from!: string;

  @DescribedProperty({ ...INSTANT, description: 'End, exclusive: RFC 3339 with a zone.' })
  @IsISO8601({ strict: true }, { message: '$property must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z' })
  to!: string;
}

/** A question as it comes over HTTP; the rules across its fields are those of `ChatService`. */
export class ChatRequestDto {
  @DescribedProperty({
    type: String,
    description: 'The question, or the text of an alert.',
    example: 'Why are there errors since 14:05?',
  })
  @IsString({ message: 'message must be the question as a text that is not blank' })
  @IsNotEmpty({ message: 'message must be the question as a text that is not blank' })
  message!: string;

  @DescribedProperty({
    type: String,
    format: 'uuid',
    required: false,
    description: 'Session of an earlier answer; left out it starts one.',
  })
  @IsOptional()
  @IsUUID('all', { message: 'sessionId must be the UUID of an earlier answer, or left out to start a session' })
  sessionId?: string;

  @DescribedProperty({
    type: () => TimeWindowDto,
    required: false,
    description: 'When it went wrong. Default: what the question names.',
  })
  @IsOptional()
  @IsObject({ message: 'window must be an object { from, to }' })
  @ValidateNested()
  @Type(() => TimeWindowDto)
  window?: TimeWindowDto;

  @DescribedProperty({
    type: () => TimeWindowDto,
    required: false,
    description: 'When all was well. Default: directly before the window.',
  })
  @IsOptional()
  @IsObject({ message: 'baseline must be an object { from, to }' })
  @ValidateNested()
  @Type(() => TimeWindowDto)
  baseline?: TimeWindowDto;

  @DescribedProperty({
    type: String,
    required: false,
    example: 'Europe/Berlin',
    description: "Zone of the question's clock times. Default UTC.",
  })
  @IsOptional()
  @IsTimeZone({ message: 'timeZone must be a known IANA time zone, such as Europe/Berlin or UTC' })
  timeZone?: string;

  @DescribedProperty({ type: String, required: false, example: 'en', description: 'BCP 47 language tag. Default en.' })
  @IsOptional()
  @IsString({ message: 'locale must be a BCP 47 language tag, such as en or de-CH' })
  locale?: string;
}
