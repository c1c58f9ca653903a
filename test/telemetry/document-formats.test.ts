import { gzipSync } from 'node:zlib';
import { imported, LOG_LINES, METRIC_VALUES, SPAN_TIMES, type Imported } from './imported-rows';
import { TelemetryFolder } from './telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
});
afterEach(() => folder.remove());

const S = 1_777_888_800;
const ns = (ms: number): string => `${BigInt(S) * 1_000_000_000n + BigInt(ms) * 1_000_000n}`;
const text = (key: string, stringValue: string): unknown => ({ key, value: { stringValue } });
const resource = (service: string): unknown => ({
  attributes: [{ key: 'process.pid', value: { intValue: '7' } }, text('service.name', service)],
});

const LOGS = {
  resourceLogs: [
    {
      resource: resource('cart'),
      scopeLogs: [
        {
          scope: { name: 'x' },
          logRecords: [
            {
              timeUnixNano: ns(250),
              severityNumber: 17,
              severityText: 'Err',
              body: { stringValue: 'no "ledger" {' },
              traceId: 'aa',
              spanId: 'bb',
            },
            {
              timeUnixNano: '0',
              observedTimeUnixNano: ns(500),
              severityNumber: 'SEVERITY_NUMBER_WARN',
              body: { stringValue: 'slow' },
              attributes: [text('exception.stacktrace', 'java.io.IOException: closed\n\tat a.B(C.java:1)')],
            },
            { body: { stringValue: 'no time' } },
          ],
        },
      ],
    },
    {
      resource: resource('web'),
      scopeLogs: [
        { logRecords: [{ timeUnixNano: ns(900), severityText: 'info', body: { kvlistValue: { values: [text('a', 'b')] } } }] },
      ],
    },
  ],
};

const SPANS = {
  resourceSpans: [
    {
      resource: resource('web'),
      scopeSpans: [
        {
          spans: [
            {
              traceId: 'aa',
              spanId: '01',
              name: 'GET /',
              kind: 3,
              startTimeUnixNano: ns(0),
              endTimeUnixNano: ns(300),
              status: {},
            },
          ],
        },
      ],
    },
    {
      resource: resource('cart'),
      instrumentationLibrarySpans: [
        {
          spans: [
            {
              traceId: 'aa',
              spanId: '02',
              parentSpanId: '01',
              name: 'find',
              kind: 2,
              startTimeUnixNano: ns(100),
              endTimeUnixNano: ns(200),
              status: { code: 2 },
            },
          ],
        },
      ],
    },
  ],
};

const point = (at: number, more: Record<string, unknown>): unknown => ({
  startTimeUnixNano: ns(0),
  timeUnixNano: ns(at * 1000),
  ...more,
});
const METRICS = {
  resourceMetrics: [
    {
      resource: resource('cart'),
      scopeMetrics: [
        {
          metrics: [
            { name: 'queue', unit: '1', gauge: { dataPoints: [point(10, { asInt: '3' }), point(20, { asDouble: 4.5 })] } },
            {
              name: 'requests',
              unit: '1',
              sum: {
                aggregationTemporality: 2,
                isMonotonic: true,
                dataPoints: [10, 20, 30].flatMap((at, index) => [
                  point(at, { asInt: String([100, 150, 30][index]), attributes: [text('code', '200')] }),
                  point(at, { asInt: '5', attributes: [text('code', '500')] }),
                ]),
              },
            },
            {
              name: 'jobs',
              sum: {
                aggregationTemporality: 'AGGREGATION_TEMPORALITY_DELTA',
                isMonotonic: true,
                dataPoints: [point(10, { asInt: '20' })],
              },
            },
            { name: 'open', sum: { aggregationTemporality: 2, dataPoints: [point(10, { asInt: '9' })] } },
            {
              name: 'latency',
              unit: 'ms',
              histogram: {
                aggregationTemporality: 2,
                dataPoints: [point(10, { count: '10', sum: 100 }), point(20, { count: '14', sum: 300 })],
              },
            },
            {
              name: 'wait',
              unit: 's',
              summary: { dataPoints: [point(10, { count: '1', sum: 2, quantileValues: [{ quantile: 0.99, value: 7 }] })] },
            },
          ],
        },
      ],
    },
  ],
};

async function read(name: string, content: string, sql: string): Promise<Imported> {
  folder.write(name, name.endsWith('.gz') ? gzipSync(content) : content);
  return imported(folder.path, sql);
}

function values({ rows }: Imported): unknown[][] {
  return rows.map(({ service, metric, statistic, unit, time, value }) => [
    service,
    metric,
    statistic,
    unit,
    String(time).slice(14, 19),
    value,
  ]);
}

