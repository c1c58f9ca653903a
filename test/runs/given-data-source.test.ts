import { DataSource, type DataSourceOptions } from 'typeorm';
import { DIAGNOSIS_ENTITIES, assertGivenDataSource } from '../../src/runs/data-source-options';
import { describeOnMariadb } from './test-databases';

async function endingOf(options: DataSourceOptions): Promise<string> {
  const dataSource = await new DataSource(options).initialize();
  try {
    assertGivenDataSource(dataSource);
    return 'taken';
  } catch (error) {
    return `${(error as { code?: string }).code}: ${(error as Error).message}`;
  } finally {
    await dataSource.destroy();
  }
}

describe('a data source of the host', () => {
  const sqlite = { type: 'better-sqlite3', database: ':memory:' } as const;

  it('[A17] has to know every entity of this package', async () => {
    expect(await endingOf({ ...sqlite, entities: [...DIAGNOSIS_ENTITIES] })).toBe('taken');
    for (const entities of [[], DIAGNOSIS_ENTITIES.slice(0, -1)]) {
      expect(await endingOf({ ...sqlite, entities: [...entities] })).toMatch(
        /^OPTIONS_INVALID: dataSource: .*DIAGNOSIS_ENTITIES/,
      );
    }
  });
});

describeOnMariadb('a data source of the host on a server', (db) => {
  it('[A17] has to keep times in UTC', async () => {
    const { url } = await db.fresh();
    const on: DataSourceOptions = { type: 'mariadb', url: url.replace('mariadb:', 'mysql:'), entities: [...DIAGNOSIS_ENTITIES] };
    expect(await endingOf({ ...on, timezone: 'Z' })).toBe('taken');
    for (const timezone of [undefined, 'local', '+01:00']) {
      expect(await endingOf({ ...on, timezone })).toMatch(/^OPTIONS_INVALID: dataSource: its timezone must be 'Z'/);
    }
  });
});
