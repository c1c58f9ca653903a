import { createHash } from 'node:crypto';
import { z } from 'zod';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { ListPosition, SortOrder } from '../ports/run-query-store.port';

/** Which list a cursor belongs to: its name, its sort and order, and what it is narrowed to. */
export interface ListIdentity {
  readonly list: string;
  readonly sort: string;
  readonly order: SortOrder;
  readonly scope: Readonly<Record<string, string | number | boolean | null | undefined>>;
}

/** The last instant that a datetime column holds, in ms. */
const MAX_KEY = 253_402_300_799_999;
const MAX_LENGTH = 512;

const cursorSchema = z.strictObject({
  sort: z.string(),
  order: z.string(),
  filter: z.string(),
  last: z.tuple([z.int().min(0).max(MAX_KEY), z.string().min(1).max(36)]),
});

/** The cursor behind a row of a list: opaque to callers, and of no use for another list. */
export function cursorOf(identity: ListIdentity, { key, id }: ListPosition): string {
  const { sort, order } = identity;
  return Buffer.from(JSON.stringify({ sort, order, filter: digestOf(identity), last: [key, id] })).toString('base64url');
}

/** The position that a cursor names. It refuses one that is malformed or of another list with REQUEST_INVALID naming `cursor`. */
export function positionOf(identity: ListIdentity, cursor: string): ListPosition {
  const parsed = cursorSchema.safeParse(cursor.length > MAX_LENGTH ? null : decoded(cursor));
  if (!parsed.success) throw refused('is none that a page gave; send its `nextCursor` as it is, or leave it out to begin');
  const { sort, order, filter, last } = parsed.data;
  if (sort !== identity.sort || order !== identity.order || filter !== digestOf(identity)) {
    throw refused('belongs to another list, sort or filter; leave it out to begin anew');
  }
  return { key: last[0], id: last[1] };
}

function digestOf({ list, scope }: ListIdentity): string {
  const given = Object.entries(scope).filter(([, value]) => value !== undefined);
  given.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([list, given]))
    .digest('base64url')
    .slice(0, 12);
}

function decoded(cursor: string): unknown {
  const bytes = Buffer.from(cursor, 'base64url');
  // Node passes over what is no base64url, so that another text would mean the same.
  if (bytes.toString('base64url') !== cursor) return null;
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return null;
  }
}

function refused(fault: string): DiagnosisError {
  return new DiagnosisError('REQUEST_INVALID', `The request is not valid. cursor: ${fault}.`, { field: 'cursor' });
}