describe('OpenTelemetry as JSON', () => {
  const forms: readonly (readonly [string, string, (document: unknown) => string])[] = [
    ['a whole document', 'otlp.json', (document) => JSON.stringify(document, null, 2)],
    ['a packed document', 'otlp.json.gz', (document) => JSON.stringify(document)],
    ['a document a line', 'otlp.jsonl', (document) => `${JSON.stringify(document)}\n`],
  ];

  it.each(forms)('[B3] reads log records of %s', async (_, name, write) => {
    const found = await read(name, write(LOGS), LOG_LINES);
    expect(found.rows).toEqual([
      { time: '2026-05-04T10:00:00.250Z', service: 'cart', level: 'ERROR', message: 'no "ledger" {', trace: 'aa' },
      {
        time: '2026-05-04T10:00:00.500Z',
        service: 'cart',
        level: 'WARN',
        message: 'slow\njava.io.IOException: closed\n\tat a.B(C.java:1)',
        trace: null,
      },
      {
        time: '2026-05-04T10:00:00.900Z',
        service: 'web',
        level: 'INFO',
        message: '[{"key":"a","value":{"stringValue":"b"}}]',
        trace: null,
      },
    ]);
    expect(found.files[0]?.rejected).toEqual({ malformed: 0, unrecognised: 0, bad_time: 1 });
  });

  it.each(forms)('[B3] reads spans of %s', async (_, name, write) => {
    const found = await read(name, write(SPANS), SPAN_TIMES);
    expect(found.rows).toEqual([
      {
        trace: 'aa',
        service: 'web',
        operation: 'GET /',
        callee: 'cart',
        time: '2026-05-04T10:00:00.000Z',
        ended: '2026-05-04T10:00:00.300Z',
        is_error: false,
      },
      {
        trace: 'aa',
        service: 'cart',
        operation: 'find',
        callee: '',
        time: '2026-05-04T10:00:00.100Z',
        ended: '2026-05-04T10:00:00.200Z',
        is_error: true,
      },
    ]);
  });

  it.each([
    [2, ''],
    ['SPAN_KIND_CONSUMER', ''],
    [3, 'cart'],
    ['SPAN_KIND_INTERNAL', 'cart'],
  ])('[B3] reads the kind %s of a span, and who calls whom whatever the kind', async (kind, callee) => {
    const marked = JSON.stringify(SPANS).replaceAll(/"kind":\d/g, `"kind":${JSON.stringify(kind)}`);
    expect((await read('otlp.json', marked, SPAN_TIMES)).rows.map((row) => row['callee'])).toEqual([callee, '']);
    const calls = await imported(folder.path, 'SELECT caller, callee FROM span_calls');
    expect(calls.rows).toEqual([{ caller: 'web', callee: 'cart' }]);
  });

  it.each(forms)(
    '[B3] reads metrics of %s: counters as rates from point to point, histograms as rate and mean',
    async (_, name, write) => {
      expect(values(await read(name, write(METRICS), METRIC_VALUES))).toEqual([
        ['cart', 'jobs', 'rate', '/s', '00:10', 2],
        ['cart', 'latency', 'avg', 'ms', '00:20', 50],
        ['cart', 'latency_count', 'rate', '/s', '00:20', 0.4],
        ['cart', 'open', '', '', '00:10', 9],
        ['cart', 'queue', '', '1', '00:10', 3],
        ['cart', 'queue', '', '1', '00:20', 4.5],
        ['cart', 'requests{code=200}', 'rate', '1/s', '00:20', 5],
        ['cart', 'requests{code=200}', 'rate', '1/s', '00:30', 3],
        ['cart', 'requests{code=500}', 'rate', '1/s', '00:20', 0],
        ['cart', 'requests{code=500}', 'rate', '1/s', '00:30', 0],
        ['cart', 'wait', 'p99', 's', '00:10', 7],
      ]);
    },
  );

  it('[B3] reads all families of one file, and counts lines and documents that are broken', async () => {
    const lines = [
      JSON.stringify(LOGS),
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"x",',
      JSON.stringify(SPANS),
      'garbage',
      JSON.stringify(METRICS),
    ];
    const found = await read('export.json', lines.join('\n'), LOG_LINES);
    expect(found.files.map(({ family, rows, rejected }) => [family, rows, rejected.malformed])).toEqual([
      ['logs', 3, 2],
      ['metrics', 11, 2],
      ['spans', 2, 2],
    ]);
    const cut = JSON.stringify(SPANS, null, 1);
    folder.write('export.json', cut.slice(0, cut.indexOf('instrumentation')));
    expect((await imported(folder.path, SPAN_TIMES)).files[0]).toMatchObject({ rows: 1, rejected: { malformed: 1 } });
  });
});

