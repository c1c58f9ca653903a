import type { z } from 'zod';
import { DiagnosisError } from '../errors/diagnosis-error';

/** A stored JSON column as its document, or null. It refuses one that lost its shape: STORE_UNAVAILABLE naming the column. */
export function readStoredJson<T>(schema: z.ZodType<T>, value: unknown, column: string): T | null {
  if (value === null || value === undefined) return null;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new DiagnosisError('STORE_UNAVAILABLE', `The stored ${column} does not have its shape.`, { column });
}
