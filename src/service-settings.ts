import { DiagnosisError } from './errors/diagnosis-error';
import type { DiagnosisOptionsInput } from './options/diagnosis-options';
import { databaseTargetOf } from './runs/database-url';

/** Port without a `PORT` in the environment. */
const DEFAULT_PORT = 3000;

/** How much the service logs. */
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What the service and the command line read from the environment, once. */
export interface ServiceSettings {
  /** Port on 127.0.0.1; 0 takes any free one. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** The same settings as options of the module. */
  readonly options: DiagnosisOptionsInput;
}

/**
 * Reads `PORT`, `DATABASE_URL`, `DIAGNOSIS_TELEMETRY`, `DIAGNOSIS_MAPPING`, `DIAGNOSIS_CONTENT`, `DIAGNOSIS_MAX_AGE_DAYS`,
 * `DIAGNOSIS_MAX_RUNS` and `LOG_LEVEL`; unset and blank ones take their defaults.
 * @throws DiagnosisError OPTIONS_INVALID that names the variable and what would be right, and never repeats its value
 */
export function readServiceSettings(environment: Readonly<Record<string, string | undefined>>): ServiceSettings {
  const url = valueOf(environment['DATABASE_URL']);
  const telemetry = valueOf(environment['DIAGNOSIS_TELEMETRY']);
  const mapping = valueOf(environment['DIAGNOSIS_MAPPING']);
  if (url !== undefined) databaseTargetOf(url, 'DATABASE_URL');
  const content = contentOf(valueOf(environment['DIAGNOSIS_CONTENT']));
  const retention = {
    ...boundOf('maxAgeDays', 'DIAGNOSIS_MAX_AGE_DAYS', valueOf(environment['DIAGNOSIS_MAX_AGE_DAYS'])),
    ...boundOf('maxRuns', 'DIAGNOSIS_MAX_RUNS', valueOf(environment['DIAGNOSIS_MAX_RUNS'])),
  };
  return {
    port: portOf(valueOf(environment['PORT'])),
    logLevel: logLevelOf(valueOf(environment['LOG_LEVEL'])),
    options: {
      ...(url === undefined ? {} : { database: { url } }),
      ...(content === undefined ? {} : { content: { store: content } }),
      ...(Object.keys(retention).length === 0 ? {} : { retention }),
      ...(telemetry === undefined && mapping === undefined
        ? {}
        : {
            telemetry: {
              ...(telemetry === undefined ? {} : { path: telemetry }),
              ...(mapping === undefined ? {} : { mapping }),
            },
          }),
    },
  };
}

function valueOf(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

function contentOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === 'on' || text === 'off') return text === 'on';
  throw new DiagnosisError('OPTIONS_INVALID', 'DIAGNOSIS_CONTENT: must be on (runs keep their texts) or off.', {
    variable: 'DIAGNOSIS_CONTENT',
  });
}

const MOST_OF_A_BOUND = { maxAgeDays: 36_500, maxRuns: 1_000_000_000 } as const;

function boundOf(
  option: keyof typeof MOST_OF_A_BOUND,
  variable: string,
  text: string | undefined,
): Partial<Record<keyof typeof MOST_OF_A_BOUND, number>> {
  if (text === undefined) return {};
  const bound = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  // None would erase every run as soon as it ends, which is more likely a slip than a wish.
  if (bound >= 1 && bound <= MOST_OF_A_BOUND[option]) return { [option]: bound };
  throw new DiagnosisError('OPTIONS_INVALID', `${variable}: must be a whole number from 1 to ${MOST_OF_A_BOUND[option]}.`, {
    variable,
  });
}

function portOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new DiagnosisError('OPTIONS_INVALID', 'PORT: must be a whole number from 0 (any free port) to 65535.', {
    variable: 'PORT',
  });
}

function logLevelOf(text: string | undefined): LogLevel {
  const level = text === undefined ? 'info' : LOG_LEVELS.find((known) => known === text.toLowerCase());
  if (level !== undefined) return level;
  throw new DiagnosisError('OPTIONS_INVALID', `LOG_LEVEL: must be one of ${LOG_LEVELS.join(', ')}.`, { variable: 'LOG_LEVEL' });
}
