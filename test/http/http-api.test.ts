import { RunStore } from '../../src/ports/run-store.port';
import { ActiveRuns } from '../../src/chat/active-runs.service';
import { MARKER, gate, resetScript, script } from '../chat/scripted-diagnosis';
import { describeOnEachDatabase } from '../runs/test-databases';
import { eventsOf, jsonOf, startService, type RunningService, type StreamedEvent } from './running-service';

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000';
const QUESTION = { message: 'Which unit fails?', window: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T14:30:00Z' } };

describeOnEachDatabase('the HTTP API', (db) => {
  let service: RunningService;

  async function problem(response: Response, status: number, code: string): Promise<Record<string, unknown>> {
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    const body = await jsonOf(response);
    expect(body).toMatchObject({ status, code, type: `urn:problem:nestjs-diagnosis:${code}` });
    expect(response.status).toBe(status);
    expect(typeof body['title']).toBe('string');
    expect(typeof body['detail']).toBe('string');
    return body;
  }

  async function eventually(check: () => Promise<boolean>): Promise<void> {
    while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  beforeAll(async () => {
    service = await startService({ DATABASE_URL: (await db.migrated()).url });
  });

  beforeEach(() => resetScript());

  afterAll(async () => {
    await service.app.close();
  });

  describe('asking', () => {
    it('[C8] [A16] answers 200 with the result, and nothing of the audit', async () => {
      const response = await service.post('/api/v1/chat', QUESTION);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-powered-by')).toBeNull();
      const body = await jsonOf(response);
      expect(Object.keys(body).sort()).toEqual(['answer', 'causes', 'degraded', 'runId', 'sessionId', 'verdict']);
      expect(body).toMatchObject({ verdict: 'PASS', degraded: false });
    });

    it('takes an alert as Alertmanager sends it, and looks from shortly before its start', async () => {
      const alert = {
        status: 'firing',
        labels: { alertname: 'UnitsFail', severity: 'page' },
        annotations: { summary: 'units fail' },
        startsAt: '2026-05-04T14:10:00.5Z',
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: 'http://prometheus.example/graph',
        fingerprint: '0123456789abcdef',
      };
      const { runId } = await jsonOf(await service.post('/api/v1/chat', { message: 'Which unit fails?', alert }));
      const { run } = await jsonOf(await service.get(`/api/v1/runs/${String(runId)}`));
      expect(run).toMatchObject({
        query: {
          window: { from: '2026-05-04T14:00:00.500Z', source: 'alert' },
          alert: { starts_at: '2026-05-04T14:10:00.500Z', ends_at: null, labels: { alertname: 'UnitsFail' } },
        },
        answer: expect.stringMatching(/- Alert: UnitsFail, started at 2026-05-04 14:10:00\.500 \+00:00, not ended/),
      });
    });

    it('[A17] two callers at once get two runs', async () => {
      const bodies = await Promise.all([1, 2].map(async () => jsonOf(await service.post('/api/v1/chat', QUESTION))));
      expect(new Set(bodies.map((body) => body['runId'])).size).toBe(2);
      expect(bodies.map((body) => body['verdict'])).toEqual(['PASS', 'PASS']);
    });

    it.each([
      ['an empty message', { message: '' }, /message/],
      ['a blank message', { message: '  ' }, /message/],
      ['a message without a visible character', { message: '\u200B\u200D\uFEFF\u2060\u3164' }, /message.*not blank/],
      ['a body nested 20,000 deep', `{"message":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, /nested too deeply/],
      ['a window nested deep', `{"message":"why?","window":${'{"from":'.repeat(40)}1${'}'.repeat(40)}}`, /nested too deeply/],
      ['a number as message', { message: 5 }, /message/],
      ['no message', {}, /message/],
      ['an array', [], /message|request/],
      ['an unknown field', { message: 'why?', mesage: 'x' }, /mesage/],
      ['a session id that is no UUID', { message: 'why?', sessionId: 'x' }, /sessionId.*UUID/],
      ['an unknown zone', { message: 'why?', timeZone: 'Mars/Base' }, /timeZone.*IANA/],
      ['a window that is no object', { message: 'why?', window: 'today' }, /window/],
      [
        'a window turned round',
        { message: 'why?', window: { from: QUESTION.window.to, to: QUESTION.window.from } },
        /window.*before/,
      ],
      [
        'a window without zone',
        { message: 'why?', window: { from: '2026-05-04T14:00:00', to: QUESTION.window.to } },
        /window\.from/,
      ],
      ['a field within the window', { message: 'why?', window: { ...QUESTION.window, till: 'x' } }, /till/],
      ['an alert without a start', { message: 'why?', alert: { labels: {} } }, /alert\.startsAt/],
      ['a field within the alert', { message: 'why?', alert: { startsAt: QUESTION.window.from, till: 'x' } }, /till/],
      ['a label that is no text', { message: 'why?', alert: { startsAt: QUESTION.window.from, labels: { a: {} } } }, /labels/],
      ['JSON that is none', '{"message": ', /JSON/],
      ['a JSON text', '"why?"', /JSON|object/],
    ])('[A18] [C2] refuses %s with 400 and says what would be right', async (_name, body, words) => {
      for (const path of ['/api/v1/chat', '/api/v1/chat/stream']) {
        const answer = await problem(await service.post(path, body), 400, 'REQUEST_INVALID');
        expect(answer['detail']).toMatch(words);
      }
    });

    it('[A18] [C2] refuses 1 MB with 413 and names the limit, and a long message likewise', async () => {
      const huge = await problem(
        await service.post('/api/v1/chat', { message: 'x'.repeat(1_000_000) }),
        413,
        'REQUEST_TOO_LARGE',
      );
      expect(huge).toMatchObject({ limitBytes: 65_536 });
      expect(huge['detail']).toContain('65536');
      const long = await problem(await service.post('/api/v1/chat', { message: 'x'.repeat(9_000) }), 413, 'REQUEST_TOO_LARGE');
      expect(long).toMatchObject({ limitBytes: 8_192, field: 'message' });
    });

    it('[A18] knows no session that it did not start, and no other route', async () => {
      await problem(await service.post('/api/v1/chat', { message: 'why?', sessionId: UNKNOWN }), 404, 'NOT_FOUND');
      await problem(await service.get('/api/v1/nowhere'), 404, 'NOT_FOUND');
    });

    it.each(['/api/v1/chat', '/api/v1/chat/stream'])(
      '[A18] answers other methods of %s with 405 and names POST',
      async (path) => {
        for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
          const response = await fetch(`${service.url}${path}`, { method });
          expect(response.headers.get('allow')).toBe('POST');
          expect((await problem(response, 405, 'REQUEST_INVALID'))['detail']).toMatch(/Allow/);
        }
        const asked = await fetch(`${service.url}${path}`, { method: 'OPTIONS' });
        expect([asked.status, asked.headers.get('allow')]).toEqual([204, 'POST']);
      },
    );

    it.each([
      ['text', 'text/plain', 'Which unit fails?'],
      ['JSON that calls itself text', 'text/plain', JSON.stringify(QUESTION)],
      ['a form', 'application/x-www-form-urlencoded', 'message=why'],
      ['JSON of another kind', 'application/json-patch+json', '[]'],
      ['no type', null, JSON.stringify(QUESTION)],
    ])('[A18] refuses %s with 415 and names application/json', async (_name, type, body) => {
      for (const path of ['/api/v1/chat', '/api/v1/chat/stream']) {
        const response = await fetch(`${service.url}${path}`, {
          method: 'POST',
          headers: type === null ? {} : { 'content-type': type },
          // bytes carry no type of their own
          body: Buffer.from(body),
        });
        expect((await problem(response, 415, 'REQUEST_INVALID'))['detail']).toContain('application/json');
      }
    });

    it('[A18] takes a charset beside the type, and the type in any case', async () => {
      const response = await fetch(`${service.url}/api/v1/chat`, {
        method: 'POST',
        headers: { 'content-type': 'Application/JSON; charset=utf-8' },
        body: JSON.stringify(QUESTION),
      });
      expect(response.status).toBe(200);
    });

    it('[A17] shows nothing of an unhandled error, and logs nothing of it either', async () => {
      const find = jest
        .spyOn(service.app.get(RunStore, { strict: false }), 'find')
        .mockRejectedValue(new Error('password=hunter2'));
      const response = await service.get(`/api/v1/runs/${UNKNOWN}`);
      find.mockRestore();
      expect(JSON.stringify(await problem(response, 500, 'INTERNAL'))).not.toMatch(/hunter2|at .*:\d+/);
      expect(service.log()).toContain('request failed');
      expect(service.log()).not.toContain('hunter2');
    });
  });

  describe('watching', () => {
    it('[A17] sends the first events before the executor ends, shows no claim or output, and ends with the result', async () => {
      const goOn = gate();
      const executor = script.executor;
      let executorEnded = false;
      script.executor = async (...given) => {
        await goOn.opened;
        const answer = await executor(...given);
        executorEnded = true;
        return answer;
      };
      const response = await service.post('/api/v1/chat/stream', QUESTION);
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      const events: StreamedEvent[] = [];
      for await (const event of eventsOf(response)) {
        if (events.length === 0) expect(executorEnded).toBe(false);
        events.push(event);
        if (event.event === 'node' && event.data['node'] === 'executor') goOn.open();
      }
      expect(events[0]?.event).toBe('run');
      const last = events.at(-1);
      expect(last).toMatchObject({ event: 'result', data: { verdict: 'PASS', runId: events[0]?.data['runId'] } });
      expect(events.filter(({ event }) => event === 'result' || event === 'error')).toHaveLength(1);
      expect(events).toContainEqual({ event: 'tool', data: { tool_name: 'unit_counts', status: 'OK', phase: 'finished' } });
      expect(JSON.stringify(events.slice(0, -1))).not.toMatch(new RegExp(`alder|${MARKER}`));
    });

    it('[A15] ends with one error, a problem document, when the run fails', async () => {
      const store = service.app.get(RunStore, { strict: false });
      const finish = jest.spyOn(store, 'finish').mockResolvedValueOnce(false);
      const events: StreamedEvent[] = [];
      for await (const event of eventsOf(await service.post('/api/v1/chat/stream', QUESTION))) events.push(event);
      finish.mockRestore();
      expect(events.at(-1)).toMatchObject({
        event: 'error',
        data: { code: 'RUN_FAILED', status: 500, runId: events[0]?.data['runId'] },
      });
      expect(events.filter(({ event }) => event === 'result' || event === 'error')).toHaveLength(1);
    });

    it.each(['/api/v1/chat', '/api/v1/chat/stream'])('cancels the run of a caller that hangs up on %s', async (path) => {
      const working = gate<string>();
      script.executor = async (_input, config) => {
        working.open(String(config.metadata?.['runId']));
        return new Promise<string>(() => undefined);
      };
      const caller = new AbortController();
      const asked = fetch(`${service.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(QUESTION),
        signal: caller.signal,
      })
        .then((response) => response.text())
        .catch(() => 'hung up');
      const runId = await working.opened;
      caller.abort();
      expect(await asked).toBe('hung up');
      await eventually(
        async () =>
          (await jsonOf(await service.get(`/api/v1/runs/${runId}`)))['run'] !== undefined &&
          service.app.get(ActiveRuns).size === 0,
      );
      expect(await jsonOf(await service.get(`/api/v1/runs/${runId}`))).toMatchObject({
        run: { status: 'CANCELLED', answer: null },
      });
    });
  });

  describe('reading', () => {
    let runId: string;

    beforeAll(async () => {
      resetScript();
      runId = String((await jsonOf(await service.post('/api/v1/chat', QUESTION)))['runId']);
    });

    it('[A16] answers { run } with the audit at run.orchestrationTrace and nowhere else', async () => {
      const body = await jsonOf(await service.get(`/api/v1/runs/${runId}`));
      expect(Object.keys(body)).toEqual(['run']);
      expect(body).toMatchObject({
        run: {
          id: runId,
          status: 'SUCCESS',
          agent_flow: 'DIAGNOSIS_GRAPH',
          orchestrationTrace: { effective_verdict: 'PASS', degraded: false },
        },
      });
      expect(body['run']).not.toHaveProperty('trace');
      expect(JSON.stringify(body)).not.toContain(MARKER);
    });

    it('[B7] opens each citation of the answer, found again in the recorded call', async () => {
      const evidence = await jsonOf(await service.get(`/api/v1/runs/${runId}/evidence`));
      expect(evidence).toMatchObject({ runId, emptyReason: null, claims: [{ claim_id: 'c1', citation: 1, subject: 'alder' }] });
      const [claim] = evidence['claims'] as {
        bindings: { source_invocation_id: string; raw_path: string; matched_text: string }[];
      }[];
      const cited = claim?.bindings.find(({ raw_path }) => raw_path === '/rows/0/failures');
      expect(cited).toMatchObject({
        matched_text: '42',
        tool_name: 'unit_counts',
        context: expect.arrayContaining([{ number: 3, text: '  "failures": 42,', matched: true }]),
      });
      const call = await jsonOf(await service.get(`/api/v1/runs/${runId}/tool-invocations/${cited?.source_invocation_id}`));
      expect(call).toMatchObject({ runId, invocation: { tool_name: 'unit_counts', status: 'OK', arguments: '{}' } });
      const output = JSON.parse((call['output'] as { text: string }).text) as { data: { rows: { failures: number }[] } };
      expect(output.data.rows[0]?.failures).toBe(42);
    });

    it('[B7] gives a part of an output when asked for one', async () => {
      const evidence = await jsonOf(await service.get(`/api/v1/runs/${runId}/evidence`));
      const [claim] = evidence['claims'] as { bindings: { source_invocation_id: string }[] }[];
      const path = `/api/v1/runs/${runId}/tool-invocations/${claim?.bindings[0]?.source_invocation_id}`;
      expect(await jsonOf(await service.get(`${path}?offset=1&limit=5`))).toMatchObject({
        output: { offset: 1, next: 6, text: '"matc' },
      });
      const refused = await problem(await service.get(`${path}?offset=-1`), 400, 'REQUEST_INVALID');
      expect(refused['detail']).toMatch(/offset.*at least 0/);
      await problem(await service.get(`${path}?ofset=1`), 400, 'REQUEST_INVALID');
    });

    it('[A18] [A17] answers 404 for unknown runs and calls, 400 for an id that is none', async () => {
      for (const tail of ['', '/evidence', '/tool-invocations/t1-abcd']) {
        await problem(await service.get(`/api/v1/runs/${UNKNOWN}${tail}`), 404, 'NOT_FOUND');
        expect((await problem(await service.get(`/api/v1/runs/abc${tail}`), 400, 'REQUEST_INVALID'))['detail']).toMatch(/UUID/);
      }
      await problem(await service.get(`/api/v1/runs/${runId}/tool-invocations/t1-zzzz`), 404, 'NOT_FOUND');
      await problem(await service.get(`/api/v1/runs/${runId}/tool-invocations/${UNKNOWN}`), 404, 'NOT_FOUND');
    });

    it('[A18] finds a run and a session by their ids in capitals', async () => {
      const { run } = (await jsonOf(await service.get(`/api/v1/runs/${runId.toUpperCase()}`))) as { run: { id: string } };
      expect(run.id).toBe(runId);
      expect((await jsonOf(await service.get(`/api/v1/runs/${runId.toUpperCase()}/evidence`)))['runId']).toBe(runId);
      const asked = await jsonOf(await service.post('/api/v1/chat', QUESTION));
      const sessionId = String(asked['sessionId']);
      const again = await jsonOf(await service.post('/api/v1/chat', { ...QUESTION, sessionId: sessionId.toUpperCase() }));
      expect(again['sessionId']).toBe(sessionId);
    });

    it.each(['%E0%A4%A', '%', '%zz'])('[A18] says that the escape %s of a path is wrong, and nothing of a body', async (id) => {
      const { detail } = await problem(await service.get(`/api/v1/runs/${id}`), 400, 'REQUEST_INVALID');
      expect(detail).toMatch(/percent escape/);
      expect(detail).not.toMatch(/body/);
    });

    it('says that it is well', async () => {
      expect(await jsonOf(await service.get('/health'))).toEqual({ status: 'ok' });
    });

    it('[A18] describes every route, its responses and the problem document', async () => {
      const document = await jsonOf(await service.get('/docs-json'));
      expect(Object.keys(document['paths'] as object).sort()).toEqual([
        '/api/v1/chat',
        '/api/v1/chat/stream',
        '/api/v1/runs',
        '/api/v1/runs/{id}',
        '/api/v1/runs/{id}/evaluation',
        '/api/v1/runs/{id}/evaluation/{kind}',
        '/api/v1/runs/{id}/evidence',
        '/api/v1/runs/{id}/outcome',
        '/api/v1/runs/{id}/steps',
        '/api/v1/runs/{id}/tool-invocations',
        '/api/v1/runs/{id}/tool-invocations/{invocationId}',
        '/api/v1/sessions',
        '/api/v1/sessions/{id}',
        '/api/v1/stats',
        '/health',
      ]);
      const { schemas } = document['components'] as { schemas: Record<string, { properties: object }> };
      expect(Object.keys(schemas['ChatRequestDto']?.properties ?? {}).sort()).toEqual([
        'alert',
        'baseline',
        'locale',
        'message',
        'sessionId',
        'timeZone',
        'window',
      ]);
      expect(schemas['ProblemDto']).toBeDefined();
      expect(JSON.stringify(document['paths'])).toContain('application/problem+json');
      expect((await service.get('/docs')).status).toBe(200);
    });
  });

  it('logs neither bodies nor headers nor answers', async () => {
    await service.post('/api/v1/chat', { ...QUESTION, message: 'Which unit fails, asks zebra-crossing?' });
    await service.get('/api/v1/nowhere?token=query-secret');
    expect(service.log()).toContain('"path":"/api/v1/chat"');
    expect(service.log()).not.toMatch(new RegExp(`zebra-crossing|token-of-a-caller|query-secret|alder|${MARKER}`));
  });
});
