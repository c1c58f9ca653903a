import { gzipSync } from 'node:zlib';
import { imported, LOG_LINES } from './imported-rows';
import { TelemetryFolder } from './telemetry-folder';

let folder: TelemetryFolder;
beforeEach(() => {
  folder = new TelemetryFolder();
});
afterEach(() => folder.remove());

describe('Parquet', () => {
  it('[B3] reads logs, metrics and spans with usual names', async () => {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const engine = await DuckDBInstance.create(':memory:');
    const connection = await engine.connect();
    const write = async (name: string, select: string): Promise<void> => {
      await connection.run(`COPY (${select}) TO '${folder.path}/${name}' (FORMAT parquet)`);
    };
    await write(
      'logs.parquet',
      `SELECT TIMESTAMPTZ '2026-05-04 10:00:00.25+00' AS ts, 'cart' AS service, 'error' AS level, 'no ledger' AS message`,
    );
    await write('m.parquet', `SELECT 1777888800 AS time, 'cart' AS service, 1.5::DOUBLE AS cpu, 2 AS errors`);
    await write(
      's.parquet',
      `SELECT 't' AS trace_id, '1' AS span_id, NULL AS parent_span_id, 'cart' AS service, TIMESTAMP '2026-05-04 10:00:00' AS start_time, 5 AS duration_ms`,
    );
    connection.closeSync();
    folder.write('broken.parquet', 'PAR1 no');
    const found = await imported(folder.path, LOG_LINES);
    expect(found.rows).toEqual([
      { time: '2026-05-04T10:00:00.250Z', service: 'cart', level: 'ERROR', message: 'no ledger', trace: null },
    ]);
    expect(found.files.map(({ name, family, format, rows }) => [name, family, format, rows])).toEqual([
      ['logs.parquet', 'logs', 'parquet', 1],
      ['m.parquet', 'metrics', 'parquet', 2],
      ['s.parquet', 'spans', 'parquet', 1],
    ]);
    expect(Object.keys(found.skipped)).toEqual(['broken.parquet']);
  });
});

describe('journal exports', () => {
  it('[B3] reads entries with fields of several lines, and counts one that is cut off', async () => {
    const size = Buffer.alloc(8);
    const trace = 'boom\njava.io.IOException: closed';
    size.writeBigUInt64LE(BigInt(trace.length));
    const entry = (us: string, ...rest: readonly (string | Buffer)[]): Buffer =>
      Buffer.concat(
        [`__CURSOR=s\n__REALTIME_TIMESTAMP=${us}\nSYSLOG_IDENTIFIER=tills\n`, ...rest].map((part) => Buffer.from(part)),
      );
    folder.write(
      'journal.export.gz',
      gzipSync(
        Buffer.concat([
          entry('1777888800250001', 'PRIORITY=3\nMESSAGE=no ledger\n\n'),
          entry('1777888801000000', 'PRIORITY=6\nMESSAGE\n', size, `${trace}\n\n`),
          entry('1777888802000000', 'MESSAGE\n', size, 'cut'),
        ]),
      ),
    );
    const found = await imported(folder.path, LOG_LINES);
    expect(found.rows.map(({ time, service, level, message }) => [time, service, level, message])).toEqual([
      ['2026-05-04T10:00:00.250Z', 'tills', 'ERROR', 'no ledger'],
      ['2026-05-04T10:00:01.000Z', 'tills', 'INFO', trace],
    ]);
    expect(found.files[0]?.rejected.malformed).toBe(1);
  });
});
