import type { SeededRandom } from './seeded-random';
import type { Shop } from './shop';

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

/** What a faulty service writes while it handles one request, and how the request ends for its caller. */
export interface FaultSymptom {
  readonly lines: readonly { readonly level: 'info' | 'warn' | 'error'; readonly text: string; readonly afterMs: number }[];
  readonly ends: 'error' | 'timeout' | 'ok';
}

/** A planted fault: the guilty service, and the share of its requests that suffer. */
export interface Fault {
  readonly kind: FaultKind;
  readonly service: string;
  readonly share: number;
}

/** Chooses the guilty service and how hard it is hit; always one that checkouts pass through. */
export function plantFault(kind: FaultKind, shop: Shop, random: SeededRandom): Fault {
  const [b1, b2] = shop.back as [string, string, string];
  const service = kind === 'slow_dependency' ? random.pick([b1, b2]) : random.pick([shop.middle[0] as string, b1, b2]);
  return { kind, service, share: random.between(35, 70) / 100 };
}

/** What one suffering request of the guilty service looks like. */
export function symptomOf(fault: Fault, random: SeededRandom): FaultSymptom {
  const order = random.between(10_000, 99_999);
  switch (fault.kind) {
    case 'database_lock': {
      const waited = random.between(2_000, 4_900);
      return {
        lines: [
          { level: 'warn', text: `waiting for row lock on table stock_item for ${waited} ms`, afterMs: waited },
          { level: 'error', text: `Lock wait timeout exceeded for order ${order}; transaction rolled back`, afterMs: 60 },
        ],
        ends: 'error',
      };
    }
    case 'pool_exhaustion':
      return {
        lines: [
          {
            level: 'error',
            text: `no connection available from pool within 3000 ms (active=20 idle=0 waiting=${random.between(12, 80)})`,
            afterMs: 3_000,
          },
        ],
        ends: 'error',
      };
    case 'cpu_saturation': {
      const late = random.between(700, 2_400);
      const lines: FaultSymptom['lines'] = [
        { level: 'warn', text: `event loop delayed by ${late} ms, cpu at ${random.between(96, 100)}%`, afterMs: late },
      ];
      return random.chance(0.7)
        ? {
            lines: [
              ...lines,
              { level: 'error', text: `request ${order} given up after 5000 ms: worker starved`, afterMs: 2_500 },
            ],
            ends: 'error',
          }
        : { lines, ends: 'ok' };
    }
    case 'slow_dependency':
      return {
        lines: [{ level: 'warn', text: `slow request: served in ${random.between(5_100, 9_000)} ms`, afterMs: 5_050 }],
        ends: 'timeout',
      };
    case 'error_burst':
      return {
        lines: [
          {
            level: 'error',
            text: `unhandled TypeError in handler: cannot read property rate of undefined (order ${order})`,
            afterMs: 4,
          },
        ],
        ends: 'error',
      };
    case 'bad_deploy':
      return {
        lines: [{ level: 'error', text: `cannot decode field total of order ${order}: unexpected schema revision`, afterMs: 3 }],
        ends: 'error',
      };
  }
}
