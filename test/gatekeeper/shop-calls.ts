import type { Binding, Claim, ExecutorEvidence } from '../../src/protocol/executor-evidence';
import type { JsonObject } from '../../src/protocol/json-value';
import type { ToolOutput } from '../../src/protocol/tool-output';
import { ExecutorGatekeeperService } from '../../src/gatekeeper/executor-gatekeeper.service';
import type { GatekeeperResult } from '../../src/protocol/gatekeeper-result';
import { MemoryInvocationStore } from './memory-invocation-store';

export const RUN = '0196a000-0000-7000-8000-000000000001';
const OTHER_RUN = '0196a000-0000-7000-8000-000000000002';
export const WINDOW = { from: '2026-05-04T14:00:00.000Z', to: '2026-05-04T14:10:00.000Z' };

export const FIELDS: ToolOutput['fields'] = {
  service: { unit: 'text', entity: true },
  error_share: { unit: 'ratio', window: 'incident' },
  baseline_error_share: { unit: 'ratio', window: 'baseline' },
  lines: { unit: 'count', window: 'incident' },
  baseline_lines: { unit: 'count', window: 'baseline' },
  error_lines: { unit: 'count', window: 'incident' },
  baseline_error_lines: { unit: 'count', window: 'baseline' },
  p99: { unit: 'ms', window: 'incident' },
  baseline_p99: { unit: 'ms', window: 'baseline' },
  rate: { unit: 'per_minute', window: 'incident' },
  heap: { unit: 'MiB', window: 'incident' },
  first_seen: { unit: 'instant' },
  last_seen: { unit: 'instant' },
  sample: { unit: 'text', text_zone: '+08:00' },
  score: { unit: 'none', concludes: true },
};

export function output(data: ToolOutput['data'], changes: Partial<ToolOutput> = {}): ToolOutput {
  return {
    matched_count: 2,
    records_scanned: 5_000,
    records_rejected: 0,
    complete: true,
    coverage: { from: WINDOW.from, to: WINDOW.to, filter: null },
    fields: FIELDS,
    server_time: null,
    data,
    ...changes,
  };
}

const ROWS = [
  {
    service: 'cart-service',
    error_share: 0.4549,
    baseline_error_share: 0.008,
    lines: 1234,
    baseline_lines: 1250,
    error_lines: 561,
    baseline_error_lines: 0,
    p99: 1532,
    baseline_p99: 120.5,
    rate: 123.4,
    heap: 1.5,
    first_seen: '2026-05-04T14:02:03.500Z',
    last_seen: '2026-05-04T14:07:03.500Z',
    sample: '2026-05-04 22:02:03.500 ERROR Timeout   after 1532 ms calling db-1:5432, retry three of 5',
    score: 9.5,
    note: '',
    missing: null,
  },
  {
    service: 'cart',
    error_share: 0.02,
    baseline_error_share: 0.021,
    lines: 800,
    baseline_lines: 790,
    error_lines: 16,
    baseline_error_lines: 17,
    p99: 99,
    baseline_p99: 101,
    rate: 80,
    heap: 2,
    first_seen: '2026-05-04T14:00:00.000Z',
    last_seen: '2026-05-04T14:09:59.000Z',
    sample: 'all quiet here',
    score: 0.1,
    note: 'n/a',
    missing: null,
  },
];

export const TEXT = Array.from({ length: 60 }, (_, index) => `line ${index + 1} of cart-service: took ${index * 7} ms`).join(
  '\n',
);
export const PATTERN_ARGS = { window: WINDOW, baseline: null, service: 'cart-service', contains: 'deadlock', limit: 20 };

/** A run with calls of every status, and a claim to start from. */
export class ShopRun {
  readonly store = new MemoryInvocationStore();
  readonly gate = new ExecutorGatekeeperService(this.store);
  readonly share = this.add(
    { window: WINDOW, baseline: null, service: null, limit: 20 },
    output({ rows: ROWS, summary: { records_scanned: 5000 } }),
  );
  readonly text = this.add({ file: 'cart.log' }, output(TEXT, { fields: {} }), 'read_lines');
  readonly truncated = this.add({ window: WINDOW }, output({ rows: ROWS }), 'error_share', 'TRUNCATED');
  readonly failed = this.add(
    { service: 'cart' },
    output({ error: { code: 'TOOL_FAILED', message: 'the source cart did not answer' } }, { complete: false }),
    'error_share',
    'ERROR',
  );
  readonly denied = this.add({}, output({ error: { code: 'TOOL_BLOCKED', message: 'no' } }), 'error_share', 'DENIED');
  readonly running = this.add({}, output({ rows: ROWS }), 'error_share', 'RUNNING');
  readonly foreign = this.store.record({ runId: OTHER_RUN, output: output({ rows: ROWS }) });
  readonly corrupt = this.store.record({ runId: RUN, output: null });
  readonly absent = this.absence();

  add(
    args: JsonObject,
    out: ToolOutput | string,
    tool_name = 'error_share',
    status: 'OK' | 'TRUNCATED' | 'ERROR' | 'DENIED' | 'RUNNING' = 'OK',
  ): string {
    return this.store.record({ runId: RUN, arguments: args, output: out, tool_name, status });
  }

  absence(
    changes: Partial<ToolOutput> = {},
    args: JsonObject = PATTERN_ARGS,
    status: 'OK' | 'TRUNCATED' | 'ERROR' = 'OK',
  ): string {
    const summary = { matched_count: changes.matched_count ?? 0, records_scanned: changes.records_scanned ?? 5000 };
    return this.add(args, output({ patterns: [], summary }, { matched_count: 0, ...changes }), 'log_patterns', status);
  }

  at(raw_path: string, quote?: string, source_invocation_id = this.share, tool_name = 'error_share'): Binding {
    return { source_invocation_id, tool_name, raw_path, ...(quote === undefined ? {} : { quote }) };
  }

  check(claims: Claim[], assessments: ExecutorEvidence['assessments'] = []): Promise<GatekeeperResult> {
    return this.gate.validateRun(RUN, {
      schema: 'executor_evidence_v2',
      claims,
      assessments,
      limitations: [],
      no_evidence: null,
    });
  }
}

export function fact(changes: Partial<Claim> & Pick<Claim, 'bindings'>): Claim {
  return { claim_id: 'c1', kind: 'fact', subject: 'cart-service', ...changes };
}
