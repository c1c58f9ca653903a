import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { ContextLine, InvocationView, OutputPart, RunView } from '../chat/run-views';
import { CLAIM_KINDS } from '../vocabulary/evidence-terms';
import { AGENT_FLOWS, INVOCATION_STATUSES, RUN_FAILURE_CODES, RUN_STATUSES } from '../vocabulary/run-lifecycle';
import { VERDICTS } from '../vocabulary/verdicts';
import { RankedCauseDto } from './chat-result.dto';
import { DescribedProperty } from './openapi-decorators';

const OPEN_OBJECT = { type: Object, additionalProperties: true } as const;
const MAX_CHARS = 64 * 1024 * 1024;

/** Part of a stored output to read. */
export class OutputRangeDto {
  @DescribedProperty({ type: Number, minimum: 0, required: false, description: 'First character, from 0. Default 0.' })
  @IsOptional()
  @Type(() => Number)
  @IsInt({ message: 'offset must be a whole number of characters' })
  @Min(0, { message: 'offset must be at least 0' })
  @Max(MAX_CHARS, { message: `offset must be at most ${MAX_CHARS}` })
  offset?: number;

  @DescribedProperty({ type: Number, minimum: 1, required: false, description: 'Most characters. Default: to the end.' })
  @IsOptional()
  @Type(() => Number)
  @IsInt({ message: 'limit must be a whole number of characters' })
  @Min(1, { message: 'limit must be at least 1' })
  @Max(MAX_CHARS, { message: `limit must be at most ${MAX_CHARS}` })
  limit?: number;
}

/** A run as it is read. */
export class RunDto {
  @DescribedProperty({ type: String, format: 'uuid' })
  id!: string;

  @DescribedProperty({ type: String, format: 'uuid' })
  sessionId!: string;

  @DescribedProperty({ type: String, nullable: true, description: 'The question; null where no contents are kept.' })
  message!: string | null;

  @DescribedProperty({ enum: RUN_STATUSES })
  status!: RunView['status'];

  @DescribedProperty({ enum: AGENT_FLOWS })
  agent_flow!: RunView['agent_flow'];

  @DescribedProperty({
    ...OPEN_OBJECT,
    nullable: true,
    description: 'Pinned clock, window, baseline, zone, locale; null when no graph ran.',
  })
  query!: RunView['query'];

  @DescribedProperty({ type: String, nullable: true, description: 'Markdown; null without an answer.' })
  answer!: string | null;

  @DescribedProperty({ enum: VERDICTS, nullable: true })
  verdict!: RunView['verdict'];

  @DescribedProperty({ type: Boolean })
  degraded!: boolean;

  @DescribedProperty({ type: () => [RankedCauseDto] })
  causes!: readonly RankedCauseDto[];

  @DescribedProperty({ enum: RUN_FAILURE_CODES, nullable: true })
  failureCode!: RunView['failureCode'];

  @DescribedProperty({ ...OPEN_OBJECT, nullable: true, description: 'Durations in ms, calls, tokens (null when unknown).' })
  metrics!: RunView['metrics'];

  @DescribedProperty({ ...OPEN_OBJECT, nullable: true, description: 'Deterministic counts from the final state.' })
  selfEvaluation!: RunView['selfEvaluation'];

  @DescribedProperty({ type: String, format: 'date-time' })
  createdAt!: string;

  @DescribedProperty({ type: String, format: 'date-time', nullable: true })
  startedAt!: string | null;

  @DescribedProperty({ type: String, format: 'date-time', nullable: true })
  finishedAt!: string | null;

  @DescribedProperty({
    type: Boolean,
    description: 'Whether question, answer, causes, evidence, arguments and outputs outlive the run.',
  })
  keepsContent!: boolean;

  @DescribedProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When somebody asked for the run to be erased; it goes right after its end.',
  })
  eraseRequestedAt!: string | null;

  @DescribedProperty({
    ...OPEN_OBJECT,
    nullable: true,
    required: false,
    description:
      'Audit of a graph run: path, events, retries, gatekeeper status, ceiling, verdict, fallback class and reason, degraded.',
  })
  orchestrationTrace?: RunView['orchestrationTrace'];
}

