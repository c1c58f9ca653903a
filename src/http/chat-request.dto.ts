import { Type } from 'class-transformer';
import { IsIn, IsISO8601, IsNotEmpty, IsObject, IsOptional, IsString, IsTimeZone, IsUUID, ValidateNested } from 'class-validator';
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

const LABELS = { type: 'object', additionalProperties: { type: 'string' }, selfRequired: false } as const;

/** An alert in the shape that Alertmanager sends it. */
export class AlertDto {
  @DescribedProperty({
    ...INSTANT,
    description: 'When the alert started: RFC 3339 with a zone. The window starts up to ten minutes before.',
  })
  @IsISO8601({ strict: true }, { message: '$property must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z' })
  startsAt!: string;

  @DescribedProperty({
    ...INSTANT,
    required: false,
    description: 'When it ended; before its start, as 0001-01-01T00:00:00Z, or left out while it fires.',
  })
  @IsOptional()
  // The zero time that Alertmanager sends is an instant of RFC 3339 and none to the validator of ISO 8601; the chat checks it.
  @IsString({ message: 'endsAt must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z' })
  endsAt?: string;

  @DescribedProperty({ type: String, enum: ['firing', 'resolved'], required: false, description: 'A firing alert has no end.' })
  @IsOptional()
  @IsIn(['firing', 'resolved'], { message: 'status must be firing or resolved' })
  status?: 'firing' | 'resolved';

  @DescribedProperty({ ...LABELS, description: 'At most 32 names, each with a text.' })
  @IsOptional()
  @IsObject({ message: 'labels must be an object of texts' })
  labels?: Record<string, string>;

  @DescribedProperty({ ...LABELS, description: 'At most 32 names, each with a text.' })
  @IsOptional()
  @IsObject({ message: 'annotations must be an object of texts' })
  annotations?: Record<string, string>;

  @DescribedProperty({ type: String, required: false, description: 'Accepted as Alertmanager sends it; not used.' })
  @IsOptional()
  @IsString({ message: 'generatorURL must be a text' })
  generatorURL?: string;

  @DescribedProperty({ type: String, required: false, description: 'Accepted as Alertmanager sends it; not used.' })
  @IsOptional()
  @IsString({ message: 'fingerprint must be a text' })
  fingerprint?: string;
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
    description:
      'When it went wrong. Default: around the start of the alert, what the question names, what an earlier run of the session looked at, or the stretch of the telemetry that departs most from the rest.',
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
    type: () => AlertDto,
    required: false,
    description: 'The alert that led to the question; it names the window where `window` is left out.',
  })
  @IsOptional()
  @IsObject({ message: 'alert must be an object { startsAt, endsAt?, status?, labels?, annotations? }' })
  @ValidateNested()
  @Type(() => AlertDto)
  alert?: AlertDto;

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
