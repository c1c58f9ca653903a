import { DiagnosisError } from '../errors/diagnosis-error';
import { csvColumns, jsonColumns, pointerOf, requireColumns, requireMappedColumns, type FileColumns } from './file-layout';
import { CONTINUATION, lineShape, type FieldPattern } from './line-shapes';
import { isErrorLevel, levelOfText, spelledLevel } from './log-level';
import { sqlText } from './log-tables';
import { callSite, exceptionName, maskedText, mergeTemplates, type MaskedKind } from './log-template';
import type { TelemetryDatabase } from './telemetry-database';
import { readHead, serviceOfFileName, type TelemetryFile } from './telemetry-files';
import type { ChangeRecords, LogsMapping, TabularLogs, TextLogs } from './telemetry-mapping';
import { epochNanoseconds } from './time-expression';

/** Longest line in bytes; a longer one is a rejected row. */
const MAX_LINE_BYTES = 1024 * 1024;
const READ = `auto_detect = false, max_line_size = ${MAX_LINE_BYTES}, parallel = false, ignore_errors = true, store_rejects = true`;
/** A delimiter that no log line holds makes each line one column. */
const LINES =
  `${READ}, header = false, delim = chr(31), quote = '', escape = '', strict_mode = false, columns = {'line': 'VARCHAR'}`.replace(
    'chr(31)',
    `'\u001F'`,
  );

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
  let serviceText = sqlText(fallbackService);
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
  const given = entry.service?.constant ?? fallbackService;
  return {
    time: extract(fields.time),
    message: 'whole',
    maskable: fields.message === undefined ? 'whole' : `${extract(fields.message)} || substr(whole, length(line) + 1)`,
    level: fields.level === undefined ? `''` : spelledLevel(extract(fields.level)),
    service: fields.service === undefined ? sqlText(given) : `coalesce(${nullable(extract(fields.service))}, ${sqlText(given)})`,
    trace: optional(fields.trace),
    span: optional(fields.span),
    instance: 'NULL',
  };
}

/** Fills the tables of one import, file by file. Line work happens in SQL; code sees distinct texts and counts only. */
export class TelemetryImport {
  constructor(
    private readonly database: TelemetryDatabase,
    private readonly signal: AbortSignal,
  ) {}

  /** Imports one log file by its entry. MAPPING_INVALID: absent columns, or a pattern or time format that is none. */
  async logs(file: TelemetryFile, entry: LogsMapping): Promise<ImportedFile> {
    const head = await readHead(file);
    const columns = this.columnsOf(entry, head);
    requireMappedColumns(entry, file, columns);
    await this.requireFormat(file, entry.time.format);
    if (entry.format === 'text') await this.requirePattern(file, lineShape(entry.text_pattern).head);
    else if (typeof entry.level === 'object') await this.requirePattern(file, entry.level.pattern, 1);
    const fallback = serviceOfFileName(file.name);
    return this.guarded(file, async () => {
      const unrecognised = await this.readInto(file, entry, columns);
      const raw =
        entry.format === 'text'
          ? textColumns(entry, fallback)
          : tabularColumns(entry, fallback, (name) =>
              entry.format === 'csv'
                ? `c${columns.names.indexOf(name)}`
                : `json_extract_string(line, ${sqlText(pointerOf(name))})`,
            );
      const rows = await this.stage(raw, epochNanoseconds('time_text', entry.time));
      return {
        name: file.name,
        family: 'logs',
        format: entry.format,
        rows: rows.kept,
        rejected: { malformed: await this.takeRejects(), unrecognised, bad_time: rows.all - rows.kept },
        columns: columns.names,
      };
    });
  }

