import { gzipSync } from 'node:zlib';
import { imported, METRIC_VALUES, SPAN_TIMES, type Imported } from './imported-rows';
import { TelemetryFolder } from './telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
});
afterEach(() => folder.remove());

async function read(name: string, lines: readonly string[], sql: string): Promise<Imported> {
  const text = lines.join('\n');
  folder.write(name, name.endsWith('.gz') ? gzipSync(text) : text);
  return imported(folder.path, sql);
}

function values({ rows }: Imported): unknown[][] {
  return rows.map(({ service, metric, statistic, time, value }) => [
    service,
    metric,
    statistic,
    String(time).slice(11, 19),
    value,
  ]);
}

describe('metrics in tables, without a mapping', () => {
  it.each([
    [
      'a.csv',
      [
        'timestamp,service,metric,value,unit',
        '2026-05-04 10:00:00,cart,latency,1.5,ms',
        '2026-05-04 10:01:00,cart,latency,NaN,ms',
      ],
    ],
    ['a.tsv.gz', ['time\tapp\tkpi_name\tvalue\tunit', '1777888800\tcart\tlatency\t1.5\tms']],
    ['a.jsonl', ['{"ts":1777888800000,"service":"cart","metric":"latency","value":1.5,"unit":"ms"}']],
  ])('[B3] reads a row a value from %s', async (name, lines) => {
    const found = await read(name, lines, METRIC_VALUES);
    expect(values(found)).toEqual([['cart', 'latency', '', '10:00:00', 1.5]]);
    expect(found.rows[0]?.['unit']).toBe('ms');
  });

  it('[B3] reads a column a metric, and takes neither clocks nor row numbers nor labels for one', async () => {
    const found = await read(
      'cart-5d4b7c9f8-abcde_metric.csv',
      [
        ',Time,TimeStamp,PodName,Zone,CpuUsageRate(%),PodWorkload(Ops)',
        '0,2026-05-04 10:00:00.5 +0000 UTC m=+1.4,1777888800,cart-5d4b7c9f8-abcde,eu,3.5,2',
        '1,2026-05-04 10:01:00.5 +0000 UTC m=+61.4,1777888860,cart-5d4b7c9f8-abcde,eu,,4',
      ],
      METRIC_VALUES,
    );
    expect(values(found)).toEqual([
      ['cart', 'CpuUsageRate(%)', '', '10:00:00', 3.5],
      ['cart', 'PodWorkload(Ops)', '', '10:00:00', 2],
      ['cart', 'PodWorkload(Ops)', '', '10:01:00', 4],
    ]);
    expect(found.rows[0]?.['unit']).toBe('%');
  });

  it('[B3] reads services from the names of columns, where several have the same metrics', async () => {
    const found = await read(
      'data.csv',
      ['time,cart-api_cpu,cart-api_latency-90,db_cpu,db_memory', '1777888800,3.5,2,7,456789012', '1777888860,3.6,2,7,456789013'],
      METRIC_VALUES,
    );
    expect(values(found).filter((row) => row[3] === '10:00:00')).toEqual([
      ['cart-api', 'cpu', '', '10:00:00', 3.5],
      ['cart-api', 'latency-90', '', '10:00:00', 2],
      ['db', 'cpu', '', '10:00:00', 7],
      ['db', 'memory', '', '10:00:00', 456789012],
    ]);
    folder.write('data.csv', 'time,cpu_usage,memory_usage,cpu_limit,memory_limit\n1777888800,1,2,3,4\n');
    expect((await imported(folder.path, METRIC_VALUES)).rows.map(({ service, metric }) => [service, metric])[0]).toEqual([
      'data',
      'cpu_limit',
    ]);
  });

  it('[A8] reads a table with a lone carriage return line by line, and counts what is none', async () => {
    const found = await read(
      'm.csv',
      ['time,service,metric,value', '1777888800,a,cpu,1', '1777\r888801,a,cpu,2', '1777888802,a,cpu,3'],
      METRIC_VALUES,
    );
    expect(values(found).map((row) => row[4])).toEqual([1, 3]);
    expect(found.files[0]).toMatchObject({ rejected: { bad_time: 1 }, note: expect.stringContaining('line ends') as string });
  });

  it.each([
    ['with labels', ['microservice,a,a,b', 'metric,latency,latency,requests', 'statistic,p90,Average,Sum', 'unix_timestamp,,,']],
    ['without labels', [',a,a,b', ',latency,latency,requests', ',p90,Average,Sum']],
    ['in another order', ['metric,latency,latency,requests', 'agg,p90,Average,Sum', 'node,a,a,b']],
  ])('[B3] reads several header rows %s', async (_, header) => {
    const found = await read('metrics.csv', [...header, '1777888800.0,1,2,3', '1777888860.0,,4,5'], METRIC_VALUES);
    expect(values(found)).toEqual([
      ['a', 'latency', 'Average', '10:00:00', 2],
      ['a', 'latency', 'Average', '10:01:00', 4],
      ['a', 'latency', 'p90', '10:00:00', 1],
      ['b', 'requests', 'Sum', '10:00:00', 3],
      ['b', 'requests', 'Sum', '10:01:00', 5],
    ]);
    expect(found.files[0]?.rejected).toEqual({ malformed: 0, unrecognised: 0, bad_time: 0 });
  });
});

