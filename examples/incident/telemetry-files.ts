import type { Shop, ShopService } from './shop';
import type { LogLevel, LogRecord, TelemetryRecord } from './telemetry-record';

const PINO_LEVELS: Readonly<Record<LogLevel, number>> = { info: 30, warn: 40, error: 50 };
const HOUR = 3_600_000;

/** How much of what the shop left behind is kept: instants of the simulation. */
export interface Kept {
  /** What happens from here on is not written any more. */
  readonly until: number;
  /** Spans that begin before are gone; null where there never were any. */
  readonly spansFrom: number | null;
}

/** What the shop left behind, as files in the formats that its services write: file name -> content. */
export function filesOf(record: TelemetryRecord, shop: Shop, { until, spansFrom }: Kept): Map<string, string> {
  const files = new Map<string, string>();
  const logs = record.logs.filter(({ at }) => at < until);
  for (const service of shop.services.values()) {
    const own = logs.filter((line) => line.service === service.name);
    const ending = service.style.format === 'pino' ? 'jsonl' : 'log';
    files.set(`logs/${service.name}.${ending}`, linesOf(own.map((line) => lineOf(line, service))));
  }
  if (spansFrom !== null) files.set('spans.csv', spansOf(record, spansFrom, until));
  const samples = record.samples.filter(({ at }) => at < until);
  files.set(
    'metrics.csv',
    linesOf([
      'time,service,metric,value,unit',
      ...samples.map(({ at, service, metric, value, unit }) => [instant(at), service, metric, plain(value), unit].join(',')),
    ]),
  );
  const changes = record.changes.filter(({ at }) => at < until).sort((a, b) => a.at - b.at);
  files.set('changes.jsonl', linesOf(changes.map(({ at, ...change }) => JSON.stringify({ time: instant(at), ...change }))));
  return files;
}

/** An instant of the simulation as ISO 8601 in UTC. */
export function instant(at: number): string {
  return new Date(Math.floor(at)).toISOString();
}

function linesOf(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function plain(value: number): string {
  return String(Math.round(value * 10_000) / 10_000);
}

function lineOf(line: LogRecord, service: ShopService): string {
  return service.style.format === 'pino' ? pinoLine(line) : textLine(line, service);
}

function pinoLine({ at, service, level, trace, text, stack }: LogRecord): string {
  return JSON.stringify({
    level: PINO_LEVELS[level],
    time: Math.floor(at),
    pid: 1,
    name: service,
    ...(trace === null ? {} : { trace_id: trace }),
    ...(stack.length === 0 ? {} : { err: { message: text, stack: [text, ...stack].join('\n') } }),
    msg: text,
  });
}

function textLine({ at, service, level, trace, text, stack }: LogRecord, { style }: ShopService): string {
  const { offsetHours, head } = style;
  const clock = instant(at + (offsetHours ?? 0) * HOUR);
  const time =
    offsetHours === null
      ? clock.replace('T', ' ').replace('.', ',').replace('Z', '')
      : `${clock.replace('Z', '')}+0${offsetHours}:00`;
  return [`${time}${head(level, service, trace)}${text}`, ...stack].join('\n');
}

function spansOf({ spans }: TelemetryRecord, from: number, until: number): string {
  const rows = spans
    .filter(({ start, end }) => start >= from && end < until)
    .sort((a, b) => a.end - b.end)
    .map(({ trace, span, parent, service, operation, kind, start, end, failed }) =>
      [
        trace,
        span,
        parent ?? '',
        service,
        operation,
        kind,
        micros(start),
        (end - start).toFixed(3),
        failed ? 'ERROR' : 'OK',
      ].join(','),
    );
  return linesOf(['trace_id,span_id,parent_id,service,operation,kind,start_time,duration_ms,status', ...rows]);
}

/** An instant with microseconds: spans are finer than a millisecond. */
function micros(at: number): string {
  const whole = Math.floor(at);
  const rest = Math.floor((at - whole) * 1_000);
  return `${instant(whole).slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
}
