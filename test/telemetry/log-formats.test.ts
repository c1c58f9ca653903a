import { utimesSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { imported, LOG_LINES, type Imported } from './imported-rows';
import { TelemetryFolder } from './telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
});
afterEach(() => folder.remove());

async function read(name: string, lines: readonly string[] | string, mtime = '2026-05-04T12:00:00Z'): Promise<Imported> {
  const text = typeof lines === 'string' ? lines : `${lines.join('\n')}\n`;
  const path = folder.write(name, name.endsWith('.gz') ? gzipSync(text) : text);
  utimesSync(path, new Date(mtime), new Date(mtime));
  return imported(folder.path, LOG_LINES);
}

/** Rows as [time of day, service, level, message]; what is the same everywhere is left out. */
function short({ rows }: Imported): unknown[][] {
  return rows.map(({ time, service, level, message }) => [String(time).replace('2026-05-04T', ''), service, level, message]);
}

const AT = Date.parse('2026-05-04T10:00:00.250Z');

describe('JSON lines', () => {
  it('[B3] reads pino, bunyan and winston with their levels, times and services', async () => {
    folder.write(
      'pino.log',
      `{"level":50,"time":${AT},"pid":7,"hostname":"h1","name":"tills","traceId":"t1","msg":"no ledger"}\n`,
    );
    folder.write(
      'bunyan.log',
      '{"name":"stock","hostname":"h1","pid":7,"level":40,"msg":"low","time":"2026-05-04T10:00:01.000Z","v":0}\n',
    );
    const found = await read('winston.jsonl', [
      '{"level":"error","message":"gone","service":"cart","timestamp":"2026-05-04T10:00:02Z"}',
    ]);
    expect(short(found)).toEqual([
      ['10:00:01.000Z', 'stock', 'WARN', 'low'],
      ['10:00:00.250Z', 'tills', 'ERROR', 'no ledger'],
      ['10:00:02.000Z', 'cart', 'ERROR', 'gone'],
    ]);
    expect(found.rows.map(({ trace }) => trace)).toEqual([null, 't1', null]);
  });

  it('[B3] reads members that stand inside others, and what a status says where there is no level', async () => {
    const nested = {
      '@timestamp': '2026-05-04T10:00:00Z',
      log: { level: 'warn' },
      message: 'slow',
      service: { name: 'cart' },
      trace: { id: 'x' },
    };
    folder.write('a.ndjson', `${JSON.stringify(nested)}\n`);
    folder.write(
      'b.ndjson',
      `${JSON.stringify({ _index: 'logs', _source: { '@timestamp': '2026-05-04T10:00:00Z', msg: 'hit', app: 'till' } })}\n`,
    );
    folder.write(
      'c.ndjson',
      '{"version":"1.1","host":"h1","short_message":"gelf","timestamp":1777888800.25,"level":3,"_service":"pay"}\n',
    );
    const found = await read('edge.json', [
      '{"time":"2026-05-04T10:00:01Z","request":"GET /a","status":503}',
      '{"time":"2026-05-04T10:00:02Z","request":"GET /b","status":404}',
    ]);
    expect(short(found)).toEqual([
      ['10:00:00.000Z', 'cart', 'WARN', 'slow'],
      ['10:00:00.000Z', 'till', '', 'hit'],
      ['10:00:00.250Z', 'pay', 'ERROR', 'gelf'],
      ['10:00:01.000Z', 'edge', 'ERROR', 'GET /a'],
      ['10:00:02.000Z', 'edge', 'WARN', 'GET /b'],
    ]);
    expect(found.rows[0]?.['trace']).toBe('x');
  });

  it('[B3] reads journal lines with microseconds and priorities', async () => {
    const line = (us: string, priority: string, unit: string, message: string): string =>
      JSON.stringify({
        __REALTIME_TIMESTAMP: us,
        PRIORITY: priority,
        SYSLOG_IDENTIFIER: unit,
        _SYSTEMD_UNIT: `${unit}.service`,
        MESSAGE: message,
      });
    const found = await read('journal.json', [
      line('1777888800250001', '3', 'tills', 'no ledger'),
      line('1777888801000000', '6', 'cron', 'ran'),
    ]);
    expect(short(found)).toEqual([
      ['10:00:00.250Z', 'tills', 'ERROR', 'no ledger'],
      ['10:00:01.000Z', 'cron', 'INFO', 'ran'],
    ]);
  });

  it('[B3] reads a container line around a JSON line, and joins stack traces and cut lines that come line by line', async () => {
    const line = (at: number, log: string): string =>
      JSON.stringify({ log, stream: 'stderr', time: `2026-05-04T10:00:0${at}.000000001Z` });
    const found = await read('pay/0.log', [
      line(0, '{"level":50,"msg":"no seat","service":"pay","trace_id":"t9"}\n'),
      line(1, '{"level":30,"msg":"ok"}\n'),
      line(2, 'ERROR worker died\n'),
      line(3, 'java.lang.IllegalStateException: no seat\n'),
      line(4, '\tat shop.Till.pay(Till.java:31)\n'),
      line(5, 'a long li'),
      line(6, 'ne\n'),
      '{"log":',
    ]);
    expect(short(found)).toEqual([
      ['10:00:00.000Z', 'pay', 'ERROR', '{"level":50,"msg":"no seat","service":"pay","trace_id":"t9"}'],
      ['10:00:01.000Z', 'pay', 'INFO', '{"level":30,"msg":"ok"}'],
      [
        '10:00:02.000Z',
        'pay',
        'ERROR',
        'ERROR worker died\njava.lang.IllegalStateException: no seat\n\tat shop.Till.pay(Till.java:31)',
      ],
      ['10:00:05.000Z', 'pay', '', 'a long line'],
    ]);
    expect(found.rows[0]?.['trace']).toBe('t9');
    expect(found.files[0]?.rejected).toEqual({ malformed: 0, unrecognised: 1, bad_time: 0 });
  });
});

