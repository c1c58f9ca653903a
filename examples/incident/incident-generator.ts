import { type Fault, type FaultKind, plantFault, symptomOf } from './faults';
import { SeededRandom } from './seeded-random';
import { buildShop, type Shop } from './shop';

const MINUTE = 60_000;
const START = Date.parse('2026-05-04T13:25:00.000Z');
const ONSET = Date.parse('2026-05-04T14:05:00.000Z');
const END = Date.parse('2026-05-04T14:20:00.000Z');
const CALLER_TIMEOUT_MS = 5_000;

/** What is true of a generated incident; the product never sees it. */
export interface IncidentTruth {
  readonly seed: number;
  readonly kind: FaultKind;
  readonly cause: string;
  readonly innocent_deploy: string;
  readonly noisy_service: string;
  readonly healthy: { readonly from: string; readonly to: string };
  readonly window: { readonly from: string; readonly to: string };
  readonly baseline: { readonly from: string; readonly to: string };
}

export interface GeneratedIncident {
  /** File name -> content, for one telemetry folder. */
  readonly files: ReadonlyMap<string, string>;
  readonly truth: IncidentTruth;
}

interface LogLine {
  readonly at: number;
  readonly service: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly trace: string | null;
  readonly text: string;
}

class ShopLog {
  readonly lines: LogLine[] = [];

  constructor(
    private readonly shop: Shop,
    private readonly fault: Fault,
    private readonly random: SeededRandom,
  ) {}

  write(at: number, service: string, level: LogLine['level'], trace: string | null, text: string): void {
    this.lines.push({ at, service, level, trace, text });
  }

  /** One customer request through the shop; answers when it was over and whether it went well. */
  request(at: number, operation: string): void {
    const trace = this.random.hex(32);
    const { front } = this.shop;
    const middle = this.shop.operations.get(operation) as string;
    this.write(at, front, 'info', trace, `incoming ${operation} request`);
    if (this.random.chance(0.004)) {
      this.write(at + this.random.between(5, 40), front, 'error', trace, 'client closed the connection before the answer');
      return;
    }
    const inner = this.serve(at + this.random.between(1, 4), middle, trace);
    const status = inner.failed ? 502 : 200;
    this.write(
      inner.at + this.random.between(1, 3),
      front,
      inner.failed ? 'error' : 'info',
      trace,
      inner.failed
        ? `${operation} request failed with status ${status}: upstream ${middle} did not succeed`
        : `${operation} request answered with status ${status} in ${inner.at - at} ms`,
    );
  }

  private serve(start: number, service: string, trace: string): { at: number; failed: boolean } {
    const { random } = this;
    let at = start + random.between(0, 2);
    this.write(at, service, 'info', trace, 'request accepted');
    if (service === this.fault.service && at >= ONSET && random.chance(this.fault.share)) {
      const symptom = symptomOf(this.fault, random);
      for (const line of symptom.lines) {
        at += line.afterMs;
        this.write(at, service, line.level, trace, line.text);
      }
      if (symptom.ends === 'error') return { at, failed: true };
      if (symptom.ends === 'timeout') return { at: start + CALLER_TIMEOUT_MS, failed: true };
    }
    for (const callee of this.shop.services.get(service)?.calls ?? []) {
      at += random.between(1, 5);
      const answer = this.serve(at, callee, trace);
      at = answer.at + random.between(0, 2);
      if (answer.failed) {
        const late = answer.at - start >= CALLER_TIMEOUT_MS;
        this.write(
          at,
          service,
          'error',
          trace,
          late ? `call to ${callee} timed out after ${CALLER_TIMEOUT_MS} ms` : `call to ${callee} failed with status 500`,
        );
        return { at, failed: true };
      }
      this.write(at, service, 'info', trace, `call to ${callee} took ${answer.at - start} ms`);
    }
    at += random.between(2, 25);
    this.write(at, service, 'info', trace, `request done in ${at - start} ms`);
    return { at, failed: false };
  }

  /** Warnings that are always there, retries that rise a little and do no harm, and deploys, one of them innocent. */
  redHerrings(noisy: string, innocent: string): void {
    const { random } = this;
    for (let at = START; at < END; at += random.between(1_500, 4_500)) {
      this.write(at, noisy, 'warn', null, `cache hit ratio below target: ${random.between(40, 69)}%`);
    }
    for (let at = START; at < END; at += at >= ONSET ? random.between(6_000, 14_000) : random.between(9_000, 18_000)) {
      this.write(at, noisy, 'warn', null, `publish to topic mail delayed, retry ${random.between(1, 2)}`);
      this.write(at + 240, noisy, 'info', null, 'publish to topic mail succeeded after retry');
    }
    this.deploy(ONSET - random.between(3, 6) * MINUTE, innocent);
    if (this.fault.kind === 'bad_deploy') this.deploy(ONSET - 20_000, this.fault.service);
  }

  private deploy(at: number, service: string): void {
    const { random } = this;
    this.write(
      at,
      service,
      'info',
      null,
      `deployment of version v${random.between(1, 9)}.${random.between(0, 30)}.${random.between(0, 9)} finished`,
    );
  }
}

/**
 * Makes the telemetry of one incident: forty healthy minutes, then fifteen with one fault, among red herrings. Equal seed and kind
 * give equal bytes. It refuses to write files: see `write-incident.ts`.
 */
export function generateIncident(seed: number, kind: FaultKind): GeneratedIncident {
  const random = new SeededRandom(seed);
  const shop = buildShop(random);
  const fault = plantFault(kind, shop, random);
  const bystanders = [...shop.services.keys()].filter((name) => name !== fault.service && name !== shop.front);
  const [noisy, innocent] = random.shuffled(bystanders) as [string, string];
  const log = new ShopLog(shop, fault, random);
  const operations = [...shop.operations.keys()];
  for (let at = START; at < END - CALLER_TIMEOUT_MS; at += random.between(700, 2_300)) log.request(at, random.pick(operations));
  log.redHerrings(noisy, innocent);
  const lines = log.lines
    .filter((line) => line.at < END)
    .sort((a, b) => a.at - b.at)
    .map((line) =>
      JSON.stringify({
        time: new Date(line.at).toISOString(),
        level: line.level,
        service: line.service,
        ...(line.trace === null ? {} : { trace_id: line.trace }),
        msg: line.text,
      }),
    );
  const instant = (at: number): string => new Date(at).toISOString();
  return {
    files: new Map([['shop.jsonl', `${lines.join('\n')}\n`]]),
    truth: {
      seed,
      kind,
      cause: fault.service,
      innocent_deploy: innocent,
      noisy_service: noisy,
      healthy: { from: instant(START + 20 * MINUTE), to: instant(START + 35 * MINUTE) },
      window: { from: instant(ONSET), to: instant(END) },
      baseline: { from: instant(START), to: instant(ONSET - 10 * MINUTE) },
    },
  };
}
