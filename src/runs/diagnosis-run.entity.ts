import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import type { RunMetrics, SelfEvaluation } from '../ports/run-store.port';
import type { DiagnosisQuery } from '../protocol/diagnosis-query';
import type { OrchestrationTrace } from '../protocol/orchestration-trace';
import type { RankedCause } from '../protocol/run-evidence';
import type { ReasonCode } from '../vocabulary/reason-codes';
import type { AgentFlow, RunFailureCode, RunStatus } from '../vocabulary/run-lifecycle';
import type { FallbackClass } from '../vocabulary/statuses';
import type { Verdict } from '../vocabulary/verdicts';
import { ChatSession } from './chat-session.entity';

/** Characters of a question that stand in lists. */
export const TITLE_LENGTH = 200;

/** Text in a JSON column: such a column keeps several MB on every database, where a text column stops at 64 KB on some. */
export interface TextBody {
  readonly text: string;
}

/**
 * One run. Lists read its scalar columns alone; the columns of type json are bodies. Each filter of a list has an index for either
 * sort. Who may write a running run is told by `lease_owner` and `lease_until`.
 */
@Entity('run')
@Index(['status', 'lease_until'])
@Index(['erase_requested_at'])
@Index(['created_at', 'id'])
@Index(['status', 'created_at', 'id'])
@Index(['verdict', 'created_at', 'id'])
@Index(['degraded', 'created_at', 'id'])
@Index(['fallback_class', 'created_at', 'id'])
@Index(['fallback_reason', 'created_at', 'id'])
@Index(['session_id', 'created_at', 'id'])
@Index(['agent_flow', 'created_at', 'id'])
@Index(['tool_failed', 'created_at', 'id'])
@Index(['duration_ms', 'id'])
@Index(['status', 'duration_ms', 'id'])
@Index(['verdict', 'duration_ms', 'id'])
@Index(['degraded', 'duration_ms', 'id'])
@Index(['fallback_class', 'duration_ms', 'id'])
@Index(['fallback_reason', 'duration_ms', 'id'])
@Index(['session_id', 'duration_ms', 'id'])
@Index(['agent_flow', 'duration_ms', 'id'])
@Index(['tool_failed', 'duration_ms', 'id'])
export class DiagnosisRun {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Column({ type: 'varchar', length: 36 })
  session_id!: string;

  @ManyToOne(() => ChatSession, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'session_id' })
  session?: Relation<ChatSession>;

  @Column({ type: 'varchar', length: 16 })
  status!: RunStatus;

  @Column({ type: 'varchar', length: 32 })
  agent_flow!: AgentFlow;

  @Column({ type: 'varchar', length: 16, nullable: true })
  verdict!: Verdict | null;

  @Column({ type: 'boolean' })
  degraded!: boolean;

  @Column({ type: 'varchar', length: 32, nullable: true })
  failure_code!: RunFailureCode | null;

  @Column({ type: 'varchar', length: 64, nullable: true })
  lease_owner!: string | null;

  /** Until when nobody may take the run for dead; a run that waits is protected too. */
  @Column({ type: 'datetime', precision: 3 })
  lease_until!: Date;

  @Column({ type: 'datetime', precision: 3 })
  created_at!: Date;

  @Column({ type: 'datetime', precision: 3, nullable: true })
  started_at!: Date | null;

  @Column({ type: 'datetime', precision: 3, nullable: true })
  finished_at!: Date | null;

  /** From the question to the end, in ms; null before the end, and for a run found dead: nobody knows how long it worked. */
  @Column({ type: 'int', nullable: true })
  duration_ms!: number | null;

  @Column({ type: 'varchar', length: 32, nullable: true })
  fallback_class!: FallbackClass | null;

  @Column({ type: 'varchar', length: 48, nullable: true })
  fallback_reason!: ReasonCode | null;

  /** Attempts that were repeated, evidence rounds among them. */
  @Column({ type: 'int', default: 0 })
  retries!: number;

  /** Whether any tool call of the run failed, was denied or was given up. */
  @Column({ type: 'boolean', default: false })
  tool_failed!: boolean;

  /** The beginning of the question; null where no contents are kept. */
  @Column({ type: 'varchar', length: TITLE_LENGTH, nullable: true })
  title!: string | null;

  @Column({ type: 'varchar', length: 64, nullable: true })
  message_sha256!: string | null;

  /** Bytes of UTF-8, as for every size. */
  @Column({ type: 'int', nullable: true })
  message_bytes!: number | null;

  @Column({ type: 'varchar', length: 64, nullable: true })
  answer_sha256!: string | null;

  @Column({ type: 'int', nullable: true })
  answer_bytes!: number | null;

  /** Whether question, answer, evidence and outputs outlive the run. */
  @Column({ type: 'boolean', default: true })
  keeps_content!: boolean;

  /** When somebody asked for the run to be erased; it goes once it has ended. */
  @Column({ type: 'datetime', precision: 3, nullable: true })
  erase_requested_at!: Date | null;

  @Column({ type: 'json' })
  message!: TextBody;

  @Column({ type: 'json', nullable: true })
  query!: DiagnosisQuery | null;

  @Column({ type: 'json', nullable: true })
  answer!: TextBody | null;

  @Column({ type: 'json', nullable: true })
  causes!: RankedCause[] | null;

  @Column({ type: 'json', nullable: true })
  trace!: OrchestrationTrace | null;

  @Column({ type: 'json', nullable: true })
  metrics!: RunMetrics | null;

  @Column({ type: 'json', nullable: true })
  self_evaluation!: SelfEvaluation | null;
}
