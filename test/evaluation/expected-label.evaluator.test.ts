import { ExpectedLabelEvaluator, type ExpectedLabels } from '../../src/evaluation/expected-label.evaluator';
import type { EvaluationRecord, EvaluationStore } from '../../src/ports/evaluation-store.port';
import type { RunRecord, RunStore } from '../../src/ports/run-store.port';
import type { RankedCause } from '../../src/protocol/run-evidence';
import type { AssessmentRole } from '../../src/vocabulary/evidence-terms';

const cause = (rank: number, subject: string, role: AssessmentRole = 'cause'): RankedCause => ({
  rank,
  subject,
  role,
  claimIds: ['c1'],
});

const RUN: RunRecord = {
  id: 'run-1',
  session_id: 'session-1',
  message: 'Why do orders fail?',
  status: 'SUCCESS',
  agent_flow: 'DIAGNOSIS_GRAPH',
  query: null,
  answer: 'an answer',
  verdict: 'PASS',
  degraded: false,
  causes: [],
  failure_code: null,
  trace: null,
  metrics: null,
  self_evaluation: null,
  keeps_content: true,
  erase_requested_at: null,
  created_at: new Date(0),
  started_at: null,
  finished_at: null,
};

async function evaluated(fields: Partial<RunRecord>, labels?: ExpectedLabels, times = 1): Promise<EvaluationRecord[]> {
  const stored: EvaluationRecord[] = [];
  const runs = { find: async (id: string) => (id === RUN.id ? { ...RUN, ...fields } : null) } as unknown as RunStore;
  const store: EvaluationStore = {
    insert: async (record) => {
      if (stored.some((other) => other.run_id === record.run_id && other.kind === record.kind)) return false;
      stored.push(record);
      return true;
    },
    put: async () => Promise.reject(new Error('an expected label is scored once')),
    listByRun: async () => stored,
  };
  let id = 0;
  const ids = { next: () => `id-${(id += 1)}` };
  const evaluator = new ExpectedLabelEvaluator(runs, store, { now: () => new Date(1000) }, ids, labels);
  for (let time = 0; time < times; time += 1) await evaluator.evaluate(RUN.id);
  return stored;
}

describe('ExpectedLabelEvaluator', () => {
  it.each([
    ['the label first', [cause(1, 'order-db'), cause(2, 'cache')], 1],
    ['the label second', [cause(2, 'order-db'), cause(1, 'cache')], 0.5],
    [
      'the label first behind a symptom and a cleared subject',
      [cause(1, 'web', 'symptom'), cause(2, 'order-db'), cause(1, 'dns', 'ruled_out')],
      1,
    ],
    ['everything named first', [cause(1, 'order-db'), cause(1, 'cache', 'trigger'), cause(1, 'web', 'contributing')], 1 / 3],
    ['the label ruled out', [cause(1, 'order-db', 'ruled_out'), cause(2, 'cache')], 0],
    ['no causes', [], 0],
  ])('[C8] %s', async (_case, causes, score) => {
    const [record] = await evaluated({ causes }, () => 'order-db');
    expect(record).toMatchObject({ run_id: 'run-1', kind: 'expected_label', created_at: new Date(1000) });
    expect(record?.score).toBeCloseTo(score, 10);
  });

  it('[C8] counts what it saw and stores it once, whatever the label says of the run', async () => {
    const causes = [cause(1, 'cache'), cause(2, 'order-db', 'trigger'), cause(3, 'web', 'symptom'), cause(4, 'dns', 'ruled_out')];
    const seen: string[] = [];
    const labels: ExpectedLabels = async (run) => {
      seen.push(`${run.id} ${run.session_id} ${run.message}`);
      return 'order-db';
    };
    const stored = await evaluated({ causes, degraded: true }, labels, 2);
    expect(seen[0]).toBe('run-1 session-1 Why do orders fail?');
    expect(stored.map((record) => record.detail)).toEqual([
      { labelled: true, place: 2, suspected: 2, symptoms: 1, ruled_out: 1, degraded: true },
    ]);
  });

  it.each([
    ['without a source of labels', undefined],
    ['when nobody knows the label', () => null],
  ])('[C8] %s the score is null, not 0', async (_case, labels) => {
    const [record] = await evaluated({ causes: [cause(1, 'order-db')] }, labels);
    expect(record).toMatchObject({ score: null, detail: { labelled: false, place: null, suspected: 1 } });
  });

  it.each([
    ['DIRECT', { agent_flow: 'DIRECT' as const }],
    ['FAILED', { status: 'FAILED' as const }],
    ['CANCELLED', { status: 'CANCELLED' as const }],
    ['RUNNING', { status: 'RUNNING' as const }],
  ])('[C8] %s is not evaluated', async (_case, fields) => {
    expect(await evaluated({ causes: [cause(1, 'order-db')], ...fields }, () => 'order-db')).toEqual([]);
  });
});
