import { randomBytes } from 'node:crypto';
import type { DiagnosisQuery } from '../../src/protocol/diagnosis-query';
import type { EvaluationRecord } from '../../src/ports/evaluation-store.port';
import { UuidV7Source } from '../../src/runs/uuid-v7-source.service';
import { WriteQueue } from '../../src/runs/write-queue';
import { ChatSession } from '../../src/runs/chat-session.entity';
import { QUERY } from '../protocol/protocol-fixtures';
import { AT, after, codeOf, invocationOf, openStore, startRun, success, type Store } from './run-fixture';

let store: Store;
beforeEach(async () => {
  store = await openStore();
});
afterEach(() => store.close());

const statusOf = async (id: string): Promise<string | undefined> => (await store.runs.find(id))?.status;

describe('RunRepository', () => {
  it('[C8] writes status, trace and evidence of a finished run and reads it back whole', async () => {
    await startRun(store, 'r1');
    const trace = {
      path: ['planner' as const],
      events: [
        {
          node: 'planner' as const,
          outcome: 'COMPLETED' as const,
          reason_code: 'OK' as const,
          attempt: { round: 0, attempt: 1 },
        },
      ],
      technical_retries: 0,
      evidence_retries: 0,
      gatekeeper_status: 'PASS' as const,
      verdict_ceiling: 'PASS' as const,
      effective_verdict: 'PASS' as const,
      fallback_class: null,
      fallback_reason: null,
      degraded: false,
    };
    const evidence = {
      claims: [],
      evidence: [{ claim_id: 'c1', source_invocation_id: 't1-aaaa', tool_name: 'x', raw_path: '/a', matched_text: '1.50' }],
      empty_reason: null,
    };
    const causes = [{ rank: 1, subject: 'shop', role: 'cause' as const, claimIds: ['c1'] }];
    const answer = `Ω ${'x'.repeat(200_000)}`;
    expect(await store.runs.finish('r1', 'me', success({ trace, evidence, causes, answer }))).toBe(true);
    expect(await store.runs.find('r1')).toMatchObject({
      id: 'r1',
      message: 'why r1?',
      status: 'SUCCESS',
      verdict: 'PASS',
      answer,
      causes,
      trace,
      created_at: AT,
      started_at: after(5),
      finished_at: after(900),
    });
    expect(await store.runs.findEvidence('r1')).toEqual(evidence);
    expect([await store.runs.find('nope'), await store.runs.findEvidence('nope')]).toEqual([null, null]);
  });

  it('refuses to write a run that somebody else holds or that has ended', async () => {
    await startRun(store, 'r1');
    expect(await store.runs.finish('r1', 'other', success())).toBe(false);
    expect(await store.runs.renewLease('r1', { owner: 'other', until: after(1) })).toBe(false);
    expect(await store.runs.markRunning('r1', null, { owner: 'other', until: after(1) }, AT)).toBe(false);
    expect(await store.runs.renewLease('r1', { owner: 'me', until: after(90_000) })).toBe(true);
    expect(
      await store.runs.finish('r1', 'me', {
        status: 'CANCELLED',
        failure_code: 'CANCELLED',
        trace: null,
        metrics: null,
        finished_at: after(7),
      }),
    ).toBe(true);
    expect(await store.runs.finish('r1', 'me', success())).toBe(false);
    expect(await store.runs.find('r1')).toMatchObject({
      status: 'CANCELLED',
      failure_code: 'CANCELLED',
      answer: null,
      causes: [],
    });
  });

  it('keeps the status of a run whose evidence cannot be stored', async () => {
    await startRun(store, 'r1');
    await store.dataSource.query('DROP TABLE diagnosis_run_evidence');
    const evidence = { claims: [], evidence: [], empty_reason: 'nothing' };
    expect(await codeOf(store.runs.finish('r1', 'me', success({ evidence })))).toBe('STORE_UNAVAILABLE');
    expect(await statusOf('r1')).toBe('RUNNING');
  });

  it('ends runs whose lease ran out, waiting ones too, with their open calls, and no other', async () => {
    await startRun(store, 'r1');
    await startRun(store, 'r2');
    await store.runs.renewLease('r2', { owner: 'me', until: after(600_000) });
    await store.runs.create({ id: 'r3', session_id: 's', message: 'm', agent_flow: 'DIAGNOSIS_GRAPH', created_at: AT });
    await store.traces.begin(invocationOf('r1', 1));
    expect(await store.runs.failExpired(after(10_000))).toBe(0);
    expect(await store.runs.failExpired(after(61_000))).toBe(2);
    expect(await store.runs.find('r1')).toMatchObject({
      status: 'FAILED',
      failure_code: 'INTERRUPTED',
      finished_at: after(61_000),
    });
    expect([await statusOf('r2'), await statusOf('r3')]).toEqual(['RUNNING', 'FAILED']);
    expect((await store.traces.listByRun('r1')).map((row) => row.status)).toEqual(['ABANDONED']);
  });

  it('answers the newest PASS runs of a session, oldest first, and none that fell back', async () => {
    for (const [index, change] of [{}, { degraded: true }, { verdict: 'LOW_CONFID' as const }, {}, {}].entries()) {
      const id = `r${index}`;
      await store.sessions.ensure('s', AT);
      await store.runs.create({ id, session_id: 's', message: id, agent_flow: 'DIAGNOSIS_GRAPH', created_at: after(index) });
      await store.runs.markRunning(id, null, { owner: 'me', until: after(60_000) }, AT);
      await store.runs.finish(id, 'me', success(change));
    }
    expect((await store.runs.passedAnswers('s', 2)).map((run) => run.id)).toEqual(['r3', 'r4']);
    expect((await store.runs.passedAnswers('s', 9)).map((run) => run.message)).toEqual(['r0', 'r3', 'r4']);
    expect(await store.runs.passedAnswers("s' OR '1'='1", 9)).toEqual([]);
  });

  it('finds what the newest answered run of a session looked at, passing over failed, quoted and unfinished ones', async () => {
    const query = (question: string): DiagnosisQuery => ({ ...QUERY, question });
    await store.sessions.ensure('s', AT);
    expect(await store.runs.latestQuery('s')).toBeNull();
    const flows = ['DIAGNOSIS_GRAPH', 'DIAGNOSIS_GRAPH', 'DIRECT', 'DIAGNOSIS_GRAPH', 'DIAGNOSIS_GRAPH'] as const;
    for (const [index, agent_flow] of flows.entries()) {
      const id = `r${index}`;
      await store.runs.create({ id, session_id: 's', message: id, agent_flow, created_at: after(index) });
      const lease = { owner: 'me', until: after(60_000) };
      await store.runs.markRunning(id, agent_flow === 'DIRECT' ? null : query(id), lease, AT);
      if (index < 3) await store.runs.finish(id, 'me', success({ verdict: 'LOW_CONFID' }));
    }
    const failed = { failure_code: 'GRAPH_FAILED', trace: null, metrics: null, finished_at: AT } as const;
    await store.runs.finish('r3', 'me', { status: 'FAILED', ...failed });
    expect(await store.runs.latestQuery('s')).toEqual({ id: 'r1', query: query('r1') });
    expect(await store.runs.latestQuery('other')).toBeNull();
  });

  it('tells a double id and an unknown session as CONFLICT, without the text of the statement', async () => {
    await startRun(store, 'r1');
    const run = { id: 'r1', session_id: 's', message: 'secret words', agent_flow: 'DIAGNOSIS_GRAPH' as const, created_at: AT };
    expect(await codeOf(store.runs.create(run))).toBe('CONFLICT');
    const unknown = store.runs.create({ ...run, id: 'r9', session_id: 'nope' });
    expect(await codeOf(unknown)).toBe('CONFLICT');
    await expect(unknown).rejects.not.toThrow(/secret words|INSERT/);
  });
});

