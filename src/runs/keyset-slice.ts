import type { EntityMetadata, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { ListSlice } from '../ports/run-query-store.port';

/** What a slice reads: the scalar columns of one table of the query, and the columns, maybe of another, that it is sorted by. */
export interface SliceShape<T, K extends keyof T & string> {
  readonly alias: string;
  readonly metadata: EntityMetadata;
  readonly columns: readonly K[];
  /** The sort key, and the id that parts equal keys, each as `alias.column`. */
  readonly key: string;
  readonly id: string;
  /** Whether the sort key is an instant. */
  readonly isTime: boolean;
  /** Name of the index of the query's first table that has the order of the list; null leaves the choice to the database. */
  readonly index: string | null;
}

/** Name of the index over exactly these columns, or null. */
export function indexOver(metadata: EntityMetadata, columns: readonly string[]): string | null {
  const wanted = columns.join();
  return metadata.indices.find((index) => index.columns.map((column) => column.propertyName).join() === wanted)?.name ?? null;
}

/**
 * The rows of a slice, with no column but those of its shape. It refuses to pass over rows: what stands before the slice is not
 * read, however many rows share a sort key.
 */
export async function readSlice<T, K extends keyof T & string>(
  query: SelectQueryBuilder<ObjectLiteral>,
  shape: SliceShape<T, K>,
  slice: ListSlice,
): Promise<Pick<T, K>[]> {
  const { alias, key, id, columns, index } = shape;
  const isSqlite = query.dataSource.options.type === 'better-sqlite3';
  query.select([]);
  for (const column of columns) query.addSelect(`${alias}.${column}`, column);
  if (slice.after !== null) {
    const way = slice.order === 'desc' ? '<' : '>';
    query.andWhere(
      // SQLite makes a range of an index of the first form alone, MySQL and MariaDB of the second alone.
      isSqlite
        ? `(${key}, ${id}) ${way} (:afterKey, :afterId)`
        : `(${key} ${way} :afterKey OR (${key} = :afterKey AND ${id} ${way} :afterId))`,
      { afterKey: shape.isTime ? new Date(slice.after.key) : slice.after.key, afterId: slice.after.id },
    );
  }
  const direction = slice.order === 'desc' ? 'DESC' : 'ASC';
  query.orderBy(key, direction).addOrderBy(id, direction).limit(slice.limit);
  if (index !== null && !isSqlite) query.useIndex(index);
  const [sql, parameters] = query.getQueryAndParameters();
  // Without force MariaDB reads such an index by its first column and passes over what stands before the slice.
  const rows = await query.dataSource.query<Record<string, unknown>[]>(sql.replace(' USE INDEX (', ' FORCE INDEX ('), parameters);
  return rows.map((row) => hydrated(shape, row, query));
}

function hydrated<T, K extends keyof T & string>(
  { columns, metadata }: SliceShape<T, K>,
  row: Record<string, unknown>,
  { dataSource }: SelectQueryBuilder<ObjectLiteral>,
): Pick<T, K> {
  const entries = columns.map((name): [string, unknown] => {
    const column = metadata.findColumnWithPropertyName(name);
    return [name, column === undefined ? row[name] : dataSource.driver.prepareHydratedValue(row[name], column)];
  });
  return Object.fromEntries(entries) as Pick<T, K>;
}
