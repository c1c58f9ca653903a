import { IsIn, IsISO8601, IsOptional, IsTimeZone } from 'class-validator';
import type { RunNumbers } from '../chat/run-stats.service';
import { STATS_BUCKETS, type StatsBucket } from '../chat/stats-buckets';
import { RUN_STATUSES } from '../vocabulary/run-lifecycle';
import { FALLBACK_CLASSES } from '../vocabulary/statuses';
import { VERDICTS } from '../vocabulary/verdicts';
import { DescribedProperty } from './openapi-decorators';

const INSTANT = { type: String, format: 'date-time', example: '2026-05-04T14:05:00Z' } as const;
const INSTANT_HINT =
  '$property must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z (within a URL the + of an offset is written %2B)';

/** Which numbers are asked for; the rules across fields are those of `RunStats`. */
export class StatsQueryDto {
  @DescribedProperty({ ...INSTANT, description: 'Start, inclusive: RFC 3339 with a zone.' })
  @IsISO8601({ strict: true }, { message: INSTANT_HINT })
  from!: string;

  @DescribedProperty({ ...INSTANT, description: 'End, exclusive: RFC 3339 with a zone, at most 92 days after `from`.' })
  @IsISO8601({ strict: true }, { message: INSTANT_HINT })
  to!: string;

  @DescribedProperty({
    enum: STATS_BUCKETS,
    required: false,
    description: 'Size of a bucket; at most 400 fit. Default: the smallest that gives about a hundred.',
  })
  @IsOptional()
  @IsIn(STATS_BUCKETS, { message: `bucket must be one of ${STATS_BUCKETS.join(', ')}` })
  bucket?: StatsBucket;

  @DescribedProperty({
    type: String,
    required: false,
    example: 'Europe/Berlin',
    description: 'IANA zone whose clocks buckets begin by: a day has 23 or 25 hours where they change. Default UTC.',
  })
  @IsOptional()
  @IsTimeZone({ message: 'timeZone must be a known IANA time zone, such as Europe/Berlin or UTC' })
  timeZone?: string;
}

/** How many, and their share. */
export class ShareDto {
  @DescribedProperty({ type: Number, minimum: 0 })
  count!: number;

  @DescribedProperty({
    type: Number,
    nullable: true,
    minimum: 0,
    maximum: 1,
    description: 'Null where there is nothing to take a share of.',
  })
  rate!: number | null;
}

class FallbackClassesDto {
  @DescribedProperty({ type: () => ShareDto })
  PRE_VERIFICATION!: ShareDto;

  @DescribedProperty({ type: () => ShareDto })
  POST_VERIFICATION!: ShareDto;
}

class FallbackShareDto extends ShareDto {
  @DescribedProperty({ type: () => FallbackClassesDto })
  byClass!: FallbackClassesDto;
}

class RetryShareDto extends ShareDto {
  @DescribedProperty({ type: Number, minimum: 0, description: 'Attempts that were repeated in all.' })
  sum!: number;
}

class ReasonShareDto extends ShareDto {
  @DescribedProperty({
    type: String,
    example: 'TOOL_FAILED',
    description: 'Error code; `none` without one, `other` for the rest.',
  })
  reason!: string;
}

class ToolCallNumbersDto {
  @DescribedProperty({ type: Number, minimum: 0 })
  calls!: number;

  @DescribedProperty({ type: () => ShareDto, description: 'Failed, denied or given up, of all calls.' })
  failed!: ShareDto;

  @DescribedProperty({
    type: () => [ReasonShareDto],
    description: 'The most frequent first; at most the twenty reasons that are most frequent in the whole window, then `other`.',
  })
  failedByReason!: readonly ReasonShareDto[];
}

class DurationPercentilesDto {
  @DescribedProperty({ type: Number, nullable: true, minimum: 0 })
  p50!: number | null;

  @DescribedProperty({ type: Number, nullable: true, minimum: 0 })
  p95!: number | null;

  @DescribedProperty({ type: Number, nullable: true, minimum: 0 })
  p99!: number | null;
}

function countsBy(names: readonly string[]): {
  type: 'object';
  properties: Record<string, { type: 'integer' }>;
  selfRequired: true;
} {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])), selfRequired: true };
}

/** Numbers over one window. */
export class RunNumbersDto {
  @DescribedProperty({ type: Number, minimum: 0, description: 'Runs that were created in the window.' })
  runs!: number;

  @DescribedProperty({ type: Number, minimum: 0, description: 'Those that have ended; rates of runs are shares of these.' })
  ended!: number;

  @DescribedProperty(countsBy(RUN_STATUSES))
  byStatus!: RunNumbers['byStatus'];

  @DescribedProperty(countsBy([...VERDICTS, 'none']))
  byVerdict!: RunNumbers['byVerdict'];

  @DescribedProperty({
    type: () => DurationPercentilesDto,
    description: 'In ms, of ended runs whose duration is known (an interrupted one has none), by nearest rank; null without any.',
  })
  durationMs!: DurationPercentilesDto;

  @DescribedProperty({ type: () => ShareDto })
  degraded!: ShareDto;

  @DescribedProperty({
    type: () => FallbackShareDto,
    description: `Fallback answers, also by class (${FALLBACK_CLASSES.join(', ')}).`,
  })
  fallback!: FallbackShareDto;

  @DescribedProperty({ type: () => RetryShareDto, description: 'Runs that repeated an attempt.' })
  retries!: RetryShareDto;

  @DescribedProperty({ type: () => ToolCallNumbersDto, description: 'Tool calls that were started in the window.' })
  toolCalls!: ToolCallNumbersDto;
}

class BucketNumbersDto extends RunNumbersDto {
  @DescribedProperty({ ...INSTANT, description: 'Inclusive.' })
  from!: string;

  @DescribedProperty({ ...INSTANT, description: 'Exclusive.' })
  to!: string;
}

/** Numbers of a window and of its buckets. */
export class StatsResponseDto {
  @DescribedProperty(INSTANT)
  from!: string;

  @DescribedProperty(INSTANT)
  to!: string;

  @DescribedProperty({ enum: STATS_BUCKETS })
  bucket!: StatsBucket;

  @DescribedProperty({ type: String, example: 'UTC' })
  timeZone!: string;

  @DescribedProperty({ type: () => RunNumbersDto })
  total!: RunNumbersDto;

  @DescribedProperty({ type: () => [BucketNumbersDto], description: 'All of the window, in order; empty buckets too.' })
  buckets!: readonly BucketNumbersDto[];
}
