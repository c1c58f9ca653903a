import { pointerOf, requireColumns, requireMappedColumns, type FileColumns } from './file-layout';
import type { FileSurvey } from './file-survey';
import { smallFileBatches } from './import-batches';
import { serviceOfFileName } from './file-names';
import { JOURNAL_LOGS, OTLP_LOG_LINES } from './document-entries';
import { lineShape } from './line-shapes';
import { tabularColumns, textColumns } from './log-columns';
import { stageLogs } from './log-staging';
import { sqlText } from './log-tables';
import { mergeTemplates, type MaskedKind } from './log-template';
import { takenForChanges, takenForLogs } from './taken-columns';
import { readHead, type TelemetryFile } from './telemetry-files';
import { isDocumentLogs, type ChangeRecords, type DocumentLogs, type LogsMapping, type TableLogs } from './telemetry-mapping';
import { cellOf, noteOf, type ImportedFile, type TelemetryReader } from './telemetry-reader';
import { epochNanoseconds, type TimeForms } from './time-expression';

/** Files whose first lines are looked at side by side. */
const HEADS_AT_ONCE = 16;

/** A file of a reading pass; its index in the pass is the `file_no` of its lines. */
interface PassFile {
  readonly file: TelemetryFile;
  readonly columns: FileColumns;
}

/** SQL for what differs between the files of a pass. */
function byFile(values: readonly string[]): string {
  return values.length === 1 ? (values[0] as string) : `list_extract([${values.join(', ')}], file_no + 1)`;
}

/** Fills the tables of logs and changes, file by file. Line work happens in SQL; code sees distinct texts and counts only. */
export class LogImport {
  private checked: string | null = null;

  constructor(private readonly reader: TelemetryReader) {}

  /** Imports one log file by its entry. MAPPING_INVALID: absent columns, or a pattern or time format that is none. */
  async logs(file: TelemetryFile, entry: LogsMapping): Promise<ImportedFile> {
    if (isDocumentLogs(entry)) return this.document(file, entry);
    const columns = await this.checkedColumns(file, entry, await readHead(file));
    const [imported] = await this.reader.guarded(file, () => this.pass([{ file, columns }], entry));
    return imported as ImportedFile;
  }

  /**
   * Imports the small ones among some log files in few passes, by name. A file that is not in the answer was left out
   * whole, because it is large, stands alone or is not quite right, and is for `logs`, which says what is wrong with it.
   */
  async together(
    items: readonly { readonly file: TelemetryFile; readonly entry: LogsMapping }[],
  ): Promise<Map<string, ImportedFile>> {
    const done = new Map<string, ImportedFile>();
    const tables = items.flatMap(({ file, entry }) =>
      isDocumentLogs(entry) || entry.format === 'parquet' ? [] : [{ file, entry }],
    );
    for (const { entry, files } of smallFileBatches(tables)) {
      const alike = new Map<string, PassFile[]>();
      for (let at = 0; at < files.length; at += HEADS_AT_ONCE) {
        const some = files.slice(at, at + HEADS_AT_ONCE);
        const heads = await Promise.all(some.map(async (file) => readHead(file).catch(() => null)));
        for (const [index, file] of some.entries()) {
          const head = heads[index] ?? null;
          const columns = head === null ? null : await this.checkedColumns(file, entry, head).catch(() => null);
          if (columns === null) continue;
          const key = entry.format === 'csv' ? JSON.stringify(columns) : '';
          alike.set(key, [...(alike.get(key) ?? []), { file, columns }]);
        }
      }
      for (const group of alike.values()) {
        const [first] = group;
        if (first === undefined || group.length === 1) continue;
        try {
          for (const imported of await this.reader.guarded(first.file, () => this.pass(group, entry)))
            done.set(imported.name, imported);
        } catch (error) {
          if (this.reader.signal.aborted) throw error;
        }
      }
    }
    return done;
  }

