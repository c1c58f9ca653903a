import type { RunnableConfig } from '@langchain/core/runnables';
import { attemptsOf, classify, fallbackClassOf } from '../blueprint/classify';
import { FALLBACK_MATERIAL, NODE_CONTRACTS, UNCLEARED_OUTPUTS, type NodeView } from '../blueprint/node-contracts';
import { STATE_FIELDS, type Attempts, type DiagnosisState, type StateField } from '../blueprint/state-fields';
import { DiagnosisError } from '../errors/diagnosis-error';
import type { GraphNode } from '../ports/graph-node.port';
import { runContextOf, type RunContext } from '../ports/run-context';
import type { OrchestrationEvent } from '../protocol/orchestration-event';
import type { NodeName } from '../vocabulary/node-names';
import type { Outcome } from '../vocabulary/outcomes';
import { REASON_CODES, type ReasonCode } from '../vocabulary/reason-codes';
import { frozenJson } from './plain-json';
import { raceSignal, throwIfAborted } from './run-abort';

/** An attempt that reached an outcome: its event, the state after it, and the sizes that the node told. */
export interface HandledAttempt {
  readonly event: OrchestrationEvent;
  readonly state: DiagnosisState;
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
}

/** Hears of attempts as they begin and end; an aborted one begins and never ends. It must not throw. */
export interface AttemptObserver {
  started(run: RunContext, node: NodeName, round: 0 | 1, attempt: number): void;
  handled(run: RunContext, attempt: HandledAttempt): void;
}

/** A node as the engine runs it. */
export type GuardedNode = (state: DiagnosisState, config: RunnableConfig) => Promise<Partial<DiagnosisState>>;

interface AttemptEnd {
  readonly update: Partial<DiagnosisState>;
  readonly outcome: Outcome;
  readonly reason_code: ReasonCode;
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
}

/** Outcomes after which a node's documents count for nothing: only its status is kept, and of UNKNOWN not even that. */
const FAILED_OUTCOMES: ReadonlySet<Outcome> = new Set<Outcome>([
  'INVALID_OUTPUT',
  'RETRYABLE_FAILED',
  'RETRY_EXHAUSTED',
  'NON_RETRYABLE_FAILED',
  'TOOL_BLOCKED',
  'FAILED',
  'UNKNOWN',
]);

/** What an attempt is rejected with at the deadline; caught where it is raised. */
const ENDED_BY_DEADLINE = new DiagnosisError('CANCELLED', 'The time of the run is over.');

const KNOWN_REASONS: ReadonlySet<unknown> = new Set(REASON_CODES);
const NOTHING_CLEARED: Partial<DiagnosisState> = {};

const ROUND_FIELDS = (Object.keys(STATE_FIELDS) as StateField[]).filter((field) => STATE_FIELDS[field].scope === 'round');

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isOver(deadline: AbortSignal | undefined): boolean {
  return deadline?.aborted === true;
}

function sizeOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/**
 * Holds one node to its contract. The node sees frozen copies of exactly its declared reads and the very config that the
 * engine gave; its own outputs are cleared before an attempt, the fields of the round when an evidence round starts. The
 * guard refuses a write to a foreign field and everything that is not plain JSON, turns whatever is thrown into the status
 * that the contract names under on_throw, counts the attempt and appends its one event. A node whose outcome is a failure
 * leaves its status and nothing else.
 *
 * An attempt under an aborted signal (CANCELLED, LEASE_LOST, DRAIN) leaves neither status nor event: `DiagnosisError`
 * CANCELLED or LEASE_LOST is thrown once the node has settled; the engine has rejected the run by then. The run's deadline is an outcome (RUN_DEADLINE) of every node but the fallback, which
 * must be able to answer after it.
 */