describe('TraceRepository', () => {
  const finish = (id: string, output: string | null) =>
    store.traces.finish(id, { status: 'OK', output, error_code: null, duration_ms: 3 });

  it('keeps the bytes of an output over several chunks', async () => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    const text = JSON.stringify({ n: 'é😀', noise: randomBytes(200_000).toString('base64') });
    await finish('r1-row-1', text);
    const chunks: { n: number; longest: number }[] = await store.dataSource.query(
      'SELECT count(*) AS n, max(length(bytes)) AS longest FROM diagnosis_tool_output_chunk',
    );
    expect(chunks[0]?.n).toBeGreaterThan(2);
    expect(chunks[0]?.longest).toBeLessThanOrEqual(65_535);
    expect(await store.traces.readOutput('r1-row-1')).toBe(text);
  });

  it.each([
    ['a changed hash', `UPDATE diagnosis_tool_invocation SET output_sha256 = '${'0'.repeat(64)}'`],
    ['changed bytes', `UPDATE diagnosis_tool_output_chunk SET bytes = x'1f8b'`],
    ['a missing chunk', 'DELETE FROM diagnosis_tool_output_chunk'],
    ['another length', 'UPDATE diagnosis_tool_invocation SET output_bytes = 3'],
  ])('refuses an output with %s', async (_case, sql) => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    await finish('r1-row-1', '{"a":1}');
    await store.dataSource.query(sql);
    expect(await codeOf(store.traces.readOutput('r1-row-1'))).toBe('OUTPUT_CORRUPT');
  });

  it('refuses an output above the stated maximum, and an output that is not there', async () => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    expect(await codeOf(finish('r1-row-1', 'x'.repeat(16 * 1024 * 1024 + 1)))).toBe('OUTPUT_TOO_LARGE');
    expect(await codeOf(store.traces.readOutput('r1-row-1'))).toBe('NOT_FOUND');
  });

  it('answers the row that exists for a key, finds by both ids, and keeps runs apart [A17]', async () => {
    await startRun(store, 'r1');
    await startRun(store, 'r2');
    const first = await store.traces.begin(invocationOf('r1', 1));
    const again = await store.traces.begin(invocationOf('r1', 2, { call_key: 'key-1' }));
    expect([first.existed, again.existed, again.record.id]).toEqual([false, true, 'r1-row-1']);
    expect((await store.traces.findOfRun('r1', 't1-aaaa'))?.id).toBe('r1-row-1');
    expect((await store.traces.findOfRun('r1', 'r1-row-1'))?.invocation_id).toBe('t1-aaaa');
    expect(await store.traces.findOfRun('r2', 'r1-row-1')).toBeNull();
    expect([
      await store.traces.existsInAnotherRun('r2', 't1-aaaa'),
      await store.traces.existsInAnotherRun('r1', 't1-aaaa'),
    ]).toEqual([true, false]);
  });

  it('drops a result that comes after the run has ended', async () => {
    await startRun(store, 'r1');
    await store.traces.begin(invocationOf('r1', 1));
    await store.runs.finish('r1', 'me', success());
    await finish('r1-row-1', '{"late":1}');
    expect(await store.traces.listByRun('r1')).toMatchObject([{ status: 'ABANDONED', output_sha256: null }]);
    expect(await codeOf(store.traces.begin(invocationOf('r1', 2)))).toBe('LEASE_LOST');
  });
});

