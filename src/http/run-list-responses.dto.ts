import type { EvaluationView, InvocationListItem, RunListItem, StepView } from '../chat/run-list-views';
import { NODE_NAMES } from '../vocabulary/node-names';
import { REASON_CODES } from '../vocabulary/reason-codes';
import { AGENT_FLOWS, RUN_FAILURE_CODES, RUN_STATUSES } from '../vocabulary/run-lifecycle';
import { FALLBACK_CLASSES } from '../vocabulary/statuses';
import { VERDICTS } from '../vocabulary/verdicts';
import { DescribedProperty } from './openapi-decorators';
import { InvocationSummaryDto } from './run-responses.dto';

const INSTANT = { type: String, format: 'date-time' } as const;
const NUMBER_OR_NULL = { type: Number, nullable: true } as const;

/** What every page has beside its items. */
class PageDto {
  @DescribedProperty({ type: String, nullable: true, description: 'Asks for what follows, as `cursor`; null at the end.' })
  nextCursor!: string | null;

  @DescribedProperty({ ...NUMBER_OR_NULL, description: 'Items of the whole list; null unless `total=true`.' })
  total!: number | null;
}

/** A run as lists show it: its scalar facts, and nothing of what it holds. */
export class RunListItemDto implements RunListItem {
  @DescribedProperty({ type: String, format: 'uuid' })
  id!: string;

  @DescribedProperty({ type: String, format: 'uuid' })
  sessionId!: string;

  @DescribedProperty({
    type: String,
    nullable: true,
    description: 'The beginning of the question; null where no contents are kept.',
  })
  title!: string | null;

  @DescribedProperty({ enum: RUN_STATUSES })
  status!: RunListItem['status'];

  @DescribedProperty({ enum: AGENT_FLOWS })
  agent_flow!: RunListItem['agent_flow'];

  @DescribedProperty({ enum: VERDICTS, nullable: true })
  verdict!: RunListItem['verdict'];

  @DescribedProperty({ type: Boolean })
  degraded!: boolean;

  @DescribedProperty({ enum: RUN_FAILURE_CODES, nullable: true })
  failureCode!: RunListItem['failureCode'];

  @DescribedProperty({ enum: FALLBACK_CLASSES, nullable: true })
  fallbackClass!: RunListItem['fallbackClass'];

  @DescribedProperty({ enum: REASON_CODES, nullable: true })
  fallbackReason!: RunListItem['fallbackReason'];

  @DescribedProperty({ type: Number, description: 'Attempts that were repeated, evidence rounds among them.' })
  retries!: number;

  @DescribedProperty({ type: Boolean })
  toolFailed!: boolean;

  @DescribedProperty({
    ...NUMBER_OR_NULL,
    description: 'From the question to the end, in ms; null before the end, and for a run whose process died.',
  })
  durationMs!: number | null;

  @DescribedProperty(INSTANT)
  createdAt!: string;

  @DescribedProperty({ ...INSTANT, nullable: true })
  startedAt!: string | null;

  @DescribedProperty({ ...INSTANT, nullable: true })
  finishedAt!: string | null;

  @DescribedProperty({ ...NUMBER_OR_NULL, description: 'Bytes of UTF-8.' })
  messageBytes!: number | null;

  @DescribedProperty({ type: String, nullable: true })
  messageSha256!: string | null;

  @DescribedProperty({ ...NUMBER_OR_NULL, description: 'Bytes of UTF-8.' })
  answerBytes!: number | null;

  @DescribedProperty({ type: String, nullable: true })
  answerSha256!: string | null;

  @DescribedProperty({ type: Boolean, description: 'Whether question, answer, evidence and outputs outlive the run.' })
  keepsContent!: boolean;

  @DescribedProperty({ ...INSTANT, nullable: true, description: 'When somebody asked for the run to be erased.' })
  eraseRequestedAt!: string | null;
}

export class RunPageDto extends PageDto {
  @DescribedProperty({ type: () => [RunListItemDto] })
  items!: readonly RunListItemDto[];
}

/** One timed attempt of one node. */
export class StepDto implements StepView {
  @DescribedProperty({ type: String, format: 'uuid' })
  id!: string;

  @DescribedProperty({ enum: NODE_NAMES })
  node!: StepView['node'];

  @DescribedProperty({ type: Number })
  round!: number;

  @DescribedProperty({ type: Number })
  attempt!: number;

  @DescribedProperty({ type: String, example: 'COMPLETED' })
  outcome!: StepView['outcome'];

  @DescribedProperty({ enum: REASON_CODES })
  reason_code!: StepView['reason_code'];

  @DescribedProperty(INSTANT)
  started_at!: string;

  @DescribedProperty({ type: Number })
  duration_ms!: number;

  @DescribedProperty(NUMBER_OR_NULL)
  input_bytes!: number | null;

  @DescribedProperty(NUMBER_OR_NULL)
  output_bytes!: number | null;

  @DescribedProperty({ ...NUMBER_OR_NULL, description: 'Null when unknown.' })
  input_tokens!: number | null;

  @DescribedProperty({ ...NUMBER_OR_NULL, description: 'Null when unknown.' })
  output_tokens!: number | null;
}

export class StepPageDto extends PageDto {
  @DescribedProperty({ type: () => [StepDto] })
  items!: readonly StepDto[];
}

export class InvocationPageDto extends PageDto {
  @DescribedProperty({ type: () => [InvocationSummaryDto] })
  items!: readonly InvocationListItem[];
}

/** An evaluation as lists show it. */
export class EvaluationListItemDto {
  @DescribedProperty({ type: String, format: 'uuid' })
  id!: string;

  @DescribedProperty({ type: String, example: 'expected_label' })
  kind!: string;

  @DescribedProperty({ ...NUMBER_OR_NULL, minimum: 0, maximum: 1, description: 'Null when there was nothing to score against.' })
  score!: number | null;

  @DescribedProperty(INSTANT)
  createdAt!: string;
}

export class EvaluationPageDto extends PageDto {
  @DescribedProperty({ type: () => [EvaluationListItemDto] })
  items!: readonly EvaluationListItemDto[];
}

export class EvaluationResponseDto extends EvaluationListItemDto implements EvaluationView {
  @DescribedProperty({ type: String, format: 'uuid' })
  runId!: string;

  @DescribedProperty({ type: Object, additionalProperties: true, description: 'What the score was reckoned from.' })
  detail!: EvaluationView['detail'];
}

export class SessionListItemDto {
  @DescribedProperty({ type: String, format: 'uuid' })
  id!: string;

  @DescribedProperty(INSTANT)
  createdAt!: string;
}

export class SessionPageDto extends PageDto {
  @DescribedProperty({ type: () => [SessionListItemDto] })
  items!: readonly SessionListItemDto[];
}

export class SessionResponseDto extends SessionListItemDto {
  @DescribedProperty({ type: Number, minimum: 0, description: 'Runs that are stored of it.' })
  runs!: number;
}
