import { mkdirSync, writeFileSync } from 'node:fs';
import { RunStore } from '../../src/ports/run-store.port';
import { SessionStore } from '../../src/ports/session-store.port';
import { gate, resetScript, script, temporaryFolder } from '../chat/scripted-diagnosis';
import { describeOnEachDatabase } from '../runs/test-databases';
import { eventsOf, jsonOf, startService, type StreamedEvent } from './running-service';

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000';
const QUESTION = { message: 'Which unit fails?', window: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z' } };

describeOnEachDatabase('the life of the service', (db) => {
  const folder = temporaryFolder();
  beforeEach(() => resetScript());
  afterAll(() => folder.remove());

  it.each([
    ['missing', 'TELEMETRY_MISSING', (): void => undefined],
    ['empty', 'TELEMETRY_EMPTY', (path: string): void => void mkdirSync(path)],
    [
      'mapped wrongly',
      'MAPPING_INVALID',
      (path: string): void => {
        mkdirSync(path);
        writeFileSync(`${path}/app.csv`, 'when,who,what\n2026-05-04T14:00:00Z,alder,started\n');
        writeFileSync(`${path}/mapping.json`, '{"files": "nonsense"}');
      },
    ],
  ] as const)('[A18] [C2] answers 422 when telemetry is %s, and leaves no run RUNNING', async (name, code, prepare) => {
    const telemetry = folder.file(`telemetry-${code}`);
    prepare(telemetry);
    const service = await startService({
      DATABASE_URL: (await db.migrated()).url,
      DIAGNOSIS_TELEMETRY: name === 'mapped wrongly' ? `${telemetry}/mapping.json` : telemetry,
    });
    try {
      const response = await service.post('/api/v1/chat', { message: 'why?' });
      const body = await jsonOf(response);
      expect({ status: response.status, code: body['code'] }).toEqual({ status: 422, code });
      expect(await jsonOf(await service.get(`/api/v1/runs/${String(body['runId'])}`))).toMatchObject({
        run: { status: 'FAILED', failureCode: 'TELEMETRY_UNAVAILABLE', message: 'why?', orchestrationTrace: null },
      });
    } finally {
      await service.app.close();
    }
  });

  it('[A15] ends an open stream with one error event when it shuts down, and the run with DRAIN', async () => {
    const { url } = await db.fresh();
    const service = await startService({ DATABASE_URL: url });
    const working = gate<string>();
    script.executor = async (_input, config) => {
      working.open(String(config.metadata?.['runId']));
      return new Promise<string>(() => undefined);
    };
    const events: StreamedEvent[] = [];
    const response = await service.post('/api/v1/chat/stream', QUESTION);
    const read = (async () => {
      for await (const event of eventsOf(response)) events.push(event);
    })();
    const runId = await working.opened;
    await service.app.close();
    await read;
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { code: 'RUN_FAILED', failure: 'DRAIN', status: 503 } });
    resetScript();
    const again = await startService({ DATABASE_URL: url });
    expect(await jsonOf(await again.get(`/api/v1/runs/${runId}`))).toMatchObject({
      run: { status: 'FAILED', failureCode: 'DRAIN' },
    });
    await again.app.close();
  });

  it('[A17] ends at start-up what a crash left RUNNING', async () => {
    const { url } = await db.fresh();
    const first = await startService({ DATABASE_URL: url });
    const at = new Date(Date.now() - 60_000);
    const runs = first.app.get(RunStore, { strict: false });
    await first.app.get(SessionStore, { strict: false }).ensure(UNKNOWN, at);
    await runs.create({ id: UNKNOWN, session_id: UNKNOWN, message: 'why?', agent_flow: 'DIAGNOSIS_GRAPH', created_at: at });
    await runs.markRunning(UNKNOWN, null, { owner: 'a dead process', until: new Date(at.getTime() + 30_000) }, at);
    await first.app.close();
    const second = await startService({ DATABASE_URL: url });
    expect(await jsonOf(await second.get(`/api/v1/runs/${UNKNOWN}`))).toMatchObject({
      run: { status: 'FAILED', failureCode: 'INTERRUPTED', orchestrationTrace: null },
    });
    await second.app.close();
  });
});
