import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import type { RunOutcomeKind } from '../vocabulary/run-lifecycle';
import { DiagnosisRun } from './diagnosis-run.entity';

/** What somebody found out about a run's answer afterwards; the newest word counts. */
@Entity('run_outcome')
export class RunOutcome {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  run_id!: string;

  @ManyToOne(() => DiagnosisRun, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'run_id' })
  run?: Relation<DiagnosisRun>;

  @Column({ type: 'varchar', length: 16 })
  outcome!: RunOutcomeKind;

  /** The service or thing that it really was; null where nobody said so. */
  @Column({ type: 'varchar', length: 255, nullable: true })
  actual_cause!: string | null;

  @Column({ type: 'datetime', precision: 3 })
  created_at!: Date;

  @Column({ type: 'datetime', precision: 3 })
  updated_at!: Date;
}
