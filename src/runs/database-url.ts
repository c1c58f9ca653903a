import { isIPv6 } from 'node:net';
import { DiagnosisError } from '../errors/diagnosis-error';

/** Name under which SQLite keeps a database in memory alone. */
export const SQLITE_MEMORY = ':memory:';

/** Schemes that a database URL may have; each names the driver. */
const SCHEMES = ['sqlite', 'mysql', 'mariadb'] as const;
const SERVER_PORT = 3306;
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_LIMITS_MS = [100, 120_000] as const;
/** Longest name that MySQL and MariaDB give a database. */
const MAX_DATABASE_NAME = 64;

const SQLITE_FORM = 'Write sqlite:<file>, e.g. sqlite:diagnosis.sqlite, or sqlite::memory:.';
const SERVER_FORM = 'Write mariadb://user:password@host:3306/name, or mysql: for MySQL, with %40 for an @ in a part, and so on.';
const ANY_FORM = `${SQLITE_FORM} Or ${SERVER_FORM.replace('Write ', '')}`;

/** A database in a file, or in memory. */
export interface SqliteTarget {
  readonly kind: 'sqlite';
  /** Path of the file, or `:memory:`. */
  readonly file: string;
}

/** A database on a server. */
export interface ServerTarget {
  readonly kind: 'mysql' | 'mariadb';
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** `encrypted` asks for no certificate; `verified` wants one that Node trusts for this host. */
  readonly ssl: 'off' | 'encrypted' | 'verified';
  readonly connectTimeoutMs: number;
}

export type DatabaseTarget = SqliteTarget | ServerTarget;

/**
 * Reads a database URL, which alone chooses the database: `sqlite:<file>`, `sqlite::memory:`, or
 * `mysql|mariadb://user[:password]@host[:port]/name[?ssl=true|verify&connectTimeoutMs=…]` with percent-encoded parts. It guesses
 * nothing and refuses whatever else it meets with OPTIONS_INVALID, in words that name the fault and repeat nothing of the URL but
 * a scheme, because URLs hold passwords. `subject` is how the message calls the URL.
 */
export function databaseTargetOf(url: string, subject = 'database.url'): DatabaseTarget {
  const refuse: Refusal = (fault, form) => {
    throw new DiagnosisError('OPTIONS_INVALID', `${subject} ${fault}. ${form}`, { variable: subject });
  };
  const written = /^([A-Za-z][A-Za-z0-9+.-]{0,30}):/.exec(url)?.[1];
  if (written === undefined) return refuse('has no scheme', ANY_FORM);
  const scheme = SCHEMES.find((known) => known === written.toLowerCase());
  const rest = url.slice(written.length + 1);
  if (scheme === undefined) {
    // Without slashes behind it, it may be a user before a password.
    return refuse(rest.startsWith('//') ? `names ${written}, which is not supported` : 'has no scheme that is known', ANY_FORM);
  }
  return scheme === 'sqlite'
    ? { kind: scheme, file: fileOf(rest, refuse) }
    : serverOf(scheme, rest, (fault) => refuse(fault, SERVER_FORM));
}

type Refusal = (fault: string, form: string) => never;
type ServerRefusal = (fault: string) => never;

