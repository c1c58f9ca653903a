import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { DiagnosisRun } from './diagnosis-run.entity';

/** One evaluation of a finished run; once per run and kind. */
@Entity('run_evaluation')
@Index(['run_id', 'kind'], { unique: true })
export class RunEvaluation {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Column({ type: 'varchar', length: 36 })
  run_id!: string;

  @ManyToOne(() => DiagnosisRun, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'run_id' })
  run?: Relation<DiagnosisRun>;

  @Column({ type: 'varchar', length: 64 })
  kind!: string;

  @Column({ type: 'double', nullable: true })
  score!: number | null;

  @Column({ type: 'json' })
  detail!: unknown;

  @Column({ type: 'datetime', precision: 3 })
  created_at!: Date;
}
