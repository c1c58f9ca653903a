import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { DiagnosisRun } from './diagnosis-run.entity';

/**
 * A word of a run's question, by which lists find the run: a search in the question's own body would be a scan. It is kept as a
 * digest, so that both databases compare it alike whatever their collation, and repeats what the two sorts need. There is none
 * where no contents are kept.
 */
@Entity('run_word')
@Index(['word_key', 'created_at', 'run_id'])
@Index(['word_key', 'duration_ms', 'run_id'])
export class RunWord {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  run_id!: string;

  @ManyToOne(() => DiagnosisRun, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'run_id' })
  run?: Relation<DiagnosisRun>;

  /** Digest of the word in lower case, see `question-words.ts`. */
  @PrimaryColumn({ type: 'varchar', length: 32 })
  word_key!: string;

  @Column({ type: 'datetime', precision: 3 })
  created_at!: Date;

  @Column({ type: 'int', nullable: true })
  duration_ms!: number | null;
}
