import { Table, TableForeignKey, TableIndex, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';

const id = (name: string, isPrimary = false): TableColumnOptions => ({ name, type: 'varchar', length: '36', isPrimary });
const text = (name: string, length: number, isNullable = false): TableColumnOptions => ({
  name,
  type: 'varchar',
  length: String(length),
  isNullable,
});
const at = (name: string, isNullable = false): TableColumnOptions => ({ name, type: 'datetime', precision: 3, isNullable });
const json = (name: string, isNullable = false): TableColumnOptions => ({ name, type: 'json', isNullable });

/**
 * The first schema: sessions, runs, steps, invocations with their output chunks, evidence, evaluations. It honours the
 * connection's table prefix and touches no table outside it.
 */
export class InitialSchema1767225600000 implements MigrationInterface {
  readonly name = 'InitialSchema1767225600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const prefix = queryRunner.dataSource.options.entityPrefix ?? '';
    const { driver } = queryRunner.dataSource;
    // Each database writes these two its own way; a schema in another spelling would look like drift.
    const booleanType = driver.normalizeType({ type: Boolean });
    const intType = driver.normalizeType({ type: 'int' });
    const int = (name: string, isNullable = false): TableColumnOptions => ({ name, type: intType, isNullable });
    const references = (column: string, target: string): TableForeignKey =>
      new TableForeignKey({
        columnNames: [column],
        referencedTableName: prefix + (REFERENCED[target] ?? target),
        referencedColumnNames: ['id'],
        onDelete: 'NO ACTION',
        onUpdate: 'NO ACTION',
      });
    const create = (name: string, columns: TableColumnOptions[], foreignKeys: TableForeignKey[], indices: TableIndex[]) =>
      queryRunner.createTable(new Table({ name: prefix + name, columns, foreignKeys, indices }));

    await create('chat_session', [id('id', true), at('created_at')], [], []);
    await create(
      'run',
      [
        id('id', true),
        id('session_id'),
        text('status', 16),
        text('agent_flow', 32),
        text('verdict', 16, true),
        { name: 'degraded', type: booleanType },
        text('failure_code', 32, true),
        text('lease_owner', 64, true),
        at('lease_until'),
        at('created_at'),
        at('started_at', true),
        at('finished_at', true),
        json('message'),
        json('query', true),
        json('answer', true),
        json('causes', true),
        json('trace', true),
        json('metrics', true),
        json('self_evaluation', true),
      ],
      [references('session_id', 'session')],
      [new TableIndex({ columnNames: ['session_id', 'created_at'] }), new TableIndex({ columnNames: ['status', 'lease_until'] })],
    );
    await create(
      'agent_step',
      [
        id('id', true),
        id('run_id'),
        text('node', 32),
        int('round'),
        int('attempt'),
        text('outcome', 32),
        text('reason_code', 48),
        at('started_at'),
        int('duration_ms'),
        int('input_bytes', true),
        int('output_bytes', true),
        int('input_tokens', true),
        int('output_tokens', true),
      ],
      [references('run_id', 'run')],
      [new TableIndex({ columnNames: ['run_id', 'id'] })],
    );
    await create(
      'tool_invocation',
      [
        id('id', true),
        id('run_id'),
        text('invocation_id', 16),
        text('call_key', 64),
        int('round'),
        int('ordinal'),
        text('tool_name', 128),
        { name: 'arguments', type: 'text' },
        text('status', 16),
        text('output_sha256', 64, true),
        int('output_bytes', true),
        text('error_code', 64, true),
        at('started_at'),
        int('duration_ms', true),
      ],
      [references('run_id', 'run')],
      [
        new TableIndex({ columnNames: ['run_id', 'call_key'], isUnique: true }),
        new TableIndex({ columnNames: ['run_id', 'invocation_id'], isUnique: true }),
        new TableIndex({ columnNames: ['invocation_id'] }),
      ],
    );
    await create(
      'tool_output_chunk',
      [id('invocation_row_id', true), { ...int('seq'), isPrimary: true }, { name: 'bytes', type: 'blob' }],
      [references('invocation_row_id', 'invocation')],
      [],
    );
    await create('run_evidence', [id('run_id', true), json('body'), at('created_at')], [references('run_id', 'run')], []);
    await create(
      'run_evaluation',
      [
        id('id', true),
        id('run_id'),
        text('kind', 64),
        { name: 'score', type: 'double', isNullable: true },
        json('detail'),
        at('created_at'),
      ],
      [references('run_id', 'run')],
      [new TableIndex({ columnNames: ['run_id', 'kind'], isUnique: true })],
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const prefix = queryRunner.dataSource.options.entityPrefix ?? '';
    for (const name of TABLES_CHILDREN_FIRST) await queryRunner.dropTable(prefix + name);
  }
}

const REFERENCED: Readonly<Record<string, string>> = { session: 'chat_session', invocation: 'tool_invocation' };

const TABLES_CHILDREN_FIRST = [
  'run_evaluation',
  'run_evidence',
  'tool_output_chunk',
  'tool_invocation',
  'agent_step',
  'run',
  'chat_session',
] as const;
