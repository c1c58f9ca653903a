export type LogLevel = 'info' | 'warn' | 'error';

/** One line of a service's log; `stack` are the lines that follow it in text. */
export interface LogRecord {
  readonly at: number;
  readonly service: string;
  readonly level: LogLevel;
  readonly trace: string | null;
  readonly text: string;
  readonly stack: readonly string[];
}

/** One span; times in milliseconds. */
export interface SpanRecord {
  readonly trace: string;
  readonly span: string;
  readonly parent: string | null;
  readonly service: string;
  readonly operation: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly start: number;
  readonly end: number;
  readonly failed: boolean;
}

/** One value of one metric of one service. */
export interface MetricSample {
  readonly at: number;
  readonly service: string;
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
}

/** A deploy, a flag or a configuration that was changed. */
export interface ChangeRecord {
  readonly at: number;
  readonly service: string;
  readonly kind: 'deploy' | 'flag' | 'config';
  readonly text: string;
}

/** Everything that the shop leaves behind. It refuses to judge: what is wrong with it is not written here. */
export class TelemetryRecord {
  readonly logs: LogRecord[] = [];
  readonly spans: SpanRecord[] = [];
  readonly samples: MetricSample[] = [];
  readonly changes: ChangeRecord[] = [];

  log(
    at: number,
    service: string,
    level: LogLevel,
    text: string,
    trace: string | null = null,
    stack: readonly string[] = [],
  ): void {
    this.logs.push({ at, service, level, trace, text, stack });
  }
}