describe('spans in tables, without a mapping', () => {
  const NS = '1777888800000000000';
  it.each([
    [
      'ends',
      [
        'TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration',
        `t,1,root,web-5d4b7c9f8-abcde,GET /,${NS},1777888800250000000,250000`,
        `t,2,1,cart-5d4b7c9f8-abcde,find,1777888800100000000,1777888800200000000,100000`,
      ],
    ],
    [
      'durations in ms',
      [
        'trace_id,span_id,parent_span_id,service_name,operation_name,start_time,duration_ms,status_code',
        't,1,,web,GET /,2026-05-04T10:00:00Z,250,OK',
        't,2,1,cart,find,2026-05-04T10:00:00.1Z,100,OK',
      ],
    ],
    [
      'durations in the unit of the start',
      [
        'traceId,id,spanId,parentId,service,name,timestamp,duration',
        't,a,1,,web,GET /,1777888800000000,250000',
        't,b,2,1,cart,find,1777888800100000,100000',
      ],
    ],
  ])('[B3] reads %s', async (_, lines) => {
    const found = await read('traces.csv', lines, SPAN_TIMES);
    expect(
      found.rows.map(({ service, operation, callee, time, ended }) => [
        service,
        operation,
        callee,
        String(time).slice(17),
        String(ended).slice(17),
      ]),
    ).toEqual([
      ['web', 'GET /', 'cart', '00.000Z', '00.250Z'],
      ['cart', 'find', '', '00.100Z', '00.200Z'],
    ]);
  });

  it.each([
    ['kind', 'SERVER', ''],
    ['span_kind', 'SPAN_KIND_CONSUMER', ''],
    ['SpanKind', 'client', 'cart'],
    ['kind', '2', 'cart'],
  ])('[B3] reads the kind of a span from %s: %s', async (column, kind, callee) => {
    const found = await read(
      'traces.csv',
      [
        `trace_id,span_id,parent_span_id,service_name,operation_name,start_time,duration_ms,${column}`,
        `t,1,,web,GET /,2026-05-04T10:00:00Z,250,${kind}`,
        `t,2,1,cart,find,2026-05-04T10:00:00.1Z,100,${kind}`,
      ],
      SPAN_TIMES,
    );
    expect(found.rows.map((row) => [row['service'], row['callee']])).toEqual([
      ['web', callee],
      ['cart', ''],
    ]);
    expect(found.mapping).toMatchObject({ spans: [{ kind: column }] });
  });

  it('[B3] finds the caller by what encloses a span, where no column names it, and marks failed ones', async () => {
    const lines = [
      {
        traceId: 't',
        spanId: '1',
        service: 'web',
        operation: 'GET /',
        startTime: '2026-05-04T10:00:00Z',
        endTime: '2026-05-04T10:00:01Z',
        error: false,
      },
      {
        traceId: 't',
        spanId: '2',
        service: 'cart',
        operation: 'find',
        startTime: '2026-05-04T10:00:00.2Z',
        endTime: '2026-05-04T10:00:00.4Z',
        error: true,
      },
    ];
    const found = await read(
      'spans.jsonl',
      lines.map((line) => JSON.stringify(line)),
      SPAN_TIMES,
    );
    expect(found.rows.map(({ service, callee, is_error }) => [service, callee, is_error])).toEqual([
      ['web', 'cart', false],
      ['cart', '', true],
    ]);
  });
});

