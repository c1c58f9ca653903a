import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsISO8601, IsOptional, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';
import { DEFAULT_PAGE, MAX_PAGE, MAX_QUESTION_LENGTH, MAX_QUESTION_WORDS, type RunListQuery } from '../chat/run-list-query';
import { RUN_SORTS, SORT_ORDERS } from '../ports/run-query-store.port';
import { REASON_CODES } from '../vocabulary/reason-codes';
import { AGENT_FLOWS, RUN_STATUSES } from '../vocabulary/run-lifecycle';
import { FALLBACK_CLASSES } from '../vocabulary/statuses';
import { VERDICTS } from '../vocabulary/verdicts';
import { DescribedProperty } from './openapi-decorators';

const VERDICT_FILTERS = [...VERDICTS, 'none'] as const;
const LIMIT_HINT = `limit must be a whole number from 1 to ${MAX_PAGE}`;
const QUESTION_HINT = `question must be a text of 1 to ${MAX_QUESTION_WORDS} different words and at most ${MAX_QUESTION_LENGTH} characters`;
const INSTANT = { type: String, format: 'date-time', required: false, example: '2026-05-04T14:05:00Z' } as const;
const INSTANT_HINT =
  '$property must be an RFC 3339 instant with a zone, such as 2026-05-04T14:05:00Z (within a URL the + of an offset is written %2B)';

/** Digits alone are a number; whatever else stands there is left for the check to refuse. */
function digits({ value }: { value: unknown }): unknown {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

function truth({ value }: { value: unknown }): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

/** Which part of a list to read. */
export class PageQueryDto {
  @DescribedProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE,
    required: false,
    description: `Most items of the page. Default ${DEFAULT_PAGE}.`,
  })
  @IsOptional()
  @Transform(digits)
  @IsInt({ message: LIMIT_HINT })
  @Min(1, { message: LIMIT_HINT })
  @Max(MAX_PAGE, { message: LIMIT_HINT })
  limit?: number;

  @DescribedProperty({
    type: String,
    required: false,
    description: '`nextCursor` of the page before; left out it begins. It is of use with the same sort and filters alone.',
  })
  @IsOptional()
  @IsString({ message: 'cursor must be the nextCursor of a page, once' })
  cursor?: string;

  @DescribedProperty({
    type: Boolean,
    required: false,
    description: 'Whether to count the whole list, which takes as long as the list is. Default false.',
  })
  @IsOptional()
  @Transform(truth)
  @IsBoolean({ message: 'total must be true or false' })
  total?: boolean;
}

/** Which runs to list; every condition given has to be met. */
export class RunListQueryDto extends PageQueryDto {
  @DescribedProperty({ enum: RUN_STATUSES, required: false })
  @IsOptional()
  @IsIn(RUN_STATUSES, { message: `status must be one of ${RUN_STATUSES.join(', ')}` })
  status?: RunListQuery['status'];

  @DescribedProperty({ enum: VERDICT_FILTERS, required: false, description: '`none`: runs without a verdict.' })
  @IsOptional()
  @IsIn(VERDICT_FILTERS, { message: `verdict must be one of ${VERDICT_FILTERS.join(', ')}` })
  verdict?: RunListQuery['verdict'];

  @DescribedProperty({ type: Boolean, required: false, description: 'Whether the deterministic fallback answered.' })
  @IsOptional()
  @Transform(truth)
  @IsBoolean({ message: 'degraded must be true or false' })
  degraded?: boolean;

  @DescribedProperty({ enum: FALLBACK_CLASSES, required: false })
  @IsOptional()
  @IsIn(FALLBACK_CLASSES, { message: `fallbackClass must be one of ${FALLBACK_CLASSES.join(', ')}` })
  fallbackClass?: RunListQuery['fallbackClass'];

  @DescribedProperty({ enum: REASON_CODES, required: false })
  @IsOptional()
  @IsIn(REASON_CODES, { message: `fallbackReason must be one of ${REASON_CODES.join(', ')}` })
  fallbackReason?: RunListQuery['fallbackReason'];

  @DescribedProperty({ type: String, format: 'uuid', required: false })
  @IsOptional()
  @IsUUID('all', { message: 'sessionId must be the UUID of a session' })
  sessionId?: string;

  @DescribedProperty({ enum: AGENT_FLOWS, required: false })
  @IsOptional()
  @IsIn(AGENT_FLOWS, { message: `agentFlow must be one of ${AGENT_FLOWS.join(', ')}` })
  agentFlow?: RunListQuery['agentFlow'];

  @DescribedProperty({
    type: Boolean,
    required: false,
    description: 'Whether a tool call failed, was denied or was given up.',
  })
  @IsOptional()
  @Transform(truth)
  @IsBoolean({ message: 'toolFailed must be true or false' })
  toolFailed?: boolean;

  @DescribedProperty({
    type: String,
    required: false,
    maxLength: MAX_QUESTION_LENGTH,
    example: 'checkout slow',
    description: `Whole words, at most ${MAX_QUESTION_WORDS}, that all stand in the question, in any order and case.`,
  })
  @IsOptional()
  @IsString({ message: QUESTION_HINT })
  @MaxLength(MAX_QUESTION_LENGTH, { message: QUESTION_HINT })
  question?: string;

  @DescribedProperty({ ...INSTANT, description: 'Runs that came in then or later: RFC 3339 with a zone.' })
  @IsOptional()
  @IsISO8601({ strict: true }, { message: INSTANT_HINT })
  from?: string;

  @DescribedProperty({ ...INSTANT, description: 'Runs that came in before: RFC 3339 with a zone.' })
  @IsOptional()
  @IsISO8601({ strict: true }, { message: INSTANT_HINT })
  to?: string;

  @DescribedProperty({
    enum: RUN_SORTS,
    required: false,
    description: '`start`: when the run came in; `duration`: those alone that have one. Default start.',
  })
  @IsOptional()
  @IsIn(RUN_SORTS, { message: `sort must be one of ${RUN_SORTS.join(', ')}` })
  sort?: RunListQuery['sort'];

  @DescribedProperty({ enum: SORT_ORDERS, required: false, description: 'Default desc: newest or longest first.' })
  @IsOptional()
  @IsIn(SORT_ORDERS, { message: `order must be one of ${SORT_ORDERS.join(', ')}` })
  order?: RunListQuery['order'];
}
