import { createHash } from 'node:crypto';
import { Table, TableColumn, TableIndex, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';

const RUN_FILTERS = [
  'status',
  'verdict',
  'degraded',
  'fallback_class',
  'fallback_reason',
  'session_id',
  'agent_flow',
  'tool_failed',
] as const;
const RUN_INDICES: readonly (readonly string[])[] = [
  ['erase_requested_at'],
  ...['created_at', 'duration_ms'].flatMap((sort) => [[sort, 'id'], ...RUN_FILTERS.map((filter) => [filter, sort, 'id'])]),
];
const TABLES_WITH_KEYS = ['run', 'agent_step', 'tool_invocation', 'tool_output_chunk', 'run_evidence', 'run_evaluation'] as const;
/** Runs whose older rows are completed at once. */
const BATCH = 500;
const TITLE_LENGTH = 200;
const MAX_INT = 2 ** 31 - 1;

/**
 * What lists, erasure and outcomes need: scalar columns beside the bodies of a run, an index for each filter and sort, words of
 * questions, outcomes. Runs that are there already are completed from their bodies, words excepted: they are found by all else.
 */
export class RunLists1780272000000 implements MigrationInterface {
  readonly name = 'RunLists1780272000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const { prefix, int, boolean } = wordsOf(queryRunner);
    const run = `${prefix}run`;
    await renameForeignKeys(queryRunner, prefix);
    await queryRunner.addColumns(run, [
      column({ name: 'duration_ms', type: int, isNullable: true }),
      column({ name: 'fallback_class', type: 'varchar', length: '32', isNullable: true }),
      column({ name: 'fallback_reason', type: 'varchar', length: '48', isNullable: true }),
      column({ name: 'retries', type: int, default: '0' }),
      column({ name: 'tool_failed', type: boolean, default: '0' }),
      column({ name: 'title', type: 'varchar', length: '200', isNullable: true }),
      column({ name: 'message_sha256', type: 'varchar', length: '64', isNullable: true }),
      column({ name: 'message_bytes', type: int, isNullable: true }),
      column({ name: 'answer_sha256', type: 'varchar', length: '64', isNullable: true }),
      column({ name: 'answer_bytes', type: int, isNullable: true }),
      column({ name: 'keeps_content', type: boolean, default: '1' }),
      column({ name: 'erase_requested_at', type: 'datetime', precision: 3, isNullable: true }),
    ]);
    await completeRuns(queryRunner, prefix);
    await queryRunner.createIndices(
      run,
      RUN_INDICES.map((columnNames) => new TableIndex({ columnNames: [...columnNames] })),
    );
    await queryRunner.dropIndex(run, indexName(queryRunner, run, ['session_id', 'created_at']));
    await queryRunner.createIndex(
      `${prefix}tool_invocation`,
      new TableIndex({ columnNames: ['status', 'started_at', 'error_code'] }),
    );
    await queryRunner.createIndex(`${prefix}chat_session`, new TableIndex({ columnNames: ['created_at', 'id'] }));
    const ofRun = { columnNames: ['run_id'], referencedTableName: run, referencedColumnNames: ['id'], ...NO_ACTION };
    await queryRunner.createTable(
      new Table({
        name: `${prefix}run_word`,
        columns: [
          { name: 'run_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'word_key', type: 'varchar', length: '32', isPrimary: true },
          { name: 'created_at', type: 'datetime', precision: 3 },
          { name: 'duration_ms', type: int, isNullable: true },
        ],
        foreignKeys: [ofRun],
        indices: [{ columnNames: ['word_key', 'created_at', 'run_id'] }, { columnNames: ['word_key', 'duration_ms', 'run_id'] }],
      }),
    );
    await queryRunner.createTable(
      new Table({
        name: `${prefix}run_outcome`,
        columns: [
          { name: 'run_id', type: 'varchar', length: '36', isPrimary: true },
          { name: 'outcome', type: 'varchar', length: '16' },
          { name: 'actual_cause', type: 'varchar', length: '255', isNullable: true },
          { name: 'created_at', type: 'datetime', precision: 3 },
          { name: 'updated_at', type: 'datetime', precision: 3 },
        ],
        foreignKeys: [ofRun],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const { prefix } = wordsOf(queryRunner);
    const run = `${prefix}run`;
    await queryRunner.dropTable(`${prefix}run_outcome`);
    await queryRunner.dropTable(`${prefix}run_word`);
    await queryRunner.dropIndex(`${prefix}chat_session`, indexName(queryRunner, `${prefix}chat_session`, ['created_at', 'id']));
    await queryRunner.dropIndex(
      `${prefix}tool_invocation`,
      indexName(queryRunner, `${prefix}tool_invocation`, ['status', 'started_at', 'error_code']),
    );
    // First the one that the foreign key of the session needs.
    await queryRunner.createIndex(run, new TableIndex({ columnNames: ['session_id', 'created_at'] }));
    for (const columns of RUN_INDICES) await queryRunner.dropIndex(run, indexName(queryRunner, run, columns));
    await queryRunner.dropColumns(run, [...ADDED]);
  }
}

const NO_ACTION = { onDelete: 'NO ACTION', onUpdate: 'NO ACTION' } as const;
const ADDED = [
  'duration_ms',
  'fallback_class',
  'fallback_reason',
  'retries',
  'tool_failed',
  'title',
  'message_sha256',
  'message_bytes',
  'answer_sha256',
  'answer_bytes',
  'keeps_content',
  'erase_requested_at',
] as const;

function column(options: TableColumnOptions): TableColumn {
  return new TableColumn(options);
}

function wordsOf({ dataSource }: QueryRunner): { readonly prefix: string; readonly int: string; readonly boolean: string } {
  const { driver, options } = dataSource;
  return {
    prefix: options.entityPrefix ?? '',
    // Each database writes these two its own way; a schema in another spelling would look like drift.
    int: driver.normalizeType({ type: 'int' }),
    boolean: driver.normalizeType({ type: Boolean }),
  };
}

function indexName({ dataSource }: QueryRunner, table: string, columns: readonly string[]): string {
  return dataSource.namingStrategy.indexName(table, [...columns]);
}

/** Names of foreign keys are unique in a database of MySQL, so they have to come from the table's own name, prefix and all. */
async function renameForeignKeys(queryRunner: QueryRunner, prefix: string): Promise<void> {
  for (const name of TABLES_WITH_KEYS) {
    const table = await queryRunner.getTable(prefix + name);
    for (const key of [...(table?.foreignKeys ?? [])]) {
      const right = queryRunner.dataSource.namingStrategy.foreignKeyName(prefix + name, key.columnNames);
      if (table === undefined || key.name === right) continue;
      const renamed = key.clone();
      renamed.name = right;
      await queryRunner.dropForeignKey(table, key);
      await queryRunner.createForeignKey(table, renamed);
    }
  }
}

type StoredJson = string | Readonly<Record<string, unknown>> | null;

interface OlderRun {
  readonly id: string;
  readonly message: StoredJson;
  readonly answer: StoredJson;
  readonly trace: StoredJson;
  readonly started_at: string | Date | null;
  readonly finished_at: string | Date | null;
}

/** Fills the new columns of runs that were stored before. */
async function completeRuns(queryRunner: QueryRunner, prefix: string): Promise<void> {
  const { driver } = queryRunner.dataSource;
  const [run, call] = [driver.escape(`${prefix}run`), driver.escape(`${prefix}tool_invocation`)];
  const columns = 'id, message, answer, trace, started_at, finished_at';
  for (let after = ''; ;) {
    const older = (await queryRunner.query(`SELECT ${columns} FROM ${run} WHERE id > ? ORDER BY id LIMIT ${BATCH}`, [
      after,
    ])) as OlderRun[];
    for (const row of older) {
      const completed = completionOf(row);
      const names = Object.keys(completed);
      await queryRunner.query(
        `UPDATE ${run} SET ${names.map((name) => `${name} = ?`).join(', ')}, tool_failed = EXISTS
           (SELECT 1 FROM ${call} t WHERE t.run_id = ? AND t.status IN ('ERROR', 'DENIED', 'ABANDONED'))
         WHERE id = ?`,
        [...Object.values(completed), row.id, row.id],
      );
    }
    const last = older.at(-1);
    if (last === undefined || older.length < BATCH) return;
    after = last.id;
  }
}

function completionOf(row: OlderRun): Readonly<Record<string, string | number | null>> {
  const [message, answer, trace] = [objectOf(row.message), objectOf(row.answer), objectOf(row.trace)];
  const [question, reply] = [textOf(message), textOf(answer)];
  const duration = timeOf(row.finished_at) - timeOf(row.started_at);
  return {
    title: question === null ? null : wellFormed(question.slice(0, TITLE_LENGTH)),
    message_sha256: sha256Of(question),
    message_bytes: bytesOf(question),
    answer_sha256: sha256Of(reply),
    answer_bytes: bytesOf(reply),
    duration_ms: Number.isNaN(duration) ? null : Math.min(Math.max(0, duration), MAX_INT),
    fallback_class: wordOf(trace['fallback_class']),
    fallback_reason: wordOf(trace['fallback_reason']),
    retries: Number(trace['technical_retries'] ?? 0) + Number(trace['evidence_retries'] ?? 0),
  };
}

/** Some drivers parse JSON, some answer its text. */
function objectOf(stored: StoredJson): Readonly<Record<string, unknown>> {
  const value: unknown = typeof stored === 'string' ? JSON.parse(stored) : stored;
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(body: Readonly<Record<string, unknown>>): string | null {
  return typeof body['text'] === 'string' ? body['text'] : null;
}

/** A cut may halve a character. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function sha256Of(text: string | null): string | null {
  return text === null ? null : createHash('sha256').update(text).digest('hex');
}

function bytesOf(text: string | null): number | null {
  return text === null ? null : Buffer.byteLength(text);
}

/** Times are kept in UTC, which the text of SQLite does not say. */
function timeOf(at: string | Date | null): number {
  if (at === null) return Number.NaN;
  return typeof at === 'string' ? Date.parse(`${at.replace(' ', 'T')}Z`) : at.getTime();
}
