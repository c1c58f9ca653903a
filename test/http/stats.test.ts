import type { DataSource } from 'typeorm';
import { DIAGNOSIS_DATA_SOURCE } from '../../src/runs/diagnosis-data-source';
import { resetScript, script } from '../chat/scripted-diagnosis';
import { storeRuns } from '../runs/stored-runs';
import { describeOnEachDatabase, type FreshDatabase } from '../runs/test-databases';
import { jsonOf, startService, type RunningService } from './running-service';

const QUESTION = { message: 'Which unit fails?', window: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z' } };

describeOnEachDatabase('GET /api/v1/stats', (db) => {
  let database: FreshDatabase;
  let service: RunningService;

  const ask = (query: Record<string, string>): Promise<Response> =>
    service.get(`/api/v1/stats?${new URLSearchParams(query).toString()}`);

  beforeAll(async () => {
    database = await db.migrated();
    service = await startService({ DATABASE_URL: database.url });
  });

  beforeEach(() => resetScript());

  afterAll(async () => {
    await service.app.close();
    await database.drop();
  });

  it('counts runs that were really made, and shows nothing of them', async () => {
    const from = new Date(Date.now() - 60_000).toISOString();
    expect((await service.post('/api/v1/chat', QUESTION)).status).toBe(200);
    script.tool = async () => Promise.reject(new Error('the tool breaks'));
    script.executor = async (_input, config, tools) => {
      await tools.run({ tool_name: 'unit_counts', arguments: {} }, config);
      return 'no document';
    };
    expect((await service.post('/api/v1/chat', QUESTION)).status).toBe(200);
    const to = new Date(Date.now() + 60_000).toISOString();
    const response = await ask({ from, to });
    expect(response.status).toBe(200);
    const body = await jsonOf(response);
    expect(Object.keys(body)).toEqual(['from', 'to', 'bucket', 'timeZone', 'total', 'buckets']);
    expect(body).toMatchObject({ from, to, bucket: '5m', timeZone: 'UTC' });
    expect(body['total']).toMatchObject({
      runs: 2,
      ended: 2,
      byStatus: { PENDING: 0, RUNNING: 0, SUCCESS: 2, FAILED: 0, CANCELLED: 0 },
      byVerdict: { PASS: 1, LOW_CONFID: 0, REJECT: 0, none: 1 },
      degraded: { count: 1, rate: 0.5 },
      toolCalls: { calls: 2, failed: { count: 1, rate: 0.5 }, failedByReason: [{ reason: 'TOOL_FAILED', count: 1, rate: 0.5 }] },
    });
    expect(JSON.stringify(body)).not.toMatch(/unit|Which/);
  });

  it('cuts by the clocks of a zone', async () => {
    await storeRuns(service.app.get<DataSource>(DIAGNOSIS_DATA_SOURCE, { strict: false }), [
      { id: 'summer', created_at: new Date('2025-10-26T00:30:00Z'), duration_ms: 900 },
      { id: 'winter', created_at: new Date('2025-10-26T22:59:59.999Z'), duration_ms: 1100 },
    ]);
    const window = { from: '2025-10-26T00:00:00+02:00', to: '2025-10-28T00:00:00+01:00' };
    const body = await jsonOf(await ask({ ...window, bucket: '1d', timeZone: 'Europe/Berlin' }));
    expect(body).toMatchObject({
      from: '2025-10-25T22:00:00.000Z',
      timeZone: 'Europe/Berlin',
      total: { runs: 2, durationMs: { p50: 900, p95: 1100, p99: 1100 }, degraded: { count: 0, rate: 0 } },
      buckets: [
        { from: '2025-10-25T22:00:00.000Z', to: '2025-10-26T23:00:00.000Z', runs: 2 },
        { from: '2025-10-26T23:00:00.000Z', to: '2025-10-27T23:00:00.000Z', runs: 0, durationMs: { p50: null } },
      ],
    });
  });

  it.each([
    ['a quarter of a year in which clocks are set back', '2026-10-01T00:00:00+02:00', '2027-01-01T00:00:00+01:00', '1d', 92],
    ['92 days of 24 hours in which they are set forward', '2026-03-01T00:00:00+01:00', '2026-06-01T01:00:00+02:00', '1d', 93],
  ])('takes %s for at most 92 days', async (_name, from, to, bucket, count) => {
    const body = await jsonOf(await ask({ from, to, timeZone: 'Europe/Berlin' }));
    expect(body['bucket']).toBe(bucket);
    expect(body['buckets']).toHaveLength(count);
  });

  const WINDOW = { from: '2026-05-04T12:00:00Z', to: '2026-05-04T13:00:00Z' };
  it.each<[string, Record<string, string>, string, RegExp]>([
    ['no window', {}, 'from', /from: must be an RFC 3339 instant with a zone/],
    ['no end', { from: WINDOW.from }, 'to', /to: must be an RFC 3339 instant/],
    ['a day without a time', { ...WINDOW, from: '2026-05-04' }, 'from', /with a zone, such as/],
    ['a time without a zone', { ...WINDOW, to: '2026-05-04T13:00:00' }, 'to', /with a zone, such as/],
    ['an offset whose + became a space', { ...WINDOW, to: '2026-05-04T15:30:00 02:00' }, 'to', /%2B/],
    ['a day that is none', { ...WINDOW, from: '2026-02-30T12:00:00Z' }, 'from', /RFC 3339/],
    ['a window turned round', { from: WINDOW.to, to: WINDOW.from }, 'from', /from: must be before `to`/],
    ['a window of no length', { from: WINDOW.from, to: WINDOW.from }, 'from', /before/],
    ['the distant past', { ...WINDOW, from: '1969-12-31T23:00:00Z' }, 'from', /1970/],
    ['more than 92 days', { from: '2026-01-01T00:00:00Z', to: '2026-04-03T00:00:00.001Z' }, 'to', /at most 92 days/],
    ['a thousand years', { from: '2026-01-01T00:00:00Z', to: '3026-01-01T00:00:00Z', bucket: '5m' }, 'to', /at most 92 days/],
    [
      'more than 400 buckets',
      { from: '2026-05-01T00:00:00Z', to: '2026-05-20T00:00:00Z', bucket: '1h' },
      'bucket',
      /at most 400 buckets/,
    ],
    ['a size of its own', { ...WINDOW, bucket: '2h' }, 'bucket', /bucket: must be one of 5m, 15m, 1h, 6h, 1d, 1w/],
    ['an empty size', { ...WINDOW, bucket: '' }, 'bucket', /must be one of/],
    ['an unknown zone', { ...WINDOW, timeZone: 'Mars/Base' }, 'timeZone', /IANA/],
    ['an empty zone', { ...WINDOW, timeZone: '' }, 'timeZone', /IANA/],
    ['an unknown field', { ...WINDOW, status: 'FAILED' }, 'status', /status: is not a known field/],
  ])('refuses %s with 400 that names the field', async (_name, query, field, words) => {
    const response = await ask(query);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(response.status).toBe(400);
    const body = await jsonOf(response);
    expect(body).toMatchObject({ code: 'REQUEST_INVALID', field });
    expect(body['detail']).toMatch(words);
  });

  it('refuses a field that comes twice', async () => {
    const response = await service.get(
      '/api/v1/stats?from=2026-05-04T12:00:00Z&from=2026-05-04T12:01:00Z&to=2026-05-04T13:00:00Z',
    );
    expect([response.status, (await jsonOf(response))['field']]).toEqual([400, 'from']);
  });
});
