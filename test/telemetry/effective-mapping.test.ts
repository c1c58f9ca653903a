import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imported, LOG_LINES } from './imported-rows';
import { TelemetryFolder } from './telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
});
afterEach(() => folder.remove());

const ALL = `SELECT 'log' AS what, l.ns AS time, k.service, l.message AS text FROM logs l JOIN log_kinds k USING (kind_id)
  UNION ALL SELECT 'metric', m.ns, s.service, s.metric || s.statistic || m.value::VARCHAR FROM metrics m JOIN metric_series s USING (series_id)
  UNION ALL SELECT 'span', ns, service, operation FROM span_times
  UNION ALL SELECT 'change', ns, service, text FROM changes
  UNION ALL SELECT 'edge', NULL, caller, callee FROM edges ORDER BY ALL`;

function writeAll(): void {
  folder.write('app.log', '2026-05-04 10:00:00 ERROR down\n');
  folder.write('nginx/access.log', '10.0.0.1 - - [04/May/2026:12:00:00 +0200] "GET / HTTP/1.1" 502 12\n');
  folder.write('pino.jsonl', `{"level":50,"time":1777888800000,"name":"tills","pid":1,"msg":"no ledger"}\n`);
  folder.write('docker/0.log', '{"log":"{\\"msg\\":\\"in\\"}\\n","stream":"stdout","time":"2026-05-04T10:00:00Z"}\n');
  for (let at = 0; at < 20; at += 1)
    folder.write(`pods/cart-${at}_metric.csv`, `timestamp,pod,cpu\n1777888800,cart-${at},${at}\n`);
  folder.write('pods/notes.csv', 'a\nb\n');
  folder.write('frame.csv', ',cpu\n2026-05-04 10:00:00,7\n');
  folder.write('metrics.csv', ',a,b\n,latency,latency\n,p90,p90\n1777888800,1,2\n');
  folder.write('graph.csv', ',a,b\na,0,1\nb,0,0\n');
  folder.write('deploys.jsonl', '{"time":"2026-05-04T09:00:00Z","service":"a","kind":"deploy","text":"v2"}\n');
  folder.write('spans.csv', 'trace_id,span_id,service,name,start_time,duration_ms\nt,1,a,op,2026-05-04T10:00:00Z,5\n');
  folder.write(
    'otlp.json',
    JSON.stringify({
      resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: '1777888800000000000', body: { stringValue: 'x' } }] }] }],
      resourceMetrics: [
        {
          scopeMetrics: [
            { metrics: [{ name: 'm', gauge: { dataPoints: [{ timeUnixNano: '1777888800000000000', asInt: '1' }] } }] },
          ],
        },
      ],
    }),
  );
}

describe('the mapping that inspect prints', () => {
  it('[B3] imports the same rows when it is saved, and others when a zone in it is changed', async () => {
    writeAll();
    const inferred = await imported(folder.path, ALL);
    expect(inferred.rows.length).toBe(32);
    const shown = (await folder.source().inspect())['mapping'];
    const path = join(folder.path, 'mapping.json');
    writeFileSync(path, JSON.stringify(shown, null, 2));
    const mapped = await imported(folder.path, ALL);
    expect(mapped.rows).toEqual(inferred.rows);
    expect(mapped.files.map(({ name, family, rows }) => [family, name, rows]).sort()).toEqual(
      inferred.files.map(({ name, family, rows }) => [family, name, rows]).sort(),
    );
    expect((await folder.source().inspect())['mapping']).toEqual(shown);
    writeFileSync(path, JSON.stringify(shown).replaceAll('"zone":"UTC"', '"zone":"+02:00"'));
    const moved = (await imported(folder.path, LOG_LINES)).rows.find(({ service }) => service === 'app');
    expect(moved?.['time']).toBe('2026-05-04T08:00:00.000Z');
  });

  it('[B3] names many like files by one pattern that fits no other', async () => {
    writeAll();
    const { metrics } = (await folder.source().inspect())['mapping'] as { metrics: { files: string[] }[] };
    expect(metrics.map(({ files }) => files)).toContainEqual(['pods/*_metric.csv']);
  });

  it('[B3] stands beside the families with their services, and the name of the mapping file', async () => {
    writeAll();
    const seen = await folder.source().inspect();
    expect(seen).toMatchObject({ mapping_file: null, mapping: { schema: 'telemetry_mapping_v1' } });
    expect(
      (seen['families'] as { family: string; services: string[] }[]).map(({ family, services }) => [family, services.length]),
    ).toEqual([
      ['logs', 5],
      ['metrics', 24],
      ['spans', 1],
      ['changes', 1],
      ['graph', 2],
    ]);
  });
});

describe('a single .json file', () => {
  it('[B3] is telemetry when it plainly is, and a mapping otherwise', async () => {
    writeAll();
    const document = await folder.source(join(folder.path, 'otlp.json')).describe();
    expect(document.families.map(({ family, records }) => [family, records])).toEqual([
      ['logs', 1],
      ['metrics', 1],
    ]);
    const mapping = folder.write(
      'map.json',
      JSON.stringify({ schema: 'telemetry_mapping_v1', graph: [{ files: ['graph.csv'], layout: 'matrix' }] }),
    );
    expect((await folder.source(mapping).describe()).families).toMatchObject([{ family: 'graph', records: 1 }]);
    await expect(folder.source(folder.write('no.json', '{"port":1}')).describe()).rejects.toMatchObject({
      code: 'MAPPING_INVALID',
    });
  });
});
