import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import type { AgentStepRecord } from '../ports/agent-step-store.port';
import type { NodeName } from '../vocabulary/node-names';
import type { Outcome } from '../vocabulary/outcomes';
import type { ReasonCode } from '../vocabulary/reason-codes';
import { DiagnosisRun } from './diagnosis-run.entity';

/** One timed attempt of one node: codes, times and sizes; no prompt and no output. */
@Entity('agent_step')
@Index(['run_id', 'id'])
export class AgentStep implements AgentStepRecord {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Column({ type: 'varchar', length: 36 })
  run_id!: string;

  @ManyToOne(() => DiagnosisRun, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'run_id' })
  run?: Relation<DiagnosisRun>;

  @Column({ type: 'varchar', length: 32 })
  node!: NodeName;

  @Column({ type: 'int' })
  round!: number;

  @Column({ type: 'int' })
  attempt!: number;

  @Column({ type: 'varchar', length: 32 })
  outcome!: Outcome;

  @Column({ type: 'varchar', length: 48 })
  reason_code!: ReasonCode;

  @Column({ type: 'datetime', precision: 3 })
  started_at!: Date;

  @Column({ type: 'int' })
  duration_ms!: number;

  @Column({ type: 'int', nullable: true })
  input_bytes!: number | null;

  @Column({ type: 'int', nullable: true })
  output_bytes!: number | null;

  @Column({ type: 'int', nullable: true })
  input_tokens!: number | null;

  @Column({ type: 'int', nullable: true })
  output_tokens!: number | null;
}