export class RunResponseDto {
  @DescribedProperty({ type: () => RunDto })
  run!: RunDto;
}

class ContextLineDto {
  @DescribedProperty({ type: Number, minimum: 1 })
  number!: number;

  @DescribedProperty({ type: String })
  text!: string;

  @DescribedProperty({ type: Boolean, description: 'Whether the citation points at this line.' })
  matched!: boolean;
}

export class BindingDto {
  @DescribedProperty({ type: String, example: 't3-k7qa', description: 'Recorded tool call; see tool-invocations.' })
  source_invocation_id!: string;

  @DescribedProperty({ type: String })
  tool_name!: string;

  @DescribedProperty({ type: String, description: "Place within `data` of the call's output." })
  raw_path!: string;

  @DescribedProperty({ type: String, nullable: true })
  quote!: string | null;

  @DescribedProperty({ type: String, description: 'What stands at that place.' })
  matched_text!: string;

  @DescribedProperty({ type: () => [ContextLineDto], nullable: true, description: 'A few lines around the place.' })
  context!: readonly ContextLine[] | null;
}

export class EvidenceClaimDto {
  @DescribedProperty({
    type: Number,
    nullable: true,
    description: 'Number in square brackets by which the answer cites the claim.',
  })
  citation!: number | null;

  @DescribedProperty({ type: String })
  claim_id!: string;

  @DescribedProperty({ enum: CLAIM_KINDS })
  kind!: (typeof CLAIM_KINDS)[number];

  @DescribedProperty({ type: String })
  subject!: string;

  @DescribedProperty({ type: String })
  statement!: string;

  @DescribedProperty({ type: () => [BindingDto] })
  bindings!: readonly BindingDto[];
}

export class EvidenceResponseDto {
  @DescribedProperty({ type: String, format: 'uuid' })
  runId!: string;

  @DescribedProperty({ type: () => [EvidenceClaimDto] })
  claims!: readonly EvidenceClaimDto[];

  @DescribedProperty({ type: String, nullable: true, description: 'Why there is no evidence.' })
  emptyReason!: string | null;
}

/** A recorded tool call as lists show it. */
export class InvocationSummaryDto {
  @DescribedProperty({ type: String, format: 'uuid' })
  id!: string;

  @DescribedProperty({ type: String, example: 't3-k7qa' })
  invocation_id!: string;

  @DescribedProperty({ type: String })
  tool_name!: string;

  @DescribedProperty({ enum: INVOCATION_STATUSES })
  status!: InvocationView['status'];

  @DescribedProperty({ type: String, nullable: true })
  error_code!: string | null;

  @DescribedProperty({ type: Number })
  round!: number;

  @DescribedProperty({ type: Number })
  ordinal!: number;

  @DescribedProperty({ type: String, format: 'date-time' })
  started_at!: string;

  @DescribedProperty({ type: Number, nullable: true })
  duration_ms!: number | null;

  @DescribedProperty({ type: String, nullable: true })
  output_sha256!: string | null;

  @DescribedProperty({ type: Number, nullable: true })
  output_bytes!: number | null;
}

/** A recorded tool call with what it was asked. */
export class InvocationDto extends InvocationSummaryDto {
  @DescribedProperty({ type: String, description: 'Canonical JSON.' })
  arguments!: string;
}

class OutputPartDto {
  @DescribedProperty({ type: Number })
  offset!: number;

  @DescribedProperty({ type: String, description: 'The stored output, letter by letter.' })
  text!: string;

  @DescribedProperty({ type: Number, description: 'Characters of the whole output.' })
  total!: number;

  @DescribedProperty({ type: Number, nullable: true, description: 'Offset of the rest; null at the end.' })
  next!: number | null;
}

export class InvocationResponseDto {
  @DescribedProperty({ type: String, format: 'uuid' })
  runId!: string;

  @DescribedProperty({ type: () => InvocationDto })
  invocation!: InvocationDto;

  @DescribedProperty({ type: () => OutputPartDto, nullable: true })
  output!: OutputPart | null;
}
