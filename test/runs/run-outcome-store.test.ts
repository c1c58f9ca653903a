import { RunOutcomeRepository } from '../../src/runs/run-outcome.repository';
import { AT, after, codeOf, openStore, startRun, type Store } from './run-fixture';
import { describeOnEachDatabase } from './test-databases';

describeOnEachDatabase('RunOutcomeStore', (db) => {
  let store: Store;
  let outcomes: RunOutcomeRepository;

  beforeEach(async () => {
    store = await openStore(db);
    outcomes = new RunOutcomeRepository(store.dataSource);
    await startRun(store, 'r');
  });

  afterEach(() => store.close());

  it('keeps the newest word of each run, and when the first was told', async () => {
    await startRun(store, 'other');
    expect(await outcomes.find('r')).toBeNull();
    await outcomes.put({ run_id: 'r', outcome: 'wrong', actual_cause: '数据库 \u{1F525} Ä' }, AT);
    const first = { run_id: 'r', outcome: 'wrong', actual_cause: '数据库 \u{1F525} Ä', created_at: AT, updated_at: AT };
    expect(await outcomes.find('r')).toEqual(first);
    await outcomes.put({ run_id: 'other', outcome: 'wrong', actual_cause: null }, after(1));
    await outcomes.put({ run_id: 'r', outcome: 'confirmed', actual_cause: null }, after(2));
    expect(await outcomes.find('r')).toEqual({ ...first, outcome: 'confirmed', actual_cause: null, updated_at: after(2) });
    expect(await outcomes.find('other')).toMatchObject({ outcome: 'wrong', created_at: after(1) });
  });

  it('takes words that come at once, and keeps one of them whole', async () => {
    const names = Array.from({ length: 12 }, (_name, index) => `cause-${index}`);
    await Promise.all(
      names.map((actual_cause, index) => outcomes.put({ run_id: 'r', outcome: 'wrong', actual_cause }, after(index))),
    );
    const kept = await outcomes.find('r');
    expect(kept?.updated_at).toEqual(after(names.indexOf(String(kept?.actual_cause))));
  });

  it('refuses an outcome of a run that is not stored, and says nothing of it', async () => {
    expect(await codeOf(outcomes.put({ run_id: 'nobody', outcome: 'confirmed', actual_cause: null }, AT))).toBe('CONFLICT');
    expect(await outcomes.find('nobody')).toBeNull();
  });

  it('answers STORE_UNAVAILABLE when the store is closed', async () => {
    await store.dataSource.destroy();
    expect(await codeOf(outcomes.find('r'))).toBe('STORE_UNAVAILABLE');
    expect(await codeOf(outcomes.put({ run_id: 'r', outcome: 'confirmed', actual_cause: null }, AT))).toBe('STORE_UNAVAILABLE');
  });
});

describeOnEachDatabase('EvaluationStore.put', (db) => {
  it('takes the place of an evaluation of the same run and kind, and of no other', async () => {
    const store = await openStore(db);
    try {
      await startRun(store, 'r');
      const evaluation = { id: 'e1', run_id: 'r', kind: 'outcome', score: 1, detail: { place: 1 }, created_at: AT };
      const other = { ...evaluation, id: 'e2', kind: 'expected_label', score: null };
      await store.evaluations.put(evaluation);
      await store.evaluations.insert(other);
      await store.evaluations.put({
        ...evaluation,
        id: 'e3',
        score: 1 / 3,
        detail: { place: 3, note: '"Ä" \\' },
        created_at: after(7),
      });
      expect(await store.evaluations.listByRun('r')).toEqual([
        other,
        { ...evaluation, score: 1 / 3, detail: { place: 3, note: '"Ä" \\' }, created_at: after(7) },
      ]);
      await store.evaluations.put({ ...evaluation, id: 'e4', score: null, detail: {} });
      expect((await store.evaluations.listByRun('r')).map(({ id, score }) => [id, score])).toEqual([
        ['e2', null],
        ['e1', null],
      ]);
    } finally {
      await store.close();
    }
  });
});
