import type { Assertion, Claim } from '../../src/protocol/executor-evidence';
import { ExecutorGatekeeperService } from '../../src/gatekeeper/executor-gatekeeper.service';
import { MemoryInvocationStore } from './memory-invocation-store';
import { FIELDS, output, RUN, WINDOW } from './shop-calls';

/** Seeded numbers (mulberry32), so that a failure can be seen again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

interface Row {
  readonly service: string;
  readonly lines: number;
  readonly baseline_lines: number;
  readonly error_share: number;
  readonly baseline_error_share: number;
  readonly p99: number;
  readonly baseline_p99: number;
}

const PAIRS = ['lines', 'error_share', 'p99'] as const;
type Measure = (typeof PAIRS)[number];

function rowsOf(random: () => number): Row[] {
  return Array.from({ length: 6 }, (_, index) => ({
    service: `${['cart', 'cart-service', 'pay', 'pay-2', 'ship', 'ship.eu'][index] as string}`,
    lines: 10 + Math.floor(random() * 90_000),
    baseline_lines: random() < 0.2 ? 0 : 10 + Math.floor(random() * 90_000),
    error_share: Number((0.01 + random() * 0.98).toFixed(5)),
    baseline_error_share: Number((0.01 + random() * 0.98).toFixed(5)),
    p99: Number((10 + random() * 9_000).toFixed(3)),
    baseline_p99: Number((10 + random() * 9_000).toFixed(3)),
  }));
}

interface Generated {
  readonly claim: Claim;
  readonly mutations: readonly Claim[];
}

function nextDigit(text: string): string {
  return text.replace(/(\d)(?!.*\d)/, (digit) => String((Number(digit) + 5) % 10));
}

const ROUNDS = 60;

describe('seeded claims and their mutations', () => {
  it(`[B6] [C7] no false pass and no false fail over ${ROUNDS} generated outputs`, async () => {
    const random = seeded(20260504);
    let passed = 0;
    let refused = 0;
    const wrong: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const store = new MemoryInvocationStore();
      const gate = new ExecutorGatekeeperService(store);
      const rows = rowsOf(random);
      const id = store.record({
        runId: RUN,
        arguments: { window: WINDOW, service: null },
        output: output({ rows: rows.map((row) => ({ ...row })) }, { fields: FIELDS }),
      });
      const judge = async (claim: Claim): Promise<string[]> => {
        const document = {
          schema: 'executor_evidence_v2' as const,
          claims: [claim],
          assessments: [],
          limitations: [],
          no_evidence: null,
        };
        return (await gate.validateRun(RUN, document)).checked_bindings.map((binding) => binding.reason_code);
      };
      for (const measure of PAIRS) {
        const index = Math.floor(random() * rows.length);
        for (const { claim, mutations } of claimsOf(rows, index, measure, id)) {
          const codes = await judge(claim);
          if (codes.every((code) => code === 'OK')) passed += 1;
          else wrong.push(`refused ${JSON.stringify([claim, codes, rows[index]])}`);
          for (const mutation of mutations) {
            if ((await judge(mutation)).every((code) => code !== 'OK')) refused += 1;
            else wrong.push(`passed ${JSON.stringify([mutation, rows[index]])}`);
          }
        }
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(passed).toBeGreaterThan(ROUNDS * 10);
    expect(refused).toBeGreaterThan(ROUNDS * 30);
  });
});

function claimsOf(rows: readonly Row[], index: number, measure: Measure, id: string): Generated[] {
  const row = rows[index] as Row;
  const elsewhere = (index + 1) % rows.length;
  const neighbour = rows[elsewhere] as Row;
  const before = row[`baseline_${measure}`];
  const after = row[measure];
  const unit = ({ lines: 'count', error_share: 'ratio', p99: 'ms' } as const)[measure];
  const at = (name: string, place = index): Claim['bindings'][number] => ({
    source_invocation_id: id,
    tool_name: 'error_share',
    raw_path: `/rows/${place}/${name}`,
  });
  const both = [at(`baseline_${measure}`), at(measure)];
  const claimOf = (changes: Partial<Claim>): Claim => ({
    claim_id: 'c',
    kind: 'fact',
    subject: row.service,
    bindings: both,
    ...changes,
  });
  const typed = (assertion: Assertion, bindings = both): Claim => claimOf({ assertion, bindings });
  const swapped = (claim: Claim): Claim => ({ ...claim, subject: neighbour.service });
  const moved = (claim: Claim): Claim => ({
    ...claim,
    bindings: [at(`baseline_${measure}`, elsewhere), ...claim.bindings.slice(1)],
  });
  const all: Generated[] = [];
  const add = (claim: Claim, ...mutations: Claim[]): void => {
    all.push({ claim, mutations: [...mutations, swapped(claim), ...(claim.bindings.length > 1 ? [moved(claim)] : [])] });
  };

  if (before !== after) {
    const op = after > before ? 'rose' : 'fell';
    add(
      typed({ op, left: 0, right: 1, unit }),
      typed({ op: op === 'rose' ? 'fell' : 'rose', left: 0, right: 1, unit }),
      typed({ op: op === 'rose' ? 'fell' : 'rose', left: 1, right: 0, unit }),
      typed({ op, left: 0, right: 1, unit: unit === 'ms' ? 's' : 'percent' }),
    );
    const greater = after > before ? 'greater' : 'less';
    add(typed({ op: greater, left: 1, right: 0, unit }), typed({ op: greater, left: 0, right: 1, unit }));
    const difference = exactDifference(after, before);
    const shown = unit === 'ratio' ? exactDifference(after * 100, before * 100, 3) : difference;
    const stated = unit === 'ratio' ? 'percent' : unit;
    const text = shown.replace(/\.?0+$/, (zeros) => (zeros.startsWith('.') ? '' : shown.includes('.') ? '' : zeros));
    add(
      typed({ op: 'difference', left: 1, right: 0, value: text, unit: stated }),
      typed({ op: 'difference', left: 0, right: 1, value: text, unit: stated }),
      typed({ op: 'difference', left: 1, right: 0, value: nextDigit(text), unit: stated }),
    );
  } else add(typed({ op: 'equals', left: 0, right: 1, unit }), typed({ op: 'rose', left: 0, right: 1, unit }));
  if (before === 0) add(typed({ op: 'appeared', left: 0, right: 1, unit }), typed({ op: 'appeared', left: 1, right: 0, unit }));
  else {
    const change = (((after - before) / before) * 100).toPrecision(9);
    const short = Number(change).toFixed(2);
    const isEdge = /5$/.test(Number(change).toFixed(3));
    if (!isEdge && Number(short) !== 0) {
      add(
        typed({ op: 'percent_change', left: 0, right: 1, value: short, unit: 'percent' }),
        typed({ op: 'percent_change', left: 0, right: 1, value: nextDigit(short), unit: 'percent' }),
      );
    }
    const ratio = (after / before).toPrecision(9);
    const ratioShort = Number(ratio).toFixed(3);
    if (!/5$/.test(Number(ratio).toFixed(4)) && Number(ratioShort) !== 0) {
      add(
        typed({ op: 'ratio', left: 1, right: 0, value: ratioShort }),
        typed({ op: 'ratio', left: 1, right: 0, value: nextDigit(ratioShort) }),
        typed({ op: 'ratio', left: 1, right: 0, value: ratioShort, unit: 'ms' }),
      );
    }
  }
  const value = String(after);
  const alone = [at(measure)];
  add(
    typed({ op: 'equals', left: 0, value, unit }, alone),
    typed({ op: 'equals', left: 0, value: nextDigit(value), unit }, alone),
    typed({ op: 'equals', left: 0, value, unit: unit === 'ms' ? 's' : 'percent' }, alone),
  );
  const said = {
    lines: `${row.service} logged ${value} lines`,
    error_share: `${row.service} had an error share of ${value}`,
    p99: `${row.service} took ${value} ms`,
  }[measure];
  add(
    claimOf({ statement: said, bindings: alone }),
    claimOf({ statement: said.replace(value, nextDigit(value)), bindings: alone }),
    claimOf({ statement: said.replace(row.service, neighbour.service), bindings: alone }),
    claimOf({ statement: said.replace(value, `${value} s`).replace(' s ms', ' s'), bindings: alone }),
  );
  if (measure === 'lines') {
    add(
      typed({ op: 'count', left: 0, value: after, unit }, alone),
      typed({ op: 'count', left: 0, value: after + 1, unit }, alone),
    );
  }
  return all;
}

function exactDifference(a: number, b: number, decimals = 5): string {
  return (Math.round(a * 10 ** decimals) / 10 ** decimals - Math.round(b * 10 ** decimals) / 10 ** decimals).toFixed(decimals);
}
