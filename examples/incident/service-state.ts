import { LimitedResource } from './limited-resource';
import type { SeededRandom } from './seeded-random';
import type { ShopService } from './shop';
import type { SimulatedTime } from './simulated-time';
import type { TelemetryRecord } from './telemetry-record';

/** Seconds between two values of a metric. */
export const SAMPLE_S = 15;
const CORES = 2;
const START_UP_MS = 25_000;
const WARM_UP_MS = 180_000;
const MINUTE = 60_000;

/** A service while the shop runs: what it holds, and what its metrics are counted from. */
export class ServiceState {
  readonly cpu: LimitedResource;
  readonly pool: LimitedResource | null;
  /** The row that all writers of its table want. */
  readonly row: LimitedResource;
  isDown = false;
  /** Goes up with each crash: work of an earlier life is lost. */
  life = 0;
  /** Part of the processors that work takes which is no request, 0 to 1, beside what it always takes. */
  extraCpu = 0;
  extraMemoryMib = 0;
  private startedAt: number;
  private requests = 0;
  private errors = 0;
  private latencies: number[] = [];
  private readonly sawtooth: { readonly mib: number; readonly everyMs: number; readonly phase: number };

  constructor(
    readonly spec: ShopService,
    private readonly time: SimulatedTime,
    private readonly random: SeededRandom,
  ) {
    this.cpu = new LimitedResource(time, CORES);
    this.pool = spec.database === null ? null : new LimitedResource(time, spec.database.connections);
    this.row = new LimitedResource(time, 1);
    this.startedAt = time.now - random.between(3, 90) * 60 * MINUTE;
    this.sawtooth = { mib: random.within(8, 45), everyMs: random.within(2, 7) * MINUTE, phase: random.next() };
  }

  /** Starts anew: cold, and after a crash without the work that was under way. */
  restart(losesWork: boolean): void {
    if (losesWork) this.life += 1;
    this.startedAt = this.time.now;
  }

  /** Processors that are busy without any request, 0 to 1. */
  ambientCpu(): number {
    const startUp = this.time.now - this.startedAt < START_UP_MS ? 0.45 : 0;
    return Math.min(0.97, this.spec.idleCpu + this.extraCpu + startUp);
  }

  /** How much longer work takes because something else has the processors. */
  slowness(): number {
    return 1 / (1 - Math.max(0, this.ambientCpu() - 0.4) / 0.6);
  }

  answered(ms: number, failed: boolean): void {
    this.requests += 1;
    if (failed) this.errors += 1;
    this.latencies.push(ms);
  }

  /** Writes the metrics of the last interval; a service that is down writes none. */
  sample(record: TelemetryRecord): void {
    const { spec, random } = this;
    const busy = this.cpu.takeBusy() / (SAMPLE_S * 1_000 * CORES);
    const { requests, errors, latencies } = this;
    [this.requests, this.errors, this.latencies] = [0, 0, []];
    if (this.isDown) return;
    const put = (metric: string, value: number, unit: string): void => {
      record.samples.push({ at: this.time.now, service: spec.name, metric, value, unit });
    };
    put('cpu_usage', Math.min(1, Math.max(0.01, this.ambientCpu() * random.around(1, 0.06) + busy)), 'ratio');
    put('memory_used', this.memory(requests), 'MiB');
    put('request_rate', requests / SAMPLE_S, '1/s');
    if (requests > 0) {
      put('error_ratio', errors / requests, 'ratio');
      const sorted = latencies.sort((a, b) => a - b);
      put('latency_p95', sorted[Math.ceil(sorted.length * 0.95) - 1] as number, 'ms');
    }
    if (this.pool !== null) put('pool_in_use', this.pool.inUse, 'connections');
    put('queue_depth', this.cpu.waiting + (this.pool?.waiting ?? 0), 'requests');
  }

  private memory(requests: number): number {
    const { spec, random, sawtooth } = this;
    const age = this.time.now - this.startedAt;
    const warm = 1 - 0.3 * Math.exp(-age / WARM_UP_MS);
    const tooth = ((this.time.now / sawtooth.everyMs + sawtooth.phase) % 1) * sawtooth.mib;
    return spec.memoryMib * warm * random.around(1, 0.004) + tooth + requests * 0.4 + this.extraMemoryMib;
  }
}
