import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DiagnosisError } from '../errors/diagnosis-error';
import { SessionStore } from '../ports/session-store.port';
import { ChatSession } from './chat-session.entity';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { exactly } from './exact-text';
import { asStoreCall } from './store-error';
import { WriteQueue } from './write-queue';

const ID_LENGTH = 36;

/** Chat sessions in the database. It refuses an id that is longer than its column. */
@Injectable()
export class SessionRepository extends SessionStore {
  private readonly queue: WriteQueue;

  constructor(@Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async ensure(sessionId: string, at: Date): Promise<void> {
    // Ignoring a row that is there makes a server cut off what is too long as well.
    if (sessionId.length > ID_LENGTH) throw new DiagnosisError('CONFLICT', 'The id of a session has at most 36 characters.');
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
    return asStoreCall(() => this.dataSource.manager.existsBy(ChatSession, { id: exactly(sessionId) }));
  }
}
