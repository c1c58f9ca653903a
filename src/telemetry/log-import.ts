import { DiagnosisError } from '../errors/diagnosis-error';
import { csvColumns, jsonColumns, pointerOf, requireColumns, requireMappedColumns, type FileColumns } from './file-layout';
import type { FileSurvey } from './file-survey';
import { smallFileBatches } from './import-batches';
import { LineReader } from './line-reader';
import { lineShape, type FieldPattern } from './line-shapes';
import { isErrorLevel, levelOfText, spelledLevel } from './log-level';
import { sqlText } from './log-tables';
import { callSite, exceptionName, maskedText, mergeTemplates, type MaskedKind } from './log-template';
import type { TelemetryDatabase } from './telemetry-database';
import { takenForChanges, takenForLogs, type TakenColumns } from './taken-columns';
import { readHead, serviceOfFileName, unreadable, type TelemetryFile } from './telemetry-files';
import type { ChangeRecords, LogsMapping, TabularLogs, TextLogs } from './telemetry-mapping';
import { epochNanoseconds, instantOf } from './time-expression';

/** More than enough for the call site and the masked first line, so that long lines are not copied again and again. */
const MASKABLE_CHARACTERS = 8000;
/** Files whose first lines are looked at side by side. */
const HEADS_AT_ONCE = 16;
const CUT = 'its packed data ends too early or is damaged; what follows is missing';
const QUOTES = 'its quotes are broken; it was read line by line, and lines that are no record by themselves were rejected';

/** Rows that were left out, by what is wrong with them. */
export interface RejectedRows {
  /** Wrong number of columns, a broken quote, text that is no UTF-8, or a line over 1 MiB. */
  readonly malformed: number;
  /** No JSON object, or a text line that belongs to no record. */
  readonly unrecognised: number;
  /** The time is missing or cannot be read. */
  readonly bad_time: number;
}

export interface ImportedFile {
  readonly name: string;
  readonly family: 'logs' | 'changes';
  readonly format: 'csv' | 'jsonl' | 'text';
  readonly rows: number;
  readonly rejected: RejectedRows;
  readonly columns: readonly string[];
  readonly taken: TakenColumns;
  /** First and last time of a record; null without a record. */
  readonly from: string | null;
  readonly to: string | null;
  /** What is wrong with the file as a whole, when something is. */
  readonly note?: string;
}

/** A file of a reading pass; its index in the pass is the `file_no` of its lines. */
interface PassFile {
  readonly file: TelemetryFile;
  readonly columns: FileColumns;
}

/** The raw columns of a staged record as SQL over the reader's columns. */
interface RawColumns {
  readonly time: string;
  readonly message: string;
  readonly maskable: string;
  readonly level: string;
  readonly service: string;
  readonly trace: string;
  readonly span: string;
  readonly instance: string;
}

function nullable(column: string): string {
  return `nullif(${column}, '')`;
}

function stripped(column: string, parts: number): string {
  return parts === 0 ? column : `regexp_replace(${column}, '(?:-[^-]+){${parts}}$', '')`;
}

/** @param fallbackService SQL for the service of a file that names none. */
function tabularColumns(entry: TabularLogs, fallbackService: string, at: (name: string) => string): RawColumns {
  const cell = at(entry.message);
  const unwrapped =
    entry.unwrap === undefined
      ? cell
      : `CASE WHEN json_valid(${cell}) THEN coalesce(json_extract_string(${cell}, ${sqlText(pointerOf(entry.unwrap))}), ${cell}) ELSE ${cell} END`;
  const message = `coalesce(rtrim(${unwrapped}, chr(10) || chr(13)), '')`;
  const { level, service } = entry;
  const levelText =
    level === undefined
      ? `''`
      : typeof level === 'string'
        ? spelledLevel(at(level))
        : spelledLevel(`regexp_extract(${message}, ${sqlText(level.pattern)}, 1)`);
  let serviceText = fallbackService;
  if (typeof service === 'string') serviceText = at(service);
  else if (service !== undefined)
    serviceText = 'constant' in service ? sqlText(service.constant) : stripped(at(service.column), service.strip_suffix_parts);
  const optional = (name: string | undefined): string => (name === undefined ? 'NULL' : nullable(at(name)));
  return {
    time: at(entry.time.column),
    message,
    maskable: message,
    level: levelText,
    service: serviceText,
    trace: optional(entry.trace),
    span: optional(entry.span),
    instance: optional(entry.instance),
  };
}

