import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { loadDuckdb, QueryGate, TelemetryDatabase } from '../../src/telemetry/telemetry-database';
import { refusal, TelemetryFolder } from './telemetry-folder';

const LIMITS = { memoryLimitMb: 64, spillLimitMb: 16, maxConcurrentQueries: 2 };

describe('an imported telemetry database', () => {
  it.each([
    ["SELECT * FROM read_text('/etc/hostname')"],
    ["COPY logs TO '/tmp/telemetry-test-leak.csv'"],
    ["ATTACH '/tmp/telemetry-test-leak.duckdb'"],
    ["SET memory_limit = '8GB'"],
    ['SET enable_external_access = true'],
    ['INSTALL httpfs'],
  ])('refuses once sealed: %s', async (sql) => {
    const database = await TelemetryDatabase.create(loadDuckdb, LIMITS, new QueryGate(2), 0);
    try {
      await database.seal();
      expect((await refusal(database.query(sql, {}))).code).toBe('TELEMETRY_UNREADABLE');
      expect(await database.query('SELECT count(*)::INT AS n FROM logs', {})).toEqual([{ n: 0 }]);
    } finally {
      await database.close();
    }
  });

  it('interrupts a question under way when it is aborted, and goes on answering', async () => {
    const database = await TelemetryDatabase.create(loadDuckdb, LIMITS, new QueryGate(1), 0);
    try {
      await database.seal();
      const asking = new AbortController();
      const endless = refusal(
        database.query('SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b', {}, asking.signal),
      );
      setTimeout(() => asking.abort(), 50);
      expect((await endless).code).toBe('CANCELLED');
      expect(await database.query('SELECT 1 AS one', {})).toEqual([{ one: 1 }]);
    } finally {
      await database.close();
    }
  });

  it('says which limits to raise when memory does not suffice', async () => {
    const database = await TelemetryDatabase.create(loadDuckdb, { ...LIMITS, spillLimitMb: 0 }, new QueryGate(1), 0);
    try {
      await database.seal();
      const refused = await refusal(database.query(`SELECT list(repeat('x', 1000) || i) FROM range(1000000) t(i)`, {}));
      expect(refused).toMatchObject({ code: 'TELEMETRY_UNREADABLE', message: expect.stringContaining('memoryLimitMb') });
    } finally {
      await database.close();
    }
  });
});

describe('the gate of questions', () => {
  it('lets two in, the third when one has left, and forgets who gave up waiting', async () => {
    const gate = new QueryGate(2);
    const entered: string[] = [];
    const [leaveA] = await Promise.all([gate.enter(undefined), gate.enter(undefined)]);
    const gaveUp = new AbortController();
    const b = gate
      .enter(gaveUp.signal)
      .catch((error: unknown) => (DiagnosisError.is(error, 'CANCELLED') ? entered.push('gave up') : undefined));
    const c = gate.enter(undefined).then(() => entered.push('third'));
    await Promise.resolve();
    expect(entered).toEqual([]);
    gaveUp.abort();
    await b;
    leaveA();
    leaveA();
    await c;
    expect(entered).toEqual(['gave up', 'third']);
  });
});

describe('a large import', () => {
  it('keeps its tables in a private file and answers the same', async () => {
    const folder = new TelemetryFolder();
    try {
      const lines = Array.from({ length: 9_000 }, (_, n) => `2026-05-04T10:00:00Z INFO ${'padding '.repeat(250)}${n}`);
      folder.write('big.log', lines.join('\n'));
      expect((await folder.source(folder.path, 64).describe()).families[0]).toMatchObject({ records: 9_000, rejected: 0 });
    } finally {
      await folder.remove();
    }
  });
});
