import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A chat session: it groups runs and owns nothing of them. */
@Entity('chat_session')
@Index(['created_at', 'id'])
export class ChatSession {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Column({ type: 'datetime', precision: 3 })
  created_at!: Date;
}
