import fc from 'fast-check';
import { CredentialRedactor } from '../../src/tools/credential-redactor.service';

const redactor = new CredentialRedactor();
const MARK = /\[redacted:[a-z-]+:[0-9a-f]{10}\]/g;
/** The text with every mark reduced to its kind. */
const shown = (text: string): string => redactor.redact(text).replace(MARK, (mark) => `<${mark.split(':')[1] ?? ''}>`);

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
const PEM = [
  '-----BEGIN RSA PRIVATE KEY-----',
  'MIIEowIBAAKCAQEAx1yW4hY7m3',
  'abcdEFGH0123+/abcdEFGH0123==',
  '-----END RSA PRIVATE KEY-----',
];

describe('CredentialRedactor takes out', () => {
  it.each([
    ['logfmt', 'level=info password=hunter2 user=bob', 'level=info password=<password> user=bob'],
    ['logfmt in quotes', 'msg="x" db_password="hun ter2" user=bob', 'msg="x" db_password="<password>" user=bob'],
    ['a query string', 'GET /a?id=7&access_token=ab12cd34&page=2 200', 'GET /a?id=7&access_token=<token>&page=2 200'],
    ['capitals', 'DB_PASSWORD=s3cr3t! PGPASSWORD=q1w2e3', 'DB_PASSWORD=<password> PGPASSWORD=<password>'],
    ['camel case', 'Config(dbPassword=s3cr3t, clientSecret=ab12cd)', 'Config(dbPassword=<password>, clientSecret=<secret>)'],
    ['a password with punctuation', 'password=ab,cd;ef)gh next', 'password=<password> next'],
    ['YAML', 'user: bob\npassword: swordfish\nport: 80', 'user: bob\npassword: <password>\nport: 80'],
    ['XML', '<user>bob</user><password>hunter2</password>', '<user>bob</user><password><password></password>'],
    ['a bearer header', 'Authorization: Bearer abc.def-123 status=200', 'Authorization: Bearer <authorization> status=200'],
    ['a bearer token alone', 'sent bearer 9f8e7d6c5b4a now', 'sent bearer <authorization> now'],
    ['basic', 'Authorization: Basic dXNlcjpwYXNzd29yZA==', 'Authorization: Basic <authorization>'],
    ['basic alone', 'using Basic dXNlcjpwYXNzd29yZA== here', 'using Basic <authorization> here'],
    ['cookies', 'Cookie: sid=abc123; theme=dark', 'Cookie: <cookie>'],
    ['a set cookie', 'set-cookie: sid=s%3Aabc; Path=/; HttpOnly', 'set-cookie: <cookie>'],
    ['a URL', 'postgres://app:s3cr%40t@db:5432/shop', 'postgres://app:<url-password>@db:5432/shop'],
    ['a URL whose password holds an at', 'amqp://u:p@ss@mq/vhost', 'amqp://u:<url-password>@mq/vhost'],
    ['a URL without user', 'redis://:hunter2@cache:6379', 'redis://:<url-password>@cache:6379'],
    ['a DSN', 'app:hunter2@tcp(db:3306)/shop', 'app:<url-password>@tcp(db:3306)/shop'],
    [
      'a connection string',
      'Server=db;User Id=sa;Password=P@ss;w0rd;Encrypt=true',
      'Server=db;User Id=sa;Password=<password>;Encrypt=true',
    ],
    [
      'an account key',
      'AccountName=x;AccountKey=abc+/123==;EndpointSuffix=y',
      'AccountName=x;AccountKey=<api-key>;EndpointSuffix=y',
    ],
    ['SQL', "ALTER USER bob IDENTIFIED BY 'hunter2'", "ALTER USER bob IDENTIFIED BY '<password>'"],
    ['a command line', 'mysql --password hunter2 -u bob', 'mysql --password <password> -u bob'],
    ['a JWT', `got ${JWT} from`, 'got <jwt> from'],
    ['AWS', 'key AKIAIOSFODNN7EXAMPLE used', 'key <api-key> used'],
    ['an AWS secret', 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'aws_secret_access_key = <secret>'],
    ['a vendor key', `using ${['sk', 'proj', 'A1b2C3d4E5f6G7h8I9j0'].join('-')} ok`, 'using <api-key> ok'],
    ['a hosting token', 'clone ghp_0123456789abcdefghij0123456789abcdef', 'clone <api-key>'],
    ['a header name', 'X-Api-Key: 8f7e6d5c4b3a', 'X-Api-Key: <api-key>'],
    ['a key block', `before\n${PEM.join('\n')}\nafter`, 'before\n<private-key>\nafter'],
    ['a key block with escaped lines', `key="${PEM.join('\\n')}" x`, 'key="<private-key>" x'],
    ['a key block that was cut off', `x ${PEM.slice(0, 2).join('\n')}`, 'x <private-key>'],
    ['JSON within text', 'body={"password":"hunter2","n":1} ok', 'body={"password":"<password>","n":1} ok'],
    [
      'escaped JSON within text',
      'body="{\\"token\\":\\"ab\\\\\\"12\\",\\"n\\":1}"',
      'body="{\\"token\\":\\"<token>\\",\\"n\\":1}"',
    ],
    ['mysql', 'mysql -u root -phunter2 shop', 'mysql -u root -p<password> shop'],
    ['mysqldump in quotes', "mysqldump -h db -p'hun ter2' shop", "mysqldump -h db -p'<password>' shop"],
    ['curl', 'curl -s -u admin:hunter2 https://db/x', 'curl -s -u admin:<password> https://db/x'],
    ['curl with its long option', 'curl --user "admin:hunter2" x', 'curl --user "admin:<password>" x'],
    ['curl twice', 'curl -U p:hunter2 -u a:hunter3 x', 'curl -U p:<password> -u a:<password> x'],
    ['sshpass', 'sshpass -p hunter2 ssh -p 22 bob@db', 'sshpass -p <password> ssh -p 22 bob@db'],
    ['redis-cli', 'redis-cli -h cache -a hunter2 ping', 'redis-cli -h cache -a <password> ping'],
    ['docker login', 'docker login -u bob -p hunter2 registry', 'docker login -u bob -p <password> registry'],
    ['a passphrase in quotes', 'used passphrase "hunter2" for it', 'used passphrase "<password>" for it'],
    ['a passphrase of several words', 'used passphrase "battery horse" for it', 'used passphrase "<password>" for it'],
    ['a sentence', 'the secret is s3cr3tvalue, keep it', 'the secret is <secret>, keep it'],
    ['a sentence about a password', 'your password is hunter2.', 'your password is <password>.'],
    ['a plain word at the end', 'new password is swordfish', 'new password is <password>'],
    ['a sentence with a quotation', 'password was set to "swordfish" by bob', 'password was set to "<password>" by bob'],
    ['a prompt', 'Password for root: hunter2', 'Password for root: <password>'],
    ['a prompt with an address', "Password for 'https://bob@host': hunter2", "Password for 'https://bob@host': <password>"],
    ['a number in JSON within text', 'body={"password":123456} ok', 'body={"password":"<password>"} ok'],
  ])('%s', (_case, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it.each([
    ['a name', { password: 'hunter2', n: 1.5 }, { password: '<password>', n: 1.5 }],
    ['a number', { pin: 1, passcode: 123456 }, { pin: 1, passcode: '<password>' }],
    ['a list', { 'set-cookie': ['a=b; Path=/', 'c=d'] }, { 'set-cookie': ['<cookie>', '<cookie>'] }],
    ['escapes', { secret: 'a"b\\c\n' }, { secret: '<secret>' }],
    ['a scheme', { Authorization: 'Bearer abc' }, { Authorization: 'Bearer <authorization>' }],
    [
      'attributes',
      [{ key: 'db.password', value: { stringValue: 'x1y2' } }],
      [{ key: 'db.password', value: { stringValue: '<password>' } }],
    ],
    ['text that ends with a name', { a: 'password:', b: 'x' }, { a: 'password:', b: 'x' }],
    ['a line', { line: 'login password=hunter2 ok' }, { line: 'login password=<password> ok' }],
  ])('JSON: %s', (_case, value, expected) => {
    expect(JSON.parse(shown(JSON.stringify(value)))).toEqual(expected);
  });

  it('JSON within JSON within JSON', () => {
    const inner = JSON.stringify({ password: 'hun"ter2', port: 5432 });
    const redacted = redactor.redact(JSON.stringify({ a: JSON.stringify({ body: inner }) }));
    const back = JSON.parse(JSON.parse(JSON.parse(redacted).a).body) as { password: string; port: number };
    expect(back.port).toBe(5432);
    expect(back.password).toMatch(/^\[redacted:password:[0-9a-f]{10}\]$/);
  });

  it('each line of JSON lines', () => {
    expect(shown('{"token":"ab12cd34"}\nplain\n{"token":"ab12cd34"}')).toBe('{"token":"<token>"}\nplain\n{"token":"<token>"}');
  });
});

describe('CredentialRedactor leaves', () => {
  it.each([
    'token_count=5 max_tokens=4096 tokens=17',
    'password reset requested for bob',
    'invalid password: user not found',
    'keyboard=qwerty monkey=1 compass=north bypass=yes passenger=7',
    'primary_key=42 cache_key=user:7 partition_key=eu',
    'trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7',
    'commit 3f786850e387550fdab836ed7e6dc881de23001b',
    'id=019283a4-7b1c-7def-8123-456789abcdef',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'image registry:5000/team/app@sha256:9f86d081',
    'http://registry:5000/team/app@v2 and ssh://git@host/repo',
    'mail bob@example.com at 10:30:00',
    'Unexpected token: foo in JSON at position 5',
    'bearer token expired; basic authentication failed',
    'authorization: denied by policy',
    'password= token="" secret=null password=****** password=${DB_PASSWORD}',
    'has_password=true token=5',
    'mysql -u root -p shop -P 3306 and mysql --port=3306 --protocol=tcp',
    'ssh -p 2222 bob@db; docker run -p 8080:80 -u 1000:1000 app; redis-cli -h cache ping',
    'curl -u admin https://db:443/x failed; curl: (7) connect to db:5432 refused',
    'secret "db-creds" not found; password "is required"',
    'password is required, password is too short, token is expired, secret is missing, password was rotated',
    'password is write-only; token is 5 minutes old; secret is in vault; the password is incorrect',
    'Failed password for root from 10.0.0.1 port 22 ssh2',
    'Password for root: incorrect; password for bob: expired',
    '{"usage":{"input_tokens":512},"token_type":"bearer"}',
    'task-runner-service-deployment-7d9f8b6c5-x2x4z',
  ])('%s', (text) => {
    expect(redactor.redact(text)).toBe(text);
  });

  it('large integers, number formats, order and white space of JSON', () => {
    const json = '{ "z": 12345678901234567890, "a": 1.50e+3,\n "password": "hunter2", "k": "\\u00e9\\/" }';
    expect(shown(json)).toBe(json.replace('hunter2', '<password>'));
  });
});

describe('the mark', () => {
  it('is the same for the same secret, differs between secrets and between processes, and shows nothing of it', () => {
    const [a, b, c] = ['password=hunter2', 'x token=hunter2', 'password=hunter3'].map(
      (text) => redactor.redact(text).match(MARK)?.[0],
    );
    const digits = (mark: string | undefined): string => mark?.slice(-11) ?? '';
    expect(digits(a)).toBe(digits(b));
    expect(digits(a)).not.toBe(digits(c));
    expect(digits(new CredentialRedactor().redact('password=hunter2').match(MARK)?.[0])).not.toBe(digits(a));
    expect(redactor.redact('password=ab1').length).toBe(redactor.redact(`password=${'ab1'.repeat(50)}`).length);
  });
});

describe('properties', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'password=',
      'token: ',
      '"secret":',
      '\\"token\\":\\"',
      "pwd='",
      '"',
      '\\',
      '\\"',
      "'",
      ' ',
      '\n',
      '\\n',
      ',',
      '}',
      '{',
      '[',
      ']',
      ':',
      '=',
      '&',
      ';',
      'Authorization: ',
      'Bearer ',
      'Basic ',
      'Cookie: ',
      'a=b; ',
      '://',
      'u:',
      '@',
      '@tcp(',
      JWT,
      'AKIAIOSFODNN7EXAMPLE',
      'ghp_0123456789abcdefghij0123',
      '-----BEGIN PRIVATE KEY-----',
      '-----END PRIVATE KEY-----',
      'MIIEowIBAAKCAQEAx1yW4hY7m3',
      '[redacted:password:0123456789]',
      '[redacted:',
      '<password>',
      '%3D',
      '\\u0026',
      ' --password ',
      "identified by '",
      'mysql -p',
      'curl -u a:',
      'sshpass -p ',
      'redis-cli -a ',
      'passphrase "',
      'password is ',
      'secret is "',
      'Password for root: ',
      '123456',
      'x-api-key',
    ),
    fc.string({ maxLength: 6 }),
  );
  const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));

  it('a redacted text stays as it is', () => {
    fc.assert(
      fc.property(text, (input) => {
        const once = redactor.redact(input);
        expect(redactor.redact(once)).toBe(once);
      }),
      { numRuns: 1000, endOnFailure: true },
    );
  });

  it('valid JSON stays valid JSON, idempotent, with the same names and shape', () => {
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.constant(null),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('password', 'token', 'message', 'key', 'value', 'authorization', 'cookie'), tie('node'), {
          maxKeys: 4,
        }),
        tie('node').map((inner) => JSON.stringify(inner) ?? 'null'),
      ),
    })).node;
    const shape = (node: unknown): unknown =>
      Array.isArray(node)
        ? node.map(shape)
        : node !== null && typeof node === 'object'
          ? Object.entries(node).map(([key, inner]) => [key, shape(inner)])
          : 0;
    fc.assert(
      fc.property(value, (input) => {
        const json = JSON.stringify(input);
        const once = redactor.redact(json);
        expect(shape(JSON.parse(once))).toEqual(shape(input));
        expect(redactor.redact(once)).toBe(once);
      }),
      { numRuns: 1000, endOnFailure: true },
    );
  });

  it('a secret under a telling name never survives, in any wrapping', () => {
    const secret = fc
      .string({ unit: fc.constantFrom(...'abcdefghijkmnpqrstuvwxyzABCDEFG0123456789!#$*+/_-.~'), minLength: 10, maxLength: 24 })
      .map((tail) => `Zq7${tail}9`);
    const name = fc.constantFrom('password', 'db_password', 'apiKey', 'client_secret', 'access_token', 'PGPASSWORD');
    const wrap = fc.constantFrom<(name: string, secret: string) => string>(
      (n, s) => `level=warn ${n}=${s} done`,
      (n, s) => `level=warn ${n}="${s}" done`,
      (n, s) => JSON.stringify({ a: 1, [n]: s }),
      (n, s) => JSON.stringify({ line: `call ${n}=${s} end` }),
      (n, s) => JSON.stringify({ body: JSON.stringify({ [n]: s }) }),
      (n, s) => JSON.stringify({ line: `got ${JSON.stringify({ x: { [n]: s } })}` }),
      (n, s) => `msg=${JSON.stringify(JSON.stringify({ [n]: s }))}`,
      (n, s) => `${n}: ${s}`,
      (n, s) => `GET /x?${n}=${encodeURIComponent(s)}&y=1`,
    );
    fc.assert(
      fc.property(secret, name, wrap, (value, field, build) => {
        const redacted = redactor.redact(build(field, value));
        expect(redacted).not.toContain(value);
        expect(redacted).not.toContain(value.slice(0, 6));
        expect(redacted).not.toContain(value.slice(-6));
      }),
      { numRuns: 1000, endOnFailure: true },
    );
  });
});

