/** The time, so that a test can hold it still. */
export abstract class Clock {
  abstract now(): Date;
}
