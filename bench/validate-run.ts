import { ExecutorGatekeeperService } from '../src/gatekeeper/executor-gatekeeper.service';
import { DiagnosisError } from '../src/errors/diagnosis-error';
import { ToolInvocationStore, type InvocationRecord } from '../src/ports/tool-invocation-store.port';
import type { Binding, Claim, ExecutorEvidence } from '../src/protocol/executor-evidence';
import { mintInvocationId } from '../src/protocol/invocation-id';
import type { ToolOutput } from '../src/protocol/tool-output';

const RUN = 'bench-run';
const BINDINGS = 20;
const ROUNDS = 9;
const REPEATS = 5;

interface Measured {
  readonly name: string;
  readonly ratio: number;
  readonly limit: number | null;
}

/** One recorded call whose output is held in memory. */
class OneCallStore extends ToolInvocationStore {
  private readonly record: InvocationRecord;

  constructor(
    tool_name: string,
    private readonly output: string,
  ) {
    super();
    this.record = {
      id: 'row-1',
      run_id: RUN,
      invocation_id: mintInvocationId(RUN, 1),
      call_key: 'key-1',
      round: 0,
      ordinal: 1,
      tool_name,
      arguments: '{"service":"unit-7"}',
      status: 'OK',
      output_sha256: null,
      output_bytes: output.length,
      error_code: null,
      started_at: new Date(0),
      duration_ms: 1,
    };
  }

  listByRun(): Promise<InvocationRecord[]> {
    return Promise.resolve([this.record]);
  }

  existsInAnotherRun(): Promise<boolean> {
    return Promise.resolve(false);
  }

  readOutput(): Promise<string> {
    return Promise.resolve(this.output);
  }

  begin(): Promise<never> {
    return unused();
  }

  finish(): Promise<never> {
    return unused();
  }

  findOfRun(): Promise<never> {
    return unused();
  }
}

function unused(): Promise<never> {
  return Promise.reject(new DiagnosisError('INTERNAL', 'The bench only reads.'));
}

const ENVELOPE: Omit<ToolOutput, 'data' | 'fields'> = {
  matched_count: 1,
  records_scanned: 1_000,
  records_rejected: 0,
  complete: true,
  coverage: { from: null, to: null, filter: null },
  server_time: null,
};

function rowsOutput(): { output: string; rows: number } {
  const rows: { service: string; sample: string; count: number; baseline_count: number; share: number }[] = [];
  for (let size = 0; size < 1_000_000; size += 190) {
    const index = rows.length;
    rows.push({
      service: `unit-${index % 10}`,
      sample: `2026-05-04T14:05:${String(index % 60).padStart(2, '0')}Z WARN request ${index} of "tenant" took ${index % 977} ms, retried once`,
      count: (index % 90) + 10,
      baseline_count: index % 10,
      share: ((index % 977) + 1) / 1000,
    });
  }
  const fields: ToolOutput['fields'] = {
    service: { unit: 'text', entity: true },
    sample: { unit: 'text' },
    count: { unit: 'count', window: 'incident' },
    baseline_count: { unit: 'count', window: 'baseline' },
    share: { unit: 'ratio', window: 'incident' },
  };
  return { output: JSON.stringify({ ...ENVELOPE, fields, data: { rows } } satisfies ToolOutput), rows: rows.length };
}

function linesOutput(): { output: string; text: string; lines: number } {
  const lines: string[] = [];
  for (let size = 0; size < 10_000_000; size += 104) {
    lines.push(
      `2026-05-04T14:05:${String(lines.length % 60).padStart(2, '0')}.000Z INFO unit-7 handled request ${String(lines.length).padStart(8, '0')} in ${lines.length % 977} ms, status ok`.padEnd(
        103,
      ),
    );
  }
  const text = lines.join('\n');
  return { output: JSON.stringify({ ...ENVELOPE, fields: {}, data: text } satisfies ToolOutput), text, lines: lines.length };
}

function documentOf(claims: Claim[]): ExecutorEvidence {
  return { schema: 'executor_evidence_v2', claims, assessments: [], limitations: [], no_evidence: null };
}

