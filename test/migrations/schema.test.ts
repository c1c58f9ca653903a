import { DataSource } from 'typeorm';
import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import { dataSourceOptionsOf } from '../../src/runs/data-source-options';
import { describeOnEachDatabase, type TestDatabase } from '../runs/test-databases';

interface Names {
  readonly tablePrefix?: string;
  readonly migrationsTable?: string;
}

describeOnEachDatabase('the migrations', (db: TestDatabase) => {
  const open: DataSource[] = [];
  let url: string;

  beforeEach(async () => {
    ({ url } = await db.fresh());
  });

  afterEach(async () => {
    for (const dataSource of open.splice(0)) await dataSource.destroy();
  });

  async function connect(names: Names = {}): Promise<DataSource> {
    const { database } = parseDiagnosisOptions({ database: { url, ...names } });
    const dataSource = await new DataSource(dataSourceOptionsOf(database)).initialize();
    open.push(dataSource);
    return dataSource;
  }

  async function tables(dataSource: DataSource): Promise<string[]> {
    const rows: { name: string }[] = await dataSource.query(
      db.kind === 'sqlite'
        ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
        : `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()`,
    );
    return rows.map((row) => row.name).sort();
  }

  async function drift(dataSource: DataSource): Promise<string[]> {
    return (await dataSource.driver.createSchemaBuilder().log()).upQueries.map((query) => query.query);
  }

  async function undoAll(dataSource: DataSource): Promise<number> {
    for (let undone = 0; ; undone += 1) {
      const noted: unknown[] = await dataSource.query(
        `SELECT id FROM ${dataSource.driver.escape(dataSource.options.migrationsTableName ?? '')}`,
      );
      if (noted.length === 0) return undone;
      await dataSource.undoLastMigration();
    }
  }

  const ownTables = (dataSource: DataSource): string[] => dataSource.entityMetadatas.map((entity) => entity.tableName);

  it.each([
    ['the default prefix', {}, 'diagnosis_', 'diagnosis_migrations'],
    ['a custom prefix', { tablePrefix: 'ops_dx_', migrationsTable: 'ops_migrations' }, 'ops_dx_', 'ops_migrations'],
    ['no prefix', { tablePrefix: '' }, '', 'diagnosis_migrations'],
  ])('go up, down and up again with %s and leave no drift', async (_case, names, prefix, migrationsTable) => {
    const dataSource = await connect(names);
    const all = [...ownTables(dataSource), migrationsTable].sort();
    expect(all).toContain(`${prefix}run`);
    for (const round of ['first', 'again']) {
      await dataSource.runMigrations();
      expect([round, await tables(dataSource)]).toEqual([round, all]);
      expect([round, await drift(dataSource)]).toEqual([round, []]);
      if (round === 'again') continue;
      expect(await undoAll(dataSource)).toBe(dataSource.migrations.length);
      expect(await tables(dataSource)).toEqual([migrationsTable]);
    }
  });

  it('stop at each step on the way down and go up from there', async () => {
    const dataSource = await connect();
    await dataSource.runMigrations();
    for (let steps = 1; steps < dataSource.migrations.length; steps += 1) {
      for (let step = 0; step < steps; step += 1) await dataSource.undoLastMigration();
      await dataSource.runMigrations();
      expect([steps, await drift(dataSource)]).toEqual([steps, []]);
    }
  });

  it('let two prefixes live in one database, and neither touches a table of the other', async () => {
    const first = await connect({ tablePrefix: 'a_', migrationsTable: 'a_migrations' });
    await first.runMigrations();
    const second = await connect({ tablePrefix: 'b_', migrationsTable: 'b_migrations' });
    await second.runMigrations();
    expect([await drift(first), await drift(second)]).toEqual([[], []]);
    await undoAll(first);
    expect(await tables(second)).toEqual(['a_migrations', 'b_migrations', ...ownTables(second)].sort());
    expect(await drift(second)).toEqual([]);
  });

  it('are judged by a check that notices a column which the entities do not know', async () => {
    const dataSource = await connect();
    await dataSource.runMigrations();
    await dataSource.query('ALTER TABLE diagnosis_run ADD COLUMN stray varchar(8)');
    expect((await drift(dataSource)).length).toBeGreaterThan(0);
  });
});
