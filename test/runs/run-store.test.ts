import type { DiagnosisQuery } from '../../src/protocol/diagnosis-query';
import { QUERY } from '../protocol/protocol-fixtures';
import { AT, after, codeOf, invocationOf, openStore, startRun, success, type Store } from './run-fixture';
import { describeOnEachDatabase } from './test-databases';

describeOnEachDatabase('RunStore', (db) => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(db);
  });
  afterEach(() => store.close());

  const statusOf = async (id: string): Promise<string | undefined> => (await store.runs.find(id))?.status;

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
        duration_ms: 900,
        tool_failures: 0,
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
    const failed = {
      failure_code: 'GRAPH_FAILED',
      trace: null,
      metrics: null,
      duration_ms: 900,
      tool_failures: 0,
      finished_at: AT,
    } as const;
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

  it('tells runs and sessions apart by the bytes of their ids', async () => {
    await startRun(store, 'r1');
    await store.runs.finish('r1', 'me', success({ evidence: { claims: [], evidence: [], empty_reason: 'nothing' } }));
    for (const id of ['R1', 'r1 ', 'r1\u0301', 'ř1']) {
      expect([id, await store.runs.find(id), await store.runs.findEvidence(id)]).toEqual([id, null, null]);
    }
    await startRun(store, 'r2');
    for (const id of ['R2', 'r2 ', 'ř2']) {
      expect([id, await store.runs.renewLease(id, { owner: 'me', until: after(1) })]).toEqual([id, false]);
      expect([id, await store.runs.finish(id, 'me', success())]).toEqual([id, false]);
    }
    for (const id of ['S', 's ', 'ś']) {
      expect([id, await store.runs.passedAnswers(id, 9), await store.runs.latestQuery(id)]).toEqual([id, [], null]);
    }
    expect((await store.runs.passedAnswers('s', 9)).map((run) => run.id)).toEqual(['r1']);
  });

  it('tells owners of a run apart by the bytes of their names', async () => {
    await startRun(store, 'r1');
    for (const owner of ['ME', 'me ', 'mé']) {
      expect([owner, await store.runs.finish('r1', owner, success())]).toEqual([owner, false]);
      expect([owner, await store.runs.renewLease('r1', { owner, until: after(1) })]).toEqual([owner, false]);
    }
    expect(await statusOf('r1')).toBe('RUNNING');
  });

  it.each([
    ['characters of four bytes', '🛒 𝔘𝔫𝔦𝔱 👩‍👩‍👧'],
    ['spaces at both ends and empty lines', '  a \n\n\t b  '],
    ['quotes, backslashes and comments', `'; DROP TABLE x; -- "\\ \\' \0 /* %_ ?`],
    ['letters that some take for others', 'straße STRASSE ı I é e\u0301'],
    ['no character', ''],
    ['several MB', 'Ω🛒x'.repeat(400_000)],
  ])('keeps %s of question and answer', async (_case, text) => {
    await store.sessions.ensure('s', AT);
    await store.runs.create({ id: 'r1', session_id: 's', message: text, agent_flow: 'DIAGNOSIS_GRAPH', created_at: AT });
    await store.runs.markRunning('r1', null, { owner: 'me', until: after(60_000) }, after(5));
    expect(await store.runs.finish('r1', 'me', success({ answer: text }))).toBe(true);
    const run = await store.runs.find('r1');
    expect([run?.message === text, run?.answer === text]).toEqual([true, true]);
  });

  it.each([
    '1970-01-02T00:00:00.000Z',
    '2026-03-29T01:30:00.001Z',
    '2026-10-25T00:30:00.999Z',
    '2026-12-31T23:59:59.999Z',
    '2040-02-29T12:00:00.500Z',
  ])('keeps the time %s to the millisecond, whatever the zone of process and server', async (instant) => {
    const at = new Date(instant);
    await store.sessions.ensure('s', at);
    await store.runs.create({ id: 'r1', session_id: 's', message: 'm', agent_flow: 'DIAGNOSIS_GRAPH', created_at: at });
    expect((await store.runs.find('r1'))?.created_at.toISOString()).toBe(instant);
    const [row] = await store.dataSource.query<{ stored: string }[]>(
      `SELECT ${db.kind === 'sqlite' ? 'created_at' : `DATE_FORMAT(created_at, '%Y-%m-%d %H:%i:%s.%f')`} AS stored FROM diagnosis_run`,
    );
    expect(row?.stored.slice(0, 23)).toBe(instant.slice(0, 23).replace('T', ' '));
  });

  it('keeps booleans and the numbers of bodies', async () => {
    await startRun(store, 'r1');
    const metrics = {
      duration_ms: 0,
      node_ms: { planner: 0.25 },
      agent_calls: 2 ** 31,
      tool_calls: 1,
      input_tokens: null,
      output_tokens: 9_007_199_254_740_991,
    };
    await store.runs.finish('r1', 'me', success({ degraded: true, metrics }));
    expect(await store.runs.find('r1')).toMatchObject({ degraded: true, metrics });
  });

  it('lets one of many win who start or end the same run at once', async () => {
    await store.sessions.ensure('s', AT);
    await store.runs.create({ id: 'r1', session_id: 's', message: 'm', agent_flow: 'DIAGNOSIS_GRAPH', created_at: AT });
    const owners = ['a', 'b', 'c', 'd', 'e'];
    const begun = await Promise.all(
      owners.map((owner) => store.runs.markRunning('r1', null, { owner, until: after(60_000) }, AT)),
    );
    expect(begun.filter(Boolean)).toHaveLength(1);
    const winner = owners[begun.indexOf(true)] ?? '';
    const ended = await Promise.all(owners.map(() => store.runs.finish('r1', winner, success())));
    expect(ended.filter(Boolean)).toHaveLength(1);
  });
});
