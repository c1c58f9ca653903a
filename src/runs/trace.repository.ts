import { Inject, Injectable } from '@nestjs/common';
import { DataSource, Not } from 'typeorm';
import { DiagnosisError } from '../errors/diagnosis-error';
import { DIAGNOSIS_OPTIONS, type DiagnosisOptions } from '../options/diagnosis-options';
import {
  ToolInvocationStore,
  type FinishedInvocation,
  type InvocationRecord,
  type NewInvocation,
} from '../ports/tool-invocation-store.port';
import { DIAGNOSIS_DATA_SOURCE } from './diagnosis-data-source';
import { DiagnosisRun } from './diagnosis-run.entity';
import { packOutput, unpackOutput, type PackedOutput } from './output-bytes';
import { asStoreCall } from './store-error';
import { ToolInvocation } from './tool-invocation.entity';
import { ToolOutputChunk } from './tool-output-chunk.entity';
import { WriteQueue } from './write-queue';

const CHUNK_BATCH = 20;

/**
 * Tool calls in the database, with the bytes of their outputs. It refuses a new call of a run that has ended (LEASE_LOST), and it leaves a call that
 * is no longer RUNNING as it is: a result that comes after the run's end is dropped. An output above
 * `tools.maxOutputBytes` is refused with OUTPUT_TOO_LARGE before anything is written.
 */
@Injectable()
export class TraceRepository extends ToolInvocationStore {
  private readonly queue: WriteQueue;

  constructor(
    @Inject(DIAGNOSIS_DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(DIAGNOSIS_OPTIONS) private readonly options: DiagnosisOptions,
  ) {
    super();
    this.queue = WriteQueue.of(dataSource);
  }

  override async begin(invocation: NewInvocation): Promise<{ readonly record: InvocationRecord; readonly existed: boolean }> {
    const row: InvocationRecord = {
      id: invocation.id,
      run_id: invocation.run_id,
      invocation_id: invocation.invocation_id,
      call_key: invocation.call_key,
      round: invocation.round,
      ordinal: invocation.ordinal,
      tool_name: invocation.tool_name,
      arguments: invocation.arguments,
      status: invocation.status,
      output_sha256: null,
      output_bytes: null,
      error_code: invocation.error_code ?? null,
      started_at: invocation.started_at,
      duration_ms: null,
    };
    return this.queue.transaction(async (manager) => {
      const { run_id, call_key } = row;
      const known = await manager.findOneBy(ToolInvocation, { run_id, call_key });
      if (known !== null) return { record: invocationOf(known), existed: true };
      const run = await manager.findOne(DiagnosisRun, { select: { id: true, status: true }, where: { id: run_id } });
      if (run === null) throw new DiagnosisError('CONFLICT', 'The tool call belongs to a run that is not stored.');
      if (run.status !== 'RUNNING' && run.status !== 'PENDING') {
        throw new DiagnosisError('LEASE_LOST', 'The run has ended; it takes no further tool call.');
      }
      await manager.insert(ToolInvocation, { ...row });
      return { record: row, existed: false };
    });
  }

  override async finish(id: string, end: FinishedInvocation): Promise<void> {
    const packed = end.output === null ? null : await packOutput(end.output, this.options.tools.maxOutputBytes);
    await this.queue.transaction(async (manager) => {
      const result = await manager.update(
        ToolInvocation,
        { id, status: 'RUNNING' },
        {
          status: end.status,
          error_code: end.error_code,
          duration_ms: end.duration_ms,
          output_sha256: packed?.sha256 ?? null,
          output_bytes: packed?.bytes ?? null,
        },
      );
      if (result.affected !== 1 || packed === null) return;
      const rows = packed.chunks.map((bytes, seq) => ({ invocation_row_id: id, seq, bytes }));
      for (let at = 0; at < rows.length; at += CHUNK_BATCH) {
        await manager.insert(ToolOutputChunk, rows.slice(at, at + CHUNK_BATCH));
      }
    });
  }

  override async listByRun(runId: string): Promise<InvocationRecord[]> {
    return asStoreCall(async () => {
      const rows = await this.dataSource.manager.find(ToolInvocation, { where: { run_id: runId }, order: { ordinal: 'ASC' } });
      return rows.map(invocationOf);
    });
  }

  override async findOfRun(runId: string, id: string): Promise<InvocationRecord | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOne(ToolInvocation, {
        where: [
          { run_id: runId, id },
          { run_id: runId, invocation_id: id },
        ],
      });
      return row === null ? null : invocationOf(row);
    });
  }

  override async existsInAnotherRun(runId: string, invocationId: string): Promise<boolean> {
    return asStoreCall(() =>
      this.dataSource.manager.existsBy(ToolInvocation, { invocation_id: invocationId, run_id: Not(runId) }),
    );
  }

  override async readOutput(id: string): Promise<string> {
    return unpackOutput(await this.readPacked(id));
  }

  private readPacked(id: string): Promise<PackedOutput> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOne(ToolInvocation, {
        select: { id: true, output_sha256: true, output_bytes: true },
        where: { id },
      });
      if (row === null || row.output_sha256 === null || row.output_bytes === null) {
        throw new DiagnosisError('NOT_FOUND', 'There is no stored output of this tool call.');
      }
      const chunks = await this.dataSource.manager.find(ToolOutputChunk, {
        where: { invocation_row_id: id },
        order: { seq: 'ASC' },
      });
      return { sha256: row.output_sha256, bytes: row.output_bytes, chunks: chunks.map((chunk) => chunk.bytes) };
    });
  }
}

function invocationOf(row: ToolInvocation): InvocationRecord {
  return {
    id: row.id,
    run_id: row.run_id,
    invocation_id: row.invocation_id,
    call_key: row.call_key,
    round: row.round,
    ordinal: row.ordinal,
    tool_name: row.tool_name,
    arguments: row.arguments,
    status: row.status,
    output_sha256: row.output_sha256,
    output_bytes: row.output_bytes,
    error_code: row.error_code,
    started_at: row.started_at,
    duration_ms: row.duration_ms,
  };
}
