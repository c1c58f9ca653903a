import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';

/** The row that has to be there, and in which status, for an insert to take place. */
export interface InsertGuard {
  readonly entity: EntityTarget<{ readonly id: string; readonly status: string }>;
  readonly id: string;
  readonly statuses: readonly string[];
}

/**
 * Inserts rows while the guard's row has one of its statuses, else none, and answers how many. It is one statement, so that nothing can
 * change between the look and the insert, and needs no transaction around it. Ids are compared by bytes on every database.
 */
export async function insertGuarded<T extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<T>,
  rows: readonly T[],
  guard: InsertGuard,
): Promise<number> {
  const { driver, options } = manager.dataSource;
  const name = (text: string): string => driver.escape(text);
  const table = (of: EntityTarget<ObjectLiteral>): string => name(manager.dataSource.getMetadata(of).tableName);
  const columns = manager.dataSource.getMetadata(entity).columns;
  const [first, ...others] = rows.map((row) =>
    columns.map((column): unknown => driver.preparePersistentValue(row[column.propertyName], column)),
  );
  if (first === undefined) return 0;
  const names = columns.map((column) => name(column.databaseName));
  const values = [
    `SELECT ${names.map((column) => `? AS ${column}`).join(', ')}`,
    ...others.map((row) => `SELECT ${row.map(() => '?').join(', ')}`),
  ];
  const sql =
    `INSERT INTO ${table(entity)} (${names.join(', ')}) ` +
    `SELECT ${names.map((column) => `given.${column}`).join(', ')} ` +
    `FROM ${table(guard.entity)} guard JOIN (${values.join(' UNION ALL ')}) given ` +
    `WHERE guard.id = ? AND HEX(guard.id) = HEX(?) AND guard.status IN (${guard.statuses.map(() => '?').join(', ')})` +
    // SQLite has one writer at a time; a server would look at a snapshot.
    (options.type === 'better-sqlite3' ? '' : ' LOCK IN SHARE MODE');
  return affectedBy(manager, sql, [...first, ...others.flat(), guard.id, guard.id, ...guard.statuses]);
}

async function affectedBy(manager: EntityManager, sql: string, parameters: unknown[]): Promise<number> {
  const runner = manager.queryRunner ?? manager.dataSource.createQueryRunner();
  try {
    return (await runner.query(sql, parameters, true)).affected ?? 0;
  } finally {
    if (manager.queryRunner === undefined) await runner.release();
  }
}
