import { jsonColumns, pointerOf, requireColumns, requireMappedColumns, type FileColumns } from './file-layout';
import { CONTINUATION, lineShape, type FieldPattern } from './line-shapes';
import { isErrorLevel, levelOfText, spelledLevel } from './log-level';
import { sqlText } from './log-tables';
import { callSite, exceptionName, maskedText, mergeTemplates, type MaskedKind } from './log-template';
import { readHead, serviceOfFileName, type TelemetryFile } from './telemetry-files';
import type { ChangeRecords, LogsMapping, TabularLogs, TextLogs } from './telemetry-mapping';
import { cellOf, columnsOfTable, serviceExpression, type ImportedFile, type TelemetryReader } from './telemetry-reader';
import { epochNanoseconds } from './time-expression';

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
  const optional = (name: string | undefined): string => (name === undefined ? 'NULL' : nullable(at(name)));
  return {
    time: at(entry.time.column),
    message,
    maskable: message,
    level: levelText,
    service: serviceExpression(service, fallbackService, at),
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

/** Fills the tables of logs and changes, file by file. Line work happens in SQL; code sees distinct texts and counts only. */
export class LogImport {
  constructor(private readonly reader: TelemetryReader) {}

  /** Imports one log file by its entry. MAPPING_INVALID: absent columns, or a pattern or time format that is none. */
  async logs(file: TelemetryFile, entry: LogsMapping): Promise<ImportedFile> {
    const head = await readHead(file);
    const columns = this.columnsOf(entry, head);
    requireMappedColumns(entry, file, columns);
    await this.reader.requireFormat(file, entry.time.format);
    if (entry.format === 'text') await this.reader.requirePattern(file, lineShape(entry.text_pattern).head);
    else if (typeof entry.level === 'object') await this.reader.requirePattern(file, entry.level.pattern, 1);
    const fallback = serviceOfFileName(file.name);
    return this.reader.guarded(file, async () => {
      const unrecognised = await this.readInto(file, entry, columns);
      const raw =
        entry.format === 'text' ? textColumns(entry, fallback) : tabularColumns(entry, fallback, cellOf(entry.format, columns));
      const rows = await this.stage(raw, epochNanoseconds('time_text', entry.time));
      return {
        name: file.name,
        family: 'logs',
        format: entry.format,
        rows: rows.kept,
        rejected: { malformed: await this.reader.takeRejects(), unrecognised, bad_time: rows.all - rows.kept },
        columns: columns.names,
      };
    });
  }

  /** Imports one JSON lines file of deploys, flags, configuration or migrations. */
  async changes(file: TelemetryFile, entry: ChangeRecords): Promise<ImportedFile> {
    const columns = jsonColumns(await readHead(file));
    requireColumns([entry.time.column, entry.service, entry.kind, entry.text], file, columns, true);
    await this.reader.requireFormat(file, entry.time.format);
    return this.reader.guarded(file, async () => {
      const unrecognised = await this.reader.readLines(file, true);
      const at = cellOf('jsonl', columns);
      const before = await this.reader.count('changes');
      await this.reader.run(
        `INSERT INTO changes SELECT ${before} + row_number() OVER (ORDER BY position), ns, coalesce(service, ''), coalesce(kind, ''), coalesce(text, '') FROM (
           SELECT position, ${epochNanoseconds('time_text', entry.time)} AS ns, service, kind, text FROM (
             SELECT rowid AS position, ${at(entry.time.column)} AS time_text, ${at(entry.service)} AS service,
               ${at(entry.kind)} AS kind, ${at(entry.text)} AS text FROM lines)) WHERE ns IS NOT NULL`,
      );
      const rows = (await this.reader.count('changes')) - before;
      return {
        name: file.name,
        family: 'changes',
        format: 'jsonl',
        rows,
        rejected: {
          malformed: await this.reader.takeRejects(),
          unrecognised,
          bad_time: (await this.reader.count('lines')) - rows,
        },
        columns: columns.names,
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

  private columnsOf(entry: LogsMapping, head: readonly string[]): FileColumns {
    return entry.format === 'text' ? { names: [], delimiter: '' } : columnsOfTable(entry, head);
  }

  /** Reads a file into the temporary table `lines` and answers how many of its lines are no record. */
  private async readInto(file: TelemetryFile, entry: LogsMapping, columns: FileColumns): Promise<number> {
    if (entry.format === 'jsonl') return this.reader.readLines(file, true);
    if (entry.format === 'text') return this.readText(file, lineShape(entry.text_pattern).head);
    return this.reader.readTable(file, 'csv', columns);
  }

  /** Lines of a stack trace join the record before them; lines that are neither a record nor go on with one are counted. */
  private async readText(file: TelemetryFile, head: string): Promise<number> {
    await this.reader.readLines(file, false);
    await this.reader.run(
      `CREATE TEMP TABLE marked AS SELECT rowid AS position, line, regexp_matches(line, ${sqlText(head)}) AS is_head,
         regexp_matches(line, ${sqlText(CONTINUATION)}) AS goes_on FROM lines`,
    );
    await this.reader.run(
      `CREATE TEMP TABLE tails AS SELECT h.position, string_agg(c.line, chr(10) ORDER BY c.position) AS tail, count(*) AS parts
       FROM (SELECT * FROM marked WHERE NOT is_head AND goes_on) c ASOF JOIN (SELECT position FROM marked WHERE is_head) h
         ON c.position >= h.position GROUP BY h.position`,
    );
    const [stray] = await this.reader.run(
      `SELECT ((SELECT count(*) FROM marked WHERE NOT is_head) - coalesce((SELECT sum(parts) FROM tails), 0))::DOUBLE AS n`,
    );
    await this.reader.run('DROP TABLE lines');
    await this.reader.run(
      `CREATE TEMP TABLE lines AS SELECT m.line, m.line || coalesce(chr(10) || t.tail, '') AS whole
       FROM marked m LEFT JOIN tails t USING (position) WHERE m.is_head ORDER BY m.position`,
    );
    await this.reader.run('DROP TABLE marked');
    await this.reader.run('DROP TABLE tails');
    return Number(stray?.['n'] ?? 0);
  }

  /** Takes `lines` through time, level, service and mask into `log_kinds` and `logs`. */
  private async stage(raw: RawColumns, time: string): Promise<{ all: number; kept: number }> {
    await this.reader.run(
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
    await this.reader.run(
      `INSERT INTO log_kinds SELECT (SELECT coalesce(max(kind_id), 0) FROM log_kinds) + row_number() OVER (ORDER BY service, level, site, exception, masked),
         service, level, ${isErrorLevel('level')}, site, exception, masked, NULL
       FROM (SELECT DISTINCT service, level, site, exception, masked FROM staged) s
       ANTI JOIN log_kinds k USING (service, level, site, exception, masked)`,
    );
    await this.reader.run(
      `INSERT INTO logs SELECT (SELECT coalesce(max(seq), 0) FROM logs) + 1 + s.position, s.ns, k.kind_id, s.trace, s.span, s.instance, s.message
       FROM staged s JOIN log_kinds k USING (service, level, site, exception, masked) ORDER BY s.position`,
    );
    const counts = { all: await this.reader.count('lines'), kept: await this.reader.count('staged') };
    await this.reader.run('DROP TABLE staged');
    return counts;
  }
}
