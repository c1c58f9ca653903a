import type { SeededRandom } from './seeded-random';
import { LINE_STYLES, type LineStyle } from './line-styles';

/** The table that a service keeps in a database of its own, and its pool of connections. */
export interface ShopDatabase {
  readonly table: string;
  readonly connections: number;
  readonly acquireTimeoutMs: number;
  readonly queryMs: number;
  readonly hasWrites: boolean;
}

/** A service of the shop, what it costs to run, and whom it calls, in order. */
export interface ShopService {
  readonly name: string;
  readonly calls: readonly string[];
  readonly depth: number;
  readonly cpuMs: number;
  readonly idleCpu: number;
  readonly memoryMib: number;
  readonly database: ShopDatabase | null;
  readonly callTimeoutMs: number;
  readonly retries: number;
  /** Whether it writes spans; one that does not still hands the trace on. */
  readonly traced: boolean;
  readonly style: LineStyle;
  readonly version: readonly [number, number, number];
}

/** A small shop whose names, size and wiring come from the seed; nothing else knows them. */
export interface Shop {
  readonly front: string;
  readonly services: ReadonlyMap<string, ShopService>;
  /** What customers do, and the service behind the front door that serves it. */
  readonly operations: ReadonlyMap<string, string>;
  /** The operation that the question is about. */
  readonly asked: string;
}

const FIRST = 'bra cel dor fen gri hal jun kel lor mis nor pel qua ris sol tav vel zan'.split(' ');
const LAST = 'bek dan fex gon lim mar nex pod rus tik vok wyn'.split(' ');
const NAMINGS: readonly ((stem: string, random: SeededRandom) => string)[] = [
  (stem, random) => `${stem}-${random.pick(['api', 'service', 'worker', 'core', 'hub'])}`,
  (stem) => `${stem}-service`,
  (stem, random) => `${stem}_${random.pick(['svc', 'backend', 'store'])}`,
  (stem) => stem,
];
const OPERATIONS = ['checkout', 'search', 'payment', 'tracking', 'registration', 'browsing', 'login', 'delivery'];
const TABLES = ['stock_item', 'orders', 'price_rule', 'ledger_entry', 'parcel', 'customer', 'voucher', 'review', 'basket_line'];
const FEWEST_SERVICES = 6;
const MOST_SERVICES = 14;
const MOST_DEPTH = 3;

function serviceNames(random: SeededRandom, count: number): string[] {
  const naming = random.pick(NAMINGS);
  const stems = new Set<string>();
  while (stems.size < count) stems.add(`${random.pick(FIRST)}${random.pick(LAST)}`);
  return [...stems].map((stem) => naming(stem, random));
}

/** Who calls whom: a front door, services behind it that serve an operation each, and the rest below them, each called by somebody. */
function wire(names: readonly string[], random: SeededRandom): Map<string, { calls: string[]; depth: number }> {
  const [front, ...rest] = names as [string, ...string[]];
  const served = Math.min(random.between(2, 4), Math.floor(rest.length / 2));
  const wiring = new Map([[front, { calls: rest.slice(0, served), depth: 0 }]]);
  for (const name of rest.slice(0, served)) wiring.set(name, { calls: [], depth: 1 });
  for (const name of rest.slice(served)) {
    const above = [...wiring].filter(([, { calls, depth }]) => depth >= 1 && depth < MOST_DEPTH && calls.length < 3);
    // A service behind the front door that calls nobody yet goes first, so that requests reach down everywhere.
    const idle = above.filter(([, { calls, depth }]) => depth === 1 && calls.length === 0);
    const callers = random.shuffled(idle.length > 0 ? idle : above).slice(0, random.chance(0.25) ? 2 : 1);
    for (const [, caller] of callers) caller.calls.push(name);
    wiring.set(name, { calls: [], depth: 1 + Math.max(...callers.map(([, { depth }]) => depth)) });
  }
  return wiring;
}

function databaseOf(table: string, random: SeededRandom): ShopDatabase {
  return {
    table,
    connections: random.between(6, 14),
    acquireTimeoutMs: random.pick([1_500, 2_000, 2_500]),
    queryMs: random.within(6, 30),
    hasWrites: random.chance(0.6),
  };
}

/** Builds the shop of a seed: six to fourteen services. */
export function buildShop(random: SeededRandom): Shop {
  const names = serviceNames(random, random.between(FEWEST_SERVICES, MOST_SERVICES));
  const wiring = wire(names, random);
  const tables = random.shuffled(TABLES);
  const services = [...wiring].map(([name, { calls, depth }], index): ShopService => {
    const keepsTable = depth > 0 && (calls.length === 0 || random.chance(0.4));
    return {
      name,
      calls,
      depth,
      cpuMs: random.within(3, 18),
      idleCpu: random.within(0.04, 0.3),
      memoryMib: random.within(140, 620),
      database: keepsTable ? databaseOf(tables[index % tables.length] as string, random) : null,
      callTimeoutMs: [8_000, 5_000, 3_000][Math.min(depth, 2)] as number,
      retries: random.chance(0.3) ? 1 : 0,
      traced: depth < 2 || random.chance(0.9),
      style: random.pick(LINE_STYLES),
      version: [random.between(1, 9), random.between(0, 30), random.between(0, 9)],
    };
  });
  const front = services[0] as ShopService;
  const operations = random.shuffled(OPERATIONS).slice(0, front.calls.length);
  return {
    front: front.name,
    services: new Map(services.map((service) => [service.name, service])),
    operations: new Map(operations.map((operation, index) => [operation, front.calls[index] as string])),
    asked: operations[0] as string,
  };
}

/** Everything that a service calls, directly or through others, with itself first. */
export function reachedFrom(shop: Shop, service: string): string[] {
  const reached = new Set([service]);
  for (const name of reached) for (const callee of shop.services.get(name)?.calls ?? []) reached.add(callee);
  return [...reached];
}

/** Calls that one request of an operation makes inside the shop, its own included. */
export function callsOf(shop: Shop, operation: string): number {
  const below = (name: string): number => (shop.services.get(name)?.calls ?? []).reduce((sum, callee) => sum + below(callee), 1);
  return 1 + below(shop.operations.get(operation) as string);
}
