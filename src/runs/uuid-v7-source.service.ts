import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import { IdSource } from '../ports/id-source.port';

/** UUIDs of version 7 (RFC 9562): ascending in time, and within one millisecond too. */
@Injectable()
export class UuidV7Source extends IdSource {
  override next(): string {
    return v7();
  }
}
