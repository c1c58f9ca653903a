import type { SeededRandom } from './seeded-random';
import { SAMPLE_S, ServiceState } from './service-state';
import { callsOf, type Shop, type ShopDatabase } from './shop';
import { handedOver, type Process, type SimulatedTime } from './simulated-time';
import { type SpanRecord, TelemetryRecord } from './telemetry-record';

/** An error that a service throws by itself. */
export interface OwnError {
  readonly text: string;
  readonly stack: readonly string[];
}

/** What a planted fault does to the shop while it runs; each is asked at the time it matters. */
export interface FaultEffects {
  /** Started once, beside the requests. */
  readonly run?: (shop: ShopSimulation) => Process<void>;
  /** Milliseconds that a message between two services takes longer. */
  readonly delay?: (from: string, to: string) => number;
  readonly fails?: (service: string) => OwnError | null;
  /** Factor on the processor time of a request, and on the number of its queries. */
  readonly work?: (service: string) => { readonly cpu: number; readonly queries: number };
  /** Whether a request forgets to give its connection back. */
  readonly leaks?: (service: string) => boolean;
}

type CallOutcome = 'ok' | 'failed' | 'timeout' | 'refused' | 'dropped';

interface Request {
  readonly operation: string;
  readonly trace: string;
  readonly isSampled: boolean;
}

const ROW_LOCK_TIMEOUT_MS = 4_000;
const SLOW_QUERY_MS = 900;
/** Part of the requests that are of the operation that the question is about, beside its share of the rest. */
const FAVOURED = 0.4;
const CLIENT_GONE = 0.003;
const REJECTED = 0.006;

/** Requests of customers going through the shop, with everything that it writes about them. It refuses to know what is asked of it. */
export class ShopSimulation {
  readonly record = new TelemetryRecord();
  readonly states: ReadonlyMap<string, ServiceState>;

  constructor(
    readonly shop: Shop,
    readonly time: SimulatedTime,
    private readonly effects: FaultEffects,
    readonly random: SeededRandom,
    /** Share of requests that are traced. */
    private readonly sampling: number,
  ) {
    this.states = new Map([...shop.services].map(([name, spec]) => [name, new ServiceState(spec, time, random)]));
  }

  stateOf(service: string): ServiceState {
    return this.states.get(service) as ServiceState;
  }

  /** Lets customers come at a rate that drifts, until the end; `callsPerSecond` counts the calls that they cause, their own included. */
  run(until: number, callsPerSecond: number): void {
    const { random, time } = this;
    const operations = [...this.shop.operations.keys()];
    const favourite = this.shop.asked;
    const calls = operations.reduce((sum, name) => sum + callsOf(this.shop, name), 0) / operations.length;
    const perSecond = callsPerSecond / (FAVOURED * callsOf(this.shop, favourite) + (1 - FAVOURED) * calls);
    const drift = { part: random.within(0.1, 0.3), everyMs: random.within(25, 70) * 60_000, phase: random.next() };
    const come = (): void => {
      const wave = 1 + drift.part * Math.sin(2 * Math.PI * (time.now / drift.everyMs + drift.phase));
      time.after((-Math.log(1 - random.next()) * 1_000) / (perSecond * wave), come);
      const operation = random.chance(FAVOURED) ? favourite : random.pick(operations);
      const request = { operation, trace: random.hex(32), isSampled: random.chance(this.sampling) };
      time.start(this.serve(this.shop.front, request, null));
    };
    const sample = (): void => {
      for (const state of this.states.values()) state.sample(this.record);
      time.after(SAMPLE_S * 1_000, sample);
    };
    time.after(0, come);
    time.after(SAMPLE_S * 1_000, sample);
    if (this.effects.run !== undefined) time.start(this.effects.run(this));
    time.run(until);
  }

  private *serve(service: string, request: Request, parent: string | null): Process<CallOutcome> {
    const { random, time, record } = this;
    const state = this.stateOf(service);
    const { words } = state.spec.style;
    const { operation, trace } = request;
    if (state.isDown) return 'refused';
    const { life } = state;
    const start = time.now;
    const span = state.spec.traced ? random.hex(16) : null;
    record.log(start, service, 'info', words.accepted(operation), trace);
    const outcome = yield* this.work(state, request, span ?? parent);
    if (state.life !== life) return 'dropped';
    const ms = time.now - start;
    const failed = outcome !== 'ok';
    state.answered(ms, failed);
    if (failed) record.log(time.now, service, 'error', words.failed(operation), trace);
    else record.log(time.now, service, 'info', words.done(operation, Math.round(ms)), trace);
    const name = state.spec.depth === 0 ? `POST /${operation}` : `handle ${operation}`;
    if (span !== null) this.span(state, request, { span, parent, operation: name, kind: 'server', start, failed });
    return failed ? 'failed' : 'ok';
  }

