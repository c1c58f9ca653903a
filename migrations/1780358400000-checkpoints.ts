import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** A table of their own for checkpoints, bound to no other: hosts may keep threads there that are no runs. */
export class Checkpoints1780358400000 implements MigrationInterface {
  readonly name = 'Checkpoints1780358400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const { driver } = queryRunner.dataSource;
    const int = driver.normalizeType({ type: 'int' });
    await queryRunner.createTable(
      new Table({
        name: tableOf(queryRunner),
        columns: [
          { name: 'thread_key', type: 'varchar', length: '64', isPrimary: true },
          { name: 'entry_key', type: 'varchar', length: '64', isPrimary: true },
          { name: 'seq', type: int, isPrimary: true },
          { name: 'parts', type: int },
          { name: 'kind', type: 'varchar', length: '16' },
          { name: 'realm', type: 'varchar', length: '32' },
          { name: 'scope_key', type: 'varchar', length: '64', isNullable: true },
          { name: 'sort_key', type: 'varchar', length: '254', isNullable: true },
          { name: 'label', type: 'json', isNullable: true },
          { name: 'created_at', type: 'datetime', precision: 3 },
          { name: 'bytes', type: 'blob' },
        ],
        indices: [{ columnNames: ['scope_key', 'sort_key'] }, { columnNames: ['realm', 'created_at'] }],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable(tableOf(queryRunner));
  }
}

function tableOf({ dataSource }: QueryRunner): string {
  return `${dataSource.options.entityPrefix ?? ''}checkpoint_part`;
}
