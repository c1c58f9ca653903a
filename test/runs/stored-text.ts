import { gunzipSync } from 'node:zlib';
import type { DataSource } from 'typeorm';

/** Names of all tables of a database, those of the entities or not. */
async function tablesOf(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ name: string }[]>(
    dataSource.options.type === 'better-sqlite3'
      ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'`
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  return rows.map(({ name }) => name).sort();
}

/** All rows of all tables, each as one text: bytes by their Latin-1 characters. */
export async function storedRows(dataSource: DataSource): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const table of await tablesOf(dataSource)) {
    const rows = await dataSource.query<Record<string, unknown>[]>(`SELECT * FROM ${table}`);
    all[table] = rows.map((row) => Object.values(row).map(textOf).join('\n')).sort();
  }
  return all;
}

/** Tables in which a text stands in any column, and `output` where it stands in an unpacked output of a tool call. */
export async function placesOf(dataSource: DataSource, text: string): Promise<string[]> {
  const places: string[] = [];
  for (const [table, rows] of Object.entries(await storedRows(dataSource))) {
    if (rows.some((row) => row.includes(text))) places.push(table.replace('diagnosis_', ''));
  }
  const chunks = await dataSource.query<{ invocation_row_id: string; bytes: Buffer }[]>(
    'SELECT invocation_row_id, bytes FROM diagnosis_tool_output_chunk ORDER BY invocation_row_id, seq',
  );
  const outputs = new Map<string, Buffer[]>();
  for (const { invocation_row_id, bytes } of chunks) {
    outputs.set(invocation_row_id, [...(outputs.get(invocation_row_id) ?? []), bytes]);
  }
  if ([...outputs.values()].some((bytes) => gunzipSync(Buffer.concat(bytes)).includes(text))) places.push('output');
  return places;
}

function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
