import type { EvaluationRecord } from '../../src/ports/evaluation-store.port';
import { UuidV7Source } from '../../src/runs/uuid-v7-source.service';
import { AT, after, codeOf, openStore, startRun, type Store } from './run-fixture';
import { describeOnEachDatabase } from './test-databases';

describeOnEachDatabase('SessionStore, AgentStepStore and EvaluationStore', (db) => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(db);
  });
  afterEach(() => store.close());

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

  it('tell sessions apart by the bytes of their ids, and keep an id whole or not at all', async () => {
    await store.sessions.ensure('s', AT);
    for (const id of ['S', 's ', 'ś', '']) expect([id, await store.sessions.exists(id)]).toEqual([id, false]);
    expect(await codeOf(store.sessions.ensure('s'.repeat(37), AT))).toBe('CONFLICT');
    expect(await store.sessions.exists('s'.repeat(36))).toBe(false);
  });

  it('keep more steps than one statement takes, in the order of their starts', async () => {
    await startRun(store, 'r1');
    const step = {
      run_id: 'r1',
      node: 'executor' as const,
      round: 0,
      attempt: 1,
      outcome: 'COMPLETED' as const,
      reason_code: 'OK' as const,
      duration_ms: 4,
      input_bytes: null,
      output_bytes: 2 ** 31 - 1,
      input_tokens: null,
      output_tokens: 0,
    };
    const steps = Array.from({ length: 250 }, (_, n) => ({
      ...step,
      id: `st-${String(n).padStart(3, '0')}`,
      started_at: after(n),
    }));
    await store.steps.record([...steps].reverse());
    expect(await store.steps.listByRun('r1')).toEqual(steps);
    expect([await store.steps.listByRun('R1'), await store.steps.listByRun('r1 ')]).toEqual([[], []]);
    expect(await codeOf(store.steps.record([{ ...steps[0], id: 'new', run_id: 'nope' } as (typeof steps)[number]]))).toBe(
      'CONFLICT',
    );
    const torn = [...Array.from({ length: 150 }, (_, n) => ({ ...step, id: `new-${n}`, started_at: AT })), ...steps.slice(0, 1)];
    expect(await codeOf(store.steps.record(torn))).toBe('CONFLICT');
    expect(await store.steps.listByRun('r1')).toHaveLength(250);
  });

  it('keep scores to the last bit, and a kind that all databases tell apart', async () => {
    await startRun(store, 'r1');
    const evaluation = { run_id: 'r1', detail: { nested: [1.5, '🛒', null, { a: false }] }, created_at: after(1) };
    const scores = [0, 1, 0.1 + 0.2, 1 / 3, 5e-324, Number.EPSILON, null];
    for (const [n, score] of scores.entries()) {
      expect(await store.evaluations.insert({ ...evaluation, id: `e${n}`, kind: `kind_${n}`, score })).toBe(true);
    }
    const kept = await store.evaluations.listByRun('r1');
    expect(kept.map((one) => one.score)).toEqual(scores);
    expect(kept[0]).toEqual({ ...evaluation, id: 'e0', kind: 'kind_0', score: 0 });
    for (const kind of ['Kind_0', 'kind_0 ', 'kïnd', '', 'k'.repeat(65)]) {
      expect([kind, await codeOf(store.evaluations.insert({ ...evaluation, id: 'x', kind, score: 1 }))]).toEqual([
        kind,
        'REQUEST_INVALID',
      ]);
    }
    expect(await store.evaluations.listByRun('R1')).toEqual([]);
  });

  it('let one of many evaluations of one kind win', async () => {
    await startRun(store, 'r1');
    const evaluation = { run_id: 'r1', kind: 'k', score: 1, detail: {}, created_at: AT };
    const taken = await Promise.all([1, 2, 3, 4].map((n) => store.evaluations.insert({ ...evaluation, id: `e${n}` })));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await store.evaluations.listByRun('r1')).toHaveLength(1);
  });
});

describe('UuidV7Source', () => {
  it('mints ids that ascend', () => {
    const ids = Array.from({ length: 200 }, () => new UuidV7Source().next());
    expect([...ids].sort()).toEqual(ids);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