describe('lines of text', () => {
  it('[B3] reads lines of the container runtime, cut ones and stack traces as one record', async () => {
    const name = 'tills-5d4b7c9f8-abcde_shop_tills-' + 'a'.repeat(64) + '.log';
    const found = await read(name, [
      '2026-05-04T10:00:00.100000000Z stdout F started',
      '2026-05-04T10:00:01.000000000Z stderr P a long',
      '2026-05-04T10:00:01.000000001Z stderr F  line',
      '2026-05-04T10:00:02.000000000Z stderr F ERROR pay failed',
      '2026-05-04T10:00:02.000000001Z stderr F Traceback (most recent call last):',
      '2026-05-04T10:00:02.000000002Z stderr F   File "/app/pay.py", line 3, in pay',
      '2026-05-04T10:00:02.000000003Z stderr F ledger.Refused: closed',
      'no line of a container',
    ]);
    expect(short(found)).toEqual([
      ['10:00:00.100Z', 'tills', '', '2026-05-04T10:00:00.100000000Z stdout F started'],
      ['10:00:01.000Z', 'tills', '', '2026-05-04T10:00:01.000000000Z stderr P a long line'],
      [
        '10:00:02.000Z',
        'tills',
        'ERROR',
        '2026-05-04T10:00:02.000000000Z stderr F ERROR pay failed\nTraceback (most recent call last):\n  File "/app/pay.py", line 3, in pay\nledger.Refused: closed',
      ],
    ]);
    expect(found.files[0]?.rejected.unrecognised).toBe(1);
  });

  it('[B3] reads syslog of both kinds; a time without a year lies before the last change of the file', async () => {
    folder.write(
      'rfc5424.log',
      '<11>1 2026-05-04T10:00:03.5+02:00 h1 tills 77 ID1 [ex@1 a="b ] c"] no ledger\n<14>1 2026-05-04T08:00:04Z h1 cart - - - fine\n',
    );
    const found = await read(
      'syslog',
      [
        'Dec 31 23:59:59 h1 tills[42]: last year',
        '<27>Jan  4 10:00:00 h1 cart: no stock',
        'Jan  4 10:00:01 h1 kernel: [12.3] up',
      ],
      '2026-01-04T10:00:05Z',
    );
    expect(found.rows.map(({ time, service, level, message }) => [time, service, level, message])).toEqual([
      [
        '2026-05-04T08:00:03.500Z',
        'tills',
        'ERROR',
        '<11>1 2026-05-04T10:00:03.5+02:00 h1 tills 77 ID1 [ex@1 a="b ] c"] no ledger',
      ],
      ['2026-05-04T08:00:04.000Z', 'cart', 'INFO', '<14>1 2026-05-04T08:00:04Z h1 cart - - - fine'],
      ['2025-12-31T23:59:59.000Z', 'tills', '', 'Dec 31 23:59:59 h1 tills[42]: last year'],
      ['2026-01-04T10:00:00.000Z', 'cart', 'ERROR', '<27>Jan  4 10:00:00 h1 cart: no stock'],
      ['2026-01-04T10:00:01.000Z', 'kernel', '', 'Jan  4 10:00:01 h1 kernel: [12.3] up'],
    ]);
  });

  it('[B3] reads access logs with the level that the status says, and error logs, under the name of their folder', async () => {
    folder.write(
      'nginx/access.log',
      [
        '10.0.0.1 - - [04/May/2026:12:00:00 +0200] "GET /pay?id=1 HTTP/1.1" 502 12 "-" "probe ERROR/1"',
        '10.0.0.1 - ann [04/May/2026:12:00:01 +0200] "GET /no HTTP/1.1" 404 9 "-" "x"',
        'shop:443 10.0.0.2 - - [04/May/2026:12:00:02 +0200] "GET / HTTP/1.1" 200 9',
      ].join('\n'),
    );
    folder.write('nginx/error.log', '2026/05/04 10:00:03 [crit] 31#31: *7 connect() failed (111: refused), client: 10.0.0.1\n');
    const found = await read('apache/error_log.1', [
      '[Mon May 04 10:00:04.123456 2026] [core:error] [pid 35:tid 43] [client 10.0.0.1:5] AH00128: no file',
      '[Mon May  4 10:00:05 2026] [notice] caught SIGTERM',
    ]);
    expect(short(found).map((row) => row.slice(0, 3))).toEqual([
      ['10:00:04.123Z', 'apache', 'ERROR'],
      ['10:00:05.000Z', 'apache', 'NOTICE'],
      ['10:00:00.000Z', 'nginx', 'ERROR'],
      ['10:00:01.000Z', 'nginx', 'WARN'],
      ['10:00:02.000Z', 'nginx', 'INFO'],
      ['10:00:03.000Z', 'nginx', 'CRITICAL'],
    ]);
    expect(found.rows[2]?.['message']).toBe(
      '10.0.0.1 - - [04/May/2026:12:00:00 +0200] "GET /pay?id=1 HTTP/1.1" 502 12 "-" "probe ERROR/1"',
    );
  });

  it.each([
    ['catalina.out', '04-May-2026 10:00:00.500 SEVERE [main] shop.Start.go down', 'SEVERE', '10:00:00.500Z'],
    ['jul.log', 'May 04, 2026 10:00:00 AM shop.Start go\nSEVERE: down', 'SEVERE', '10:00:00.000Z'],
    ['node.err', 'E0504 10:00:00.500000       1 node.go:12] down', 'ERROR', '10:00:00.500Z'],
    ['drop.log', 'WARN  [2026-05-04 10:00:00,500] shop.Start: down', 'WARN', '10:00:00.500Z'],
    ['rails.log', 'E, [2026-05-04T10:00:00.500123 #7]  ERROR -- : down', 'ERROR', '10:00:00.500Z'],
    ['envoy.log', '[2026-05-04T10:00:00.500Z] "GET /a HTTP/1.1" 503 UF 0 91', 'ERROR', '10:00:00.500Z'],
    ['redis.log', '1:M 04 May 2026 10:00:00.500 # WARNING down', 'WARNING', '10:00:00.500Z'],
    ['epoch.txt', '1777888800.5 level=error down', 'ERROR', '10:00:00.500Z'],
    ['fmt.log', 'level=error ts="2026-05-04 10:00:00.5" app=fmt traceID=t1 msg="down"', 'ERROR', '10:00:00.500Z'],
    ['old.log.3', '2026-05-04 10:00:00.500 ERROR down', 'ERROR', '10:00:00.500Z'],
    ['app.log-20260504.gz', '2026-05-04 10:00:00.500 ERROR down', 'ERROR', '10:00:00.500Z'],
  ])('[B3] reads %s', async (name, line, level, time) => {
    const found = await read(name, line);
    expect(short(found)).toEqual([[time, name.replace(/\..*$/, ''), level, line]]);
  });

  it('[B3] keeps stack traces of Java and Python with their record, and counts a stray line', async () => {
    const java = [
      '2026-05-04 10:00:00 ERROR pay failed',
      'shop.NoSeat: none left',
      '\tat shop.Till.pay(Till.java:31)',
      'Caused by: java.io.IOException: closed',
      '\t... 12 more',
    ];
    const python = [
      '2026-05-04 10:00:01 ERROR pay failed',
      'Traceback (most recent call last):',
      '  File "pay.py", line 3, in pay',
      '    raise Refused()',
      'ledger.Refused: closed',
      '',
      'During handling of the above exception, another exception occurred:',
      '',
      'Traceback (most recent call last):',
      '  File "pay.py", line 9, in retry',
      'TimeoutError',
    ];
    const found = await read('app.log', [...java, ...python, 'what is this', '2026-05-04 10:00:02 INFO on']);
    expect(short(found).map(([, , level, message]) => [level, message])).toEqual([
      ['ERROR', java.join('\n')],
      ['ERROR', python.filter((line) => line !== '').join('\n')],
      ['INFO', '2026-05-04 10:00:02 INFO on'],
    ]);
    expect(found.files[0]?.rejected).toEqual({ malformed: 0, unrecognised: 1, bad_time: 0 });
  });
});