export function guardNode<N extends NodeName>(node: GraphNode<N>, observer?: AttemptObserver): GuardedNode {
  const name: NodeName = node.name;
  const contract = NODE_CONTRACTS[name];
  const reads: readonly StateField[] = contract.reads;
  const writes: ReadonlySet<string> = new Set<string>(contract.writes);
  const uncleared: ReadonlySet<StateField> = new Set(UNCLEARED_OUTPUTS);
  const clearedOutputs = (contract.writes as readonly StateField[]).filter((field) => !uncleared.has(field));
  const statusFields = Object.keys(contract.on_throw) as StateField[];
  const outlivesDeadline = name === 'fallback';

  const clear = (state: DiagnosisState, fields: readonly StateField[]): Partial<DiagnosisState> => {
    let cleared: Record<string, null> | undefined;
    for (const field of fields) {
      // A write costs the engine something; most fields are null already.
      if (state[field] !== null) (cleared ??= {})[field] = null;
    }
    return cleared ?? NOTHING_CLEARED;
  };

  const viewOf = (state: DiagnosisState): NodeView<N> => {
    const material = name === 'fallback' ? FALLBACK_MATERIAL[fallbackClassOf(state.orchestration_events)] : [];
    const view: Record<string, unknown> = {};
    for (const fields of [reads, material as readonly StateField[]]) {
      for (const field of fields) {
        const value: unknown = state[field];
        view[field] = isObject(value) && !Object.isFrozen(value) ? frozenJson(value) : value;
      }
    }
    return Object.freeze(view) as unknown as NodeView<N>;
  };

  const acceptedUpdate = (result: unknown): Partial<DiagnosisState> => {
    if (!isObject(result) || !isObject(result['update']) || !KNOWN_REASONS.has(result['reason_code'])) {
      throw new DiagnosisError('STATE_INVALID', `The node ${name} returned no result of a node.`);
    }
    const accepted: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(result['update'])) {
      if (value === undefined) continue;
      if (!writes.has(field)) throw new DiagnosisError('STATE_INVALID', `The node ${name} wrote a field that it does not own.`);
      accepted[field] = frozenJson(value);
    }
    return accepted;
  };

  const kept = (update: Partial<DiagnosisState>, outcome: Outcome): Partial<DiagnosisState> => {
    if (!FAILED_OUTCOMES.has(outcome)) return update;
    if (outcome === 'UNKNOWN') return {};
    return Object.fromEntries(Object.entries(update).filter(([field]) => statusFields.includes(field as StateField)));
  };

  const onThrow = (state: DiagnosisState, reason: ReasonCode): AttemptEnd => {
    const update: Partial<DiagnosisState> = { ...contract.on_throw };
    if (name === 'fallback') update.fallback_class = fallbackClassOf(state.orchestration_events);
    const outcome = classify(name, { ...state, ...update });
    return { update, outcome, reason_code: reason, input_bytes: null, output_bytes: null };
  };

  const attempt = async (state: DiagnosisState, run: RunContext, config: RunnableConfig): Promise<AttemptEnd> => {
    const deadline = outlivesDeadline ? undefined : run.deadline;
    if (isOver(deadline)) return onThrow(state, 'RUN_DEADLINE');
    try {
      const result = await raceSignal(() => node.run(viewOf(state), config), deadline, ENDED_BY_DEADLINE);
      throwIfAborted(config.signal);
      const update = acceptedUpdate(result);
      const outcome = classify(name, { ...state, ...update });
      return {
        update: kept(update, outcome),
        outcome,
        reason_code: outcome === 'UNKNOWN' ? 'STATUS_UNKNOWN' : result.reason_code,
        input_bytes: sizeOf(result.input_bytes),
        output_bytes: sizeOf(result.output_bytes),
      };
    } catch {
      throwIfAborted(config.signal);
      return onThrow(state, isOver(deadline) ? 'RUN_DEADLINE' : 'NODE_THREW');
    }
  };

  return async (state, config) => {
    const run = runContextOf(config);
    throwIfAborted(config.signal);
    const round = state.evidence_retry_count;
    const number = attemptsOf(name, state) + 1;
    const startsEvidenceRound = name === 'planner' && round === 1 && number === 1;
    const cleared = clear(state, startsEvidenceRound ? ROUND_FIELDS : clearedOutputs);
    const earlier = state.attempts[name] ?? [0, 0];
    const attempts: Attempts = { ...state.attempts, [name]: round === 0 ? [number, earlier[1]] : [earlier[0], number] };
    run.round = round;
    observer?.started(run, name, round, number);

    const end = await attempt({ ...state, ...cleared, attempts }, run, config);

    const event: OrchestrationEvent = Object.freeze({
      node: name,
      outcome: end.outcome,
      reason_code: end.reason_code,
      attempt: Object.freeze({ round, attempt: number }),
    });
    const update: Partial<DiagnosisState> = { ...cleared, ...end.update, attempts, orchestration_events: [event] };
    observer?.handled(run, {
      event,
      state: { ...state, ...update, orchestration_events: [...state.orchestration_events, event] },
      input_bytes: end.input_bytes,
      output_bytes: end.output_bytes,
    });
    return update;
  };
}
