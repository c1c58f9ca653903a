import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import type { InvocationRecord } from '../ports/tool-invocation-store.port';
import type { InvocationStatus } from '../vocabulary/run-lifecycle';
import { DiagnosisRun } from './diagnosis-run.entity';

/** One recorded tool call without its output, whose bytes are in `ToolOutputChunk`. */
@Entity('tool_invocation')
@Index(['run_id', 'call_key'], { unique: true })
@Index(['run_id', 'invocation_id'], { unique: true })
@Index(['invocation_id'])
@Index(['status', 'started_at', 'error_code'])
export class ToolInvocation implements InvocationRecord {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Column({ type: 'varchar', length: 36 })
  run_id!: string;

  @ManyToOne(() => DiagnosisRun, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'run_id' })
  run?: Relation<DiagnosisRun>;

  @Column({ type: 'varchar', length: 16 })
  invocation_id!: string;

  @Column({ type: 'varchar', length: 64 })
  call_key!: string;

  @Column({ type: 'int' })
  round!: number;

  @Column({ type: 'int' })
  ordinal!: number;

  @Column({ type: 'varchar', length: 128 })
  tool_name!: string;

  @Column({ type: 'text' })
  arguments!: string;

  @Column({ type: 'varchar', length: 16 })
  status!: InvocationStatus;

  @Column({ type: 'varchar', length: 64, nullable: true })
  output_sha256!: string | null;

  @Column({ type: 'int', nullable: true })
  output_bytes!: number | null;

  @Column({ type: 'varchar', length: 64, nullable: true })
  error_code!: string | null;

  @Column({ type: 'datetime', precision: 3 })
  started_at!: Date;

  @Column({ type: 'int', nullable: true })
  duration_ms!: number | null;
}
