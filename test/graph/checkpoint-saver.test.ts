import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph';
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { DiagnosisCheckpointSaver } from '../../src/graph/checkpoint-saver';
import { codeOf, openStore, type Store } from '../runs/run-fixture';
import { describeOnEachDatabase } from '../runs/test-databases';

// The suite was written for Vitest, whose soft expectation goes on after a failure.
Object.assign(expect, { soft: expect });

/** Declares tests and makes it an error when one of them would be left out: the suite does so for savers of some names. */
function withoutSkips(declare: () => void): void {
  const { skip } = it;
  it.skip = Object.assign(
    (title: string) => {
      throw new Error(`the suite would skip: ${title}`);
    },
    { each: skip.each, failing: skip.failing },
  ) as unknown as typeof skip;
  try {
    declare();
  } finally {
    it.skip = skip;
  }
}

describeOnEachDatabase('DiagnosisCheckpointSaver', (db) => {
  const opened = new Map<DiagnosisCheckpointSaver, Store>();
  const initializer = {
    checkpointerName: 'DiagnosisCheckpointSaver',
    async createCheckpointer(): Promise<DiagnosisCheckpointSaver> {
      const store = await openStore(db);
      const saver = new DiagnosisCheckpointSaver(store.checkpoints);
      opened.set(saver, store);
      return saver;
    },
    async destroyCheckpointer(saver: DiagnosisCheckpointSaver): Promise<void> {
      await opened.get(saver)?.close();
      opened.delete(saver);
    },
  };

  withoutSkips(() => {
    validate(initializer);
    deltaChannelHistoryTests(initializer);
  });

  describe('in a graph', () => {
    let store: Store;
    beforeEach(async () => {
      store = await openStore(db);
    });
    afterEach(() => store.close());

    const State = Annotation.Root({
      words: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
      big: Annotation<string>,
    });
    const graphOver = (checkpointer: BaseCheckpointSaver) =>
      new StateGraph(State)
        .addNode('first', () => ({ words: ['first'], big: 'ü'.repeat(100_000) }))
        .addNode('second', () => ({ words: [interrupt<string, string>('which?')] }))
        .addEdge(START, 'first')
        .addEdge('first', 'second')
        .addEdge('second', END)
        .compile({ checkpointer });
    const saver = () => new DiagnosisCheckpointSaver(store.checkpoints);

    it('goes on in another process where the first one was interrupted', async () => {
      const config = { configurable: { thread_id: 'a' } };
      await graphOver(saver()).invoke({ words: ['in'] }, config);
      const state = await graphOver(saver()).getState(config);
      expect([state.next, state.values.words, state.values.big]).toEqual([['second'], ['in', 'first'], 'ü'.repeat(100_000)]);
      const end = await graphOver(saver()).invoke(new Command({ resume: 'answer' }), config);
      expect(end.words).toEqual(['in', 'first', 'answer']);
    });

    it('keeps forks of one checkpoint apart, whose channels change at the same time', async () => {
      const config = { configurable: { thread_id: 'a' } };
      const graph = graphOver(saver());
      await graph.invoke({ words: ['in'] }, config);
      const { config: parent } = await graph.getState(config);
      const left = await graph.updateState(parent, { words: ['left'], big: 'left' }, 'second');
      const right = await graph.updateState(parent, { words: ['right'], big: 'right' }, 'second');
      expect((await graph.getState(left)).values).toEqual({ words: ['in', 'first', 'left'], big: 'left' });
      expect((await graph.getState(right)).values).toEqual({ words: ['in', 'first', 'right'], big: 'right' });
      expect((await graph.getState(parent)).values.big).toHaveLength(100_000);
    });

    it('tells the history of a thread as the saver in memory does', async () => {
      const told = async (checkpointer: BaseCheckpointSaver): Promise<unknown[]> => {
        const graph = graphOver(checkpointer);
        const config = { configurable: { thread_id: 'a' } };
        await graph.invoke({ words: ['in'] }, config);
        await graph.invoke(new Command({ resume: 'answer' }), config);
        const history: unknown[] = [];
        for await (const { values, next, metadata, tasks } of graph.getStateHistory(config, { limit: 10 })) {
          history.push({ values, next, metadata, tasks: tasks.map(({ name, interrupts }) => [name, interrupts.length]) });
        }
        return history;
      };
      const expected = await told(new MemorySaver());
      expect(expected.length).toBeGreaterThan(3);
      expect(await told(saver())).toEqual(expected);
    });

    it('does not see the threads of another realm, and deletes none of them', async () => {
      const config = { configurable: { thread_id: 'a' } };
      await graphOver(saver()).invoke({ words: ['in'] }, config);
      const other = new DiagnosisCheckpointSaver(store.checkpoints, { realm: 'other' });
      expect(await other.getTuple(config)).toBeUndefined();
      await other.deleteThread('a');
      expect(await saver().getTuple(config)).toBeDefined();
      await saver().deleteThread('a');
      expect(await saver().getTuple(config)).toBeUndefined();
    });

    it('refuses a thread that is no text', async () => {
      expect(await codeOf(saver().getTuple({ configurable: { thread_id: 7 } }))).toBe('STATE_INVALID');
      expect(await codeOf(saver().getTuple({ configurable: { thread_id: '' } }))).toBe('resolved');
    });
  });
});
