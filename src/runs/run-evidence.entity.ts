import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { DiagnosisRun } from './diagnosis-run.entity';

/** The allowed claims of a run's answer with the text they point at, written together with the terminal status. */
@Entity('run_evidence')
export class RunEvidence {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  run_id!: string;

  @ManyToOne(() => DiagnosisRun, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'run_id' })
  run?: Relation<DiagnosisRun>;

  @Column({ type: 'json' })
  body!: unknown;

  @Column({ type: 'datetime', precision: 3 })
  created_at!: Date;
}