  private *work(state: ServiceState, request: Request, span: string | null): Process<'ok' | 'failed'> {
    const { random, time, record, shop } = this;
    const { name, database, calls } = state.spec;
    const factor = this.effects.work?.(name) ?? { cpu: 1, queries: 1 };
    yield* this.compute(state, factor.cpu * 0.6);
    if (name === shop.front && random.chance(CLIENT_GONE)) {
      record.log(time.now, name, 'error', 'client closed the connection before the answer', request.trace);
      return 'failed';
    }
    if (name !== shop.front && random.chance(REJECTED))
      record.log(time.now, name, 'warn', `ignoring unknown field in ${request.operation} request`, request.trace);
    const error = this.effects.fails?.(name) ?? null;
    if (error !== null) {
      record.log(time.now, name, 'error', error.text, request.trace, error.stack);
      return 'failed';
    }
    if (database !== null) {
      for (let query = 0; query < factor.queries; query += 1)
        if (!(yield* this.query(state, database, request, span))) return 'failed';
    }
    const callees = state.spec.depth === 0 ? [shop.operations.get(request.operation) as string] : calls;
    for (const callee of callees) if (!(yield* this.call(state, callee, request, span))) return 'failed';
    yield* this.compute(state, factor.cpu * 0.4);
    return 'ok';
  }

  private *compute(state: ServiceState, part: number): Process<void> {
    yield* state.cpu.acquire();
    yield* this.time.sleep(this.random.around(state.spec.cpuMs, 0.4) * part * state.slowness());
    state.cpu.release();
  }

  private *query(state: ServiceState, database: ShopDatabase, request: Request, parent: string | null): Process<boolean> {
    const { random, time, record } = this;
    const { name } = state.spec;
    const pool = state.pool;
    const asked = time.now;
    if (pool === null) return true;
    if (!(yield* pool.acquire(database.acquireTimeoutMs))) {
      const counts = `(total ${pool.capacity}, idle 0, waiting ${pool.waiting})`;
      record.log(time.now, name, 'error', `no connection free within ${database.acquireTimeoutMs} ms ${counts}`, request.trace);
      return false;
    }
    const start = time.now;
    const writes = database.hasWrites && random.chance(0.6);
    const locked = writes ? yield* state.row.acquire(ROW_LOCK_TIMEOUT_MS) : true;
    const waited = Math.round(time.now - start);
    if (locked) {
      yield* time.sleep(random.around(database.queryMs, 0.5));
      if (writes) state.row.release();
    }
    if (this.effects.leaks?.(name) !== true) pool.release();
    const statement = `${writes ? 'UPDATE' : 'SELECT'} ${database.table}`;
    this.span(state, request, { parent, operation: statement, kind: 'internal', start: asked, failed: !locked });
    if (!locked) {
      record.log(time.now, name, 'error', `Lock wait timeout exceeded on ${database.table} after ${waited} ms`, request.trace);
    } else if (waited >= SLOW_QUERY_MS) {
      record.log(time.now, name, 'warn', `slow query: ${statement} waited ${waited} ms for a row lock`, request.trace);
    }
    return locked;
  }

  /** Writes the span of something that ends now, where it is traced. */
  private span(
    { spec }: ServiceState,
    { trace, isSampled }: Request,
    { span = this.random.hex(16), ...rest }: Omit<SpanRecord, 'trace' | 'span' | 'service' | 'end'> & { readonly span?: string },
  ): void {
    if (spec.traced && isSampled) this.record.spans.push({ trace, span, service: spec.name, end: this.time.now, ...rest });
  }

  private *call(caller: ServiceState, callee: string, request: Request, parent: string | null): Process<boolean> {
    const { record, time } = this;
    const { name, style, retries, callTimeoutMs, traced } = caller.spec;
    for (let left = retries; ; left -= 1) {
      const start = time.now;
      const span = traced ? this.random.hex(16) : null;
      const outcome = yield* this.attempt(name, callee, request, span ?? parent, callTimeoutMs);
      const failed = outcome !== 'ok';
      const operation = `call ${request.operation}`;
      if (span !== null) this.span(caller, request, { span, parent, operation, kind: 'client', start, failed });
      if (!failed) return true;
      const words = {
        failed: style.words.callFailed(callee),
        timeout: style.words.callTimedOut(callee, callTimeoutMs),
        refused: style.words.refused(callee),
        dropped: style.words.dropped(callee),
      };
      record.log(time.now, name, left > 0 ? 'warn' : 'error', words[outcome], request.trace);
      if (left <= 0) return false;
      record.log(time.now, name, 'info', style.words.retrying(callee), request.trace);
      yield* time.sleep(this.random.within(40, 120));
    }
  }

  /** One call over the network; the caller goes on when its time is up, the callee does not notice. */
  private *attempt(from: string, to: string, request: Request, span: string | null, timeoutMs: number): Process<CallOutcome> {
    const { time } = this;
    return yield* handedOver<CallOutcome>((resume) => {
      let isOpen = true;
      const end = (outcome: CallOutcome): void => {
        if (!isOpen) return;
        isOpen = false;
        resume(outcome);
      };
      time.after(timeoutMs, () => end('timeout'));
      time.start(this.exchange(from, to, request, span), end);
    });
  }

  private *exchange(from: string, to: string, request: Request, span: string | null): Process<CallOutcome> {
    yield* this.time.sleep(this.random.around(0.5, 0.5) + (this.effects.delay?.(from, to) ?? 0));
    const outcome = yield* this.serve(to, request, span);
    yield* this.time.sleep(this.random.around(0.5, 0.5) + (this.effects.delay?.(to, from) ?? 0));
    return outcome;
  }
}
