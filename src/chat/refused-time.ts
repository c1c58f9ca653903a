import { DiagnosisError } from '../errors/diagnosis-error';

/** REQUEST_INVALID for words of a message that speak of a time and cannot be read with certainty: them, and what is right. */
export function refusedTime(text: string, right: string): DiagnosisError {
  return new DiagnosisError('REQUEST_INVALID', `message: "${text.trim()}" ${right}`, { field: 'message' });
}
