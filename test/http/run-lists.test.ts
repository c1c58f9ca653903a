import type { DataSource } from 'typeorm';
import { DIAGNOSIS_DATA_SOURCE } from '../../src/runs/diagnosis-data-source';
import { resetScript } from '../chat/scripted-diagnosis';
import { bodiesIn, listedRun, statementsOf, storeListed, uuid } from '../runs/listed-runs';
import { describeOnEachDatabase } from '../runs/test-databases';
import { jsonOf, startService, type RunningService } from './running-service';

const UNKNOWN = '0190a1b2-0000-7000-8000-00000000ffff';
const QUESTION = { message: 'Which unit fails?', window: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z' } };

interface PageBody {
  readonly items: Record<string, unknown>[];
  readonly nextCursor: string | null;
  readonly total: number | null;
}

describeOnEachDatabase('lists over HTTP', (db) => {
  let service: RunningService;
  let dataSource: DataSource;

  async function page(path: string): Promise<PageBody> {
    const response = await service.get(path);
    expect(response.status).toBe(200);
    const body = await jsonOf(response);
    expect(Object.keys(body).sort()).toEqual(['items', 'nextCursor', 'total']);
    return body as unknown as PageBody;
  }

  async function problem(path: string, status: number): Promise<Record<string, unknown>> {
    const response = await service.get(path);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    const body = await jsonOf(response);
    expect([response.status, body['status'], body['code']]).toEqual([
      status,
      status,
      status === 404 ? 'NOT_FOUND' : 'REQUEST_INVALID',
    ]);
    return body;
  }

  beforeAll(async () => {
    resetScript();
    service = await startService({ DATABASE_URL: (await db.migrated()).url });
    dataSource = service.app.get<DataSource>(DIAGNOSIS_DATA_SOURCE, { strict: false });
    await storeListed(
      dataSource,
      Array.from({ length: 30 }, (_, index) =>
        listedRun(index, {
          session_id: uuid(index % 2),
          status: index % 5 === 0 ? 'FAILED' : 'SUCCESS',
          verdict: index % 5 === 0 ? null : 'PASS',
          tool_failed: index % 3 === 0,
        }),
      ),
    );
  });
  afterAll(async () => {
    await service.app.close();
  });

  it('leads through all runs by cursors, newest first, and counts when asked', async () => {
    const first = await page('/api/v1/runs?limit=12&total=true');
    expect([first.items.length, first.total]).toEqual([12, 30]);
    const second = await page(`/api/v1/runs?limit=12&cursor=${first.nextCursor}`);
    const third = await page(`/api/v1/runs?limit=12&cursor=${second.nextCursor}`);
    expect([second.total, third.items.length, third.nextCursor]).toEqual([null, 6, null]);
    const ids = [first, second, third].flatMap(({ items }) => items.map((item) => item['id']));
    expect(ids).toEqual(Array.from({ length: 30 }, (_, index) => uuid(29 - index)));
    expect((await page('/api/v1/runs')).items).toHaveLength(20);
  });

  it.each([
    ['status=FAILED', [25, 20, 15, 10, 5, 0]],
    ['verdict=none&toolFailed=true', [15, 0]],
    ['verdict=PASS&toolFailed=true&sort=duration&order=asc&limit=3', [3, 6, 9]],
    [`sessionId=${uuid(1).toUpperCase()}&status=FAILED`, [25, 15, 5]],
    ['degraded=true', []],
    ['degraded=false&question=RUN+7', [7]],
    ['agentFlow=DIRECT', []],
    ['agentFlow=DIAGNOSIS_GRAPH&limit=1', [29]],
    ['fallbackClass=PRE_VERIFICATION', []],
    ['fallbackReason=TOOL_DENIED', []],
    ['from=2026-05-01T02:00:03%2B02:00&to=2026-05-01T00:00:05Z&order=asc', [3, 4]],
  ])('filters by %s', async (query, wanted) => {
    expect((await page(`/api/v1/runs?${query}`)).items.map((item) => item['id'])).toEqual(wanted.map(uuid));
  });

  it.each([
    ['limit=101', 'limit', /from 1 to 100/],
    ['limit=0', 'limit', /from 1 to 100/],
    ['limit=1e1', 'limit', /from 1 to 100/],
    ['limit=', 'limit', /from 1 to 100/],
    ['limit=5&limit=5', 'limit', /from 1 to 100/],
    ['status=SUCCESS&status=SUCCESS', 'status', /one of PENDING, RUNNING, SUCCESS, FAILED, CANCELLED/],
    ['status=done', 'status', /one of PENDING/],
    ['verdict=null', 'verdict', /one of PASS, LOW_CONFID, REJECT, none/],
    ['degraded=1', 'degraded', /true or false/],
    ['degraded=true&degraded=true', 'degraded', /true or false/],
    ['toolFailed=', 'toolFailed', /true or false/],
    ['total=yes', 'total', /true or false/],
    ['fallbackClass=PRE', 'fallbackClass', /PRE_VERIFICATION, POST_VERIFICATION/],
    ['fallbackReason=OH', 'fallbackReason', /BINDING_FAILED/],
    ['sessionId=7', 'sessionId', /UUID/],
    ['agentFlow=GRAPH', 'agentFlow', /DIAGNOSIS_GRAPH, DIRECT/],
    ['question=', 'question', /1 to 10 different words/],
    ['question=a&question=b', 'question', /1 to 10 different words/],
    [`question=${'x'.repeat(501)}`, 'question', /500 characters/],
    ['from=yesterday', 'from', /RFC 3339/],
    ['from=2026-05-01T00:00:00', 'from', /with a zone/],
    ['to=2026-05-01T00:00:00+02:00', 'to', /%2B/],
    ['from=2026-05-02T00:00:00Z&to=2026-05-01T00:00:00Z', 'from', /before `to`/],
    ['sort=verdict', 'sort', /start, duration/],
    ['order=up', 'order', /desc, asc/],
    ['cursor=abc', 'cursor', /nextCursor/],
    ['cursor=a&cursor=b', 'cursor', /nextCursor/],
    ['cursor=', 'cursor', /nextCursor/],
    ['state=SUCCESS', 'state', /not a known field/],
    ['status[]=SUCCESS', 'status[]', /not a known field/],
    ['offset=10', 'offset', /not a known field/],
  ])('refuses ?%s and names the field', async (query, field, words) => {
    const body = await problem(`/api/v1/runs?${query}`, 400);
    expect(body['field']).toBe(field);
    expect(body['detail']).toMatch(words);
    expect(body['detail']).toContain(`${field}: `);
  });

  it('refuses a cursor of another filter, sort or list', async () => {
    const { nextCursor } = await page('/api/v1/runs?limit=2&status=SUCCESS');
    expect((await page(`/api/v1/runs?status=SUCCESS&cursor=${nextCursor}`)).items[0]?.['id']).toBe(uuid(27));
    for (const path of [
      `/api/v1/runs?cursor=${nextCursor}`,
      `/api/v1/runs?status=FAILED&cursor=${nextCursor}`,
      `/api/v1/runs?status=SUCCESS&sort=duration&cursor=${nextCursor}`,
      `/api/v1/runs?status=SUCCESS&order=asc&cursor=${nextCursor}`,
      `/api/v1/sessions?cursor=${nextCursor}`,
      `/api/v1/runs/${uuid(1)}/steps?cursor=${nextCursor}`,
    ]) {
      expect(await problem(path, 400)).toMatchObject({
        field: 'cursor',
        detail: expect.stringMatching(/another list, sort or filter/),
      });
    }
  });

  it('lists what belongs to a run that was really made, and refuses it under another run', async () => {
    const { runId } = (await jsonOf(await service.post('/api/v1/chat', QUESTION))) as { runId: string };
    const path = `/api/v1/runs/${runId}`;
    const steps = await page(`${path}/steps?limit=100`);
    expect(steps.items.map((step) => step['node'])).toEqual(
      expect.arrayContaining(['planner', 'executor', 'gatekeeper', 'verified_input', 'verifier', 'composer']),
    );
    const firstSteps = await page(`${path}/steps?limit=2&total=true`);
    expect(firstSteps.total).toBe(steps.items.length);
    const rest = await page(`${path}/steps?limit=100&cursor=${firstSteps.nextCursor}`);
    expect([...firstSteps.items, ...rest.items]).toEqual(steps.items);

    const calls = await page(`${path}/tool-invocations`);
    expect(calls.items).toEqual([expect.objectContaining({ tool_name: 'unit_counts', status: 'OK', ordinal: 1 })]);
    expect(calls.items[0]).not.toHaveProperty('arguments');
    const callId = String(calls.items[0]?.['invocation_id']);
    const whole = await jsonOf(await service.get(`${path}/tool-invocations/${callId}`));
    const part = await jsonOf(await service.get(`${path}/tool-invocations/${callId}?offset=2&limit=3`));
    const text = (whole['output'] as { text: string }).text;
    expect(part['output']).toEqual({ offset: 2, text: text.slice(2, 5), total: text.length, next: 5 });
    await problem(`/api/v1/runs/${uuid(1)}/tool-invocations/${callId}`, 404);
    await problem(`/api/v1/runs/${uuid(1)}/tool-invocations/${String(calls.items[0]?.['id'])}`, 404);

    const evaluations = await page(`${path}/evaluation?total=true`);
    expect([evaluations.total, evaluations.items.map((item) => [item['kind'], item['score']])]).toEqual([
      1,
      [['expected_label', null]],
    ]);
    expect(evaluations.items[0]).not.toHaveProperty('detail');
    const evaluation = await jsonOf(await service.get(`${path}/evaluation/expected_label`));
    expect(evaluation).toEqual({ ...evaluations.items[0], runId, detail: expect.any(Object) });
    await problem(`${path}/evaluation/outcome`, 404);
    await problem(`/api/v1/runs/${uuid(1)}/evaluation/expected_label`, 404);
    expect((await page('/api/v1/runs?limit=1')).items[0]).toMatchObject({ id: runId, status: 'SUCCESS', verdict: 'PASS' });
  });

  it('lists sessions newest first, and one with the number of its runs', async () => {
    const all = await page('/api/v1/sessions?total=true');
    expect(all.total).toBe(all.items.length);
    const first = await page('/api/v1/sessions?limit=1');
    const rest = await page(`/api/v1/sessions?cursor=${first.nextCursor}`);
    expect([...first.items, ...rest.items]).toEqual(all.items);
    expect(all.items.slice(-2).map((session) => session['id'])).toEqual([uuid(1), uuid(0)]);
    expect(await jsonOf(await service.get(`/api/v1/sessions/${uuid(1).toUpperCase()}`))).toEqual({
      id: uuid(1),
      createdAt: '2026-05-01T00:00:00.000Z',
      runs: 15,
    });
    await problem(`/api/v1/sessions/${UNKNOWN}`, 404);
    expect((await problem('/api/v1/sessions/abc', 400))['field']).toBe('id');
    expect((await problem('/api/v1/sessions?status=SUCCESS', 400))['field']).toBe('status');
  });

  it.each(['steps', 'tool-invocations', 'evaluation', 'evaluation/x'])(
    'knows no %s of a run that is not stored',
    async (tail) => {
      await problem(`/api/v1/runs/${UNKNOWN}/${tail}`, 404);
      expect((await problem(`/api/v1/runs/abc/${tail}`, 400))['field']).toBe('id');
      if (tail !== 'evaluation/x')
        expect((await problem(`/api/v1/runs/${uuid(1)}/${tail}?limit=101`, 400))['field']).toBe('limit');
    },
  );

  it('describes each list, its parameters and its page', async () => {
    const { paths, components } = (await jsonOf(await service.get('/docs-json'))) as {
      paths: Record<string, { get?: { parameters: { name: string; in: string; required: boolean }[]; responses: object } }>;
      components: { schemas: Record<string, { properties: object; required: string[] }> };
    };
    const parameters = (path: string): string[] =>
      (paths[path]?.get?.parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    const ofPage = ['limit', 'cursor', 'total'];
    for (const path of [
      '/api/v1/runs/{id}/steps',
      '/api/v1/runs/{id}/tool-invocations',
      '/api/v1/runs/{id}/evaluation',
      '/api/v1/sessions',
    ]) {
      expect(parameters(path)).toEqual(ofPage);
    }
    expect(parameters('/api/v1/runs').sort()).toEqual(
      [
        ...ofPage,
        ...['status', 'verdict', 'degraded', 'fallbackClass', 'fallbackReason', 'sessionId', 'agentFlow', 'toolFailed'],
        ...['question', 'from', 'to', 'sort', 'order'],
      ].sort(),
    );
    for (const name of ['RunPageDto', 'StepPageDto', 'InvocationPageDto', 'EvaluationPageDto', 'SessionPageDto']) {
      expect(components.schemas[name]?.required.sort()).toEqual(['items', 'nextCursor', 'total']);
    }
    const { items } = await page('/api/v1/runs?limit=1');
    expect(Object.keys(components.schemas['RunListItemDto']?.properties ?? {}).sort()).toEqual(
      Object.keys(items[0] ?? {}).sort(),
    );
  });

  it('sends no statement that names a body, from any list', async () => {
    const statements = statementsOf(dataSource);
    for (const path of [
      'runs?total=true',
      'runs?question=slow+run&sort=duration&total=true',
      `runs/${uuid(1)}/steps?total=true`,
      `runs/${uuid(1)}/tool-invocations?total=true`,
      `runs/${uuid(1)}/evaluation?total=true`,
      'sessions?total=true',
      `sessions/${uuid(1)}`,
    ]) {
      expect((await service.get(`/api/v1/${path}`)).status).toBe(200);
    }
    expect(statements.length).toBeGreaterThan(12);
    expect(statements.flatMap(bodiesIn)).toEqual([]);
    await service.get(`/api/v1/runs/${uuid(1)}`);
    expect(statements.flatMap(bodiesIn)).toContain('message');
  });
});