describe('size', () => {
  const MB = 1024 * 1024;
  it.each([
    ['key block heads', '-----BEGIN PRIVATE KEY----- '],
    ['names', 'password='],
    ['quoted names', '"password":"'],
    ['escaped quotes', 'password="\\"'],
    ['backslashes', '\\'],
    ['URL starts', '://a:b'],
    ['JWT starts', 'eyJaaaaaaaaaa.'],
    ['line breaks', '\n'],
    ['nested brackets', '[{"token":'],
    ['schemes', 'Bearer '],
    ['vendor starts', 'sk-ant-'],
    ['cookies', 'cookie: a=b; '],
    ['spaces', 'token   '],
    ['mysql', 'mysql '],
    ['mysql with options', 'mysql -p'],
    ['curl', 'curl -u a'],
    ['prompts', 'password for '],
    ['sentences', 'password is '],
    ['quoted passwords', 'password "'],
    ['other commands', 'sshpass redis-cli mongo ldapsearch '],
  ])('reads 1 MB of %s in linear time', (_case, unit) => {
    const text = `token ${unit.repeat(Math.ceil(MB / unit.length))}`;
    const once = redactor.redact(text);
    expect(redactor.redact(once)).toBe(once);
  });

  it('takes every secret out of 2 MB of JSON rows and one string of 2 MB', () => {
    const rows = Array.from({ length: 5_000 }, (_, i) => ({
      i,
      line: `GET /x?token=Zq7secret${i}abc&u=${i} trace_id=4bf92f3577b34da6a3ce929d0e0e4736 took 15 ms, pool of shop is at 17 of 20`,
    }));
    const redacted = redactor.redact(JSON.stringify({ rows, text: 'x"\\'.repeat(300_000) }));
    expect(redacted).not.toContain('Zq7secret');
    expect((JSON.parse(redacted) as { rows: unknown[] }).rows).toHaveLength(5_000);
  });
});
