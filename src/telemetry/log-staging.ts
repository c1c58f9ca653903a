import { isErrorLevel, levelOfText } from './log-level';
import { callSite, exceptionName, lineShapeText, maskedText } from './log-template';
import type { TelemetryReader } from './telemetry-reader';
import { instantOf } from './time-expression';

/** More than enough for the call site and the masked first line, so that long lines are not copied again and again. */
const MASKABLE_CHARACTERS = 8000;
/** Lines that are taken at a time: two of the engine's row groups, so that two threads share a slice and memory stays bounded. */
const SLICE_LINES = 245_760;
const KIND = 'service, level, site, exception';

/** The raw columns of a staged record as SQL over the reader's columns. */
export interface RawColumns {
  readonly time: string;
  readonly message: string;
  /** What templates and call sites are made of: the message, or the part of it below a known head. */
  readonly maskable: string;
  readonly level: string;
  readonly service: string;
  readonly trace: string;
  readonly span: string;
  readonly instance: string;
}

/** Records that a file gave, with the first and last time of them. */
export interface KeptRecords {
  readonly rows: number;
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * Takes `lines` through time, level, service and mask into `log_kinds` and `logs`, and answers what was kept by `file_no`.
 * When it fails, no record of these lines is left. What is slow is done for distinct shapes of lines, not for lines.
 */
export async function stageLogs(
  reader: TelemetryReader,
  raw: RawColumns,
  time: string,
  cells: string,
): Promise<Map<number, KeptRecords>> {
  const kept = new Map<number, { rows: number; first: bigint; last: bigint }>();
  // Rows that were deleted leave gaps: the number of rows does not tell where the last one stands.
  const [end] = await reader.run('SELECT coalesce(max(rowid) + 1, 0)::DOUBLE AS n FROM lines');
  const total = Number(end?.['n'] ?? 0);
  const [bottom] = await reader.run('SELECT coalesce(max(seq), 0)::DOUBLE AS seq FROM logs');
  const base = Number(bottom?.['seq'] ?? 0);
  try {
    for (let from = 0; from < total; from += SLICE_LINES) {
      await stageSlice(reader, raw, time, cells, `rowid >= ${from} AND rowid < ${from + SLICE_LINES}`);
      const found = await reader.run(
        `SELECT file_no::INTEGER AS file_no, count(*)::DOUBLE AS rows, min(ns) AS first, max(ns) AS last FROM staged GROUP BY file_no`,
      );
      for (const row of found) {
        const { file_no, rows, first, last } = row as { file_no: number; rows: number; first: bigint; last: bigint };
        const before = kept.get(file_no) ?? { rows: 0, first, last };
        kept.set(file_no, {
          rows: before.rows + rows,
          first: first < before.first ? first : before.first,
          last: last > before.last ? last : before.last,
        });
      }
      await reader.run(
        `INSERT INTO logs SELECT ${base} + 1 + s.position, s.ns, k.kind_id, s.trace, s.span, s.instance, s.message
         FROM staged s JOIN shapes k USING (${KIND}, shape) ORDER BY s.position`,
      );
      await reader.run('DROP TABLE staged');
      await reader.run('DROP TABLE shapes');
      reader.onPart(Math.min(1, (from + SLICE_LINES) / total));
    }
  } catch (error) {
    if (!reader.signal.aborted) await reader.run(`DELETE FROM logs WHERE seq > ${base}`);
    throw error;
  }
  return new Map([...kept].map(([file, { rows, first, last }]) => [file, { rows, from: instantOf(first), to: instantOf(last) }]));
}

/** Fills `staged` with the records of some lines, `shapes` with their kinds, and `log_kinds` with those that are new. */
async function stageSlice(reader: TelemetryReader, raw: RawColumns, time: string, cells: string, which: string): Promise<void> {
  await reader.run(
    `CREATE TEMP TABLE staged AS
     SELECT * EXCLUDE (maskable), ${lineShapeText('maskable', 'site')} AS shape FROM (
       SELECT position, file_no, ns, message, maskable, trace, span, instance, CASE WHEN service = '' THEN '(none)' ELSE service END AS service,
         CASE WHEN level <> '' THEN level ELSE ${levelOfText('message')} END AS level,
         ${callSite('maskable')} AS site, ${exceptionName('message')} AS exception
       FROM (SELECT position, file_no, ${time} AS ns, message, maskable, level, trim(coalesce(service, '')) AS service, trace, span, instance
         FROM (SELECT position, file_no, ${raw.time} AS time_text, ${raw.message} AS message, left(${raw.maskable}, ${MASKABLE_CHARACTERS}) AS maskable,
           ${raw.level} AS level, ${raw.service} AS service, ${raw.trace} AS trace, ${raw.span} AS span,
           ${raw.instance} AS instance FROM (SELECT rowid AS position, ${cells} FROM lines WHERE ${which}))
         WHERE ns IS NOT NULL))`,
  );
  await reader.run(
    `CREATE TEMP TABLE shapes AS SELECT *, ${maskedText('shape', 'site')} AS masked, NULL::INTEGER AS kind_id
     FROM (SELECT DISTINCT ${KIND}, shape FROM staged)`,
  );
  await reader.run(
    `INSERT INTO log_kinds SELECT (SELECT coalesce(max(kind_id), 0) FROM log_kinds) + row_number() OVER (ORDER BY ${KIND}, masked),
       service, level, ${isErrorLevel('level')}, site, exception, masked, NULL
     FROM (SELECT DISTINCT ${KIND}, masked FROM shapes) s ANTI JOIN log_kinds k USING (${KIND}, masked)`,
  );
  await reader.run(
    `UPDATE shapes SET kind_id = k.kind_id FROM log_kinds k
     WHERE ${['service', 'level', 'site', 'exception', 'masked'].map((name) => `shapes.${name} = k.${name}`).join(' AND ')}`,
  );
}
