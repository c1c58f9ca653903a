import type { LogLevel } from './telemetry-record';

/** How a service words what every service has to say. */
interface LineWords {
  readonly accepted: (operation: string) => string;
  readonly done: (operation: string, ms: number) => string;
  readonly failed: (operation: string) => string;
  readonly callFailed: (callee: string) => string;
  readonly callTimedOut: (callee: string, ms: number) => string;
  readonly refused: (callee: string) => string;
  readonly dropped: (callee: string) => string;
  readonly retrying: (callee: string) => string;
}

/** How a service writes its log: as JSON lines of pino, or as text that a time with or without an offset begins. */
export interface LineStyle {
  readonly format: 'pino' | 'text';
  /** Hours that its clock is ahead of UTC, shown in each line; null for UTC without saying so. Text only. */
  readonly offsetHours: number | null;
  readonly words: LineWords;
  /** What stands between the time and the text. Text only. */
  readonly head: (level: LogLevel, service: string, trace: string | null) => string;
}

const HTTP_WORDS: LineWords = {
  accepted: () => 'incoming request',
  done: () => 'request completed',
  failed: () => 'request errored',
  callFailed: (callee) => `upstream ${callee}: Request failed with status code 500`,
  callTimedOut: (callee, ms) => `upstream ${callee}: timeout of ${ms}ms exceeded`,
  refused: (callee) => `connect ECONNREFUSED ${callee}:8080`,
  dropped: (callee) => `upstream ${callee}: socket hang up`,
  retrying: (callee) => `upstream ${callee}: trying once more`,
};

const PLAIN_WORDS: LineWords = {
  accepted: (operation) => `${operation} request accepted`,
  done: (operation, ms) => `${operation} request done in ${ms} ms`,
  failed: (operation) => `${operation} request failed with status 500`,
  callFailed: (callee) => `call to ${callee} failed with status 500`,
  callTimedOut: (callee, ms) => `call to ${callee} timed out after ${ms} ms`,
  refused: (callee) => `cannot reach ${callee}: connection refused`,
  dropped: (callee) => `call to ${callee} broke off: connection reset by peer`,
  retrying: (callee) => `retrying call to ${callee}`,
};

const FORMAL_WORDS: LineWords = {
  accepted: (operation) => `Handling ${operation}`,
  done: (operation, ms) => `Completed ${operation} in ${ms} ms`,
  failed: (operation) => `Completed ${operation} with 500 INTERNAL_SERVER_ERROR`,
  callFailed: (callee) => `Server error on POST request for "http://${callee}:8080": 500 Internal Server Error`,
  callTimedOut: (callee, ms) => `I/O error on POST request for "http://${callee}:8080": read timed out (${ms} ms)`,
  refused: (callee) => `I/O error on POST request for "http://${callee}:8080": Connection refused`,
  dropped: (callee) => `I/O error on POST request for "http://${callee}:8080": Unexpected end of stream`,
  retrying: (callee) => `Repeating POST request for "http://${callee}:8080"`,
};

const NO_HEAD = (): string => '';

/** The ways in which services of the shop write. */
export const LINE_STYLES: readonly LineStyle[] = [
  { format: 'pino', offsetHours: null, words: HTTP_WORDS, head: NO_HEAD },
  { format: 'pino', offsetHours: null, words: PLAIN_WORDS, head: NO_HEAD },
  {
    format: 'text',
    offsetHours: 2,
    words: FORMAL_WORDS,
    head: (level, service, trace) => ` ${level.toUpperCase().padStart(5)} [${service},${trace ?? ''}] 1 --- [exec-1] `,
  },
  {
    format: 'text',
    offsetHours: null,
    words: PLAIN_WORDS,
    head: (level, _service, trace) => ` ${level.toUpperCase()} trace_id=${trace ?? '-'} `,
  },
];
