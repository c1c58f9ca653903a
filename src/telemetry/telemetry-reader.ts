import { DiagnosisError } from '../errors/diagnosis-error';
import type { TelemetryFamilyName } from '../ports/telemetry-source.port';
import { csvColumns, jsonColumns, pointerOf, type FileColumns } from './file-layout';
import { sqlText } from './log-tables';
import type { TelemetryDatabase } from './telemetry-database';
import type { TelemetryFile } from './telemetry-files';
import type { ServiceRule } from './telemetry-mapping';

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
  readonly family: TelemetryFamilyName;
  readonly format: 'csv' | 'jsonl' | 'text';
  readonly rows: number;
  readonly rejected: RejectedRows;
  readonly columns: readonly string[];
}

/** Temporary tables that an import may leave behind when it fails. */
const SCRATCH = [
  'lines',
  'objects',
  'marked',
  'tails',
  'staged',
  'column_names',
  'cells',
  'reject_errors',
  'reject_scans',
] as const;

/** SQL for a text column without the last parts of a pod's name. */
export function strippedName(column: string, parts: number): string {
  return parts === 0 ? column : `regexp_replace(${column}, '(?:-[^-]+){${parts}}$', '')`;
}

/** SQL for the service that a mapping's rule names, empty text for none. */
export function serviceExpression(rule: ServiceRule | undefined, fallback: string, at: (name: string) => string): string {
  if (rule === undefined) return sqlText(fallback);
  if (typeof rule === 'string') return at(rule);
  return 'constant' in rule ? sqlText(rule.constant) : strippedName(at(rule.column), rule.strip_suffix_parts);
}

/** Columns of a file that a mapping calls CSV or JSON lines. */
export function columnsOfTable(
  entry: { format: 'csv' | 'jsonl'; delimiter?: string | undefined },
  head: readonly string[],
): FileColumns {
  return entry.format === 'csv' ? csvColumns(head, entry.delimiter) : jsonColumns(head);
}

/** SQL for a cell of a file that `readTable` took in, as text. */
export function cellOf(format: 'csv' | 'jsonl', columns: FileColumns): (name: string) => string {
  return (name) =>
    format === 'csv' ? `c${columns.names.indexOf(name)}` : `json_extract_string(line, ${sqlText(pointerOf(name))})`;
}

/**
 * Reads one file at a time into the temporary table `lines` of an import, with bound paths, and counts what it refuses. It
 * gives no meaning to what it reads.
 */
export class TelemetryReader {
  constructor(
    readonly database: TelemetryDatabase,
    private readonly signal: AbortSignal,
  ) {}

  /** Records of a CSV with its first `headerRows` lines left out, as text columns `c0`, `c1`, …; or JSON lines. Answers how many lines are no record. */
  async readTable(file: TelemetryFile, format: 'csv' | 'jsonl', columns: FileColumns, headerRows = 1): Promise<number> {
    if (format === 'jsonl') return this.readLines(file, true);
    const names = columns.names.map((_, at) => `'c${at}': 'VARCHAR'`).join(', ');
    const header = headerRows === 1 ? 'header = true' : `header = false, skip = ${headerRows}`;
    const dialect = `${header}, delim = ${sqlText(columns.delimiter)}, quote = '"', escape = '"', columns = {${names}}`;
    await this.read(file, `SELECT * FROM read_csv($path, ${READ}, ${dialect}, compression = $compression)`);
    return 0;
  }

  /** Lines that hold more than spaces, as column `line`; with `jsonOnly`, JSON objects. */
  async readLines(file: TelemetryFile, jsonOnly: boolean): Promise<number> {
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

  private async read(file: TelemetryFile, select: string): Promise<void> {
    const path = file.path.replaceAll(/[*?[]/g, '[$&]');
    await this.database.write(
      `CREATE TEMP TABLE lines AS ${select}`,
      { path, compression: file.name.endsWith('.gz') ? 'gzip' : 'none' },
      this.signal,
    );
  }

  /** Rows that the reader refused, each once however much is wrong with it. */
  async takeRejects(): Promise<number> {
    const [row] = await this.run('SELECT count(DISTINCT line)::DOUBLE AS n FROM reject_errors');
    return Number(row?.['n'] ?? 0);
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
  async guarded(file: TelemetryFile, work: () => Promise<ImportedFile>): Promise<ImportedFile> {
    try {
      return await work();
    } catch (error) {
      if (DiagnosisError.is(error)) throw error;
      throw new DiagnosisError(
        'TELEMETRY_UNREADABLE',
        `Telemetry at ${file.name} cannot be read: its content is not what its ending or its mapping says.`,
      );
    } finally {
      for (const table of SCRATCH) {
        if (!this.signal.aborted) await this.run(`DROP TABLE IF EXISTS ${table}`);
      }
    }
  }
}
