import { DiagnosisError } from '../errors/diagnosis-error';
import { CsvRecovery } from './csv-recovery';
import type { FileColumns } from './file-layout';
import { contentOf, surveyFile, type FileSurvey } from './file-survey';
import { CONTINUATION, TRACE_END, type LineShape } from './line-shapes';
import { sqlText } from './log-tables';
import type { TelemetryDatabase } from './telemetry-database';
import { MAX_LINE_BYTES, type TelemetryFile } from './telemetry-files';

const READ = `auto_detect = false, max_line_size = ${MAX_LINE_BYTES}, ignore_errors = true, store_rejects = true`;
/** A delimiter that no log line holds makes each line one column. */
const LINES =
  `${READ}, parallel = true, header = false, delim = chr(31), quote = '', escape = '', strict_mode = false, columns = {'line': 'VARCHAR'}`.replace(
    'chr(31)',
    `'\u001F'`,
  );
/** Smaller than the engine's own, as every file of a pass takes one. */
const MANY_FILES = `buffer_size = ${2 * MAX_LINE_BYTES}`;

/**
 * Reads files of one layout into the temporary table `lines`, in file order, with the index of the file as `file_no`. It
 * neither opens links nor decides what a line means.
 */
export class LineReader {
  constructor(
    private readonly database: TelemetryDatabase,
    private readonly signal: AbortSignal,
  ) {}

  async survey(file: TelemetryFile, isCsv: boolean): Promise<FileSurvey> {
    if (!isCsv && !file.name.endsWith('.gz')) return { lines: 0, quoted: false, cut: false };
    return surveyFile(file.path, this.signal);
  }

  /** Reads CSVs of one header, which takes `headerRows` lines. False for one file that the engine cannot read to its end. */
  async readCsv(files: readonly TelemetryFile[], columns: FileColumns, headerRows = 1): Promise<boolean> {
    const header = headerRows === 1 ? 'header = true' : `header = false, skip = ${headerRows}`;
    const names = columns.names.map((_, at) => `'c${at}': 'VARCHAR'`).join(', ');
    const dialect = `${header}, delim = ${sqlText(columns.delimiter)}, quote = '"', escape = '"', columns = {${names}}`;
    try {
      await this.read(files, '*', `${READ}, parallel = false, ${dialect}`);
      return true;
    } catch (error) {
      if (files.length > 1 || DiagnosisError.is(error)) throw error;
      return false;
    }
  }

  /** Files in which some physical line is neither part of a row nor rejected: a quote that is never closed took it. */
  async brokenQuotes(
    { names }: FileColumns,
    surveys: readonly FileSurvey[],
    malformed: readonly number[],
    headerRows = 1,
  ): Promise<number[]> {
    if (!surveys.some((survey) => survey.quoted)) return [];
    const cells = names.map((_, at) => `c${at}`).join(', ');
    const rows = await this.run(
      `SELECT file_no::INTEGER AS file_no, sum(1 + length(cells) - length(replace(cells, chr(10), '')))::DOUBLE AS n
       FROM (SELECT file_no, concat(${cells}) AS cells FROM lines) GROUP BY file_no`,
    );
    const taken = new Map(rows.map((row) => [Number(row['file_no']), Number(row['n'])]));
    return surveys.flatMap(({ lines, quoted }, at) =>
      quoted && lines > 0 && lines !== headerRows + (taken.get(at) ?? 0) + (malformed[at] ?? 0) ? [at] : [],
    );
  }

  /** Fills `lines` again from a CSV with broken quotes and answers how many of its lines are no record. */
  async recover(file: TelemetryFile, { names, delimiter }: FileColumns, headerRows = 1): Promise<number> {
    await this.run('DROP TABLE IF EXISTS lines');
    await this.run(`CREATE TEMP TABLE lines (${names.map((_, at) => `c${at} VARCHAR`).join(', ')})`);
    const recovery = new CsvRecovery(delimiter, names.length, MAX_LINE_BYTES, headerRows);
    await this.database.appendTexts('lines', recovery.records(contentOf(file.path)), this.signal);
    await this.run('ALTER TABLE lines ADD COLUMN file_no BIGINT DEFAULT 0');
    return recovery.rejected;
  }

