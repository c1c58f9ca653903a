import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

export const CHECKPOINT_PART_KINDS = ['CHECKPOINT', 'VALUE', 'WRITE'] as const;
export type CheckpointPartKind = (typeof CHECKPOINT_PART_KINDS)[number];

/** What an entry of checkpoints is, in words that can be read in the database; its bytes are in the rows of the entry. */
export interface CheckpointLabel {
  readonly thread_id?: string;
  readonly namespace?: string;
  readonly checkpoint_id?: string;
  readonly parent_id?: string | null;
  readonly task_id?: string;
  readonly task_path?: string;
  readonly index?: number;
  readonly channel?: string;
  readonly version?: string | number;
  /** Type and length of each value in the entry's bytes, in their order. */
  readonly pieces: readonly (readonly [type: string, bytes: number])[];
}

/**
 * A piece of an entry: of a checkpoint, of the value of a channel at a version, or of a pending write. One table for the three,
 * so that a checkpoint with its values is one statement, and a thread is deleted by one. Keys are SHA-256 in hex, which no
 * collation can mistake.
 */
@Entity('checkpoint_part')
@Index(['scope_key', 'sort_key'])
@Index(['realm', 'created_at'])
export class CheckpointPart {
  /** Of realm and thread. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  thread_key!: string;

  /** Of everything that names the entry. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  entry_key!: string;

  /** Pieces of an entry, from 0. */
  @PrimaryColumn({ type: 'int' })
  seq!: number;

  /** Pieces that the entry has; rows beyond are remains of a longer one that was replaced. */
  @Column({ type: 'int' })
  parts!: number;

  @Column({ type: 'varchar', length: 16 })
  kind!: CheckpointPartKind;

  @Column({ type: 'varchar', length: 32 })
  realm!: string;

  /** Of the namespace (first piece of a checkpoint), or of the checkpoint (write). */
  @Column({ type: 'varchar', length: 64, nullable: true })
  scope_key!: string | null;

  /** The id of a checkpoint as hex of its bytes, in the first piece: hex sorts alike under every collation. */
  @Column({ type: 'varchar', length: 254, nullable: true })
  sort_key!: string | null;

  /** In the first piece. */
  @Column({ type: 'json', nullable: true })
  label!: CheckpointLabel | null;

  @Column({ type: 'datetime', precision: 3 })
  created_at!: Date;

  @Column({ type: 'blob' })
  bytes!: Buffer;
}
