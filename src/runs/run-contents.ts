import { createHash } from 'node:crypto';
import type { DiagnosisQuery } from '../protocol/diagnosis-query';
import { TITLE_LENGTH } from './diagnosis-run.entity';

/** What stands in the place of a question that is not kept. */
const NOT_KEPT = '(not kept)';

/** SHA-256 and size of a text, by which it can be recognised where it is not kept. */
export function digestOf(text: string): { readonly sha256: string; readonly bytes: number } {
  const bytes = Buffer.from(text, 'utf8');
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

/** A text as every database takes it: half of a surrogate pair becomes the mark for what is no character. */
export function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** The beginning of a question as lists show it; it splits no character. */
export function titleOf(text: string): string {
  if (text.length <= TITLE_LENGTH) return text;
  const last = text.charCodeAt(TITLE_LENGTH - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? TITLE_LENGTH - 1 : TITLE_LENGTH);
}

/** A query with its times alone: neither question nor alert, nor the part of the system that was asked about. */
export function withoutContent({ scope: _scope, focus: _focus, alert: _alert, ...query }: DiagnosisQuery): DiagnosisQuery {
  return { ...query, question: NOT_KEPT };
}