  /** Answers for each file how many of its lines are no record. */
  async readLines(files: readonly TelemetryFile[], jsonOnly: boolean): Promise<number[]> {
    // json_valid alone would accept a bare NaN or a lone string.
    const select = jsonOnly ? `CASE WHEN starts_with(ltrim(line), '{') AND json_valid(line) THEN line END AS line` : 'line';
    await this.read(files, select, LINES, `WHERE regexp_matches(line, '\\S')`);
    if (!jsonOnly) return [];
    const others = await this.countByFile('lines', files.length, 'CASE WHEN line IS NULL THEN 1 ELSE 0 END');
    if (others.some((count) => count > 0)) await this.run('DELETE FROM lines WHERE line IS NULL');
    return others;
  }

  /**
   * Lines of a stack trace join the record before them, as its `tail`; lines that are neither a record nor go on with one are
   * counted.
   */
  async readText(files: readonly TelemetryFile[], { head, goesOn, wrapper }: LineShape): Promise<number[]> {
    if (wrapper !== undefined) return this.readWrapped(files, wrapper);
    const select = `line, NULL::VARCHAR AS tail, 0::BIGINT AS parts, regexp_matches(line, ${sqlText(head)}) AS is_head`;
    await this.read(files, select, LINES, `WHERE line <> ''`);
    await this.run(`DELETE FROM lines WHERE NOT is_head AND NOT regexp_matches(line, '\\S')`);
    const others = await this.countByFile('lines', files.length, 'CASE WHEN is_head THEN 0 ELSE 1 END');
    // Most files have no stack trace, and joining costs as much as reading.
    if (others.every((count) => count === 0)) return others;
    const own = goesOn === undefined ? '' : ` OR regexp_matches(line, ${sqlText(goesOn)})`;
    await this.run(
      `CREATE TEMP TABLE marked AS SELECT rowid AS position, file_no, line, is_head,
         NOT is_head AND (regexp_matches(line, ${sqlText(CONTINUATION)})${own}) AS goes_on FROM lines`,
    );
    await this.join('line', 'chr(10)');
    const joined = await this.countByFile('lines', files.length, 'parts');
    return others.map((count, at) => count - (joined[at] ?? 0));
  }

  /** Lines that each stand in a record of the container's: those of a stack trace, or of a line that was cut, join as well. */
  private async readWrapped(files: readonly TelemetryFile[], wrapper: string): Promise<number[]> {
    await this.readLines(files, false);
    const all = await this.countByFile('lines', files.length);
    await this.run(
      `CREATE TEMP TABLE bodies AS SELECT rowid AS position, file_no, line, regexp_replace(line, ${sqlText(wrapper)}, '') AS body,
         regexp_extract(line, ${sqlText(wrapper)}, 3) AS part FROM lines`,
    );
    await this.markBodies(`part <> ''`, `lag(part) OVER own = 'P'`);
    const joined = await this.countByFile('lines', files.length, '1 + parts');
    return all.map((count, at) => count - (joined[at] ?? 0));
  }

  /** Takes JSON records that hold a line of a stack trace, or the rest of a line that was cut, to the record before them, as its `tail`. */
  async joinRecords(pointer: string): Promise<void> {
    await this.run(
      `CREATE TEMP TABLE bodies AS SELECT position, file_no, line, rtrim(text, chr(10) || chr(13)) AS body, ends_with(text, chr(10)) AS is_whole
       FROM (SELECT rowid AS position, file_no, line, coalesce(json_extract_string(line, ${sqlText(pointer)}), '') AS text FROM lines)`,
    );
    // Only where lines end with a line feed does one without it go on in the next record.
    await this.markBodies('true', '(SELECT bool_or(is_whole) FROM bodies) AND NOT lag(is_whole) OVER own');
  }

