import type { ServiceEdgeRow } from '../../ports/telemetry-source.port';

/** Who calls whom, from counted or stated calls. It refuses to guess a call that no edge states. */
export class ServicePaths {
  private readonly callees = new Map<string, Set<string>>();
  private readonly callers = new Map<string, Set<string>>();
  private readonly reached = new Map<string, ReadonlySet<string>>();

  constructor(edges: readonly ServiceEdgeRow[]) {
    for (const { caller, callee, count, baseline_count } of edges) {
      const stated = count === null && baseline_count === null;
      if (caller === callee || (!stated && (count ?? 0) + (baseline_count ?? 0) === 0)) continue;
      this.callees.set(caller, (this.callees.get(caller) ?? new Set<string>()).add(callee));
      this.callers.set(callee, (this.callers.get(callee) ?? new Set<string>()).add(caller));
    }
  }

  calleesOf(service: string): ReadonlySet<string> {
    return this.callees.get(service) ?? new Set();
  }

  callersOf(service: string): ReadonlySet<string> {
    return this.callers.get(service) ?? new Set();
  }

  /** Whether any call from or to the service is known. */
  isKnown(service: string): boolean {
    return this.callees.has(service) || this.callers.has(service);
  }

  /** Services that call others and are called by none: where requests come in. */
  entries(): string[] {
    return [...this.callees.keys()].filter((service) => !this.callers.has(service));
  }

  /** Everything that a service calls, directly or through others; never the service itself. */
  belowOf(service: string): ReadonlySet<string> {
    const known = this.reached.get(service);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    const open = [...this.calleesOf(service)];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === service || seen.has(next)) continue;
      seen.add(next);
      open.push(...this.calleesOf(next));
    }
    this.reached.set(service, seen);
    return seen;
  }

  /** Whether requests go from `upper` to `lower` and not back: then trouble of the lower one shows in the upper one. */
  isAbove(upper: string, lower: string): boolean {
    return this.belowOf(upper).has(lower) && !this.belowOf(lower).has(upper);
  }
}
