/** New identifiers: UUIDv7 in text form, ascending in time. */
export abstract class IdSource {
  abstract next(): string;
}
