import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Column, DataSource, Entity, PrimaryColumn, type MigrationInterface, type QueryRunner } from 'typeorm';
import { z } from 'zod';
import {
  ChatService,
  DIAGNOSIS_ENTITIES,
  DIAGNOSIS_MIGRATIONS,
  DiagnosisError,
  DiagnosisModule,
  DiagnosisTool,
  RunReader,
  ToolInvocationStore,
  runIdOf,
  type ChatResult,
  type DiagnosisOptionsInput,
  type JsonObject,
  type ToolExecution,
  type ToolOutput,
} from '../../src/index';
import { SCRIPTED_HOST, resetScript, script, temporaryFolder } from '../chat/scripted-diagnosis';

const NAMES = Symbol('NAMES');

/** A tool of the host, which needs something of the host itself. */
@Injectable()
class DoorTool extends DiagnosisTool {
  override readonly name = 'door_states';
  override readonly description = 'Which doors stand open.';
  override readonly argumentsSchema = z.strictObject({ floor: z.number() }) as unknown as z.ZodType<JsonObject>;
  readonly seen: string[] = [];

  override async execute(_args: JsonObject, execution: ToolExecution): Promise<ToolOutput> {
    this.seen.push(execution.runId);
    return {
      matched_count: 1,
      records_scanned: 8,
      records_rejected: 0,
      complete: true,
      coverage: { from: null, to: null, filter: null },
      fields: { door: { unit: 'text', entity: true }, opened: { unit: 'count' } },
      server_time: null,
      data: [{ door: 'north', opened: 4 }],
    };
  }
}

/** The host's own service, which asks in process. */
@Injectable()
class Concierge {
  constructor(private readonly chat: ChatService) {}

  ask(message: string): Promise<ChatResult> {
    return this.chat.chat({ message });
  }
}

@Controller('concierge')
class ConciergeController {
  constructor(private readonly concierge: Concierge) {}

  @Post()
  async ask(@Body() body: { readonly question: string }): Promise<{ readonly said: string }> {
    return { said: (await this.concierge.ask(body.question)).answer };
  }
}

@Module({ providers: [{ provide: NAMES, useValue: ['north'] }], exports: [NAMES] })
class HouseModule {}

@Module({ providers: [Concierge], controllers: [ConciergeController] })
class ConciergeModule {}

@Entity('guest')
class Guest {
  @PrimaryColumn({ type: 'integer' })
  id!: number;

  @Column({ type: 'varchar', length: 20 })
  name!: string;
}