function textColumns(entry: TextLogs, fallbackService: string): RawColumns {
  const { fields } = lineShape(entry.text_pattern);
  const extract = ({ pattern, group }: FieldPattern): string =>
    group === 'rest' ? `regexp_replace(line, ${sqlText(pattern)}, '')` : `regexp_extract(line, ${sqlText(pattern)}, ${group})`;
  const optional = (field: FieldPattern | undefined): string => (field === undefined ? 'NULL' : nullable(extract(field)));
  const given = entry.service === undefined ? fallbackService : sqlText(entry.service.constant);
  return {
    time: extract(fields.time),
    message: 'whole',
    maskable: fields.message === undefined ? 'whole' : `${extract(fields.message)} || substr(whole, length(line) + 1)`,
    level: fields.level === undefined ? `''` : spelledLevel(extract(fields.level)),
    service: fields.service === undefined ? given : `coalesce(${nullable(extract(fields.service))}, ${given})`,
    trace: optional(fields.trace),
    span: optional(fields.span),
    instance: 'NULL',
  };
}

/** Fills the tables of one import, file by file. Line work happens in SQL; code sees distinct texts and counts only. */
export class TelemetryImport {
  private readonly reader: LineReader;
  private checked: string | null = null;

  constructor(
    private readonly database: TelemetryDatabase,
    private readonly signal: AbortSignal,
  ) {
    this.reader = new LineReader(database, signal);
  }

