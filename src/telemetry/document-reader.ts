import { contentOf } from './file-survey';
import { JournalEntries, JOURNAL_FIELDS } from './journal-entries';
import { JsonPieces } from './json-pieces';
import { sqlText } from './log-tables';
import { OTLP_METRICS, prometheusRows, PROMETHEUS_GAPS } from './metric-documents';
import { JAEGER_SPANS, OTLP_LOGS, OTLP_SPANS, type DocumentRows } from './span-documents';
import type { DocumentFormat } from './table-format';
import { serviceOfFileName } from './file-names';
import type { TelemetryDatabase } from './telemetry-database';
import { readHead, type TelemetryFile } from './telemetry-files';

/** Longest single value that is cut out of a document, in bytes. */
const MAX_PIECE_BYTES = 16 * 1024 * 1024;

/** What came of reading a document into `lines`. */
export interface ReadDocument {
  readonly columns: readonly string[];
  readonly malformed: number;
  readonly note: { readonly note?: string };
}

function rowsOf(
  format: Exclude<DocumentFormat, 'journal_export'>,
  family: 'logs' | 'metrics' | 'spans',
  file: TelemetryFile,
): DocumentRows {
  if (format === 'prometheus') return prometheusRows(serviceOfFileName(file.name));
  if (format === 'jaeger') return JAEGER_SPANS;
  return { logs: OTLP_LOGS, metrics: OTLP_METRICS, spans: OTLP_SPANS }[family];
}

function isDamage(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && /^Z_/.test(String(error.code));
}

/** The content of a file up to where its packed data is damaged, if it is. */
class UndamagedContent {
  damaged = 0;

  constructor(private readonly file: TelemetryFile) {}

  async *pieces(): AsyncGenerator<Buffer> {
    try {
      for await (const bytes of contentOf(this.file.path)) yield bytes as Buffer;
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.damaged = 1;
    }
  }
}

/**
 * Reads documents whose records stand where their format says into the temporary table `lines`, as text columns `c0`, `c1`,
 * …, one after another in pieces, so that a document of any size needs little memory. What is broken is counted.
 */
export class DocumentReader {
  constructor(
    private readonly database: TelemetryDatabase,
    private readonly signal: AbortSignal,
  ) {}

  async read(file: TelemetryFile, format: DocumentFormat, family: 'logs' | 'metrics' | 'spans'): Promise<ReadDocument> {
    if (format === 'journal_export') return this.journal(file);
    const rows = rowsOf(format, family, file);
    const malformed = await this.pieces(file, rows);
    const [invalid] = await this.run('SELECT count(*)::DOUBLE AS n FROM pieces WHERE NOT json_valid(piece)');
    await this.run('DELETE FROM pieces WHERE NOT json_valid(piece)');
    const names = rows.columns.map((_, at) => `c${at}`).join(', ');
    await this.run(`CREATE TEMP TABLE lines AS SELECT *, 0::BIGINT AS file_no FROM (${rows.select}) AS r(${names})`);
    const [gaps] = format === 'prometheus' ? await this.run(PROMETHEUS_GAPS) : [];
    await this.run('DROP TABLE pieces');
    const missing = Number(gaps?.['n'] ?? 0);
    return {
      columns: rows.columns,
      malformed: malformed + Number(invalid?.['n'] ?? 0),
      note: missing === 0 ? {} : { note: `${missing} value(s) are no finite numbers (NaN) and were left out` },
    };
  }

  private async pieces(file: TelemetryFile, { paths, owners }: DocumentRows): Promise<number> {
    const first = (await readHead(file)).find((line) => line.trim() !== '') ?? '';
    // A document that ends on its first line stands for files with a document a line.
    const cutter = new JsonPieces(paths, owners, /[}\]]\s*$/.test(first), MAX_PIECE_BYTES);
    const source = new UndamagedContent(file);
    const rows = async function* (): AsyncGenerator<readonly string[]> {
      for await (const bytes of source.pieces())
        for (const { kind, owner, text } of cutter.push(bytes)) yield [kind, String(owner), text];
      cutter.end();
    };
    await this.run('CREATE TEMP TABLE pieces (kind VARCHAR, owner VARCHAR, piece VARCHAR)');
    await this.database.appendTexts('pieces', rows(), this.signal);
    return cutter.rejected + source.damaged;
  }

  private async journal(file: TelemetryFile): Promise<ReadDocument> {
    const entries = new JournalEntries(MAX_PIECE_BYTES);
    await this.run(`CREATE TEMP TABLE lines (${JOURNAL_FIELDS.map((_, at) => `c${at} VARCHAR`).join(', ')})`);
    const source = new UndamagedContent(file);
    await this.database.appendTexts('lines', entries.records(source.pieces()), this.signal);
    await this.run('ALTER TABLE lines ADD COLUMN file_no BIGINT DEFAULT 0');
    const cell = (name: (typeof JOURNAL_FIELDS)[number]): string => `c${JOURNAL_FIELDS.indexOf(name)}`;
    await this.run(
      `UPDATE lines SET ${cell('SYSLOG_IDENTIFIER')} = coalesce(nullif(${cell('CONTAINER_NAME')}, ''), nullif(${cell('SYSLOG_IDENTIFIER')}, ''),
         regexp_replace(${cell('_SYSTEMD_UNIT')}, '\\.service$', ''))`,
    );
    return { columns: JOURNAL_FIELDS, malformed: entries.rejected + source.damaged, note: {} };
  }

  /** Names of a Parquet file's columns. */
  async parquetColumns(file: TelemetryFile): Promise<readonly string[]> {
    const rows = await this.run(`DESCRIBE SELECT * FROM read_parquet(${pathOf(file)})`);
    return rows.map((row) => String(row['column_name']));
  }

  /** The first rows of a Parquet file as text. */
  async parquetSample(file: TelemetryFile, names: readonly string[], rows: number): Promise<readonly (readonly string[])[]> {
    const cells = names.map((name, at) => `coalesce(${quoted(name)}::VARCHAR, '') AS c${at}`).join(', ');
    const found = await this.run(`SELECT ${cells} FROM read_parquet(${pathOf(file)}) LIMIT ${rows}`);
    return found.map((row) => names.map((_, at) => String(row[`c${at}`])));
  }

  /** Reads Parquet files of one layout into `lines`, as text columns. */
  async parquet(file: TelemetryFile, names: readonly string[]): Promise<void> {
    const cells = names.map((name, at) => `${quoted(name)}::VARCHAR AS c${at}`).join(', ');
    await this.run(`CREATE TEMP TABLE lines AS SELECT ${cells}, 0::BIGINT AS file_no FROM read_parquet(${pathOf(file)})`);
  }

  private async run(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.database.write(sql, {}, this.signal);
  }
}

function pathOf(file: TelemetryFile): string {
  return sqlText(file.path.replaceAll(/[*?[]/g, '[$&]'));
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
