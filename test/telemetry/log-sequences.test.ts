import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { findSequenceChanges, type SequenceFinding, type SequenceSession } from '../../src/telemetry/log-sequences';
import { likelihoodRatio } from '../../src/telemetry/sequence-candidates';

const SECOND = 1_000_000_000n;
const BASELINE = [0n, 600n * SECOND] as const;
const WINDOW = [600n * SECOND, 1200n * SECOND] as const;

interface Line {
  readonly at: bigint;
  readonly service: string;
  readonly trace: string;
  readonly step: string;
  readonly error?: boolean;
}

describe('log sequences', () => {
  let connection: DuckDBConnection;
  let session: SequenceSession;

  beforeEach(async () => {
    connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    session = {
      run: async (sql, values) => {
        await connection.run(sql, values as DuckDBValue[] | undefined);
      },
      rows: async <Row>(sql: string, values?: readonly (string | number | bigint)[]) =>
        (await connection.runAndReadAll(sql, values as DuckDBValue[] | undefined)).getRowObjectsJS() as Row[],
    };
    await connection.run(
      `create table log_events (id bigint, ts bigint, service varchar, instance varchar, trace varchar, span varchar, step varchar, is_error boolean, message varchar)`,
    );
  });

  afterEach(() => connection.closeSync());

  async function load(lines: readonly Line[]): Promise<void> {
    const appender = await connection.createAppender('log_events');
    lines.forEach((line, index) => {
      appender.appendBigInt(BigInt(index));
      appender.appendBigInt(line.at);
      appender.appendVarchar(line.service);
      appender.appendVarchar(`${line.service}-1`);
      appender.appendVarchar(line.trace);
      appender.appendVarchar('s');
      appender.appendVarchar(line.step);
      appender.appendBoolean(line.error ?? false);
      appender.appendVarchar(`${line.step} of ${line.trace}`);
      appender.endRow();
    });
    appender.closeSync();
  }

  /** `count` requests spread over a window; each goes front -> store -> front, unless `broken` says otherwise. */
  function requests(prefix: string, from: bigint, count: number, broken: (n: number) => 'no' | 'cut' | 'skip'): Line[] {
    return Array.from({ length: count }, (_, n) => {
      const at = from + (BigInt(n) * 500n * SECOND) / BigInt(count);
      const trace = `${prefix}${n}`;
      const how = broken(n);
      const line = (ms: number, service: string, step: string, error = false): Line => ({
        at: at + BigInt(ms) * 1_000_000n,
        service,
        trace,
        step,
        error,
      });
      const store =
        how === 'skip'
          ? []
          : [line(2, 'store', 'begin'), ...(how === 'cut' ? [line(3, 'store', 'boom', true)] : [line(3, 'store', 'finish')])];
      return [
        line(0, 'front', 'accept'),
        line(1, 'front', 'ask store'),
        ...store,
        line(5, 'front', how === 'cut' ? 'gave up' : 'answer', how === 'cut'),
      ];
    }).flat();
  }

  function find(byTrace = true): Promise<SequenceFinding[]> {
    return findSequenceChanges(session, { baseline: BASELINE, window: WINDOW }, { service: null }, byTrace);
  }

  it('finds nothing when only the load moves', async () => {
    await load([...requests('b', 0n, 30, () => 'no'), ...requests('i', 600n * SECOND, 200, () => 'no')]);
    expect(await find()).toEqual([]);
  });

  it('finds the service whose flow is cut short, and lets the flow vote against it and not against its caller', async () => {
    await load([...requests('b', 0n, 60, () => 'no'), ...requests('i', 600n * SECOND, 60, (n) => (n % 2 === 0 ? 'cut' : 'no'))]);
    const found = await find();
    const cut = found.find((finding) => finding.kind === 'cut' && finding.service === 'store');
    expect(cut).toMatchObject({
      step: 'begin',
      step_service: 'store',
      count: 30,
      total: 60,
      share: 0.5,
      baseline_count: 0,
      baseline_total: 60,
      votes: 30,
    });
    expect(cut?.sample).toBe('begin of i0');
    const caller = found.filter((finding) => finding.service === 'front');
    expect(caller.every((finding) => finding.votes === 0)).toBe(true);
  });

  it('finds a service that is no longer called while its caller carries on', async () => {
    await load([...requests('b', 0n, 60, () => 'no'), ...requests('i', 600n * SECOND, 60, (n) => (n % 3 === 0 ? 'no' : 'skip'))]);
    const missing = (await find()).find((finding) => finding.kind === 'missing');
    expect(missing).toMatchObject({
      service: 'store',
      step_service: 'front',
      step: 'ask store',
      count: 40,
      total: 60,
      baseline_count: 0,
    });
  });

  it('does not take a flow that its window cuts off for one that ended', async () => {
    const last = 1199n * SECOND + 900_000_000n;
    const cutOff = Array.from({ length: 20 }, (_, n): Line => ({
      at: last + BigInt(n),
      service: 'front',
      trace: `late${n}`,
      step: 'accept',
    }));
    await load([...requests('b', 0n, 60, () => 'no'), ...requests('i', 600n * SECOND, 30, () => 'no'), ...cutOff]);
    expect(await find()).toEqual([]);
  });

  it('works on the stream of an instance where there are no trace ids', async () => {
    await load([...requests('b', 0n, 60, () => 'no'), ...requests('i', 600n * SECOND, 60, (n) => (n % 2 === 0 ? 'cut' : 'no'))]);
    await connection.run('update log_events set trace = null');
    const found = await find(false);
    expect(found.find((finding) => finding.service === 'store' && finding.kind === 'cut')).toMatchObject({
      count: 30,
      total: 60,
      votes: 30,
    });
  });

  it('gives equal answers to equal questions', async () => {
    await load([...requests('b', 0n, 60, () => 'no'), ...requests('i', 600n * SECOND, 60, (n) => (n % 2 === 0 ? 'cut' : 'no'))]);
    expect(await find()).toEqual(await find());
  });

  it('computes G as its formula says', () => {
    expect(likelihoodRatio(10, 100, 10, 100)).toBeCloseTo(0, 10);
    expect(likelihoodRatio(0, 50, 25, 50)).toBeCloseTo(likelihoodRatio(25, 50, 0, 50), 10);
    expect(likelihoodRatio(0, 50, 25, 50)).toBeGreaterThan(likelihoodRatio(0, 50, 5, 50));
  });
});
