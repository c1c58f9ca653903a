import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SessionStore } from '../ports/session-store.port';
import { ChatSession } from './chat-session.entity';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { asStoreCall } from './store-error';
import { WriteQueue } from './write-queue';

/** Chat sessions in the database. */
@Injectable()
export class SessionRepository extends SessionStore {
  private readonly queue: WriteQueue;

  constructor(@Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async ensure(sessionId: string, at: Date): Promise<void> {
    await this.queue.write((manager) =>
      manager
        .createQueryBuilder()
        .insert()
        .into(ChatSession)
        .values({ id: sessionId, created_at: at })
        .orIgnore()
        .updateEntity(false)
        .execute(),
    );
  }

  override async exists(sessionId: string): Promise<boolean> {
    return asStoreCall(() => this.dataSource.manager.existsBy(ChatSession, { id: sessionId }));
  }
}
