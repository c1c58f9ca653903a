import { DiagnosisError } from '../errors/diagnosis-error';
import type { TelemetryFamilyName } from '../ports/telemetry-source.port';
import { csvColumns, jsonColumns, pointerOf, type FileColumns } from './file-layout';
import { DocumentReader } from './document-reader';
import { LineReader } from './line-reader';
import { sqlText } from './log-tables';
import type { TableSample } from './table-sample';
import type { TakenColumns } from './taken-columns';
import type { DocumentFormat, TableFormat } from './table-format';
import type { TelemetryDatabase } from './telemetry-database';
import { readHead, unreadable, type TelemetryFile } from './telemetry-files';
import type { ServiceRule } from './telemetry-mapping';
import { instantOf } from './time-expression';

/** Rows of a Parquet file that tell what it holds. */
const SAMPLE_ROWS = 100;
const CUT = 'its packed data ends too early or is damaged; what follows is missing';
const QUOTES =
  'its quotes or line ends are broken; it was read line by line, and lines that are no record by themselves were rejected';

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
  readonly family: TelemetryFamilyName;
  readonly format: TableFormat | DocumentFormat | 'text';
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

/** What came of reading one file into `lines`. */
export interface ReadTable {
  readonly malformed: number;
  readonly unrecognised: number;
  readonly note: { readonly note?: string };
}

/** Temporary tables that an import may leave behind when it fails. */
const SCRATCH = [
  'lines',
  'bodies',
  'marked',
  'tails',
  'staged',
  'pieces',
  'shapes',
  'column_names',
  'cells',
  'reject_errors',
  'reject_scans',
] as const;

/** SQL for a text column without the last parts of a pod's name. */
function strippedName(column: string, parts: number): string {
  return parts === 0 ? column : `regexp_replace(${column}, '(?:-[^-]+){${parts}}$', '')`;
}

/**
 * SQL for the service that a mapping's rule names, empty text for none.
 * @param fallback SQL for the service where there is no rule.
 */
export function serviceOfRule(rule: ServiceRule | undefined, fallback: string, at: (name: string) => string): string {
  if (rule === undefined) return fallback;
  if (typeof rule === 'string') return at(rule);
  return 'constant' in rule ? sqlText(rule.constant) : strippedName(at(rule.column), rule.strip_suffix_parts);
}

/** SQL for a cell of a file that `readTable` took in, as text. */
export function cellOf(format: TableFormat | DocumentFormat, columns: FileColumns): (name: string) => string {
  return (name) =>
    format === 'jsonl' ? `json_extract_string(line, ${sqlText(pointerOf(name))})` : `c${columns.names.indexOf(name)}`;
}

/** The note of a file that was cut short, or read line by line for its broken quotes. */
export function noteOf(isCut: boolean, isRecovered: boolean): { readonly note?: string } {
  if (isCut) return { note: CUT };
  return isRecovered ? { note: QUOTES } : {};
}

/**
 * Reads files into the temporary table `lines` of an import and counts what it refuses. It gives no meaning to what it
 * reads.
 */
export class TelemetryReader {
  readonly lines: LineReader;
  readonly documents: DocumentReader;
  /** Told how much of the file under work is done, 0 to 1. */
  onPart: (part: number) => void = () => undefined;

  constructor(
    readonly database: TelemetryDatabase,
    readonly signal: AbortSignal,
  ) {
    this.lines = new LineReader(database, signal);
    this.documents = new DocumentReader(database, signal);
    this.documents = new DocumentReader(database, signal);
  }

  /** Names of a table's columns; without its first lines, they are read. */
  async columnsOf(
    file: TelemetryFile,
    entry: { readonly format: TableFormat; readonly delimiter?: string | undefined },
    head?: readonly string[],
  ): Promise<FileColumns> {
    if (entry.format === 'parquet') {
      const names = await this.guarded(file, () => this.documents.parquetColumns(file));
      return { names, delimiter: '' };
    }
    const lines = head ?? (await readHead(file));
    return entry.format === 'csv' ? csvColumns(lines, entry.delimiter) : jsonColumns(lines);
  }

  /** Names and first rows of a Parquet file. */
  async parquetSample(file: TelemetryFile): Promise<TableSample> {
    return this.guarded(file, async () => {
      const names = await this.documents.parquetColumns(file);
      return { format: 'parquet', names, rows: await this.documents.parquetSample(file, names, SAMPLE_ROWS) };
    });
  }

  /**
   * Records of one CSV with its first `headerRows` lines left out, as text columns `c0`, `c1`, …; a
   * Parquet file in the same way; or JSON objects as `line`.
   */
  async readTable(file: TelemetryFile, format: TableFormat, columns: FileColumns, headerRows = 1): Promise<ReadTable> {
    if (format === 'parquet') {
      await this.documents.parquet(file, columns.names);
      return { malformed: 0, unrecognised: 0, note: {} };
    }
    const isCsv = format === 'csv';
    const survey = await this.lines.survey(file, isCsv);
    let unrecognised = 0;
    const isRead = !isCsv || (await this.lines.readCsv([file], columns, headerRows));
    if (!isCsv) [unrecognised = 0] = await this.lines.readLines([file], true);
    let [malformed = 0] = isRead ? await this.lines.rejectsOf([file]) : [];
    const isBroken = async (): Promise<boolean> =>
      !isRead || (await this.lines.brokenQuotes(columns, [survey], [malformed], headerRows)).length > 0;
    const isRecovered = isCsv && (await isBroken());
    if (isRecovered) malformed = await this.lines.recover(file, columns, headerRows);
    return { malformed: malformed + Number(survey.cut), unrecognised, note: noteOf(survey.cut, isRecovered) };
  }

  /** First and last instant of some rows of a table. */
  async rangeOf(table: string, which: string, first = 'ns', last = first): Promise<{ from: string | null; to: string | null }> {
    const [row] = await this.run(`SELECT min(${first}) AS first, max(${last}) AS last FROM ${table} WHERE ${which}`);
    const found = row as { readonly first: bigint | null; readonly last: bigint | null };
    return {
      from: found.first === null ? null : instantOf(found.first),
      to: found.last === null ? null : instantOf(found.last),
    };
  }

  /** Rows of a table. */
  async count(table: string): Promise<number> {
    const [row] = await this.run(`SELECT count(*)::DOUBLE AS n FROM ${table}`);
    return Number(row?.['n'] ?? 0);
  }

  /** One statement of the import; engine errors come through as they are. */
  async run(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.database.write(sql, {}, this.signal);
  }

  /** Throws MAPPING_INVALID for a time format that the engine refuses. */
  async requireFormat(file: TelemetryFile, format: string | undefined): Promise<void> {
    if (format === undefined || format.startsWith('epoch_')) return;
    await this.tried(
      `SELECT try_strptime('', ${sqlText(format)})`,
      `The time format for ${file.name} is none: use strptime directives, or epoch_s, epoch_ms, epoch_us, epoch_ns.`,
    );
  }

  /** Throws MAPPING_INVALID for a pattern that the engine refuses. */
  async requirePattern(file: TelemetryFile, pattern: string, group = 0): Promise<void> {
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

  /** Does the work over one file; what the engine cannot read is TELEMETRY_UNREADABLE, and no temporary table is left. */
  async guarded<T>(file: TelemetryFile, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (DiagnosisError.is(error)) throw error;
      throw unreadable(file.name, 'its content is not what its ending or its mapping says');
    } finally {
      for (const table of SCRATCH) {
        if (!this.signal.aborted) await this.run(`DROP TABLE IF EXISTS ${table}`);
      }
    }
  }
}
