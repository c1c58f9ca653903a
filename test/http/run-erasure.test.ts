import type { DataSource } from 'typeorm';
import { ActiveRuns } from '../../src/chat/active-runs.service';
import { DIAGNOSIS_DATA_SOURCE } from '../../src/runs/diagnosis-data-source';
import { REQUEST } from '../chat/chat-host';
import { gate, resetScript, script } from '../chat/scripted-diagnosis';
import { placesOf } from '../runs/stored-text';
import { describeOnEachDatabase, type FreshDatabase } from '../runs/test-databases';
import { eventsOf, jsonOf, startService, type RunningService } from './running-service';

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000';

describeOnEachDatabase('DELETE /api/v1/runs/:id', (db) => {
  let database: FreshDatabase;
  let service: RunningService;
  beforeEach(async () => {
    resetScript();
    database = await db.migrated();
    service = await startService({ DATABASE_URL: database.url });
  });
  afterEach(async () => {
    await service.app.close();
    await database.drop();
  });

  const remove = (path: string): Promise<Response> => fetch(`${service.url}/api/v1/runs/${path}`, { method: 'DELETE' });
  const places = (text: string): Promise<string[]> =>
    placesOf(service.app.get<DataSource>(DIAGNOSIS_DATA_SOURCE, { strict: false }), text);

  async function asked(): Promise<string> {
    const { runId } = await jsonOf(await service.post('/api/v1/chat', REQUEST));
    return String(runId);
  }

  /** A run that works until its executor is let go; answers its id and where its stream ends. */
  async function working(): Promise<{ runId: string; goOn: () => void; end: Promise<unknown> }> {
    const [begun, go] = [gate(), gate()];
    const { executor } = script;
    script.executor = async (...given) => {
      begun.open();
      await go.opened;
      return executor(...given);
    };
    const events = eventsOf(await service.post('/api/v1/chat/stream', REQUEST));
    const first = await events.next();
    await begun.opened;
    const end = (async () => {
      let last: unknown;
      for await (const { event, data } of events) last = { event, code: data['code'] };
      return last;
    })();
    return { runId: String((first.value as { data: Record<string, unknown> }).data['runId']), goOn: () => go.open(), end };
  }

  async function statusOnceGone(runId: string): Promise<number> {
    for (let tries = 0; tries < 100; tries += 1) {
      const { status } = await service.get(`/api/v1/runs/${runId}`);
      if (status === 404) return status;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return 200;
  }

  it('answers 204 once nothing is left, and 404 from then on and for what never was', async () => {
    const runId = await asked();
    expect((await places(runId)).length).toBeGreaterThan(5);
    const answer = await remove(`${runId.toUpperCase()}?why=not`);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(await places(runId)).toEqual([]);
    const [again, never, none] = [await remove(runId), await remove(UNKNOWN), await remove('7')];
    expect([again.status, never.status, none.status]).toEqual([404, 404, 400]);
    expect(again.headers.get('content-type')).toContain('application/problem+json');
    expect(await jsonOf(again)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect((await service.get(`/api/v1/runs/${runId}`)).status).toBe(404);
    expect((await jsonOf(await service.get('/api/v1/sessions')))['items']).toEqual([]);
  });

  it('answers 202 for a run that works, cancels it, and lets its state be read until it is gone', async () => {
    const { runId, end } = await working();
    const since = performance.now();
    const answer = await remove(runId);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/api/v1/runs/${runId}`);
    expect(await jsonOf(answer)).toEqual({ runId, state: 'ERASING', status: 'RUNNING' });
    expect(await end).toEqual({ event: 'error', code: 'CANCELLED' });
    // Not by the next renewal of its lease, as another process would do it.
    expect(performance.now() - since).toBeLessThan(5_000);
    expect(await statusOnceGone(runId)).toBe(404);
    expect(await places(runId)).toEqual([]);
    expect((await remove(runId)).status).toBe(404);
  });

  it('erases a run that another process was asked to erase, and shows the request while it works', async () => {
    const { runId, goOn, end } = await working();
    // As another process does it: there is nothing to cancel there.
    jest.spyOn(service.app.get(ActiveRuns), 'cancel').mockReturnValue(false);
    const statuses = (await Promise.all([remove(runId), remove(runId)])).map(({ status }) => status);
    expect(statuses).toEqual([202, 202]);
    const { run } = (await jsonOf(await service.get(`/api/v1/runs/${runId}`))) as { run: Record<string, unknown> };
    expect(run).toMatchObject({ status: 'RUNNING', eraseRequestedAt: expect.stringMatching(/^20\d\d-/), keepsContent: true });
    goOn();
    expect(await end).toMatchObject({ event: 'result' });
    expect(await places(runId)).toEqual([]);
  });

  it('answers two who erase one run at once honestly', async () => {
    const runId = await asked();
    const statuses = (await Promise.all([remove(runId), remove(runId), remove(runId)])).map(({ status }) => status);
    expect(statuses).toContain(204);
    expect(statuses.filter((status) => status !== 204 && status !== 404)).toEqual([]);
    expect(await places(runId)).toEqual([]);
  });

  it('goes on after the process that was asked is gone', async () => {
    const runId = await asked();
    const waiting = UNKNOWN.replace(/0$/, '9');
    const dataSource = service.app.get<DataSource>(DIAGNOSIS_DATA_SOURCE, { strict: false });
    await dataSource.query(`UPDATE diagnosis_run SET erase_requested_at = '2026-05-04 12:00:00'`);
    await dataSource.query(
      `INSERT INTO diagnosis_run (id, session_id, status, agent_flow, degraded, lease_until, created_at, erase_requested_at, message)
       SELECT '${waiting}', session_id, 'RUNNING', agent_flow, 0, '2026-05-04 12:00:00', created_at, '2026-05-04 12:00:00', message FROM diagnosis_run`,
    );
    await service.app.close();
    service = await startService({ DATABASE_URL: database.url });
    expect([await statusOnceGone(runId), await statusOnceGone(waiting)]).toEqual([404, 404]);
    expect([await places(runId), await places(waiting)]).toEqual([[], []]);
  });
});
