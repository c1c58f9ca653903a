import { Inject, Injectable } from '@nestjs/common';
import { DataSource, Not, type FindOptionsWhere } from 'typeorm';
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
import { exactly } from './exact-text';
import { insertGuarded } from './guarded-insert';
import { packOutput, unpackOutput, type PackedOutput } from './output-bytes';
import { asStoreCall } from './store-error';
import { ToolInvocation } from './tool-invocation.entity';
import { ToolOutputChunk } from './tool-output-chunk.entity';
import { WriteQueue } from './write-queue';

const CHUNK_BATCH = 20;
/** What a text column keeps on MySQL, in bytes; longer arguments are refused on every database alike. */
const MAX_ARGUMENT_BYTES = 65_535;

/**
 * Tool calls in the database, with the bytes of their outputs. It refuses a new call of a run that has ended (LEASE_LOST) or that has
 * arguments above 65,535 bytes (TOOL_ARGUMENTS_INVALID), and leaves a call that is no longer RUNNING as it is: a result that comes
 * after the run's end is dropped. An output above `tools.maxOutputBytes` is refused with OUTPUT_TOO_LARGE before anything is written.
 * A call costs one statement at its begin and one at its end, and one for each twenty chunks of its output.
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
    if (Buffer.byteLength(row.arguments, 'utf8') > MAX_ARGUMENT_BYTES) {
      throw new DiagnosisError('TOOL_ARGUMENTS_INVALID', `The arguments are longer than ${MAX_ARGUMENT_BYTES} bytes.`);
    }
    try {
      const guard = { entity: DiagnosisRun, id: row.run_id, statuses: ['PENDING', 'RUNNING'] };
      const inserted = await this.queue.write((manager) => insertGuarded(manager, ToolInvocation, [row], guard));
      if (inserted === 1) return { record: row, existed: false };
    } catch (error) {
      const known = DiagnosisError.is(error, 'CONFLICT') ? await this.findByKey(row.run_id, row.call_key) : null;
      if (known !== null) return { record: known, existed: true };
      throw error;
    }
    // A call that was begun before the run ended is answered after it too.
    const known = await this.findByKey(row.run_id, row.call_key);
    if (known !== null) return { record: known, existed: true };
    throw (await this.hasRun(row.run_id))
      ? new DiagnosisError('LEASE_LOST', 'The run has ended; it takes no further tool call.')
      : new DiagnosisError('CONFLICT', 'The tool call belongs to a run that is not stored.');
  }

  override async finish(id: string, end: FinishedInvocation): Promise<void> {
    const packed = end.output === null ? null : await packOutput(end.output, this.options.tools.maxOutputBytes);
    const rows = (packed?.chunks ?? []).map((bytes, seq) => ({ invocation_row_id: id, seq, bytes }));
    const guard = { entity: ToolInvocation, id, statuses: ['RUNNING'] };
    // The chunks come first and mean nothing until the row names their hash, so that no transaction has to hold them together.
    for (let at = 0; at < rows.length; at += CHUNK_BATCH) {
      const batch = rows.slice(at, at + CHUNK_BATCH);
      const inserted = await this.queue.write((manager) => insertGuarded(manager, ToolOutputChunk, batch, guard));
      if (inserted === batch.length) continue;
      if (at > 0) await this.dropChunks(id);
      return;
    }
    const result = await this.queue.write((manager) =>
      manager.update(
        ToolInvocation,
        { id, status: 'RUNNING' },
        {
          status: end.status,
          error_code: end.error_code,
          duration_ms: end.duration_ms,
          output_sha256: packed?.sha256 ?? null,
          output_bytes: packed?.bytes ?? null,
        },
      ),
    );
    if (result.affected !== 1 && rows.length > 0) await this.dropChunks(id);
  }

  override async listByRun(runId: string): Promise<InvocationRecord[]> {
    return asStoreCall(async () => {
      const rows = await this.dataSource.manager.find(ToolInvocation, {
        where: { run_id: exactly(runId) },
        order: { ordinal: 'ASC' },
      });
      return rows.map(invocationOf);
    });
  }

  override async findOfRun(runId: string, id: string): Promise<InvocationRecord | null> {
    return this.findOne([
      { run_id: exactly(runId), id: exactly(id) },
      { run_id: exactly(runId), invocation_id: exactly(id) },
    ]);
  }

  override async existsInAnotherRun(runId: string, invocationId: string): Promise<boolean> {
    return asStoreCall(() =>
      this.dataSource.manager.existsBy(ToolInvocation, { invocation_id: exactly(invocationId), run_id: Not(exactly(runId)) }),
    );
  }

  override async readOutput(id: string): Promise<string> {
    return unpackOutput(await this.readPacked(id));
  }

  private findByKey(runId: string, callKey: string): Promise<InvocationRecord | null> {
    return this.findOne({ run_id: exactly(runId), call_key: exactly(callKey) });
  }

  private findOne(
    where: FindOptionsWhere<ToolInvocation> | FindOptionsWhere<ToolInvocation>[],
  ): Promise<InvocationRecord | null> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOne(ToolInvocation, { where });
      return row === null ? null : invocationOf(row);
    });
  }

  private hasRun(id: string): Promise<boolean> {
    return asStoreCall(() => this.dataSource.manager.existsBy(DiagnosisRun, { id: exactly(id) }));
  }

  private async dropChunks(invocationRowId: string): Promise<void> {
    await this.queue.write((manager) => manager.delete(ToolOutputChunk, { invocation_row_id: invocationRowId }));
  }

  private readPacked(id: string): Promise<PackedOutput> {
    return asStoreCall(async () => {
      const row = await this.dataSource.manager.findOne(ToolInvocation, {
        select: { id: true, output_sha256: true, output_bytes: true },
        where: { id: exactly(id) },
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
