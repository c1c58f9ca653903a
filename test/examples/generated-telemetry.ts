import type { FaultKind } from '../../examples/incident/faults';
import { generateIncident, type IncidentTruth, type Stretch } from '../../examples/incident/incident-generator';

/** One line of one service's log, whatever its format. */
export interface Line {
  readonly at: number;
  readonly service: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

export interface Span {
  readonly trace: string;
  readonly span: string;
  readonly parent: string;
  readonly service: string;
  readonly operation: string;
  readonly kind: string;
  readonly at: number;
  readonly ms: number;
  readonly failed: boolean;
}

export interface Sample {
  readonly at: number;
  readonly service: string;
  readonly metric: string;
  readonly value: number;
}

export interface Change {
  readonly time: string;
  readonly service: string;
  readonly kind: string;
  readonly text: string;
}

/** A generated incident, read back from its files as a stranger would. */
export interface Telemetry {
  readonly files: ReadonlyMap<string, string>;
  readonly truth: IncidentTruth;
  readonly lines: readonly Line[];
  readonly spans: readonly Span[];
  readonly samples: readonly Sample[];
  readonly changes: readonly Change[];
}

const LEVELS: Readonly<Record<number, Line['level']>> = { 30: 'info', 40: 'warn', 50: 'error' };
const TEXT_LINE =
  /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})[.,](\d{3})(\+\d{2}:\d{2})?\s+(INFO|WARN|ERROR) (?:trace_id=\S+|\[[^\]]*\] 1 --- \[exec-1\]) (.*)$/;

function rowsOf(content: string): string[] {
  return content
    .split('\n')
    .slice(0, -1)
    .filter((row) => row !== '');
}

function cellsOf(content: string | undefined): string[][] {
  return rowsOf(content ?? '')
    .slice(1)
    .map((row) => row.split(','));
}

function linesOf(name: string, content: string): Line[] {
  const service = name.replace(/^logs\//, '').replace(/\.\w+$/, '');
  if (name.endsWith('.jsonl')) {
    return rowsOf(content).map((row) => {
      const { time, level, msg, name: own } = JSON.parse(row) as { time: number; level: number; msg: string; name: string };
      return { at: time, service: own, level: LEVELS[level] as Line['level'], text: msg };
    });
  }
  return rowsOf(content).flatMap((row) => {
    const match = TEXT_LINE.exec(row);
    if (match === null) return [];
    const [, day, clock, millis, offset, level, text] = match;
    const at = Date.parse(`${day}T${clock}.${millis}${offset ?? 'Z'}`);
    return [{ at, service, level: (level as string).toLowerCase() as Line['level'], text: text as string }];
  });
}

const read = new Map<string, Telemetry>();

/** An incident read back; each is generated once. */
export function telemetryOf(seed: number, kind: FaultKind): Telemetry {
  const known = read.get(`${kind} ${seed}`) ?? readBack(seed, kind);
  read.set(`${kind} ${seed}`, known);
  return known;
}

function readBack(seed: number, kind: FaultKind): Telemetry {
  const { files, truth } = generateIncident(seed, kind);
  return {
    files,
    truth,
    lines: [...files].flatMap(([name, content]) => (name.startsWith('logs/') ? linesOf(name, content) : [])),
    spans: cellsOf(files.get('spans.csv')).map((cells) => {
      const [trace, span, parent, service, operation, sort, start, ms, status] = cells as [string, ...string[]];
      return {
        trace,
        span,
        parent,
        service,
        operation,
        kind: sort,
        at: Date.parse(start as string),
        ms: Number(ms),
        failed: status === 'ERROR',
      } as Span;
    }),
    samples: cellsOf(files.get('metrics.csv')).map(([time, service, metric, value]) => {
      return { at: Date.parse(time as string), service, metric, value: Number(value) } as Sample;
    }),
    changes: rowsOf(files.get('changes.jsonl') ?? '').map((row) => JSON.parse(row) as Change),
  };
}

/** What lies in a stretch, the end excluded. */
export function within<T extends { readonly at: number }>(items: readonly T[], { from, to }: Stretch): T[] {
  return items.filter(({ at }) => at >= Date.parse(from) && at < Date.parse(to));
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