  /** Imports one file of deploys, flags, configuration or migrations. */
  async changes(file: TelemetryFile, entry: ChangeRecords): Promise<ImportedFile> {
    const columns = await this.reader.columnsOf(file, entry);
    requireColumns([entry.time.column, entry.service, entry.kind, entry.text], file, columns, entry.format === 'jsonl');
    await this.reader.requireFormat(file, entry.time.format);
    return this.reader.guarded(file, async () => {
      const { malformed, unrecognised, note } = await this.reader.readTable(file, entry.format, columns);
      const at = cellOf(entry.format, columns);
      const before = await this.reader.count('changes');
      await this.reader.run(
        `INSERT INTO changes SELECT ${before} + row_number() OVER (ORDER BY position), ns, coalesce(service, ''), coalesce(kind, ''), coalesce(text, '') FROM (
           SELECT position, ${epochNanoseconds('time_text', entry.time)} AS ns, service, kind, text FROM (
             SELECT rowid AS position, ${at(entry.time.column)} AS time_text, ${at(entry.service)} AS service,
               ${at(entry.kind)} AS kind, ${at(entry.text)} AS text FROM lines)) WHERE ns IS NOT NULL`,
      );
      const rows = (await this.reader.count('changes')) - before;
      const range = await this.reader.rangeOf('changes', `seq > ${before}`);
      return {
        name: file.name,
        family: 'changes',
        format: entry.format,
        rows,
        rejected: {
          malformed,
          unrecognised,
          bad_time: (await this.reader.count('lines')) - rows,
        },
        columns: columns.names,
        taken: takenForChanges(entry),
        ...range,
        ...note,
      };
    });
  }

  /** Gives every kind its template, once all files are in. */
  async finish(): Promise<void> {
    const rows = await this.reader.run(
      `SELECT k.kind_id, k.service, k.level, k.site, k.exception, k.masked, count(*)::DOUBLE AS lines
       FROM log_kinds k JOIN logs USING (kind_id) GROUP BY ALL ORDER BY k.kind_id`,
    );
    const kinds = rows.map((row): MaskedKind => ({
      kind_id: Number(row['kind_id']),
      service: String(row['service']),
      level: String(row['level']),
      site: String(row['site']),
      exception: String(row['exception']),
      masked: String(row['masked']),
      lines: Number(row['lines']),
    }));
    await this.reader.run('CREATE TEMP TABLE kind_templates (kind_id INTEGER, template VARCHAR)');
    await this.reader.database.append('kind_templates', [...mergeTemplates(kinds)]);
    await this.reader.run('UPDATE log_kinds SET template = t.template FROM kind_templates t WHERE t.kind_id = log_kinds.kind_id');
    await this.reader.run('DROP TABLE kind_templates');
  }

  private async checkedColumns(file: TelemetryFile, entry: TableLogs, head: readonly string[]): Promise<FileColumns> {
    const columns = entry.format === 'text' ? { names: [], delimiter: '' } : await this.reader.columnsOf(file, entry, head);
    requireMappedColumns(entry, file, columns);
    const checked = JSON.stringify([entry.time.format, entry.format === 'text' ? entry.text_pattern : entry.level]);
    if (this.checked === checked) return columns;
    await this.reader.requireFormat(file, entry.time.format);
    if (entry.format === 'text') await this.reader.requirePattern(file, lineShape(entry.text_pattern).head);
    else if (typeof entry.level === 'object' && 'pattern' in entry.level)
      await this.reader.requirePattern(file, entry.level.pattern, 1);
    this.checked = checked;
    return columns;
  }

