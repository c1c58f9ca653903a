import type { ServiceState } from './service-state';
import type { ShopSimulation } from './shop-simulation';
import type { Process } from './simulated-time';

const MINUTE = 60_000;

const LOUD = [
  (share: number): string => `cache hit ratio below target: ${share}%`,
  (share: number): string => `deprecated header X-Shop-Client still sent by ${share}% of clients`,
  (share: number): string => `recommendation model is stale, falling back to popular items (${share} misses)`,
  (share: number): string => `disk queue of audit log at ${share}%`,
];
const HICCUPS = [
  ['publish to topic mail delayed, retry', 'publish to topic mail succeeded after retry'],
  ['image thumbnail not ready, retry', 'image thumbnail ready after retry'],
  ['feature service answered late, retry', 'feature service answered after retry'],
] as const;
const SMALL_CHANGES = [
  ['flag', 'flag show-banner switched on for 10% of customers'],
  ['config', 'log retention changed from 14 to 10 days'],
  ['flag', 'flag new-footer switched off'],
  ['config', 'number of warm-up requests changed from 20 to 30'],
] as const;

/** Which services mislead, and when the innocent deploy is. */
export interface HerringPlan {
  readonly noisy: string;
  readonly climbing: string;
  readonly busyByClock: string;
  readonly innocent: string;
  readonly innocentAt: number;
  /** The deploy that is guilty, if one is. */
  readonly guilty: { readonly service: string; readonly at: number } | null;
  readonly onset: number;
}

/** Lets everything run that misleads and harms nobody: it is as it was before the fault, or moves by itself. */
export function startRedHerrings(shop: ShopSimulation, plan: HerringPlan): void {
  const { random, time, states } = shop;
  time.start(loudWarnings(shop, plan.noisy));
  time.start(hiccups(shop, plan.noisy, plan.onset));
  time.start(climbingMemory(shop, plan.climbing));
  time.start(scheduledJob(shop, plan.busyByClock));
  for (const [kind, text] of random.shuffled(SMALL_CHANGES).slice(0, 2)) {
    const service = random.pick([...states.keys()]);
    time.after(random.within(1, 20) * MINUTE, () => shop.record.changes.push({ at: time.now, service, kind, text }));
  }
  const deploys = [{ service: plan.innocent, at: plan.innocentAt }, ...(plan.guilty === null ? [] : [plan.guilty])];
  for (const { service, at } of deploys) time.after(at - time.now, () => deploy(shop, service));
}

function deploy(shop: ShopSimulation, service: string): void {
  const { random, time, record } = shop;
  const state = shop.stateOf(service);
  const [major, minor, patch] = state.spec.version;
  const version = random.chance(0.5) ? `v${major}.${minor + 1}.0` : `v${major}.${minor}.${patch + 1}`;
  const text = random.pick([`deployed ${version}`, `rollout of ${version} finished`, `deployment of ${version} completed`]);
  record.changes.push({ at: time.now, service, kind: 'deploy', text });
  state.restart(false);
  record.log(time.now, service, 'info', `starting version ${version}`);
  time.after(random.within(900, 3_000), () => record.log(time.now, service, 'info', 'listening on port 8080'));
}

function* loudWarnings({ random, time, record }: ShopSimulation, service: string): Process<void> {
  const text = random.pick(LOUD);
  for (;;) {
    yield* time.sleep(random.within(1_500, 4_500));
    record.log(time.now, service, 'warn', text(random.between(40, 69)));
  }
}

/** Retries that get a little more frequent and always succeed. */
function* hiccups({ random, time, record }: ShopSimulation, service: string, onset: number): Process<void> {
  const [late, done] = random.pick(HICCUPS);
  for (;;) {
    yield* time.sleep(time.now >= onset ? random.within(6_000, 14_000) : random.within(9_000, 18_000));
    record.log(time.now, service, 'warn', `${late} ${random.between(1, 2)}`);
    yield* time.sleep(240);
    record.log(time.now, service, 'info', done);
  }
}

/** Memory that climbs all the time, long before anything was wrong. */
function* climbingMemory(shop: ShopSimulation, service: string): Process<void> {
  const state = shop.stateOf(service);
  const perMinute = shop.random.within(0.002, 0.006) * state.spec.memoryMib;
  for (;;) {
    yield* shop.time.sleep(MINUTE);
    state.extraMemoryMib += perMinute;
  }
}

/** A job that comes by the clock, in good times and bad. */
function* scheduledJob(shop: ShopSimulation, service: string): Process<void> {
  const { random, time } = shop;
  const state: ServiceState = shop.stateOf(service);
  const everyMs = random.pick([5, 10]) * MINUTE;
  const cpu = random.within(0.25, 0.4);
  yield* time.sleep(everyMs - (time.now % everyMs));
  for (;;) {
    const start = time.now;
    state.extraCpu = cpu;
    yield* time.sleep(random.within(35_000, 60_000));
    state.extraCpu = 0;
    yield* time.sleep(start + everyMs - time.now);
  }
}
