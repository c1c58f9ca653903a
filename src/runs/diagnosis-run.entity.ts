import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import type { RunMetrics, SelfEvaluation } from '../ports/run-store.port';
import type { DiagnosisQuery } from '../protocol/diagnosis-query';
import type { OrchestrationTrace } from '../protocol/orchestration-trace';
import type { RankedCause } from '../protocol/run-evidence';
import type { AgentFlow, RunFailureCode, RunStatus } from '../vocabulary/run-lifecycle';
import type { Verdict } from '../vocabulary/verdicts';
import { ChatSession } from './chat-session.entity';

/** Text in a JSON column: such a column keeps several MB on every database, where a text column stops at 64 KB on some. */
export interface TextBody {
  readonly text: string;
}

/**
 * One run. Lists read its scalar columns alone; the columns of type json are bodies. Who may write a running run is told by
 * `lease_owner` and `lease_until`.
 */
@Entity('run')
@Index(['session_id', 'created_at'])
@Index(['status', 'lease_until'])
export class DiagnosisRun {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Column({ type: 'varchar', length: 36 })
  session_id!: string;

  @ManyToOne(() => ChatSession, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'session_id', foreignKeyConstraintName: 'fk_diagnosis_run_session' })
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