function spread(total: number, index: number): number {
  return Math.floor(((index + 1) * (total - 20)) / BINDINGS);
}

async function medianRatio(service: ExecutorGatekeeperService, document: ExecutorEvidence, unit: () => number): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    let own = 0;
    let reference = 0;
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      const start = performance.now();
      const result = await service.validateRun(RUN, document);
      own += performance.now() - start;
      if (result.result !== 'pass' || result.checked_bindings.length !== BINDINGS) {
        throw new DiagnosisError(
          'INTERNAL',
          `The bench's claims did not pass: ${JSON.stringify(result.checked_bindings.slice(0, 2))}`,
        );
      }
      const mark = performance.now();
      unit();
      reference += performance.now() - mark;
    }
    ratios.push(own / reference);
  }
  return ratios.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}

/**
 * Measures `validateRun` with 20 bindings against one `JSON.parse` of its 1 MB output, and against one scan of a 10 MB text:
 * a loop over its char codes that counts line feeds, which is what the limit means; the ratio to a count by repeated native
 * `indexOf` is printed beside it without a limit.
 * Interleaved, median of nine rounds.
 */
export async function measureValidateRun(): Promise<Measured[]> {
  const json = rowsOutput();
  const tool = 'log_patterns';
  const bindingAt = (raw_path: string): Binding => ({
    source_invocation_id: mintInvocationId(RUN, 1),
    tool_name: tool,
    raw_path,
  });
  const gateOf = (output: string): ExecutorGatekeeperService => new ExecutorGatekeeperService(new OneCallStore(tool, output));
  const typed: Claim[] = Array.from({ length: BINDINGS / 2 }, (_, index) => {
    const row = spread(json.rows, index * 2);
    return {
      claim_id: `c${index}`,
      kind: 'fact',
      subject: `unit-${row % 10}`,
      assertion: { op: 'rose', left: 0, right: 1, unit: 'count' },
      bindings: [bindingAt(`/rows/${row}/baseline_count`), bindingAt(`/rows/${row}/count`)],
    };
  });
  const worded: Claim[] = Array.from({ length: BINDINGS }, (_, index) => {
    const row = spread(json.rows, index);
    return {
      claim_id: `c${index}`,
      kind: 'fact',
      subject: `unit-${row % 10}`,
      statement: `unit-${row % 10} logged a request that took ${row % 977} ms`,
      bindings: [bindingAt(`/rows/${row}/sample`)],
    };
  });
  const log = linesOutput();
  const lined: Claim[] = Array.from({ length: BINDINGS }, (_, index) => {
    const line = spread(log.lines, index);
    return {
      claim_id: `c${index}`,
      kind: 'fact',
      subject: 'unit-7',
      statement: `unit-7 handled a request in ${(line - 1) % 977} ms`,
      bindings: [bindingAt(`#L${line}`)],
    };
  });
  const parse = (): number => (JSON.parse(json.output) as { matched_count: number }).matched_count;
  const scanByIndex = (): number => {
    let lines = 0;
    for (let at = log.text.indexOf('\n'); at !== -1; at = log.text.indexOf('\n', at + 1)) lines += 1;
    return lines;
  };
  const scanByCode = (): number => {
    let lines = 0;
    for (let at = 0; at < log.text.length; at += 1) if (log.text.charCodeAt(at) === 10) lines += 1;
    return lines;
  };
  const onJson = gateOf(json.output);
  const onLog = gateOf(log.output);
  return [
    {
      name: 'validateRun, 20 typed bindings / JSON.parse of 1 MB',
      ratio: await medianRatio(onJson, documentOf(typed), parse),
      limit: 3,
    },
    {
      name: 'validateRun, 20 worded bindings / JSON.parse of 1 MB',
      ratio: await medianRatio(onJson, documentOf(worded), parse),
      limit: 3,
    },
    {
      name: 'validateRun, 20 lines / indexOf scan of 10 MB',
      ratio: await medianRatio(onLog, documentOf(lined), scanByIndex),
      limit: null,
    },
    {
      name: 'validateRun, 20 lines / char code scan of 10 MB',
      ratio: await medianRatio(onLog, documentOf(lined), scanByCode),
      limit: 3,
    },
  ];
}
