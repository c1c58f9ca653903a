import type { SeededRandom } from './seeded-random';

/** A service of the shop and whom it calls, in order, for each of its operations. */
export interface ShopService {
  readonly name: string;
  readonly calls: readonly string[];
}

/** A small shop: one front door, three middle services, three at the back. Names are random; nothing else knows them. */
export interface Shop {
  readonly front: string;
  readonly middle: readonly string[];
  readonly back: readonly string[];
  readonly services: ReadonlyMap<string, ShopService>;
  /** What customers do, and the middle service that serves it. */
  readonly operations: ReadonlyMap<string, string>;
}

const FIRST = [
  'bra',
  'cel',
  'dor',
  'fen',
  'gri',
  'hal',
  'jun',
  'kel',
  'lor',
  'mis',
  'nor',
  'pel',
  'qua',
  'ris',
  'sol',
  'tav',
  'vel',
  'zan',
];
const LAST = ['bek', 'dan', 'fex', 'gon', 'lim', 'mar', 'nex', 'pod', 'rus', 'tik', 'vok', 'wyn'];
const KIND = ['api', 'service', 'worker', 'core', 'hub'];
const OPERATIONS = ['checkout', 'search', 'account'];

function serviceNames(random: SeededRandom, count: number): string[] {
  const names = new Set<string>();
  while (names.size < count) names.add(`${random.pick(FIRST)}${random.pick(LAST)}-${random.pick(KIND)}`);
  return [...names];
}

/** Builds the shop of a seed. `checkout` goes through the first middle service and two at the back. */
export function buildShop(random: SeededRandom): Shop {
  const [front, m1, m2, m3, b1, b2, b3] = serviceNames(random, 7) as [string, string, string, string, string, string, string];
  const services: ShopService[] = [
    { name: front, calls: [] },
    { name: m1, calls: [b1, b2] },
    { name: m2, calls: [b3] },
    { name: m3, calls: [b2] },
    { name: b1, calls: [] },
    { name: b2, calls: [] },
    { name: b3, calls: [] },
  ];
  const middle = [m1, m2, m3];
  return {
    front,
    middle,
    back: [b1, b2, b3],
    services: new Map(services.map((service) => [service.name, service])),
    operations: new Map(OPERATIONS.map((operation, index) => [operation, middle[index] as string])),
  };
}
