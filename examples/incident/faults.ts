import type { SeededRandom } from './seeded-random';
import { reachedFrom, type Shop, type ShopDatabase, type ShopService } from './shop';
import type { FaultEffects, OwnError } from './shop-simulation';
import type { ServiceState } from './service-state';

/** The six kinds of fault that the generator can plant. */
export const FAULT_KINDS = [
  'database_lock',
  'pool_exhaustion',
  'cpu_saturation',
  'slow_dependency',
  'error_burst',
  'bad_deploy',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A planted fault: which service is guilty, in which way, from when on, and what that does to the shop. */
export interface Fault {
  readonly kind: FaultKind;
  readonly variant: string;
  readonly service: string;
  readonly onset: number;
  /** What a customer says of it. */
  readonly complaint: 'failing' | 'slow';
  readonly effects: FaultEffects;
}

/** What a fault is made from. */
interface Plant {
  readonly service: string;
  /** Processor time of one of its requests. */
  readonly cpuMs: number;
  readonly onset: number;
  readonly now: () => number;
  readonly random: SeededRandom;
}

type Planted = Pick<Fault, 'variant' | 'complaint' | 'effects'>;

const EXCEPTIONS = [
  (field: string): OwnError => ({
    text: `TypeError: Cannot read properties of undefined (reading '${field}')`,
    stack: [`    at priceOf (/srv/app/dist/${field}.js:41:23)`, '    at handle (/srv/app/dist/handler.js:88:11)'],
  }),
  (field: string): OwnError => ({
    text: `java.lang.IllegalStateException: no rule applies to ${field}`,
    stack: [`\tat shop.rules.Engine.select(Engine.java:112)`, '\tat shop.web.Handler.handle(Handler.java:57)'],
  }),
  (field: string): OwnError => ({ text: `unexpected value for ${field}: out of range`, stack: [] }),
];
const DECODE_ERRORS = [
  (field: string): OwnError => ({ text: `cannot decode field ${field}: unknown schema revision`, stack: [] }),
  (field: string): OwnError => ({
    text: `ValueError: missing required key ${field}`,
    stack: ['Traceback (most recent call last):', '  File "/srv/app/decode.py", line 77, in decode'],
  }),
  (field: string): OwnError => ({
    text: `TypeError: ${field}.map is not a function`,
    stack: ['    at decode (/srv/app/dist/decode.js:19:14)'],
  }),
];
const FIELDS = ['rate', 'total', 'currency', 'weight', 'discount', 'address'];

/** A transaction that somebody left running takes the row again and again, for seconds each time. */
function databaseLock({ service, onset, random }: Plant): Planted {
  const hold = random.within(1_400, 3_200);
  return {
    variant: 'row_lock',
    complaint: 'slow',
    effects: {
      *run(shop) {
        const { row } = shop.stateOf(service);
        yield* shop.time.sleep(onset - shop.time.now);
        for (;;) {
          yield* row.acquire();
          yield* shop.time.sleep(random.around(hold, 0.3));
          row.release();
          yield* shop.time.sleep(random.within(150, 900));
        }
      },
    },
  };
}

/** Requests forget to give connections back; some pools take lost ones back after a while. */
function poolExhaustion({ service, onset, now, random }: Plant): Planted {
  const share = random.within(0.3, 0.8);
  const reclaimMs = random.chance(0.5) ? random.within(80_000, 150_000) : null;
  let lost = 0;
  const poolOf = ({ pool }: ServiceState): NonNullable<ServiceState['pool']> => pool as NonNullable<ServiceState['pool']>;
  return {
    variant: reclaimMs === null ? 'leak' : 'leak_reclaimed',
    complaint: 'failing',
    effects: {
      leaks: (name) => {
        if (name !== service || now() < onset || !random.chance(share)) return false;
        lost += 1;
        return true;
      },
      *run(shop) {
        const pool = poolOf(shop.stateOf(service));
        yield* shop.time.sleep(onset - shop.time.now);
        while (reclaimMs !== null) {
          yield* shop.time.sleep(reclaimMs);
          for (; lost > 0; lost -= 1) pool.release();
        }
      },
    },
  };
}

/** Something that is no request eats the processors: a runaway loop, or a collector that fights for memory. */
function cpuSaturation({ service, onset, random }: Plant): Planted {
  const leaks = random.chance(0.4);
  const eaten = random.within(0.88, 0.96);
  const growMs = random.within(3, 6) * 60_000;
  const memory = random.within(0.7, 1.6);
  return {
    variant: leaks ? 'memory_leak' : 'runaway',
    complaint: 'slow',
    effects: {
      *run(shop) {
        const state = shop.stateOf(service);
        yield* shop.time.sleep(onset - shop.time.now);
        for (;;) {
          const filled = leaks ? Math.min(1, (shop.time.now - onset) / growMs) : 1;
          state.extraCpu = Math.max(0, eaten * filled ** 2 - state.spec.idleCpu) * random.around(1, 0.03);
          if (leaks) state.extraMemoryMib = state.spec.memoryMib * memory * filled;
          yield* shop.time.sleep(5_000);
        }
      },
    },
  };
}

/** Messages to and from the service are late; it notices nothing itself. */
function slowDependency({ service, onset, now, random }: Plant): Planted {
  const late = random.within(90, 400);
  return {
    variant: 'network_delay',
    complaint: 'slow',
    effects: {
      delay: (from, to) => ((from === service || to === service) && now() >= onset ? random.around(late, 0.25) : 0),
    },
  };
}

/** The service throws in a share of its requests, or dies again and again without a word. */
function errorBurst({ service, onset, now, random }: Plant): Planted {
  if (random.chance(0.4)) {
    const [down, up] = [random.within(25_000, 60_000), random.within(8_000, 30_000)];
    return {
      variant: 'crash_loop',
      complaint: 'failing',
      effects: {
        *run(shop) {
          const state = shop.stateOf(service);
          yield* shop.time.sleep(onset - shop.time.now);
          for (;;) {
            state.isDown = true;
            state.restart(true);
            yield* shop.time.sleep(random.around(down, 0.2));
            state.isDown = false;
            state.restart(false);
            shop.record.log(shop.time.now, service, 'info', 'listening on port 8080');
            yield* shop.time.sleep(random.around(up, 0.2));
          }
        },
      },
    };
  }
  const error = random.pick(EXCEPTIONS)(random.pick(FIELDS));
  const share = random.within(0.3, 0.75);
  return {
    variant: 'exception',
    complaint: 'failing',
    effects: { fails: (name) => (name === service && now() >= onset && random.chance(share) ? error : null) },
  };
}

/** A version that cannot read what it is sent, or that asks the database for every item by itself. */
function badDeploy({ service, cpuMs, onset, now, random }: Plant): Planted {
  if (random.chance(0.35)) {
    const factor = { cpu: random.within(120, 420) / cpuMs, queries: random.between(8, 20) };
    return {
      variant: 'slow_version',
      complaint: 'slow',
      effects: { work: (name) => (name === service && now() >= onset ? factor : { cpu: 1, queries: 1 }) },
    };
  }
  const error = random.pick(DECODE_ERRORS)(random.pick(FIELDS));
  const share = random.within(0.3, 0.8);
  return {
    variant: 'failing_version',
    complaint: 'failing',
    effects: { fails: (name) => (name === service && now() >= onset && random.chance(share) ? error : null) },
  };
}

const PLANTS: Readonly<Record<FaultKind, (plant: Plant) => Planted>> = {
  database_lock: databaseLock,
  pool_exhaustion: poolExhaustion,
  cpu_saturation: cpuSaturation,
  slow_dependency: slowDependency,
  error_burst: errorBurst,
  bad_deploy: badDeploy,
};

/** Kinds that need a database, and what it needs at least. */
const NEEDED: Partial<Record<FaultKind, Partial<ShopDatabase>>> = { database_lock: { hasWrites: true }, pool_exhaustion: {} };
/** Least processor time of a request that somebody notices when it takes many times as long. */
const NOTICED_CPU_MS = 10;

/**
 * Chooses the guilty service, always one that the asked operation passes through and never the front door, and makes its
 * fault. The shop comes back with what the kind needs of that service.
 */
export function plantFault(
  kind: FaultKind,
  shop: Shop,
  random: SeededRandom,
  onset: number,
  now: () => number,
): { readonly fault: Fault; readonly shop: Shop } {
  const passed = reachedFrom(shop, shop.operations.get(shop.asked) as string);
  const needed = NEEDED[kind];
  const able = needed === undefined ? passed : passed.filter((name) => shop.services.get(name)?.database !== null);
  const service = random.pick(able);
  const known = shop.services.get(service) as ShopService;
  const database = known.database === null ? null : { ...known.database, ...needed };
  const cpuMs = kind === 'cpu_saturation' ? Math.max(NOTICED_CPU_MS, known.cpuMs) : known.cpuMs;
  // What only spans can show needs them.
  const traced = kind === 'slow_dependency' || known.traced;
  const changed = { ...shop, services: new Map([...shop.services, [service, { ...known, database, cpuMs, traced }]]) };
  return { shop: changed, fault: { kind, service, onset, ...PLANTS[kind]({ service, cpuMs, onset, now, random }) } };
}
