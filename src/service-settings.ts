import { DiagnosisError } from './errors/diagnosis-error';
import type { DiagnosisOptionsInput } from './options/diagnosis-options';

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
 * Reads `PORT`, `DATABASE_URL`, `DIAGNOSIS_TELEMETRY`, `DIAGNOSIS_MAPPING` and `LOG_LEVEL`; unset and blank ones take their defaults.
 * @throws DiagnosisError OPTIONS_INVALID that names the variable and what would be right, and never repeats its value
 */
export function readServiceSettings(environment: Readonly<Record<string, string | undefined>>): ServiceSettings {
  const url = valueOf(environment['DATABASE_URL']);
  const telemetry = valueOf(environment['DIAGNOSIS_TELEMETRY']);
  const mapping = valueOf(environment['DIAGNOSIS_MAPPING']);
  if (url !== undefined && !url.startsWith('sqlite:')) {
    throw new DiagnosisError(
      'OPTIONS_INVALID',
      'DATABASE_URL: must be sqlite:<file>, such as sqlite:diagnosis.sqlite, or sqlite::memory:.',
      { variable: 'DATABASE_URL' },
    );
  }
  return {
    port: portOf(valueOf(environment['PORT'])),
    logLevel: logLevelOf(valueOf(environment['LOG_LEVEL'])),
    options: {
      ...(url === undefined ? {} : { database: { url } }),
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