  /** Imports one log file by its entry. MAPPING_INVALID: absent columns, or a pattern or time format that is none. */
  async logs(file: TelemetryFile, entry: LogsMapping): Promise<ImportedFile> {
    const columns = await this.checkedColumns(file, entry, await readHead(file));
    const [imported] = await this.guarded(file, () => this.pass([{ file, columns }], entry));
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
    for (const { entry, files } of smallFileBatches(items)) {
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
          for (const imported of await this.guarded(first.file, () => this.pass(group, entry))) done.set(imported.name, imported);
        } catch (error) {
          if (this.signal.aborted) throw error;
        }
      }
    }
    return done;
  }

  /** Imports one JSON lines file of deploys, flags, configuration or migrations. */
  async changes(file: TelemetryFile, entry: ChangeRecords): Promise<ImportedFile> {
    const columns = jsonColumns(await readHead(file));
    requireColumns([entry.time.column, entry.service, entry.kind, entry.text], file, columns, true);
    await this.requireFormat(file, entry.time.format);
    return this.guarded(file, async () => {
      const survey = await this.reader.survey(file, false);
      const [unrecognised = 0] = await this.reader.readLines([file], true);
      const at = (name: string): string => `json_extract_string(line, ${sqlText(pointerOf(name))})`;
      const before = await this.count('changes');
      await this.run(
        `INSERT INTO changes SELECT ${before} + row_number() OVER (ORDER BY position), ns, coalesce(service, ''), coalesce(kind, ''), coalesce(text, '') FROM (
           SELECT position, ${epochNanoseconds('time_text', entry.time)} AS ns, service, kind, text FROM (
             SELECT rowid AS position, ${at(entry.time.column)} AS time_text, ${at(entry.service)} AS service,
               ${at(entry.kind)} AS kind, ${at(entry.text)} AS text FROM lines)) WHERE ns IS NOT NULL`,
      );
      const rows = (await this.count('changes')) - before;
      const range = await this.rangeOf('changes', `seq > ${before}`);
      return {
        name: file.name,
        family: 'changes',
        format: 'jsonl',
        rows,
        rejected: {
          malformed: ((await this.reader.rejectsOf([file]))[0] ?? 0) + Number(survey.cut),
          unrecognised,
          bad_time: (await this.count('lines')) - rows,
        },
        columns: columns.names,
        taken: takenForChanges(entry),
        ...range,
        ...(survey.cut ? { note: CUT } : {}),
      };
    });
  }

  /** Gives every kind its template, once all files are in. */
  async finish(): Promise<void> {
    const rows = await this.run(
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
    await this.run('CREATE TEMP TABLE kind_templates (kind_id INTEGER, template VARCHAR)');
    await this.database.append('kind_templates', [...mergeTemplates(kinds)]);
    await this.run('UPDATE log_kinds SET template = t.template FROM kind_templates t WHERE t.kind_id = log_kinds.kind_id');
    await this.run('DROP TABLE kind_templates');
  }

  private columnsOf(entry: LogsMapping, head: readonly string[]): FileColumns {
    if (entry.format === 'csv') return csvColumns(head, entry.delimiter);
    return entry.format === 'jsonl' ? jsonColumns(head) : { names: [], delimiter: '' };
  }

  private async checkedColumns(file: TelemetryFile, entry: LogsMapping, head: readonly string[]): Promise<FileColumns> {
    const columns = this.columnsOf(entry, head);
    requireMappedColumns(entry, file, columns);
    const checked = JSON.stringify([entry.time.format, entry.format === 'text' ? entry.text_pattern : entry.level]);
    if (this.checked === checked) return columns;
    await this.requireFormat(file, entry.time.format);
    if (entry.format === 'text') await this.requirePattern(file, lineShape(entry.text_pattern).head);
    else if (typeof entry.level === 'object') await this.requirePattern(file, entry.level.pattern, 1);
    this.checked = checked;
    return columns;
  }

  /** Imports files of one layout. Among several, CSV files whose quotes are broken are left out. */
  private async pass(all: readonly PassFile[], entry: LogsMapping): Promise<ImportedFile[]> {
    const files = all.map(({ file }) => file);
    const [{ columns }] = all as [PassFile];
    const surveys: FileSurvey[] = [];
    for (const file of files) surveys.push(await this.reader.survey(file, entry.format === 'csv'));
    let unrecognised: readonly number[] = [];
    if (entry.format === 'jsonl') unrecognised = await this.reader.readLines(files, true);
    else if (entry.format === 'text') unrecognised = await this.reader.readText(files, lineShape(entry.text_pattern).head);
    else await this.reader.readCsv(files, columns);
    const malformed = await this.reader.rejectsOf(files);
    const broken = entry.format === 'csv' ? await this.reader.brokenQuotes(columns, surveys, malformed) : [];
    const isRecovered = broken.length > 0 && files.length === 1;
    if (isRecovered) malformed[0] = await this.reader.recover(files[0] as TelemetryFile, columns);
    else if (broken.length > 0) await this.run(`DELETE FROM lines WHERE file_no IN (${broken.join(', ')})`);
    const services = files.map((file) => sqlText(serviceOfFileName(file.name)));
    const fallback = services.length === 1 ? (services[0] as string) : `list_extract([${services.join(', ')}], file_no + 1)`;
    const pointers: string[] = [];
    const member = (name: string): string => {
      if (!pointers.includes(pointerOf(name))) pointers.push(pointerOf(name));
      return `cells[${pointers.indexOf(pointerOf(name)) + 1}]`;
    };
    const cell = (name: string): string => (entry.format === 'csv' ? `c${columns.names.indexOf(name)}` : member(name));
    const raw = entry.format === 'text' ? textColumns(entry, fallback) : tabularColumns(entry, fallback, cell);
    // Each line is parsed once, whatever the number of its members that are needed.
    const cells = entry.format === 'jsonl' ? `json_extract_string(line, [${pointers.map(sqlText).join(', ')}]) AS cells` : '*';
    const lines = await this.reader.countByFile('lines', files.length);
    const kept = await this.stage(raw, epochNanoseconds('time_text', entry.time), cells);
    const imported = all.map(({ file, columns: { names } }, at): ImportedFile => {
      const { rows, from, to } = kept.get(at) ?? { rows: 0, from: null, to: null };
      const isCut = surveys[at]?.cut ?? false;
      const rejected = {
        malformed: (malformed[at] ?? 0) + Number(isCut),
        unrecognised: unrecognised[at] ?? 0,
        bad_time: (lines[at] ?? 0) - rows,
      };
      const note = isCut ? CUT : isRecovered ? QUOTES : undefined;
      const found = { name: file.name, family: 'logs', format: entry.format, rows, rejected, columns: names } as const;
      return { ...found, taken: takenForLogs(entry), from, to, ...(note === undefined ? {} : { note }) };
    });
    return isRecovered ? imported : imported.filter((_, at) => !broken.includes(at));
  }

  /** Takes `lines` through time, level, service and mask into `log_kinds` and `logs`. */
  private async stage(
    raw: RawColumns,
    time: string,
    cells: string,
  ): Promise<Map<number, { rows: number; from: string | null; to: string | null }>> {
    await this.run(
      `CREATE TEMP TABLE staged AS
       SELECT * EXCLUDE (maskable), ${maskedText('maskable', 'site')} AS masked FROM (
         SELECT position, file_no, ns, message, maskable, trace, span, instance, CASE WHEN service = '' THEN '(none)' ELSE service END AS service,
           CASE WHEN level <> '' THEN level ELSE ${levelOfText('message')} END AS level,
           ${callSite('maskable')} AS site, ${exceptionName('message')} AS exception
         FROM (SELECT position, file_no, ${time} AS ns, message, maskable, level, trim(coalesce(service, '')) AS service, trace, span, instance
           FROM (SELECT position, file_no, ${raw.time} AS time_text, ${raw.message} AS message, left(${raw.maskable}, ${MASKABLE_CHARACTERS}) AS maskable,
             ${raw.level} AS level, ${raw.service} AS service, ${raw.trace} AS trace, ${raw.span} AS span,
             ${raw.instance} AS instance FROM (SELECT rowid AS position, ${cells === '*' ? '' : 'file_no, '}${cells} FROM lines))
           WHERE ns IS NOT NULL))`,
    );
    await this.run(
      `INSERT INTO log_kinds SELECT (SELECT coalesce(max(kind_id), 0) FROM log_kinds) + row_number() OVER (ORDER BY service, level, site, exception, masked),
         service, level, ${isErrorLevel('level')}, site, exception, masked, NULL
       FROM (SELECT DISTINCT service, level, site, exception, masked FROM staged) s
       ANTI JOIN log_kinds k USING (service, level, site, exception, masked)`,
    );
    const ranges = await this.run(
      `SELECT file_no::INTEGER AS file_no, count(*)::DOUBLE AS rows, min(ns) AS first, max(ns) AS last FROM staged GROUP BY file_no`,
    );
    const kept = new Map(
      ranges.map((row) => {
        const { file_no, rows, first, last } = row as { file_no: number; rows: number; first: bigint; last: bigint };
        return [file_no, { rows, from: instantOf(first), to: instantOf(last) }] as const;
      }),
    );
    // The last statement of a pass that lasts: a pass that fails has imported nothing.
    await this.run(
      `INSERT INTO logs SELECT (SELECT coalesce(max(seq), 0) FROM logs) + 1 + s.position, s.ns, k.kind_id, s.trace, s.span, s.instance, s.message
       FROM staged s JOIN log_kinds k USING (service, level, site, exception, masked) ORDER BY s.position`,
    );
    await this.run('DROP TABLE staged');
    return kept;
  }

  private async count(table: 'lines' | 'changes'): Promise<number> {
    const [row] = await this.run(`SELECT count(*)::DOUBLE AS n FROM ${table}`);
    return Number(row?.['n'] ?? 0);
  }

  private async rangeOf(table: 'changes', which: string): Promise<{ from: string | null; to: string | null }> {
    const [row] = await this.run(`SELECT min(ns) AS first, max(ns) AS last FROM ${table} WHERE ${which}`);
    const { first, last } = row as { readonly first: bigint | null; readonly last: bigint | null };
    return { from: first === null ? null : instantOf(first), to: last === null ? null : instantOf(last) };
  }

  private async run(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.database.write(sql, {}, this.signal);
  }

  private async requireFormat(file: TelemetryFile, format: string | undefined): Promise<void> {
    if (format === undefined || format.startsWith('epoch_')) return;
    await this.tried(
      `SELECT try_strptime('', ${sqlText(format)})`,
      `The time format for ${file.name} is none: use strptime directives, or epoch_s, epoch_ms, epoch_us, epoch_ns.`,
    );
  }

  private async requirePattern(file: TelemetryFile, pattern: string, group = 0): Promise<void> {
    await this.tried(
      `SELECT regexp_extract('', ${sqlText(pattern)}, ${group})`,
      `A pattern for ${file.name} is no regular expression of RE2 (no look-around, no back-references) with the group it needs.`,
    );
  }

  /** An expression of the mapping that the engine refuses is wrong in the mapping, whatever the files hold. */
  private async tried(sql: string, message: string): Promise<void> {
    try {
      await this.run(sql);
    } catch (error) {
      throw DiagnosisError.is(error) ? error : new DiagnosisError('MAPPING_INVALID', message);
    }
  }

  private async guarded<T>(file: TelemetryFile, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (DiagnosisError.is(error)) throw error;
      throw unreadable(file.name, 'its content is not what its ending or its mapping says');
    } finally {
      for (const table of ['lines', 'objects', 'marked', 'tails', 'staged', 'reject_errors', 'reject_scans']) {
        if (!this.signal.aborted) await this.run(`DROP TABLE IF EXISTS ${table}`);
      }
    }
  }
}
