import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import { dataSourceOptionsOf } from '../../src/runs/data-source-options';
import { databaseTargetOf } from '../../src/runs/database-url';

const SECRETS = /hunter2|whoami|db\.internal|ledger|3{3}7|postbox/i;

function refusalOf(
  url: string,
  subject?: string,
): { readonly code?: string; readonly message: string; readonly detail?: unknown } {
  try {
    databaseTargetOf(url, subject);
  } catch (error) {
    return error as { code: string; message: string; detail: unknown };
  }
  return { message: 'accepted' };
}

describe('databaseTargetOf', () => {
  it.each([
    ['sqlite:ledger.sqlite', { kind: 'sqlite', file: 'ledger.sqlite' }],
    ['sqlite:/srv/a b.sqlite', { kind: 'sqlite', file: '/srv/a b.sqlite' }],
    ['SQLITE::memory:', { kind: 'sqlite', file: ':memory:' }],
  ])('reads %s', (url, target) => {
    expect(databaseTargetOf(url)).toEqual(target);
  });

  it.each([
    ['mariadb://u@h/d', {}],
    ['mariadb://u:@h/d?', {}],
    ['MySQL://u@h/d', { kind: 'mysql' }],
    ['mariadb://u@h:3307/d', { port: 3307 }],
    ['mariadb://u@[::1]:3307/d', { host: '::1', port: 3307 }],
    ['mariadb://u@[2001:db8::7]/d', { host: '2001:db8::7' }],
    ['mariadb://u@db-1.example_x.org/d', { host: 'db-1.example_x.org' }],
    ['mariadb://us%40er:p%3A%2F%3F%23%25w%C3%A9@h/d', { user: 'us@er', password: 'p:/?#%wé' }],
    ['mariadb://u@h/my%20runs', { database: 'my runs' }],
    ['mariadb://u@h/d?ssl=true', { ssl: 'encrypted' }],
    ['mariadb://u@h/d?ssl=verify&connectTimeoutMs=1500', { ssl: 'verified', connectTimeoutMs: 1500 }],
  ])('reads %s', (url, change) => {
    const plain = { kind: 'mariadb', host: 'h', port: 3306, user: 'u', password: '', database: 'd', ssl: 'off' };
    expect(databaseTargetOf(url)).toEqual({ ...plain, connectTimeoutMs: 10_000, ...change });
  });

  it.each([
    ['', /has no scheme/],
    ['hunter2', /has no scheme/],
    ['//whoami:hunter2@db.internal/ledger', /has no scheme/],
    ['whoami:hunter2@db.internal/ledger', /no scheme that is known/],
    ['hunter2:x', /no scheme that is known/],
    ['postgres://whoami:hunter2@db.internal/ledger', /names postgres, which is not supported.*sqlite:<file>.*mariadb:/],
    ['mysql2://whoami:hunter2@db.internal/ledger', /names mysql2, which is not supported/],
    ['sqlite:', /names no file/],
    ['sqlite:  ', /names no file/],
    ['sqlite://db.internal/ledger', /the file follows the colon/],
    ['sqlite:ledger?mode=hunter2', /parameters/],
    ['sqlite:ledger/', /a folder/],
    ['sqlite::ledger:', /special database/],
    ['mysql:whoami:hunter2@db.internal/ledger', /no \/\/ behind mysql:/],
    ['mariadb:/whoami:hunter2@db.internal/ledger', /no \/\/ behind mariadb:/],
    ['mariadb://db.internal/ledger', /names no user/],
    ['mariadb://:hunter2@db.internal/ledger', /names no user/],
    ['mariadb://whoami:hunter2@/ledger', /names no host/],
    ['mariadb://whoami:hunter2@:3337/ledger', /names no host/],
    ['mariadb://whoami:hunter2@db.internal', /names no database/],
    ['mariadb://whoami:hunter2@db.internal/', /names no database/],
    ['mariadb://whoami:hunter2@db.internal/?ssl=true', /names no database/],
    ['mariadb://whoami:hunter2@db.internal/ledger/', /more than one \//],
    ['mariadb://whoami:hunter2@db.internal/led%2Fger', /database name that is none/],
    [`mariadb://whoami:hunter2@db.internal/${'x'.repeat(65)}`, /database name that is none/],
    ['mariadb://whoami:hunter2@db.internal:/ledger', /port that is none/],
    ['mariadb://whoami:hunter2@db.internal:0/ledger', /port that is none/],
    ['mariadb://whoami:hunter2@db.internal:65536/ledger', /port that is none/],
    ['mariadb://whoami:hunter2@db.internal:3337x/ledger', /port that is none/],
    ['mariadb://whoami:hunter2@db.internal:-1/ledger', /port that is none/],
    ['mariadb://whoami:hunter2@::1/ledger', /host that is none; an address of IPv6 stands in/],
    ['mariadb://whoami:hunter2@[::1/ledger', /host that is none/],
    ['mariadb://whoami:hunter2@[db.internal]/ledger', /no address of IPv6/],
    ['mariadb://whoami:hunter2@[::1]3337/ledger', /other than a port behind/],
    ['mariadb://whoami:hunter2@db,internal/ledger', /host that is none/],
    ['mariadb://whoami:hunter2%@db.internal/ledger', /percent escape that is none in its password/],
    ['mariadb://whoami:hunter2%4@db.internal/ledger', /percent escape that is none in its password/],
    ['mariadb://whoami%ff:hunter2@db.internal/ledger', /percent escape that is none in its user/],
    ['mariadb://whoami:hunter2@db.internal/ledger%zz', /percent escape that is none in its database name/],
    ['mariadb://whoami:hunter2@x@db.internal/ledger', /more than one @/],
    ['mariadb://whoami:hunter2:x@db.internal/ledger', /more than one :/],
    ['mariadb://whoami:hunter2#x@db.internal/ledger', /holds a #/],
    ['mariadb://whoami:hunter2 x@db.internal/ledger', /white space/],
    ['mariadb://whoami:hunter2@db.internal/ledger\n', /white space/],
    ['mariadb://whoami:hunter2@db.internal/ledger?a?b', /more than one \?/],
    ['mariadb://whoami:hunter2@db.internal/ledger?postbox=1', /unknown parameter: there are ssl and connectTimeoutMs/],
    ['mariadb://whoami:hunter2@db.internal/ledger?ssl=true&', /unknown parameter/],
    ['mariadb://whoami:hunter2@db.internal/ledger?SSL=true', /unknown parameter/],
    ['mariadb://whoami:hunter2@db.internal/ledger?ssl=true&ssl=verify', /ssl twice/],
    ['mariadb://whoami:hunter2@db.internal/ledger?ssl=postbox', /ssl that is none/],
    ['mariadb://whoami:hunter2@db.internal/ledger?ssl', /ssl that is none/],
    ['mariadb://whoami:hunter2@db.internal/ledger?connectTimeoutMs=9', /connectTimeoutMs that is none/],
    ['mariadb://whoami:hunter2@db.internal/ledger?connectTimeoutMs=1e4', /connectTimeoutMs that is none/],
  ])('refuses %j, names the fault, and repeats nothing but a scheme', (url, fault) => {
    const { code, message, detail } = refusalOf(url);
    expect([code, detail]).toEqual(['OPTIONS_INVALID', { variable: 'database.url' }]);
    expect(message).toMatch(/^database\.url /);
    expect(message).toMatch(fault);
    expect(message).not.toMatch(SECRETS);
  });

  it('calls the URL by the name that it is given', () => {
    expect(refusalOf('mysql://u@h', 'DATABASE_URL')).toMatchObject({
      message: expect.stringMatching(/^DATABASE_URL names no database/) as string,
      detail: { variable: 'DATABASE_URL' },
    });
  });
});

describe('dataSourceOptionsOf', () => {
  const of = (url: string, poolSize?: number) =>
    dataSourceOptionsOf(parseDiagnosisOptions({ database: { url, poolSize } }).database);

  it.each([
    ['mysql://u:p@h:1/d', 'mysql'],
    ['mariadb://u:p@h:1/d', 'mariadb'],
  ])('takes the type of %s from its scheme, keeps UTC and utf8mb4, and never synchronizes', (url, type) => {
    expect(of(url)).toMatchObject({
      type,
      timezone: 'Z',
      charset: 'utf8mb4',
      synchronize: false,
      migrationsRun: false,
      poolSize: 10,
    });
    expect(of(url, 3)).toMatchObject({ poolSize: 3 });
  });

  it.each([
    ['', undefined],
    ['?ssl=true', { rejectUnauthorized: false }],
    ['?ssl=verify', { rejectUnauthorized: true }],
  ])('encrypts as %j says', (parameters, ssl) => {
    expect((of(`mysql://u@h/d${parameters}`) as { ssl?: unknown }).ssl).toEqual(ssl);
  });

  it('never synchronizes SQLite either', () => {
    expect(of('sqlite::memory:')).toMatchObject({ type: 'better-sqlite3', synchronize: false, migrationsRun: false });
  });
});