  /** Joins the records of `bodies`. */
  private async markBodies(isLine: string, isCut: string): Promise<void> {
    await this.run(
      `CREATE TEMP TABLE marked AS SELECT position, file_no, line, body, CASE WHEN was_cut THEN '' ELSE chr(10) END AS joint,
         is_line AND NOT goes_on AS is_head, goes_on FROM (
           SELECT *, is_line AND (was_cut OR regexp_matches(body, ${sqlText(CONTINUATION)}) OR (regexp_matches(body, ${sqlText(TRACE_END)}) AND is_by_indented)) AS goes_on
           FROM (SELECT *, ${isLine} AS is_line, coalesce(${isCut}, false) AS was_cut, coalesce(regexp_matches(lag(body) OVER own, '^\\s'), false) OR coalesce(regexp_matches(lead(body) OVER own, '^\\s'), false) AS is_by_indented
             FROM bodies WINDOW own AS (PARTITION BY file_no ORDER BY position)))`,
    );
    await this.run('DROP TABLE bodies');
    await this.join('body', 'joint');
  }

  /** Makes `lines` of the heads in `marked`, with what goes on with them as `tail`; the others are gone. */
  private async join(body: string, joint: string): Promise<void> {
    // The first and the last line of a trace may look like any other: that an indented one stands beside them tells.
    const beside = (which: 'lag' | 'lead', step: string): string =>
      `(${which}(position) OVER own = position ${step} AND regexp_matches(${which}(${body}) OVER own, '^\\s'))`;
    const isEdge = `regexp_matches(${body}, ${sqlText(TRACE_END)}) AND (${beside('lag', '- 1')} OR ${beside('lead', '+ 1')})`;
    await this.run(
      `CREATE TEMP TABLE tails AS SELECT h.position, string_agg(${joint} || ${body}, '' ORDER BY c.position) AS tail, count(*) AS parts
       FROM (SELECT * FROM (SELECT *, ${isEdge} AS is_edge FROM marked WHERE NOT is_head WINDOW own AS (PARTITION BY file_no ORDER BY position)) WHERE goes_on OR is_edge) c
         ASOF JOIN (SELECT position, file_no FROM marked WHERE is_head) h ON c.file_no = h.file_no AND c.position >= h.position
       GROUP BY h.position`,
    );
    await this.run('DROP TABLE lines');
    await this.run(
      `CREATE TEMP TABLE lines AS SELECT m.line, t.tail, coalesce(t.parts, 0) AS parts, m.is_head, m.file_no
       FROM marked m LEFT JOIN tails t USING (position) WHERE m.is_head ORDER BY m.position`,
    );
    await this.run('DROP TABLE marked');
    await this.run('DROP TABLE tails');
  }

  /** Rows of each file that the reader refused, each once however much is wrong with it. */
  async rejectsOf(files: readonly TelemetryFile[]): Promise<number[]> {
    const rows = await this.run(
      `SELECT s.file_path, count(DISTINCT e.line)::DOUBLE AS n
       FROM reject_errors e JOIN reject_scans s USING (scan_id, file_id) GROUP BY s.file_path`,
    );
    const found = new Map(rows.map((row) => [String(row['file_path']), Number(row['n'])]));
    return files.map((file) => found.get(file.path) ?? 0);
  }

  async countByFile(table: 'lines', files: number, each = '1'): Promise<number[]> {
    const rows = await this.run(`SELECT file_no::INTEGER AS file_no, sum(${each})::DOUBLE AS n FROM ${table} GROUP BY file_no`);
    const found = new Map(rows.map((row) => [Number(row['file_no']), Number(row['n'])]));
    return Array.from({ length: files }, (_, at) => found.get(at) ?? 0);
  }

  private async read(files: readonly TelemetryFile[], select: string, dialect: string, where = ''): Promise<void> {
    const paths = files.map((file) => sqlText(file.path.replaceAll(/[*?[]/g, '[$&]'))).join(', ');
    const packing = files[0]?.name.endsWith('.gz') ? 'gzip' : 'none';
    const many = files.length > 1 ? `, ${MANY_FILES}` : '';
    await this.run(
      `CREATE TEMP TABLE lines AS SELECT ${select}, file_index::BIGINT AS file_no
       FROM read_csv([${paths}], ${dialect}${many}, compression = '${packing}') ${where}`,
    );
  }

  private async run(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.database.write(sql, {}, this.signal);
  }
}
