import { attemptsOf, classify, fallbackClassOf, isQualifyingGap } from '../../src/blueprint/classify';
import { NODE_CONTRACTS, UNCLEARED_OUTPUTS } from '../../src/blueprint/node-contracts';
import { buildOrchestrationTrace } from '../../src/blueprint/orchestration-trace-builder';
import { ROUTING_TABLE } from '../../src/blueprint/routing-table';
import { initialState, STATE_FIELDS, type StateField } from '../../src/blueprint/state-fields';
import { orchestrationTraceSchema } from '../../src/protocol/orchestration-trace';
import { END_OF_RUN, NODE_NAMES } from '../../src/vocabulary/node-names';
import { NODE_OUTCOMES } from '../../src/vocabulary/outcomes';
import { criticalGap, fullState, intake, minorGap, supported } from '../graph/documents';

const fields = Object.keys(STATE_FIELDS) as StateField[];

describe('Blueprint tables', () => {
  it('[A2] every field has one owner and is written by that node alone; only events append', () => {
    for (const field of fields) {
      const writers = NODE_NAMES.filter((name) => (NODE_CONTRACTS[name].writes as readonly string[]).includes(field));
      const { owner } = STATE_FIELDS[field];
      expect([field, writers]).toEqual([field, owner === 'guard' || owner === 'intake' ? [] : [owner]]);
    }
    expect(fields.filter((field) => STATE_FIELDS[field].strategy === 'append')).toEqual(['orchestration_events']);
    expect(Object.keys(initialState(intake)).sort()).toEqual([...fields].sort());
  });

  it('[A5] every outcome of every node has exactly one next node or the end', () => {
    for (const name of NODE_NAMES) {
      expect(Object.keys(ROUTING_TABLE[name]).sort()).toEqual([...NODE_OUTCOMES[name]].sort());
      for (const next of Object.values(ROUTING_TABLE[name])) expect([...NODE_NAMES, END_OF_RUN]).toContain(next);
      expect(ROUTING_TABLE[name].UNKNOWN).toBe(name === 'fallback' ? END_OF_RUN : 'fallback');
    }
  });

  it('[A3] [A12] verifier and composer read no untrusted field; only the fallback reads events, nobody reads attempts', () => {
    for (const name of NODE_NAMES) {
      const reads: readonly string[] = NODE_CONTRACTS[name].reads;
      expect(reads).not.toContain('attempts');
      if (name !== 'fallback') expect(reads).not.toContain('orchestration_events');
      if (name !== 'gatekeeper' && name !== 'verified_input') expect(reads).not.toContain('executor_output');
      if (name !== 'verified_input') expect(reads).not.toContain('gatekeeper_result');
    }
    expect(UNCLEARED_OUTPUTS.map((field) => STATE_FIELDS[field].owner)).toEqual([
      'retry_prepare',
      'retry_prepare',
      'retry_prepare',
    ]);
  });
});

describe('classify', () => {
  const state = { ...fullState(), evidence_retry_count: 0 as const };

  it('[A5] answers UNKNOWN to an empty state, for every node', () => {
    expect(NODE_NAMES.map((name) => classify(name, initialState(intake)))).toEqual(NODE_NAMES.map(() => 'UNKNOWN'));
  });

  it('[A9] [B11] [B12] an evidence gap needs ceiling PASS, a qualifying gap and no earlier round', () => {
    expect(classify('verifier', state)).toBe('EVIDENCE_GAP');
    expect(classify('verifier', { ...state, evidence_retry_count: 1 })).toBe('LOW_CONFID');
    expect(classify('verifier', { ...state, verdict_ceiling: 'LOW_CONFID' })).toBe('LOW_CONFID');
    expect(classify('verifier', { ...state, verifier_facts: [minorGap, supported] })).toBe('LOW_CONFID');
    expect([criticalGap, minorGap, supported, { ...criticalGap, gap: ' ' }].map(isQualifyingGap)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('[A6] the second technical failure of a round is exhausted', () => {
    for (const status of ['INVALID_OUTPUT', 'RETRYABLE_FAILED'] as const) {
      const failed = { ...state, composer_status: status };
      expect(classify('composer', { ...failed, attempts: { composer: [1, 0] } })).toBe(status);
      expect(classify('composer', { ...failed, attempts: { composer: [2, 0] } })).toBe('RETRY_EXHAUSTED');
    }
    expect(attemptsOf('planner', { attempts: { planner: [2, 1] }, evidence_retry_count: 1 })).toBe(1);
  });

  it('[A9] a retry that was not counted, and a fallback of the wrong class, are UNKNOWN', () => {
    expect(classify('retry_prepare', fullState())).toBe('COMPLETED');
    expect(classify('retry_prepare', state)).toBe('UNKNOWN');
    expect(classify('fallback', { ...state, fallback_class: 'PRE_VERIFICATION' })).toBe('PRE_VERIFICATION');
    expect(classify('fallback', { ...state, fallback_class: 'POST_VERIFICATION' })).toBe('UNKNOWN');
    expect(fallbackClassOf([])).toBe('PRE_VERIFICATION');
  });
});

describe('Orchestration trace', () => {
  it('[A14] [A17] is derived from events and codes alone, for a partial state too', () => {
    const state = fullState();
    const trace = buildOrchestrationTrace(state);
    expect(orchestrationTraceSchema.parse(trace)).toMatchObject({
      path: ['retry_prepare'],
      evidence_retries: 1,
      technical_retries: 0,
      degraded: false,
    });
    expect(orchestrationTraceSchema.parse(buildOrchestrationTrace(initialState(intake)))).toMatchObject({
      path: [],
      degraded: false,
    });
    expect(JSON.stringify(trace)).not.toContain('orders');
  });

  it('[A15] the run is degraded when the fallback ran', () => {
    const event = { node: 'fallback', outcome: 'UNKNOWN', reason_code: 'NODE_THREW', attempt: { round: 0, attempt: 1 } } as const;
    expect(buildOrchestrationTrace({ ...fullState(), orchestration_events: [event] }).degraded).toBe(true);
  });
});
