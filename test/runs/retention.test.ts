import { Logger } from '@nestjs/common';
import { RetentionService, type SweepReport, type SweepRequest } from '../../src/chat/retention.service';
import { parseDiagnosisOptions, type DiagnosisOptionsInput } from '../../src/options/diagnosis-options';
import { Clock } from '../../src/ports/clock.port';
import { RUN_REALM } from '../../src/ports/checkpoint-store.port';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import { RunEraserRepository } from '../../src/runs/run-eraser.repository';
import { RunRepository } from '../../src/runs/run.repository';
import { AT, after, openStore, type Store } from './run-fixture';
import { storeCalls, storeRuns, type StoredRun } from './stored-runs';
import { storedRows } from './stored-text';
import { describeOnEachDatabase } from './test-databases';

const DAY = 86_400_000;
const NOTHING = { byRequest: 0, byAge: 0, byCount: 0 };

class FixedClock extends Clock {
  override now(): Date {
    return AT;
  }
}

describeOnEachDatabase('RetentionService', (db) => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(db);
  });
  afterEach(async () => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    await store.close();
  });

  function retention(input: DiagnosisOptionsInput['retention'] = {}, dataSource = store.dataSource): RetentionService {
    const options = parseDiagnosisOptions({ retention: input });
    const eraser = new RunEraserRepository(dataSource, store.checkpoints);
    return new RetentionService(new RunRepository(dataSource, options), eraser, store.checkpoints, new FixedClock(), options);
  }

  const sweep = (request: SweepRequest): Promise<SweepReport> => retention({ batch: 70 }).sweep(request);

  /** Runs that came in one minute after the other, the last one now; ids sort by time. */
  async function minutes(count: number, change: (minute: number) => Partial<StoredRun> = () => ({})): Promise<void> {
    const runs = Array.from({ length: count }, (_, minute) => ({
      id: `run-${String(minute).padStart(5, '0')}`,
      created_at: after((minute - count) * 60_000),
      ...change(minute),
    }));
    await storeRuns(store.dataSource, runs);
  }

  async function left(): Promise<number[]> {
    const rows = await store.dataSource.query<{ id: string }[]>('SELECT id FROM diagnosis_run ORDER BY id');
    return rows.map(({ id }) => Number(id.slice(4)));
  }

  it('keeps the newest by count, and all that wait or work', async () => {
    await minutes(1_000, (minute) =>
      minute === 3
        ? { status: 'RUNNING', lease_until: after(60_000) }
        : minute === 599
          ? { status: 'PENDING', lease_until: after(1) }
          : {},
    );
    await storeCalls(store.dataSource, 'run-00005', [{ status: 'OK', started_at: AT }]);
    const told: number[] = [];
    const report = await sweep({ maxRuns: 400, onProgress: (erased) => told.push(erased) });
    expect(report).toMatchObject({ complete: true, erased: { ...NOTHING, byCount: 598 } });
    expect(await left()).toEqual([3, 599, ...Array.from({ length: 400 }, (_, at) => 600 + at)]);
    expect(told).toEqual([70, 140, 210, 280, 350, 420, 490, 560, 598]);
    expect((await sweep({ maxRuns: 400 })).erased).toEqual(NOTHING);
  });

  it('keeps those that came in within the age, then counts', async () => {
    await minutes(10, (minute) => ({ created_at: after((minute - 10) * DAY) }));
    expect((await sweep({ maxAgeDays: 6 })).erased).toEqual({ ...NOTHING, byAge: 4 });
    expect(await left()).toEqual([4, 5, 6, 7, 8, 9]);
    expect((await sweep({ maxAgeDays: 4.5, maxRuns: 2 })).erased).toEqual({ ...NOTHING, byAge: 2, byCount: 2 });
    expect(await left()).toEqual([8, 9]);
    expect((await sweep({})).erased).toEqual(NOTHING);
    expect((await sweep({ maxRuns: 0 })).erased).toEqual({ ...NOTHING, byCount: 2 });
    expect(await store.sessions.exists('s')).toBe(false);
  });

  it('ends dead runs, erases what somebody asked for, and cleans up; a dry run tells the same and changes nothing', async () => {
    await minutes(20, (minute) => ({
      ...(minute === 0 ? { status: 'RUNNING', lease_until: after(-1), erase_requested_at: AT } : {}),
      ...(minute === 1 ? { status: 'PENDING', lease_until: after(-1) } : {}),
      ...(minute === 15 ? { erase_requested_at: AT } : {}),
    }));
    await store.sessions.ensure('left-behind', after(-2 * 3_600_000));
    await store.sessions.ensure('just-begun', after(-1_000));
    const typed = { type: 'json', bytes: Buffer.from('{}') };
    const place = { realm: RUN_REALM, thread_id: 'gone', namespace: '', checkpoint_id: '1', parent_id: null };
    await store.checkpoints.put({ ...place, document: typed, metadata: typed, values: [] });
    await store.dataSource.query(`UPDATE diagnosis_checkpoint_part SET created_at = '2026-05-04 10:00:00'`);

    const before = await storedRows(store.dataSource);
    const dry = await sweep({ maxRuns: 10, dryRun: true });
    expect(await storedRows(store.dataSource)).toEqual(before);
    expect(dry).toMatchObject({ dryRun: true, deadRuns: 2, erased: { byRequest: 1, byAge: 0, byCount: 8 }, sessions: 1 });

    const done = await sweep({ maxRuns: 10 });
    expect(done).toEqual({
      dryRun: false,
      complete: true,
      deadRuns: 2,
      // Both dead runs can go now: one on request, one as the oldest.
      erased: { byRequest: 2, byAge: 0, byCount: 9 },
      sessions: 1,
      checkpoints: 1,
    });
    expect(await left()).toEqual([10, 11, 12, 13, 14, 16, 17, 18, 19]);
    expect([await store.sessions.exists('left-behind'), await store.sessions.exists('just-begun')]).toEqual([false, true]);
  });

  it('stops between batches when it is told to', async () => {
    await minutes(300);
    const controller = new AbortController();
    const report = await sweep({ maxRuns: 10, signal: controller.signal, onProgress: () => controller.abort() });
    expect(report).toMatchObject({ complete: false, erased: { ...NOTHING, byCount: 70 }, sessions: 0 });
    expect((await left()).length).toBe(230);
  });

  it('lets two sweep one database at once, and erases nothing that should stay', async () => {
    await minutes(600, (minute) => ({ session_id: 's', ...(minute % 100 === 0 ? { erase_requested_at: AT } : {}) }));
    const second = await openDiagnosisDataSource(store.options);
    try {
      const reports = await Promise.all([
        retention({ batch: 70 }).sweep({ maxRuns: 200 }),
        retention({ batch: 50 }, second).sweep({ maxRuns: 200 }),
      ]);
      const erased = reports.flatMap((report) => Object.values(report.erased)).reduce((sum, count) => sum + count, 0);
      const kept = Array.from({ length: 200 }, (_, at) => 400 + at).filter((minute) => minute % 100 !== 0);
      expect([erased, await left()]).toEqual([402, kept]);
    } finally {
      await second.destroy();
    }
  });

  it('sweeps by itself where the options bound anything, never at once, and not after its end', async () => {
    await minutes(5);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    const idle = retention();
    idle.onModuleInit();
    expect(jest.getTimerCount()).toBe(0);

    jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    const service = retention({ maxRuns: 2, everyMinutes: 10 });
    const sweeps = jest.spyOn(service, 'sweep');
    service.onModuleInit();
    jest.advanceTimersByTime(25_000);
    expect(sweeps).toHaveBeenCalledTimes(0);
    jest.advanceTimersByTime(70_000);
    expect(sweeps).toHaveBeenCalledTimes(1);
    jest.useRealTimers();
    await sweeps.mock.results[0]?.value;
    expect(await left()).toEqual([3, 4]);
    await service.beforeApplicationShutdown();
    expect(sweeps).toHaveBeenCalledTimes(1);

    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    service.onModuleInit();
    expect(timers()).toBe(before);
    await service.beforeApplicationShutdown();
  });
});