describe('Jaeger as JSON', () => {
  const span = (id: string, more: Record<string, unknown>): unknown => ({
    traceID: 'aa',
    spanID: id,
    operationName: `op${id}`,
    references: [],
    startTime: S * 1_000_000,
    duration: 300_000,
    tags: [],
    ...more,
  });
  const TRACE = {
    traceID: 'aa',
    spans: [
      span('1', { processID: 'p1' }),
      span('2', {
        processID: 'p2',
        startTime: S * 1_000_000 + 100_000,
        duration: 50_000,
        references: [{ refType: 'CHILD_OF', traceID: 'aa', spanID: '1' }],
        tags: [{ key: 'error', type: 'bool', value: true }],
      }),
    ],
    processes: { p1: { serviceName: 'web' }, p2: { serviceName: 'cart' } },
  };

  it.each([
    ['an answer of its query API', JSON.stringify({ data: [TRACE, { ...TRACE, spans: [] }], total: 0 })],
    ['an indented one', JSON.stringify({ data: [TRACE] }, null, 2)],
    ['a trace a line', JSON.stringify(TRACE)],
  ])('[B3] reads %s', async (_, content) => {
    const found = await read('traces.json', content, SPAN_TIMES);
    expect(found.rows).toEqual([
      {
        trace: 'aa',
        service: 'web',
        operation: 'op1',
        callee: 'cart',
        time: '2026-05-04T10:00:00.000Z',
        ended: '2026-05-04T10:00:00.300Z',
        is_error: false,
      },
      {
        trace: 'aa',
        service: 'cart',
        operation: 'op2',
        callee: '',
        time: '2026-05-04T10:00:00.100Z',
        ended: '2026-05-04T10:00:00.150Z',
        is_error: true,
      },
    ]);
  });

  it.each([
    ['server', ''],
    ['client', 'cart'],
  ])('[B3] reads the kind %s from the tags', async (value, callee) => {
    const tags = [{ key: 'span.kind', type: 'string', value }];
    const [first, ...rest] = TRACE.spans;
    const document = { ...TRACE, spans: [{ ...(first as object), tags }, ...rest] };
    const found = await read('traces.json', JSON.stringify(document), SPAN_TIMES);
    expect(found.rows.map((row) => row['callee'])).toEqual([callee, '']);
  });
});

describe('packed documents that end too early', () => {
  it('[B3] are read as far as they go, and the rest is counted', async () => {
    const many = Array.from({ length: 2000 }, (_, at) => JSON.stringify({ ...SPANS, n: Math.sin(at) }));
    const packed = gzipSync(many.join('\n'));
    folder.write('otlp.json.gz', packed.subarray(0, packed.length - 500));
    const { files } = await imported(folder.path, SPAN_TIMES);
    expect(files[0]?.rows).toBeGreaterThan(100);
    expect(files[0]?.rejected.malformed).toBeGreaterThan(0);
  });
});

describe('Prometheus as JSON', () => {
  const series = (labels: Record<string, string>, ...points: string[]): unknown => ({
    metric: labels,
    values: points.map((value, at) => [S + at * 10, value]),
  });
  const answer = (...result: unknown[]): string => JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });

  it('[B3] reads instant values, and names the service by what is left of a pod', async () => {
    const result = [{ metric: { __name__: 'up', pod: 'cart-5d4b7c9f8-abcde', namespace: 'shop' }, value: [S + 0.5, '1'] }];
    const found = await read(
      'up.json',
      JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }, null, 2),
      METRIC_VALUES,
    );
    expect(values(found)).toEqual([['cart', 'up', '', '', '00:00', 1]]);
  });

  it('[B3] reads ranges: counters as rates, reset ones too, and leaves out what is no number', async () => {
    const found = await read(
      'requests.json',
      answer(
        series({ __name__: 'http_requests_total', service: 'cart', code: '500', instance: 'i1' }, '10', '30', '5'),
        series({ __name__: 'queue_length', pod: 'cart-5d4b7c9f8-abcde', job: 'kubelet' }, '1', 'NaN', '+Inf'),
        series({ __name__: 'latency_seconds_count', app: 'web' }, '10', '20'),
        series({ __name__: 'latency_seconds_sum', app: 'web' }, '1', '6'),
        series({ __name__: 'latency_seconds_bucket', app: 'web', le: '1' }, '1', '6'),
        series({ job: 'web' }, '7'),
      ),
      METRIC_VALUES,
    );
    expect(values(found).map(([service, metric, statistic, , time, value]) => [service, metric, statistic, time, value])).toEqual(
      [
        ['cart', 'http_requests_total{code=500}', 'rate', '00:10', 2],
        ['cart', 'http_requests_total{code=500}', 'rate', '00:20', 0.5],
        ['cart', 'queue_length', '', '00:00', 1],
        ['web', 'latency_seconds', 'avg', '00:10', 0.5],
        ['web', 'latency_seconds_count', 'rate', '00:10', 1],
        ['web', 'requests', '', '00:00', 7],
      ],
    );
    expect(found.files[0]).toMatchObject({
      rejected: { malformed: 0, unrecognised: 0, bad_time: 0 },
      note: expect.stringContaining('2 value(s)') as string,
    });
  });
});