describe('failures that the level does not tell', () => {
  const at = (second: number): number => AT + second * 1000;
  const record = (second: number, level: number | undefined, status: number, more: object = {}): string =>
    JSON.stringify({ level, time: at(second), res: { statusCode: status }, ...more, msg: `took ${second}` });
  const levels = ({ rows }: Imported): unknown[] => rows.map(({ level }) => level);

  it('[B3] raises lines of requests that failed, never lowers one, and shows by what', async () => {
    const err = { type: 'Error', message: 'no seat', stack: 'Error: no seat\n    at pay (/app/pay.js:3:1)' };
    const found = await read('web.jsonl', [
      record(0, 30, 200),
      record(1, 30, 503, { err }),
      record(2, 30, 404),
      record(3, undefined, 404),
      record(4, 60, 200),
      record(5, 40, 200, { err }),
      record(6, 40, 502),
      record(7, 30, 200, { err: null }),
    ]);
    expect(levels(found)).toEqual(['INFO', 'ERROR', 'INFO', 'WARN', 'FATAL', 'ERROR', 'ERROR', 'INFO']);
    expect(found.files[0]?.taken).toMatchObject({ level: '/level, raised by /res/statusCode, /err/stack' });
    const { mapping } = await folder.source().inspect();
    expect(mapping).toMatchObject({ logs: [{ level: '/level', status: '/res/statusCode', failure: '/err/stack' }] });
    folder.write('mapping.json', JSON.stringify(mapping));
    expect(levels(await imported(folder.path, LOG_LINES))).toEqual(levels(found));
  });

  it('[B3] raises lines of access logs, but by no status that is none of HTTP', async () => {
    const line = (second: number, status: number | string): string =>
      JSON.stringify({ level: 'info', ts: at(second) / 1000, msg: 'handled request', status });
    folder.write('a.jsonl', `${line(0, 200)}\n${line(1, 502)}\n`);
    expect(levels(await read('b.jsonl', [line(2, 'open'), line(3, 7), line(4, 9001), line(5, 503)]))).toEqual([
      'INFO',
      'ERROR',
      'INFO',
      'INFO',
      'INFO',
      'INFO',
    ]);
  });

  it('[B3] raises a JSON line inside the line of a container', async () => {
    const line = (second: number, log: string): string =>
      JSON.stringify({ log: `${log}\n`, stream: 'stdout', time: new Date(at(second)).toISOString() });
    const lines = [line(0, record(0, 30, 200)), line(1, record(1, 30, 500))];
    expect(levels(await read('web/0.log', lines))).toEqual(['INFO', 'ERROR']);
  });

  it.each([
    ['web.log', '2026-05-04T10:00:00Z stderr F panic: no seat', 'ERROR'],
    ['syslog', 'May  4 10:00:00 h1 tills[42]: Traceback (most recent call last):', 'ERROR'],
    ['web.log', '2026-05-04 10:00:00 fatal error: all goroutines are asleep - deadlock!', 'ERROR'],
    ['web.log', '2026-05-04 10:00:00 Segmentation fault (core dumped)', 'ERROR'],
    ['syslog', 'May  4 10:00:00 h1 kernel: [12.3] tills[42]: segfault at 0 ip 0 sp 0 error 4 in tills', 'ERROR'],
    ['syslog', 'May  4 10:00:00 h1 kernel: [12.3] Out of memory: Killed process 42 (tills)', 'ERROR'],
    ['syslog', 'May  4 10:00:00 h1 kernel: [12.3] Memory cgroup out of memory: Kill process 42 (tills)', 'ERROR'],
    ['syslog', 'May  4 10:00:00 h1 kernel: tills invoked oom-killer: gfp_mask=0x0', 'ERROR'],
    ['web.log', '2026-05-04 10:00:00 recovered from panic: no seat', ''],
    ['web.log', '2026-05-04 10:00:00 test for segfault passed', ''],
  ])('[B3] takes deaths behind the head of a line of %s for errors: %s', async (name, line, level) => {
    expect(levels(await read(name, [line]))).toEqual([level]);
  });
});

describe('clocks inside log texts', () => {
  it('[B3] tells their zone from the times of the records', async () => {
    const lines = Array.from({ length: 12 }, (_, at) => `2026-05-04T10:00:${10 + at}.100Z,cart,12:00:${10 + at}.099 INFO step`);
    expect((await read('app.csv', ['time,service,message', ...lines])).zone).toBe('+02:00');
  });
});