  /** Imports files of one layout. Among several, CSV files whose quotes are broken are left out. */
  private async pass(all: readonly PassFile[], entry: TableLogs): Promise<ImportedFile[]> {
    const files = all.map(({ file }) => file);
    const [{ columns }] = all as [PassFile];
    const surveys: FileSurvey[] = [];
    for (const file of files) surveys.push(await this.reader.lines.survey(file, entry.format === 'csv'));
    let unrecognised: readonly number[] = [];
    let isRead = true;
    const shape = entry.format === 'text' ? lineShape(entry.text_pattern) : null;
    if (entry.format === 'jsonl') {
      unrecognised = await this.reader.lines.readLines(files, true);
      if (entry.join_lines === true) await this.reader.lines.joinRecords(pointerOf(entry.message));
    } else if (shape !== null) unrecognised = await this.reader.lines.readText(files, shape);
    else if (entry.format === 'parquet') await this.reader.documents.parquet(files[0] as TelemetryFile, columns.names);
    else isRead = await this.reader.lines.readCsv(files, columns);
    const malformed = entry.format === 'parquet' || !isRead ? [0] : await this.reader.lines.rejectsOf(files);
    let broken: readonly number[] = isRead ? [] : [0];
    if (isRead && entry.format === 'csv') broken = await this.reader.lines.brokenQuotes(columns, surveys, malformed);
    const isRecovered = broken.length > 0 && files.length === 1;
    if (isRecovered) malformed[0] = await this.reader.lines.recover(files[0] as TelemetryFile, columns);
    else if (broken.length > 0) await this.reader.run(`DELETE FROM lines WHERE file_no IN (${broken.join(', ')})`);
    const fallback = byFile(files.map((file) => sqlText(serviceOfFileName(file.name))));
    const latest = byFile(files.map((file) => `${Math.round(file.mtime)}000000`));
    const pointers: string[] = [];
    const member = (name: string): string => {
      if (!pointers.includes(pointerOf(name))) pointers.push(pointerOf(name));
      return `cells[${pointers.indexOf(pointerOf(name)) + 1}]`;
    };
    const cell = (name: string): string => (entry.format === 'jsonl' ? member(name) : `c${columns.names.indexOf(name)}`);
    const raw = entry.format === 'text' ? textColumns(entry, fallback) : tabularColumns(entry, fallback, cell);
    // Each line is parsed once, whatever the number of its members that are needed.
    const tail = entry.format === 'jsonl' && entry.join_lines === true ? ', tail' : '';
    const cells =
      entry.format === 'jsonl'
        ? `file_no${tail}, json_extract_string(line, [${pointers.map(sqlText).join(', ')}]) AS cells`
        : '*';
    const lines = await this.reader.lines.countByFile('lines', files.length);
    const forms: TimeForms = shape?.timeFormats === undefined ? { latest } : { latest, formats: shape.timeFormats };
    const kept = await stageLogs(this.reader, raw, epochNanoseconds('time_text', entry.time, forms), cells);
    const imported = all.map(({ file, columns: { names } }, at): ImportedFile => {
      const { rows, from, to } = kept.get(at) ?? { rows: 0, from: null, to: null };
      const isCut = surveys[at]?.cut ?? false;
      const rejected = {
        malformed: (malformed[at] ?? 0) + Number(isCut),
        unrecognised: unrecognised[at] ?? 0,
        bad_time: (lines[at] ?? 0) - rows,
      };
      const found = { name: file.name, family: 'logs', format: entry.format, rows, rejected, columns: names } as const;
      return { ...found, taken: takenForLogs(entry), from, to, ...noteOf(isCut, isRecovered) };
    });
    return isRecovered ? imported : imported.filter((_, at) => !broken.includes(at));
  }

  /** Imports the log records of one document. */
  private async document(file: TelemetryFile, entry: DocumentLogs): Promise<ImportedFile> {
    const table = entry.format === 'otlp' ? OTLP_LOG_LINES : JOURNAL_LOGS;
    return this.reader.guarded(file, async () => {
      const { columns, malformed, note } = await this.reader.documents.read(file, entry.format, 'logs');
      const raw = tabularColumns(table, sqlText(serviceOfFileName(file.name)), (name) => `c${columns.indexOf(name)}`);
      const all = await this.reader.count('lines');
      const kept = await stageLogs(this.reader, raw, epochNanoseconds('time_text', table.time), '*');
      const { rows, from, to } = kept.get(0) ?? { rows: 0, from: null, to: null };
      const rejected = { malformed, unrecognised: 0, bad_time: all - rows };
      const found = { name: file.name, family: 'logs', format: entry.format, rows, rejected, columns } as const;
      return { ...found, taken: takenForLogs(entry), from, to, ...note };
    });
  }
}
