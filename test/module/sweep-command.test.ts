import { runCommand } from '../../src/cli';
import { sweepNotes } from '../../src/cli-output';
import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import { storeRuns } from '../runs/stored-runs';
import { storedRows } from '../runs/stored-text';
import { describeOnEachDatabase, type FreshDatabase } from '../runs/test-databases';

const DAY = 86_400_000;

describeOnEachDatabase('nestjs-diagnosis sweep', (db) => {
  let database: FreshDatabase;
  let out = '';
  let err = '';

  beforeEach(async () => {
    out = '';
    err = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
    database = await db.migrated();
    await onStore((dataSource) =>
      storeRuns(dataSource, [
        ...[0, 1, 2, 3, 4, 5].map((days) => ({ id: `r${days}`, created_at: new Date(Date.now() - days * DAY - 1_000) })),
        { id: 'dead', created_at: new Date(), status: 'RUNNING' as const, lease_until: new Date(0) },
      ]),
    );
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await database.drop();
  });

  async function onStore<T>(work: (dataSource: Awaited<ReturnType<typeof openDiagnosisDataSource>>) => Promise<T>): Promise<T> {
    const dataSource = await openDiagnosisDataSource(parseDiagnosisOptions({ database: { url: database.url } }));
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  const sweep = (...flags: string[]): Promise<number> => runCommand(['sweep', ...flags], { DATABASE_URL: database.url });
  const runs = (): Promise<string[]> =>
    onStore(async (dataSource) => {
      const rows = await dataSource.query<{ id: string; status: string }[]>('SELECT id, status FROM diagnosis_run ORDER BY id');
      return rows.map(({ id, status }) => `${id} ${status}`);
    });

  it('tells in a dry run what would go and changes nothing, dead runs included', async () => {
    const before = await onStore(storedRows);
    expect(await sweep('--dry-run', '--max-age-days', '3.5', '--max-runs', '3', '--json')).toBe(0);
    expect(JSON.parse(out)).toEqual({
      dryRun: true,
      complete: true,
      deadRuns: 1,
      erased: { byRequest: 0, byAge: 2, byCount: 2 },
      sessions: 0,
      checkpoints: null,
    });
    expect([await onStore(storedRows), err]).toEqual([before, '']);
  });

  it('erases by age and by count, and says so in words', async () => {
    expect(await sweep('--max-age-days', '3.5', '--max-runs', '3')).toBe(0);
    expect(out).toContain('Runs erased: 4\n  on request: 0\n  by age: 2\n  by count: 2\nDead runs ended: 1\n');
    expect(await runs()).toEqual(['dead FAILED', 'r0 SUCCESS', 'r1 SUCCESS']);
  });

  it('bounds nothing by itself', async () => {
    expect(await sweep()).toBe(0);
    expect(out).toContain('Runs erased: 0\n');
    expect((await runs()).length).toBe(7);
  });

  it.each([
    ['days that are no number', ['--max-age-days', 'soon'], '--max-age-days'],
    ['no days at all', ['--max-age-days', '0'], '--max-age-days'],
    ['half a run', ['--max-runs', '1.5'], '--max-runs'],
    ['fewer than no runs', ['--max-runs=-1'], '--max-runs'],
    ['a flag that is none', ['--dry'], '--dry'],
    ['a place', ['runs.sqlite'], 'DATABASE_URL'],
  ])('refuses %s with 2 and erases nothing', async (_name, flags, words) => {
    expect(await sweep(...flags)).toBe(2);
    expect(err).toContain(words);
    expect((await runs()).length).toBe(7);
  });

  it('tells of a sweep that lasts, at most twice a second', () => {
    let now = 0;
    const tell = sweepNotes(() => now);
    for (const at of [100, 500, 700, 1_200]) {
      now = at;
      tell(at);
    }
    expect(err).toBe('  500 runs erased\n  1200 runs erased\n');
  });
});
