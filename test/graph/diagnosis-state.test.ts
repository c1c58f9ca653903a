import { MAX_ORCHESTRATION_EVENTS, initialState, STATE_FIELDS } from '../../src/blueprint/state-fields';
import { DiagnosisAnnotation, parseDiagnosisState } from '../../src/graph/diagnosis-state';
import { frozenJson } from '../../src/graph/plain-json';
import { fullState, intake } from './documents';

describe('Diagnosis state', () => {
  it('[A2] has one channel for each row of the field table', () => {
    expect(Object.keys(DiagnosisAnnotation.spec).sort()).toEqual(Object.keys(STATE_FIELDS).sort());
  });

  it('[A3] loads a full and an initial state unchanged, and survives JSON', () => {
    for (const state of [fullState(), initialState(intake)]) {
      expect(parseDiagnosisState(JSON.parse(JSON.stringify(state)))).toEqual(JSON.parse(JSON.stringify(state)));
    }
  });

  it.each([
    ['an unknown version', { ...fullState(), schema_version: 2 }, /schema version/],
    ['no version', { ...fullState(), schema_version: undefined }, /schema version/],
    ['an unknown field', { ...fullState(), prompt: 'x' }, /schema at/],
    ['a missing field', { ...fullState(), planner_status: undefined }, /planner_status/],
    ['a foreign status', { ...fullState(), verifier_status: 'MAYBE' }, /verifier_status/],
    ['a Date', { ...fullState(), gatekeeper_result: new Date() }, /class of its own/],
    ['a list', [], /schema version/],
    ['nothing', null, /schema version/],
  ])('[A3] refuses %s with a typed error', (_name, raw, message) => {
    expect(() => parseDiagnosisState(raw)).toThrow(
      expect.objectContaining({ code: 'STATE_INVALID', message: expect.stringMatching(message) }),
    );
  });

  it('[A2] events append up to the bound and not beyond', () => {
    const state = fullState();
    const event = state.orchestration_events[0]!;
    const full = { ...state, orchestration_events: Array.from({ length: MAX_ORCHESTRATION_EVENTS }, () => event) };
    expect(parseDiagnosisState(full).orchestration_events).toHaveLength(MAX_ORCHESTRATION_EVENTS);
    expect(() => parseDiagnosisState({ ...full, orchestration_events: [...full.orchestration_events, event] })).toThrow(
      /orchestration_events/,
    );
  });
});

describe('Plain JSON', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  it.each([
    ['NaN', Number.NaN],
    ['Infinity', { a: Number.POSITIVE_INFINITY }],
    ['a BigInt', [1n]],
    ['a function', { toJSON: () => 1 }],
    ['a Date', { at: new Date(0) }],
    ['a Map', new Map()],
    ['a Buffer', Buffer.from('x')],
    ['a symbol', Symbol('x')],
    ['a hole', new Array(2)],
    ['a cycle', cycle],
    ['a __proto__ key', JSON.parse('{"__proto__": 1}')],
  ])('[A3] refuses %s', (_name, value) => {
    expect(() => frozenJson(value)).toThrow(expect.objectContaining({ code: 'STATE_INVALID' }));
  });

  it('[A3] copies, freezes deeply and leaves undefined members out', () => {
    const source = { a: [{ b: 1 }], gone: undefined };
    const copy = frozenJson(source) as { a: { b: number }[] };
    expect(copy).toStrictEqual({ a: [{ b: 1 }] });
    expect([Object.isFrozen(copy), Object.isFrozen(copy.a), Object.isFrozen(copy.a[0])]).toEqual([true, true, true]);
    expect(Object.isFrozen(source.a)).toBe(false);
  });
});