function fileOf(file: string, refuse: Refusal): string {
  if (file.trim() === '') return refuse('names no file', SQLITE_FORM);
  if (file === SQLITE_MEMORY) return file;
  if (file.startsWith('//')) {
    return refuse('has slashes of a host behind its scheme; the file follows the colon directly', SQLITE_FORM);
  }
  if (file.startsWith(':')) return refuse('names a special database other than :memory:', SQLITE_FORM);
  if (/[?#\0]/.test(file)) return refuse('holds parameters or characters that a file name must not hold', SQLITE_FORM);
  if (/[\\/]$/.test(file)) return refuse('names a folder, not a file', SQLITE_FORM);
  return file;
}

function serverOf(kind: ServerTarget['kind'], rest: string, refuse: ServerRefusal): ServerTarget {
  if (!rest.startsWith('//')) return refuse(`has no // behind ${kind}:`);
  if (/[\s\0-\x1f\x7f\\]/.test(rest)) return refuse('holds white space, a backslash or a control character');
  if (rest.includes('#')) return refuse('holds a #, which has to be written %23');
  const [address = '', ...queries] = rest.slice(2).split('?');
  if (queries.length > 1) return refuse('holds more than one ?, and in a part it has to be written %3F');
  const [authority = '', database, ...more] = address.split('/');
  const [credentials, place, ...ats] = authority.split('@');
  if (ats.length > 0) return refuse('holds more than one @, and in a part it has to be written %40');
  if (place === undefined || credentials === undefined) return refuse('names no user');
  const { user, password } = credentialsOf(credentials, refuse);
  const { host, port } = placeOf(place, refuse);
  if (more.length > 0) return refuse('has more than one / behind the host, and in a part it has to be written %2F');
  return { kind, host, port, user, password, database: nameOf(database, refuse), ...parametersOf(queries[0], refuse) };
}

function credentialsOf(text: string, refuse: ServerRefusal): Pick<ServerTarget, 'user' | 'password'> {
  const [user = '', password = '', ...more] = text.split(':');
  if (more.length > 0) return refuse('holds more than one : before the @, and in a part it has to be written %3A');
  if (user === '') return refuse('names no user');
  return { user: decoded(user, 'user', refuse), password: decoded(password, 'password', refuse) };
}

function placeOf(text: string, refuse: ServerRefusal): Pick<ServerTarget, 'host' | 'port'> {
  const six = /^\[([^\]]*)\](.*)$/.exec(text);
  const [host = '', port] = six === null ? [text.replace(/:[^]*$/, ''), /:([^]*)$/.exec(text)?.[1]] : sixOf(six, refuse);
  if (six === null && text.split(':').length > 2) return refuse('names a host that is none; an address of IPv6 stands in [ ]');
  if (host === '') return refuse('names no host');
  if (six === null && !/^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?$/.test(host)) {
    return refuse('names a host that is none');
  }
  if (six !== null && !isIPv6(host)) return refuse('holds no address of IPv6 in its [ ]');
  return { host, port: port === undefined ? SERVER_PORT : portOf(port, refuse) };
}

function sixOf([, address, behind]: RegExpExecArray, refuse: ServerRefusal): [string, string | undefined] {
  if (behind === '') return [address ?? '', undefined];
  if (behind?.startsWith(':') !== true) return refuse('has something other than a port behind its [ ]');
  return [address ?? '', behind.slice(1)];
}

function portOf(text: string, refuse: ServerRefusal): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : refuse('has a port that is none: it is a whole number from 1 to 65535');
}

function nameOf(text: string | undefined, refuse: ServerRefusal): string {
  if (text === undefined || text === '') return refuse('names no database behind the host');
  const name = decoded(text, 'database name', refuse);
  return [...name].length > MAX_DATABASE_NAME || /[\0/\\]/.test(name) || name.trim() !== name
    ? refuse(`has a database name that is none: at most ${MAX_DATABASE_NAME} characters, without slashes or outer white space`)
    : name;
}

function decoded(text: string, part: string, refuse: ServerRefusal): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse(`has a percent escape that is none in its ${part}; a % itself is written %25`);
  }
}

function parametersOf(query: string | undefined, refuse: ServerRefusal): Pick<ServerTarget, 'ssl' | 'connectTimeoutMs'> {
  const given = new Map<string, string>();
  for (const pair of query === undefined || query === '' ? [] : query.split('&')) {
    const [, name = '', value = ''] = /^([^=]*)=?([^]*)$/.exec(pair) ?? [];
    if (name !== 'ssl' && name !== 'connectTimeoutMs') {
      return refuse('has an unknown parameter: there are ssl and connectTimeoutMs');
    }
    if (given.has(name)) return refuse(`has the parameter ${name} twice`);
    given.set(name, value);
  }
  return { ssl: sslOf(given.get('ssl'), refuse), connectTimeoutMs: timeoutOf(given.get('connectTimeoutMs'), refuse) };
}

function sslOf(value: string | undefined, refuse: ServerRefusal): ServerTarget['ssl'] {
  if (value === undefined) return 'off';
  if (value === 'true') return 'encrypted';
  if (value === 'verify') return 'verified';
  return refuse('has an ssl that is none: true encrypts, verify asks for a certificate that Node trusts as well');
}

function timeoutOf(value: string | undefined, refuse: ServerRefusal): number {
  if (value === undefined) return CONNECT_TIMEOUT_MS;
  const [least, most] = CONNECT_TIMEOUT_LIMITS_MS;
  const timeout = /^\d{1,6}$/.test(value) ? Number(value) : 0;
  return timeout >= least && timeout <= most
    ? timeout
    : refuse(`has a connectTimeoutMs that is none: it is a whole number of milliseconds from ${least} to ${most}`);
}