class Guests1700000000000 implements MigrationInterface {
  readonly name = 'Guests1700000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE guest (id integer PRIMARY KEY, name varchar(20) NOT NULL)`);
    await runner.query(`INSERT INTO guest VALUES (1, 'Ada')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE guest');
  }
}

describe('a host application', () => {
  const folder = temporaryFolder();
  let app: INestApplication | null = null;

  function useDoors(): void {
    script.executor = async (_input, config, tools) => {
      const { invocation_id } = await tools.run({ tool_name: 'door_states', arguments: { floor: 2 } }, config);
      const binding = (path: string): JsonObject => ({
        source_invocation_id: invocation_id,
        tool_name: 'door_states',
        raw_path: path,
      });
      return JSON.stringify({
        schema: 'executor_evidence_v2',
        claims: [
          {
            claim_id: 'c1',
            kind: 'fact',
            subject: 'north',
            assertion: { op: 'count', left: 0, value: 4, unit: 'count' },
            bindings: [binding('/0/opened'), binding('/0/door')],
          },
        ],
        assessments: [{ rank: 1, subject: 'north', role: 'cause', claim_ids: ['c1'] }],
        limitations: [],
        no_evidence: null,
      });
    };
    script.verifier = async () =>
      JSON.stringify({
        schema: 'verifier_verdict_v1',
        verdict: 'PASS',
        facts: [{ fact_id: 'f1', claim_id: 'c1', is_critical: true, verification: 'direct_support', gap: null }],
        allowed: { claim_ids: ['c1'], assessment_subjects: ['north'], missing_information: [], recommendations: [] },
      });
    script.planner = async () =>
      JSON.stringify({
        schema: 'diagnosis_plan_v1',
        hypotheses: [],
        steps: [
          {
            step_id: 's1',
            tool_name: 'door_states',
            arguments: { floor: 2 },
            purpose: 'See which doors are open.',
            gap_fact_id: null,
          },
        ],
        disproofs: [],
      });
  }

  async function start(module: object): Promise<INestApplication> {
    app = await NestFactory.create(module as never, { logger: false, abortOnError: false });
    return app.init();
  }

  beforeEach(() => resetScript());

  afterEach(async () => {
    await app?.close();
    app = null;
  });

  afterAll(() => folder.remove());

  it('[B1] injects ChatService anywhere, registers a tool of its own, and its calls are recorded and seen with the run', async () => {
    @Module({
      imports: [
        DiagnosisModule.forRootAsync({
          isGlobal: true,
          imports: [HouseModule],
          inject: [NAMES],
          useFactory: (names: string[]): DiagnosisOptionsInput => ({
            database: { url: `sqlite:${folder.file(`${names[0]}.sqlite`)}`, tablePrefix: 'house_' },
          }),
          hostTools: [DoorTool],
          hostAgents: SCRIPTED_HOST.hostAgents,
        }),
        ConciergeModule,
      ],
    })
    class HostModule {}

    useDoors();
    const host = await start(HostModule);
    let metadataRun = '';
    const { executor } = script;
    script.executor = async (input, config, tools) => {
      metadataRun = runIdOf(config);
      return executor(input, config, tools);
    };
    const result = await host.get(Concierge, { strict: false }).ask('Which door is it?');
    expect(result).toMatchObject({ verdict: 'PASS', degraded: false, causes: [{ subject: 'north' }] });
    expect(metadataRun).toBe(result.runId);
    expect(host.get(DoorTool, { strict: false }).seen).toEqual([result.runId]);
    const calls = await host.get(ToolInvocationStore).listByRun(result.runId);
    expect(calls).toMatchObject([{ tool_name: 'door_states', status: 'OK', arguments: '{"floor":2}' }]);
    expect((await host.get(RunReader).evidence(result.runId)).claims).toMatchObject([{ claim_id: 'c1', subject: 'north' }]);
  });

  it('[A17] gives the module its own data source, and keeps its own tables', async () => {
    const dataSource = new DataSource({
      type: 'better-sqlite3',
      database: folder.file('shared.sqlite'),
      entities: [Guest, ...DIAGNOSIS_ENTITIES],
      entityPrefix: 'diagnosis_',
      migrations: [Guests1700000000000, ...DIAGNOSIS_MIGRATIONS],
      migrationsTableName: 'host_migrations',
    });
    await dataSource.initialize();
    await dataSource.runMigrations();

    @Module({ imports: [DiagnosisModule.forRoot({ ...SCRIPTED_HOST, dataSource, controllers: false })], providers: [Concierge] })
    class HostModule {}

    const host = await start(HostModule);
    const { runId } = await host.get(Concierge).ask('Which unit fails?');
    expect((await host.get(RunReader).run(runId)).status).toBe('SUCCESS');
    await host.close();
    app = null;
    expect(dataSource.isInitialized).toBe(true);
    expect(await dataSource.query('SELECT * FROM guest')).toEqual([{ id: 1, name: 'Ada' }]);
    await dataSource.destroy();
  });

  it('[A17] in a database of the host keeps tables and migrations under names of its own', async () => {
    const file = folder.file('neighbours.sqlite');
    const own = new DataSource({ type: 'better-sqlite3', database: file, migrations: [Guests1700000000000] });
    await own.initialize();
    await own.runMigrations();

    @Module({
      imports: [
        DiagnosisModule.forRoot({
          ...SCRIPTED_HOST,
          database: { url: `sqlite:${file}`, tablePrefix: 'dx_', migrationsTable: 'dx_done' },
        }),
      ],
      providers: [Concierge],
    })
    class HostModule {}

    const host = await start(HostModule);
    await host.get(Concierge).ask('Which unit fails?');
    const tables = await own.query<{ name: string }[]>(`SELECT name FROM sqlite_master WHERE type = 'table'`);
    const names = tables.map(({ name }) => name);
    expect(names.filter((name) => !name.startsWith('dx_')).sort()).toEqual(['guest', 'migrations', 'sqlite_sequence']);
    expect(await own.query('SELECT name FROM migrations')).toEqual([{ name: 'Guests1700000000000' }]);
    await own.destroy();
  });

  it('brings its routes only when asked to', async () => {
    @Module({ imports: [DiagnosisModule.forRoot({ database: { url: 'sqlite::memory:' }, http: { controllers: false } })] })
    class QuietHost {}

    const host = await start(QuietHost);
    await host.listen(0, '127.0.0.1');
    expect((await fetch(`${await host.getUrl()}/api/v1/runs/0190a1b2-0000-7000-8000-000000000000`)).status).toBe(404);
    const routes = (host.getHttpAdapter().getInstance() as { router: { stack: { route?: { path: string } }[] } }).router.stack;
    expect(routes.filter(({ route }) => route?.path.startsWith('/api/v1'))).toEqual([]);
  });

  it.each([
    ['an unknown option', { telemetri: {} }, /telemetri/],
    ['an option outside its range', { run: { maxConcurrent: 0 } }, /run\.maxConcurrent/],
    ['a database that it does not know', { database: { url: 'mongodb://u:secret@h/db' } }, /database\.url/],
  ])('[C2] does not boot with %s, and names it', async (_name, options, words) => {
    @Module({ imports: [DiagnosisModule.forRoot(options as DiagnosisOptionsInput)] })
    class WrongHost {}

    const error: unknown = await start(WrongHost).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    app = null;
    expect(error).toMatchObject({ code: 'OPTIONS_INVALID', message: expect.stringMatching(words) });
    expect((error as DiagnosisError).message).not.toContain('secret');
  });

  it('[C2] does not boot with asynchronous options that contradict the shape of the module', async () => {
    @Module({ imports: [DiagnosisModule.forRootAsync({ useFactory: () => ({ http: { controllers: false } }) })] })
    class WrongHost {}

    await expect(start(WrongHost)).rejects.toThrow(/controllers: false beside useFactory/);
    app = null;
  });

  it('[C2] does not boot with a data source that does not know the entities', async () => {
    const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities: [Guest] });

    @Module({ imports: [DiagnosisModule.forRoot({ dataSource })] })
    class WrongHost {}

    await expect(start(WrongHost)).rejects.toThrow(/DIAGNOSIS_ENTITIES/);
    app = null;
    await dataSource.destroy();
  });
});