describe('calls and changes in tables, without a mapping', () => {
  const EDGES = 'SELECT caller, callee FROM edges ORDER BY ALL';
  it.each([
    ['a matrix', [',web,cart,db', 'web,0,1,0', 'cart,0,0,1', 'db,0,0,0']],
    ['edges', ['source,target', 'web,cart', 'cart,db']],
  ])('[B3] reads %s', async (_, lines) => {
    const found = await read('graph.csv', lines, EDGES);
    expect(found.rows).toEqual([
      { caller: 'cart', callee: 'db' },
      { caller: 'web', callee: 'cart' },
    ]);
  });

  it('[B3] reads deploys from a CSV that is named after them', async () => {
    const found = await read(
      'deploys.csv',
      ['time,service,kind,description', '2026-05-04T10:00:00Z,cart,deploy,"v2, canary"'],
      'SELECT ns AS time, service, kind, text FROM changes',
    );
    expect(found.rows).toEqual([{ time: '2026-05-04T10:00:00.000Z', service: 'cart', kind: 'deploy', text: 'v2, canary' }]);
  });
});

describe('files that are no telemetry', () => {
  it('[A8] says of each why it was left out, and reads the others', async () => {
    folder.write('README.md', '2026-05-04T10:00:00Z no log\n');
    folder.write('README', 'about\n');
    folder.write('logo.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]));
    folder.write('core.log', Buffer.from([0, 1, 2, 3, 0, 255, 254]));
    folder.write('dump.log', Buffer.from([0x50, 0x4b, 3, 4, 20, 0]));
    folder.write('settings.json', JSON.stringify({ port: 1 }, null, 2));
    folder.write('sub/mapping.json', JSON.stringify({ schema: 'telemetry_mapping_v1', logs: [] }));
    folder.write('ids.csv', 'a1\nb2\n');
    folder.write('nothing.log', '');
    const found = await read('app.log', ['2026-05-04T10:00:00Z INFO on'], 'SELECT count(*)::DOUBLE AS n FROM logs');
    expect(found.rows).toEqual([{ n: 1 }]);
    expect(found.skipped).toEqual({
      README: 'its name is one of documentation',
      'README.md': 'its name is one of documentation',
      'logo.png': expect.stringContaining('its ending is none of') as string,
      'core.log': 'it is no text in UTF-8',
      'dump.log': 'it is a zip archive; unpack it',
      'settings.json': expect.stringContaining('JSON of no known kind') as string,
      'sub/mapping.json': 'it is a mapping file, and no file of telemetry',
      'ids.csv': 'it is a list of one column',
      'nothing.log': 'it is empty',
    });
    const answer = await folder.source().logPatterns({
      window: { from: '2026-05-04T10:00:00Z', to: '2026-05-04T11:00:00Z' },
      baseline: null,
      service: null,
      contains: null,
      limit: 1,
    });
    // What merely lies beside the telemetry is not missed; what looks like telemetry and cannot be read is.
    expect(answer.files_skipped).toBe(2);
  });
});
