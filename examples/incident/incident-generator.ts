import { type Fault, type FaultKind, plantFault } from './faults';
import { type HerringPlan, startRedHerrings } from './red-herrings';
import { SeededRandom } from './seeded-random';
import { buildShop, type Shop } from './shop';
import { ShopSimulation } from './shop-simulation';
import { SimulatedTime } from './simulated-time';
import { filesOf, instant } from './telemetry-files';

const MINUTE = 60_000;
const HEALTHY_MINUTES = 40;

export interface Stretch {
  readonly from: string;
  readonly to: string;
}

/** What is true of a generated incident; the product never sees it. */
export interface IncidentTruth {
  readonly seed: number;
  readonly kind: FaultKind;
  readonly variant: string;
  readonly cause: string;
  /** The deploy that set the fault off; null for a fault that no change set off. */
  readonly trigger: { readonly service: string; readonly at: string; readonly text: string } | null;
  readonly innocent_deploy: string;
  readonly noisy_service: string;
  /** The operation that customers complain of, and how. */
  readonly operation: string;
  readonly complaint: Fault['complaint'];
  /** Which services leave spans: the guilty one and nearly all others, not the guilty one, or none. */
  readonly tracing: 'all' | 'without_cause' | 'none';
  readonly healthy: Stretch;
  readonly window: Stretch;
  readonly baseline: Stretch;
}

/** What can be asked for beside seed and kind. */
export interface IncidentSettings {
  /** Spans are kept for so many minutes only, as tracing is dear; null keeps all. @default null */
  readonly spansKeptMinutes?: number | null;
}

export interface GeneratedIncident {
  /** File name -> content, for one telemetry folder. */
  readonly files: ReadonlyMap<string, string>;
  readonly truth: IncidentTruth;
}

/**
 * Makes the telemetry of one incident from a simulation of a small shop: forty healthy minutes, then about a quarter of an hour
 * with one fault, among red herrings, in logs, spans, metrics and changes that agree with each other. Equal seed and kind give
 * equal bytes. It refuses to write files: see `write-incident.ts`.
 */
export function generateIncident(
  seed: number,
  kind: FaultKind,
  { spansKeptMinutes = null }: IncidentSettings = {},
): GeneratedIncident {
  const random = new SeededRandom(seed);
  const start = Date.UTC(2026, random.between(0, 8), random.between(1, 28), random.between(0, 22), random.between(0, 59));
  const noticed = start + HEALTHY_MINUTES * MINUTE;
  const end = noticed + random.between(12, 17) * MINUTE;
  const time = new SimulatedTime(start);
  const planted = plantFault(kind, buildShop(random), random, noticed + random.within(0, 35_000), () => time.now);
  const { fault } = planted;
  const tracing = kind === 'cpu_saturation' ? random.pick(['all', 'without_cause', 'none', 'none'] as const) : 'all';
  const shop = tracing === 'without_cause' ? untraced(planted.shop, fault.service) : planted.shop;
  const herrings = planHerrings(shop, fault, random);
  const simulation = new ShopSimulation(shop, time, fault.effects, random, random.within(0.5, 1));
  startRedHerrings(simulation, herrings);
  simulation.run(end, random.within(4, 9));
  const { record } = simulation;
  const spansFrom = spansKeptMinutes === null ? start : end - spansKeptMinutes * MINUTE;
  const guilty = record.changes.find(({ service, kind: sort }) => service === herrings.guilty?.service && sort === 'deploy');
  return {
    files: filesOf(record, shop, { until: end, spansFrom: tracing === 'none' ? null : spansFrom }),
    truth: {
      seed,
      kind,
      variant: fault.variant,
      cause: fault.service,
      trigger: guilty === undefined ? null : { service: guilty.service, at: instant(guilty.at), text: guilty.text },
      innocent_deploy: herrings.innocent,
      noisy_service: herrings.noisy,
      operation: shop.asked,
      complaint: fault.complaint,
      tracing: tracing === 'none' || shop.services.get(fault.service)?.traced === true ? tracing : 'without_cause',
      healthy: { from: instant(start + 18 * MINUTE), to: instant(start + 32 * MINUTE) },
      window: { from: instant(noticed), to: instant(end) },
      baseline: { from: instant(start), to: instant(noticed - 10 * MINUTE) },
    },
  };
}

/** What somebody on call asks about an incident; without the time it is left to the asked to find it. It gives no service away. */
export function questionOf({ operation, complaint, window }: IncidentTruth, namesTime = true): string {
  return `Why is ${operation} ${complaint}${namesTime ? ` since ${window.from.slice(11, 16)}` : ''}?`;
}

function untraced(shop: Shop, name: string): Shop {
  const services = [...shop.services].map(([key, spec]) => [key, key === name ? { ...spec, traced: false } : spec] as const);
  return { ...shop, services: new Map(services) };
}

function planHerrings(shop: Shop, fault: Fault, random: SeededRandom): HerringPlan {
  const bystanders = [...shop.services.keys()].filter((name) => name !== fault.service && name !== shop.front);
  const [noisy, innocent, climbing, busyByClock] = random.shuffled(bystanders) as [string, string, string, string];
  return {
    noisy,
    innocent,
    climbing,
    busyByClock,
    innocentAt: fault.onset + random.within(-7, 3) * MINUTE,
    guilty: fault.kind === 'bad_deploy' ? { service: fault.service, at: fault.onset - random.within(2_000, 25_000) } : null,
    onset: fault.onset,
  };
}
