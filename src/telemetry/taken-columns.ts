import type { ChangeRecords, LogsMapping, TabularLogs } from './telemetry-mapping';

/** For a person: what of a file was taken for what; null for what was found nowhere. */
export interface TakenColumns {
  readonly time: string;
  /** Zone of times that name none. */
  readonly zone: string;
  readonly message: string;
  readonly level: string | null;
  readonly service: string;
  readonly trace: string | null;
}

const FILE_NAME = '(the name of the file)';

function serviceOf(service: TabularLogs['service']): string {
  if (service === undefined) return FILE_NAME;
  if (typeof service === 'string') return service;
  return 'constant' in service ? `(always ${service.constant})` : service.column;
}

/** What an entry takes a log file's columns for; of a text file, the shape of its lines says it. */
export function takenForLogs(entry: LogsMapping): TakenColumns {
  if (entry.format === 'text') {
    const shape = `(text_pattern ${entry.text_pattern})`;
    const service = entry.service === undefined ? `${shape}, else ${FILE_NAME}` : `${shape}, else ${entry.service.constant}`;
    return { time: shape, zone: entry.time.zone, message: '(the whole line)', level: shape, service, trace: shape };
  }
  const { time, message, level, trace } = entry;
  return {
    time: time.column,
    zone: time.zone,
    message: entry.unwrap === undefined ? message : `${message} (its member ${entry.unwrap})`,
    level: level === undefined || typeof level === 'string' ? (level ?? null) : `${message} (pattern ${level.pattern})`,
    service: serviceOf(entry.service),
    trace: trace ?? null,
  };
}

/** The same of a file of changes. */
export function takenForChanges({ time, service, text }: ChangeRecords): TakenColumns {
  return { time: time.column, zone: time.zone, message: text, level: null, service, trace: null };
}
