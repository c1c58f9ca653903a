import type { DataSource } from 'typeorm';
import { ChatSession } from '../../src/runs/chat-session.entity';
import { DiagnosisRun } from '../../src/runs/diagnosis-run.entity';
import { ToolInvocation } from '../../src/runs/tool-invocation.entity';

export type StoredRun = Pick<DiagnosisRun, 'id' | 'created_at'> & Partial<DiagnosisRun>;
export type StoredCall = Pick<ToolInvocation, 'status' | 'started_at'> & Partial<ToolInvocation>;

const BATCH = 200;

/** Puts runs of one session into the tables as they are; what a run leaves out is that of a plain success without a verdict. */
export async function storeRuns({ manager }: DataSource, runs: readonly StoredRun[]): Promise<void> {
  if (!(await manager.existsBy(ChatSession, { id: 's' })))
    await manager.insert(ChatSession, { id: 's', created_at: new Date(0) });
  const rows = runs.map((run) => ({
    session_id: 's',
    status: 'SUCCESS' as const,
    agent_flow: 'DIAGNOSIS_GRAPH' as const,
    verdict: null,
    degraded: false,
    failure_code: null,
    lease_owner: null,
    lease_until: run.created_at,
    started_at: run.created_at,
    finished_at: null,
    duration_ms: null,
    fallback_class: null,
    message: { text: 'why?' },
    ...run,
  }));
  for (let from = 0; from < rows.length; from += BATCH) await manager.insert(DiagnosisRun, rows.slice(from, from + BATCH));
}

/** Puts tool calls of one run into the table as they are. */
export async function storeCalls({ manager }: DataSource, runId: string, calls: readonly StoredCall[]): Promise<void> {
  const before = await manager.countBy(ToolInvocation, { run_id: runId });
  const rows = calls.map((call, index) => ({
    id: `${runId}-${before + index}`,
    run_id: runId,
    invocation_id: `t${before + index}`,
    call_key: `key-${before + index}`,
    round: 0,
    ordinal: before + index,
    tool_name: 'log_patterns',
    arguments: '{}',
    error_code: null,
    ...call,
  }));
  for (let from = 0; from < rows.length; from += BATCH) await manager.insert(ToolInvocation, rows.slice(from, from + BATCH));
}
