/**
 * Takes credentials out of text before it is stored or shown. The same secret becomes the same placeholder within one
 * process, so that equality stays visible; it refuses to reveal length or any character of the secret.
 */
export abstract class Redactor {
  abstract redact(text: string): string;
}
