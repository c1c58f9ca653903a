import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import { dataSourceOptionsOf } from '../../src/runs/data-source-options';

let folder: string;
const open: DataSource[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'diagnosis-migration-'));
});

afterEach(async () => {
  for (const dataSource of open.splice(0)) await dataSource.destroy();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(change: { tablePrefix?: string; migrationsTable?: string } = {}): Promise<DataSource> {
  const { database } = parseDiagnosisOptions({ database: { url: `sqlite:${join(folder, 'm.sqlite')}`, ...change } });
  const dataSource = await new DataSource(dataSourceOptionsOf(database)).initialize();
  open.push(dataSource);
  return dataSource;
}

async function tables(dataSource: DataSource): Promise<string[]> {
  const rows: { name: string }[] = await dataSource.query(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  );
  return rows.map((row) => row.name);
}

async function drift(dataSource: DataSource): Promise<string[]> {
  return (await dataSource.driver.createSchemaBuilder().log()).upQueries.map((query) => query.query);
}

const NAMES = ['agent_step', 'chat_session', 'run', 'run_evaluation', 'run_evidence', 'tool_invocation', 'tool_output_chunk'];

describe('InitialSchema', () => {
  it.each([
    ['the default prefix', {}, 'diagnosis_', 'diagnosis_migrations'],
    ['a custom prefix', { tablePrefix: 'ops_dx_', migrationsTable: 'ops_migrations' }, 'ops_dx_', 'ops_migrations'],
    ['no prefix', { tablePrefix: '' }, '', 'diagnosis_migrations'],
  ])('goes up, down and up again with %s and leaves no drift', async (_case, change, prefix, migrationsTable) => {
    const dataSource = await connect(change);
    const all = [...NAMES.map((name) => prefix + name), migrationsTable].sort();

    await dataSource.runMigrations();
    expect(await tables(dataSource)).toEqual(all);
    expect(await drift(dataSource)).toEqual([]);

    await dataSource.undoLastMigration();
    expect(await tables(dataSource)).toEqual([migrationsTable]);

    await dataSource.runMigrations();
    expect(await tables(dataSource)).toEqual(all);
    expect(await drift(dataSource)).toEqual([]);
  });

  it('lets two prefixes live in one database', async () => {
    const first = await connect({ tablePrefix: 'a_', migrationsTable: 'a_migrations' });
    await first.runMigrations();
    const second = await connect({ tablePrefix: 'b_', migrationsTable: 'b_migrations' });
    await second.runMigrations();
    await first.undoLastMigration();
    expect(await tables(second)).toEqual(['a_migrations', 'b_migrations', ...NAMES.map((name) => `b_${name}`)].sort());
    expect(await drift(second)).toEqual([]);
  });

  it('notices a column that the entities do not know', async () => {
    const dataSource = await connect();
    await dataSource.runMigrations();
    await dataSource.query('ALTER TABLE diagnosis_run ADD COLUMN stray varchar(8)');
    expect((await drift(dataSource)).length).toBeGreaterThan(0);
  });
});
