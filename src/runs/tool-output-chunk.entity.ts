import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { ToolInvocation } from './tool-invocation.entity';

/** A piece of the gzipped UTF-8 bytes of a tool's output, in the order of `seq` from 0. */
@Entity('tool_output_chunk')
export class ToolOutputChunk {
  /** The row id of the invocation. */
  @PrimaryColumn({ type: 'varchar', length: 36 })
  invocation_row_id!: string;

  @ManyToOne(() => ToolInvocation, { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'invocation_row_id' })
  invocation?: Relation<ToolInvocation>;

  @PrimaryColumn({ type: 'int' })
  seq!: number;

  @Column({ type: 'blob' })
  bytes!: Buffer;
}
