import type { DataSource } from 'typeorm';
import { OutcomeEvaluator } from '../../src/evaluation/outcome.evaluator';
import { EvaluationStore, type EvaluationRecord } from '../../src/ports/evaluation-store.port';
import { DIAGNOSIS_DATA_SOURCE } from '../../src/runs/diagnosis-data-source';
import type { AssessmentRole } from '../../src/vocabulary/evidence-terms';
import { RUN_STATUSES } from '../../src/vocabulary/run-lifecycle';
import { storeRuns, type StoredRun } from '../runs/stored-runs';
import { describeOnEachDatabase, type FreshDatabase } from '../runs/test-databases';
import { jsonOf, startService, type RunningService } from './running-service';

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000';
const AT = new Date('2026-05-04T12:00:00Z');

const cause = (rank: number, subject: string, role: AssessmentRole = 'cause') => ({ rank, subject, role, claimIds: ['c1'] });
const CAUSES = [
  cause(1, 'checkout', 'symptom'),
  cause(1, 'order-db'),
  cause(2, 'Cache', 'contributing'),
  cause(3, 'deploy-7', 'trigger'),
  cause(4, 'dns', 'ruled_out'),
];

describeOnEachDatabase('the outcome of a run', (db) => {
  let database: FreshDatabase;
  let service: RunningService;
  let made = 0;

  beforeAll(async () => {
    database = await db.migrated();
    service = await startService({ DATABASE_URL: database.url });
  });

  afterEach(() => jest.restoreAllMocks());

  afterAll(async () => {
    await service.app.close();
    await database.drop();
  });

  async function run(fields: Partial<StoredRun> = {}): Promise<string> {
    made += 1;
    const id = `0190a1b2-0000-7000-8000-${String(made).padStart(12, '0')}`;
    const dataSource = service.app.get<DataSource>(DIAGNOSIS_DATA_SOURCE, { strict: false });
    await storeRuns(dataSource, [
      { id, created_at: AT, finished_at: AT, causes: CAUSES, answer: { text: 'an answer' }, ...fields },
    ]);
    return id;
  }

  const put = (id: string, body: unknown): Promise<Response> =>
    fetch(`${service.url}/api/v1/runs/${id}/outcome`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const read = (id: string): Promise<Response> => service.get(`/api/v1/runs/${id}/outcome`);
  const evaluations = (id: string): Promise<EvaluationRecord[]> =>
    service.app.get(EvaluationStore, { strict: false }).listByRun(id);

  async function problem(response: Response, status: number, code: string, words: RegExp): Promise<Record<string, unknown>> {
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    const body = await jsonOf(response);
    expect(body).toMatchObject({ status, code });
    expect(body['detail']).toMatch(words);
    return body;
  }

  it('is stored, read back, and replaced by a newer word; the first time stays', async () => {
    const id = await run();
    const first = await put(id, { outcome: 'confirmed' });
    expect(first.status).toBe(200);
    const told = await jsonOf(first);
    expect(told).toEqual({
      runId: id,
      outcome: 'confirmed',
      actualCause: null,
      createdAt: expect.stringMatching(/^20.*\.\d{3}Z$/),
      updatedAt: told['createdAt'],
    });
    expect(await jsonOf(await put(id, { outcome: 'confirmed' }))).toEqual(told);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const second = await jsonOf(await put(id.toUpperCase(), { outcome: 'wrong', actualCause: '  Café-db ' }));
    expect(second).toMatchObject({ runId: id, outcome: 'wrong', actualCause: 'Café-db', createdAt: told['createdAt'] });
    expect(Date.parse(String(second['updatedAt']))).toBeGreaterThan(Date.parse(String(told['updatedAt'])));
    const reading = await read(id);
    expect([reading.status, await jsonOf(reading)]).toEqual([200, second]);
    expect(await jsonOf(await put(id, { outcome: 'wrong', actualCause: null }))).toMatchObject({ actualCause: null });
  });

  it.each<[string, object, number, number | null]>([
    ['a confirmed answer', { outcome: 'confirmed' }, 1, null],
    ['the first cause, in the end not right', { outcome: 'wrong', actualCause: 'order-db' }, 1, 1],
    ['a cause that was named second, in another case', { outcome: 'wrong', actualCause: 'cache' }, 0.5, 2],
    ['a symptom', { outcome: 'wrong', actualCause: 'checkout' }, 0, null],
    ['what was ruled out', { outcome: 'wrong', actualCause: 'dns' }, 0, null],
    ['what nobody named', { outcome: 'wrong', actualCause: 'router' }, 0, null],
    ['a wrong answer of which nobody knows more', { outcome: 'wrong' }, 0, null],
  ])('scores %s', async (_name, body, score, place) => {
    const id = await run();
    expect((await put(id, body)).status).toBe(200);
    expect(await evaluations(id)).toEqual([
      expect.objectContaining({ run_id: id, kind: 'outcome', score, detail: expect.objectContaining({ place, named: 2 }) }),
    ]);
  });

  it('does not score a cause where those of the run were not kept, and still counts what needs none', async () => {
    const id = await run({ keeps_content: false, causes: null, answer: null });
    const scores: (number | null | undefined)[] = [];
    for (const body of [{ outcome: 'wrong', actualCause: 'order-db' }, { outcome: 'wrong' }, { outcome: 'confirmed' }]) {
      expect((await put(id, body)).status).toBe(200);
      scores.push((await evaluations(id))[0]?.score);
    }
    expect(scores).toEqual([null, 0, 1]);
  });

  it('has one score, that of the newest word', async () => {
    const id = await run();
    for (const body of [{ outcome: 'confirmed' }, { outcome: 'wrong' }, { outcome: 'wrong', actualCause: 'Cache' }]) {
      expect((await put(id, body)).status).toBe(200);
    }
    expect((await evaluations(id)).map(({ kind, score, detail }) => [kind, score, detail['outcome']])).toEqual([
      ['outcome', 0.5, 'wrong'],
    ]);
  });

  it('scores the word that is kept when several come at once', async () => {
    const id = await run();
    const words = ['order-db', 'cache', 'router', 'dns'].map((actualCause) => ({ outcome: 'wrong', actualCause }));
    const answers = await Promise.all([...words, { outcome: 'confirmed' }, ...words].map((word) => put(id, word)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { outcome, actualCause } = await jsonOf(await read(id));
    const scores: Record<string, number> = { 'order-db': 1, cache: 0.5, router: 0, dns: 0 };
    expect((await evaluations(id)).map(({ score }) => score)).toEqual([
      outcome === 'confirmed' ? 1 : scores[String(actualCause)],
    ]);
  });

  it('stands when its score fails, and a repeated word makes up for it', async () => {
    const id = await run();
    const failing = jest
      .spyOn(service.app.get(OutcomeEvaluator, { strict: false }), 'evaluate')
      .mockRejectedValue(new Error('a secret of the evaluator'));
    expect((await put(id, { outcome: 'confirmed' })).status).toBe(200);
    expect(await evaluations(id)).toEqual([]);
    expect(service.log()).toContain('evaluation failed');
    expect(service.log()).not.toContain('a secret of the evaluator');
    failing.mockRestore();
    expect((await put(id, { outcome: 'confirmed' })).status).toBe(200);
    expect((await evaluations(id)).map(({ score }) => score)).toEqual([1]);
  });

  it.each<[string, Partial<StoredRun>]>([
    ['a failed run', { status: 'FAILED', failure_code: 'GRAPH_FAILED', causes: null, answer: null }],
    ['a cancelled run', { status: 'CANCELLED', failure_code: 'CANCELLED', causes: null, answer: null }],
    ['a run that quoted another', { agent_flow: 'DIRECT' }],
  ])('is noted for %s, which is not scored', async (_name, fields) => {
    const id = await run(fields);
    expect((await put(id, { outcome: 'wrong', actualCause: 'order-db' })).status).toBe(200);
    expect(await evaluations(id)).toEqual([]);
  });

  it('keeps no credential', async () => {
    const id = await run();
    const secret = 'hunter2-hunter2';
    const body = await jsonOf(await put(id, { outcome: 'wrong', actualCause: `mysql://root:${secret}@order-db/orders` }));
    expect(String(body['actualCause'])).toMatch(/\[redacted:/);
    expect(JSON.stringify([body, await jsonOf(await read(id)), await evaluations(id)])).not.toContain(secret);
    // Where the mark makes the text longer than its column, the end is left out.
    const long = `password=${'x1'.repeat(2)} ${'b'.repeat(240)}`;
    const cut = await put(id, { outcome: 'wrong', actualCause: long });
    expect(cut.status).toBe(200);
    expect(String((await jsonOf(cut))['actualCause'])).toMatch(/^password=\[redacted:.{210,245}$/);
  });

  it.each(RUN_STATUSES.filter((status) => status === 'PENDING' || status === 'RUNNING'))(
    'is refused with 409 while the run is %s',
    async (status) => {
      const id = await run({ status, finished_at: null });
      await problem(await put(id, { outcome: 'confirmed' }), 409, 'CONFLICT', /not ended/);
      await problem(await read(id), 404, 'NOT_FOUND', /outcome/);
    },
  );

  it('is 404 for a run that there is not, and where nobody told one', async () => {
    await problem(await put(UNKNOWN, { outcome: 'confirmed' }), 404, 'NOT_FOUND', /no such run/);
    await problem(await read(UNKNOWN), 404, 'NOT_FOUND', /no such run/);
    await problem(await read(await run()), 404, 'NOT_FOUND', /Nobody has told/);
  });

  it.each<[string, unknown, RegExp]>([
    ['no outcome', {}, /outcome: must be confirmed or wrong/],
    ['an outcome of its own', { outcome: 'maybe' }, /outcome: must be confirmed or wrong/],
    ['an outcome in capitals', { outcome: 'WRONG' }, /must be confirmed or wrong/],
    ['an unknown field', { outcome: 'wrong', cause: 'x' }, /cause: is not a known field/],
    [
      'a cause beside confirmed',
      { outcome: 'confirmed', actualCause: 'order-db' },
      /actualCause: goes with outcome `wrong` alone/,
    ],
    ['a cause that is no text', { outcome: 'wrong', actualCause: 7 }, /actualCause: must be/],
    ['a list of causes', { outcome: 'wrong', actualCause: ['a'] }, /actualCause: must be/],
    ['an empty cause', { outcome: 'wrong', actualCause: '' }, /actualCause: must be the name/],
    ['a blank cause', { outcome: 'wrong', actualCause: ' \u200B ' }, /actualCause: must be the name/],
    ['a cause of two lines', { outcome: 'wrong', actualCause: 'a\nb' }, /one line/],
    ['half a character', '{"outcome":"wrong","actualCause":"a\\ud800"}', /actualCause/],
    ['a cause that is too long', { outcome: 'wrong', actualCause: 'x'.repeat(256) }, /at most 255|1 to 255/],
    ['no object', '[]', /request|outcome|JSON/],
    ['JSON that is none', '{"outcome"', /JSON/],
  ])('refuses %s with 400', async (_name, body, words) => {
    const id = await run();
    await problem(await put(id, body), 400, 'REQUEST_INVALID', words);
    await problem(await read(id), 404, 'NOT_FOUND', /Nobody/);
  });

  it('refuses what is no id, and a body that is not declared as JSON', async () => {
    await problem(await put('x', { outcome: 'confirmed' }), 400, 'REQUEST_INVALID', /id: must be the UUID of a run/);
    await problem(await read('x'), 400, 'REQUEST_INVALID', /id: must be the UUID/);
    const undeclared = await fetch(`${service.url}/api/v1/runs/${await run()}/outcome`, { method: 'PUT', body: 'outcome=wrong' });
    await problem(undeclared, 415, 'REQUEST_INVALID', /JSON/);
  });

  it('takes a name of 255 characters', async () => {
    const actualCause = 'ü'.repeat(255);
    expect(await jsonOf(await put(await run(), { outcome: 'wrong', actualCause }))).toMatchObject({ actualCause });
  });
});