describe('the other stores', () => {
  it('keeps steps, sessions and one evaluation per run and kind', async () => {
    await startRun(store, 'r1');
    const step = {
      id: 'a',
      run_id: 'r1',
      node: 'planner' as const,
      round: 0,
      attempt: 1,
      outcome: 'COMPLETED' as const,
      reason_code: 'OK' as const,
      started_at: AT,
      duration_ms: 4,
      input_bytes: 10,
      output_bytes: null,
      input_tokens: null,
      output_tokens: 0,
    };
    await store.steps.record([]);
    await store.steps.record([{ ...step, id: 'b', started_at: after(9) }, step]);
    expect(await store.steps.listByRun('r1')).toEqual([step, { ...step, id: 'b', started_at: after(9) }]);
    await store.sessions.ensure('s', after(1));
    expect([await store.sessions.exists('s'), await store.sessions.exists('t')]).toEqual([true, false]);
    const evaluation: EvaluationRecord = {
      id: 'e1',
      run_id: 'r1',
      kind: 'expected_label',
      score: 0.5,
      detail: { hit: true },
      created_at: AT,
    };
    expect(await store.evaluations.insert(evaluation)).toBe(true);
    expect(await store.evaluations.insert({ ...evaluation, id: 'e2', score: 1 })).toBe(false);
    expect(await store.evaluations.listByRun('r1')).toEqual([evaluation]);
    expect(await codeOf(store.evaluations.insert({ ...evaluation, id: 'e3', run_id: 'nope' }))).toBe('CONFLICT');
  });

  it('mints ids that ascend', () => {
    const ids = Array.from({ length: 200 }, () => new UuidV7Source().next());
    expect([...ids].sort()).toEqual(ids);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe('WriteQueue', () => {
  it("lets a failing transaction take nobody else's row with it", async () => {
    const queue = WriteQueue.of(store.dataSource);
    const failing = queue.transaction(async (manager) => {
      await manager.insert(ChatSession, { id: 'lost', created_at: AT });
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw new Error('INSERT INTO secret');
    });
    const others = Array.from({ length: 5 }, (_, i) => store.sessions.ensure(`kept-${i}`, AT));
    expect(await codeOf(failing)).toBe('STORE_UNAVAILABLE');
    await expect(failing).rejects.not.toThrow(/secret/);
    await Promise.all(others);
    const kept = await store.dataSource.manager.find(ChatSession, { order: { id: 'ASC' } });
    expect(kept.map((row) => row.id)).toEqual(['kept-0', 'kept-1', 'kept-2', 'kept-3', 'kept-4']);
    expect(WriteQueue.of(store.dataSource)).toBe(queue);
  });
});