  /** Imports one JSON lines file of deploys, flags, configuration or migrations. */
  async changes(file: TelemetryFile, entry: ChangeRecords): Promise<ImportedFile> {
    const columns = jsonColumns(await readHead(file));
    requireColumns([entry.time.column, entry.service, entry.kind, entry.text], file, columns, true);
    await this.requireFormat(file, entry.time.format);
    return this.guarded(file, async () => {
      const unrecognised = await this.readLines(file, true);
      const at = (name: string): string => `json_extract_string(line, ${sqlText(pointerOf(name))})`;
      const before = await this.count('changes');
      await this.run(
        `INSERT INTO changes SELECT ${before} + row_number() OVER (ORDER BY position), ns, coalesce(service, ''), coalesce(kind, ''), coalesce(text, '') FROM (
           SELECT position, ${epochNanoseconds('time_text', entry.time)} AS ns, service, kind, text FROM (
             SELECT rowid AS position, ${at(entry.time.column)} AS time_text, ${at(entry.service)} AS service,
               ${at(entry.kind)} AS kind, ${at(entry.text)} AS text FROM lines)) WHERE ns IS NOT NULL`,
      );
      const rows = (await this.count('changes')) - before;
      return {
        name: file.name,
        family: 'changes',
        format: 'jsonl',
        rows,
        rejected: { malformed: await this.takeRejects(), unrecognised, bad_time: (await this.count('lines')) - rows },
        columns: columns.names,
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

  /** Reads a file into the temporary table `lines` and answers how many of its lines are no record. */
  private async readInto(file: TelemetryFile, entry: LogsMapping, columns: FileColumns): Promise<number> {
    if (entry.format === 'jsonl') return this.readLines(file, true);
    if (entry.format === 'text') return this.readText(file, lineShape(entry.text_pattern).head);
    const names = columns.names.map((_, at) => `'c${at}': 'VARCHAR'`).join(', ');
    const dialect = `header = true, delim = ${sqlText(columns.delimiter)}, quote = '"', escape = '"', columns = {${names}}`;
    await this.read(file, `SELECT * FROM read_csv($path, ${READ}, ${dialect}, compression = $compression)`);
    return 0;
  }

  private async readLines(file: TelemetryFile, jsonOnly: boolean): Promise<number> {
    await this.read(file, `SELECT line FROM read_csv($path, ${LINES}, compression = $compression) WHERE trim(line) <> ''`);
    if (!jsonOnly) return 0;
    // json_valid alone would accept a bare NaN or a lone string.
    await this.run(
      `CREATE TEMP TABLE objects AS SELECT line FROM lines WHERE starts_with(ltrim(line), '{') AND json_valid(line)`,
    );
    const unrecognised = (await this.count('lines')) - (await this.count('objects'));
    await this.run('DROP TABLE lines');
    await this.run('ALTER TABLE objects RENAME TO lines');
    return unrecognised;
  }

  /** Lines of a stack trace join the record before them; lines that are neither a record nor go on with one are counted. */
  private async readText(file: TelemetryFile, head: string): Promise<number> {
    await this.readLines(file, false);
    await this.run(
      `CREATE TEMP TABLE marked AS SELECT rowid AS position, line, regexp_matches(line, ${sqlText(head)}) AS is_head,
         regexp_matches(line, ${sqlText(CONTINUATION)}) AS goes_on FROM lines`,
    );
    await this.run(
      `CREATE TEMP TABLE tails AS SELECT h.position, string_agg(c.line, chr(10) ORDER BY c.position) AS tail, count(*) AS parts
       FROM (SELECT * FROM marked WHERE NOT is_head AND goes_on) c ASOF JOIN (SELECT position FROM marked WHERE is_head) h
         ON c.position >= h.position GROUP BY h.position`,
    );
    const [stray] = await this.run(
      `SELECT ((SELECT count(*) FROM marked WHERE NOT is_head) - coalesce((SELECT sum(parts) FROM tails), 0))::DOUBLE AS n`,
    );
    await this.run('DROP TABLE lines');
    await this.run(
      `CREATE TEMP TABLE lines AS SELECT m.line, m.line || coalesce(chr(10) || t.tail, '') AS whole
       FROM marked m LEFT JOIN tails t USING (position) WHERE m.is_head ORDER BY m.position`,
    );
    await this.run('DROP TABLE marked');
    await this.run('DROP TABLE tails');
    return Number(stray?.['n'] ?? 0);
  }

  /** Takes `lines` through time, level, service and mask into `log_kinds` and `logs`. */
  private async stage(raw: RawColumns, time: string): Promise<{ all: number; kept: number }> {
    await this.run(
      `CREATE TEMP TABLE staged AS
       SELECT * EXCLUDE (maskable), ${maskedText('maskable', 'site')} AS masked FROM (
         SELECT position, ns, message, maskable, trace, span, instance, CASE WHEN service = '' THEN '(none)' ELSE service END AS service,
           CASE WHEN level <> '' THEN level ELSE ${levelOfText('message')} END AS level,
           ${callSite('maskable')} AS site, ${exceptionName('message')} AS exception
         FROM (SELECT position, ${time} AS ns, message, maskable, level, trim(coalesce(service, '')) AS service, trace, span, instance
           FROM (SELECT rowid AS position, ${raw.time} AS time_text, ${raw.message} AS message, ${raw.maskable} AS maskable,
             ${raw.level} AS level, ${raw.service} AS service, ${raw.trace} AS trace, ${raw.span} AS span,
             ${raw.instance} AS instance FROM lines)
           WHERE ns IS NOT NULL))`,
    );
    await this.run(
      `INSERT INTO log_kinds SELECT (SELECT coalesce(max(kind_id), 0) FROM log_kinds) + row_number() OVER (ORDER BY service, level, site, exception, masked),
         service, level, ${isErrorLevel('level')}, site, exception, masked, NULL
       FROM (SELECT DISTINCT service, level, site, exception, masked FROM staged) s
       ANTI JOIN log_kinds k USING (service, level, site, exception, masked)`,
    );
    await this.run(
      `INSERT INTO logs SELECT (SELECT coalesce(max(seq), 0) FROM logs) + 1 + s.position, s.ns, k.kind_id, s.trace, s.span, s.instance, s.message
       FROM staged s JOIN log_kinds k USING (service, level, site, exception, masked) ORDER BY s.position`,
    );
    const counts = { all: await this.count('lines'), kept: await this.count('staged') };
    await this.run('DROP TABLE staged');
    return counts;
  }

  private async read(file: TelemetryFile, select: string): Promise<void> {
    const path = file.path.replaceAll(/[*?[]/g, '[$&]');
    await this.database.write(
      `CREATE TEMP TABLE lines AS ${select}`,
      { path, compression: file.name.endsWith('.gz') ? 'gzip' : 'none' },
      this.signal,
    );
  }

  /** Rows that the reader refused, each once however much is wrong with it. */
  private async takeRejects(): Promise<number> {
    const [row] = await this.run('SELECT count(DISTINCT line)::DOUBLE AS n FROM reject_errors');
    return Number(row?.['n'] ?? 0);
  }

  private async count(table: 'lines' | 'objects' | 'staged' | 'changes'): Promise<number> {
    const [row] = await this.run(`SELECT count(*)::DOUBLE AS n FROM ${table}`);
    return Number(row?.['n'] ?? 0);
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

  private async guarded(file: TelemetryFile, work: () => Promise<ImportedFile>): Promise<ImportedFile> {
    try {
      return await work();
    } catch (error) {
      if (DiagnosisError.is(error)) throw error;
      throw new DiagnosisError(
        'TELEMETRY_UNREADABLE',
        `Telemetry at ${file.name} cannot be read: its content is not what its ending or its mapping says.`,
      );
    } finally {
      for (const table of ['lines', 'objects', 'marked', 'tails', 'staged', 'reject_errors', 'reject_scans']) {
        if (!this.signal.aborted) await this.run(`DROP TABLE IF EXISTS ${table}`);
      }
    }
  }
}
