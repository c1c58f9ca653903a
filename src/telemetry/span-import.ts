import { csvHeaderRows, requireColumns } from './file-layout';
import { serviceOfFileName } from './file-names';
import { sqlText } from './log-tables';
import { CALLS_SQL, SPAN_TIMES_SQL } from './span-times';
import { readHead, type TelemetryFile } from './telemetry-files';
import { JAEGER_SPAN_ROWS, OTLP_SPAN_ROWS } from './document-entries';
import { isDocumentSpans, type GraphRecords, type SpanRecords, type TableSpans } from './telemetry-mapping';
import { takenForGraph, takenForSpans } from './taken-columns';
import { cellOf, serviceOfRule, type ImportedFile, type ReadTable, type TelemetryReader } from './telemetry-reader';
import { epochNanoseconds } from './time-expression';

const NANOSECONDS: Readonly<Record<NonNullable<TableSpans['duration']>['unit'], string>> = {
  ns: '1',
  us: '1000',
  ms: '1000000',
  s: '1000000000',
};

/** Texts of a status that mark an error span. */
const ERROR_STATUS = '(?i)^(?:error|status_code_error|2|true|fail(?:ed|ure)?|5\\d\\d)$';

/** Texts of a kind that mark a span as the work of the service that is called. Numbers are no kinds: two numberings are in use. */
const SERVED_KIND = '(?i)^(?:span_kind_)?(?:server|consumer)$';
/** The same for the caller's side, and for what is surely not. */
const CALL_KIND = '(?i)^(?:span_kind_)?(?:client|producer)$';
const OWN_KIND = '(?i)^(?:span_kind_)?(?:server|consumer|internal)$';

/** What columns of spans mean, wherever they come from. */
type SpanColumns = Omit<TableSpans, 'files' | 'format'>;

/** Fills the tables of spans and stated edges, file by file. */
export class SpanImport {
  constructor(private readonly reader: TelemetryReader) {}

  /** Imports one file of spans by its entry. A row without trace, span, start or end, or that ends before it starts, is rejected. */
  async spans(file: TelemetryFile, entry: SpanRecords): Promise<ImportedFile> {
    if (isDocumentSpans(entry)) {
      return this.reader.guarded(file, async () => {
        const read = await this.reader.documents.read(file, entry.format, 'spans');
        const columns = { names: read.columns, delimiter: '' };
        const rows = entry.format === 'otlp' ? OTLP_SPAN_ROWS : JAEGER_SPAN_ROWS;
        return this.keep(file, entry, rows, cellOf(entry.format, columns), { ...read, unrecognised: 0 }, columns.names);
      });
    }
    const columns = await this.reader.columnsOf(file, entry);
    const { trace, span, parent, service, operation, start, end, duration, status, kind } = entry;
    const serviceColumn = typeof service === 'string' ? service : 'column' in service ? service.column : undefined;
    const named = [trace, span, parent, serviceColumn, operation, start.column, end?.column, duration?.column, status, kind];
    requireColumns(
      named.filter((name) => name !== undefined),
      file,
      columns,
      entry.format === 'jsonl',
    );
    for (const rule of [start, end]) await this.reader.requireFormat(file, rule?.format);
    return this.reader.guarded(file, async () => {
      const read = await this.reader.readTable(file, entry.format, columns);
      return this.keep(file, entry, entry, cellOf(entry.format, columns), read, columns.names);
    });
  }

  /** Takes `lines` through names and times into `spans`. */
  private async keep(
    file: TelemetryFile,
    entry: SpanRecords,
    { trace, span, parent, service, operation, start, end, duration, status, kind }: SpanColumns,
    at: (name: string) => string,
    { malformed, unrecognised, note }: ReadTable,
    names: readonly string[],
  ): Promise<ImportedFile> {
    const length =
      duration === undefined
        ? 'NULL'
        : `try_cast(try_cast(${at(duration.column)} AS DOUBLE) * ${NANOSECONDS[duration.unit]} AS BIGINT)`;
    const parentText = parent === undefined ? 'NULL' : `nullif(trim(${at(parent)}), '')`;
    const serviceText = serviceOfRule(service, sqlText(serviceOfFileName(file.name)), at);
    const matches = (column: string | undefined, pattern: string): string =>
      column === undefined ? 'false' : `coalesce(regexp_matches(trim(${at(column)}), ${sqlText(pattern)}), false)`;
    const isCall = `CASE WHEN ${matches(kind, CALL_KIND)} THEN true WHEN ${matches(kind, OWN_KIND)} THEN false END`;
    await this.reader.run(
      `CREATE TEMP TABLE staged AS SELECT trace, span, parent, service, operation, a, coalesce(${end === undefined ? 'NULL' : epochNanoseconds('end_text', end)}, a + length) AS b, is_error, is_served, is_call
         FROM (SELECT *, ${epochNanoseconds('start_text', start)} AS a FROM (
           SELECT trim(${at(trace)}) AS trace, trim(${at(span)}) AS span, ${parentText} AS parent,
             trim(coalesce(${serviceText}, '')) AS service, ${operation === undefined ? `''` : `coalesce(${at(operation)}, '')`} AS operation,
             ${at(start.column)} AS start_text, ${end === undefined ? 'NULL' : at(end.column)} AS end_text, ${length} AS length,
             ${matches(status, ERROR_STATUS)} AS is_error, ${matches(kind, SERVED_KIND)} AS is_served, ${isCall} AS is_call FROM lines))`,
    );
    const isTimed = 'a IS NOT NULL AND b IS NOT NULL AND b >= a';
    const isNamed = `coalesce(trace, '') <> '' AND coalesce(span, '') <> ''`;
    await this.reader.run(
      `INSERT INTO spans SELECT trace, span, parent, CASE WHEN service = '' THEN '(none)' ELSE service END, operation, a, b, is_error, is_served, is_call
         FROM staged WHERE ${isNamed} AND ${isTimed}`,
    );
    const [counts] = await this.reader.run(
      `SELECT count(*) FILTER (NOT (${isNamed}))::DOUBLE AS unnamed, count(*) FILTER (${isNamed} AND NOT coalesce(${isTimed}, false))::DOUBLE AS untimed,
           count(*) FILTER (${isNamed} AND ${isTimed})::DOUBLE AS kept FROM staged`,
    );
    return {
      name: file.name,
      family: 'spans',
      format: entry.format,
      rows: Number(counts?.['kept'] ?? 0),
      rejected: {
        malformed,
        unrecognised: unrecognised + Number(counts?.['unnamed'] ?? 0),
        bad_time: Number(counts?.['untimed'] ?? 0),
      },
      columns: names,
      taken: takenForSpans(entry),
      ...(await this.reader.rangeOf('staged', `${isNamed} AND ${isTimed}`, 'a', 'b')),
      ...note,
    };
  }

  /** Imports one file that states who calls whom. */
  async graph(file: TelemetryFile, entry: GraphRecords): Promise<ImportedFile> {
    const columns =
      entry.layout === 'edges'
        ? await this.reader.columnsOf(file, entry)
        : matrixColumns(csvHeaderRows(await readHead(file), 1, entry.delimiter));
    if (entry.layout === 'edges') requireColumns([entry.caller, entry.callee], file, columns, entry.format === 'jsonl');
    return this.reader.guarded(file, async () => {
      const { malformed, unrecognised, note } = await this.reader.readTable(file, entry.format, columns);
      const at = cellOf(entry.format, columns);
      if (entry.layout === 'edges') {
        await this.reader.run(
          `CREATE TEMP TABLE cells AS SELECT trim(${at(entry.caller)}) AS caller, trim(${at(entry.callee)}) AS callee FROM lines`,
        );
      } else await this.turnMatrix(columns.names);
      const isEdge = `coalesce(caller, '') <> '' AND coalesce(callee, '') <> ''`;
      await this.reader.run(
        `INSERT INTO edges SELECT DISTINCT caller, callee FROM cells WHERE ${isEdge} AND caller <> callee EXCEPT SELECT caller, callee FROM edges`,
      );
      const [counts] = await this.reader.run(
        `SELECT count(*) FILTER (${isEdge})::DOUBLE AS kept, count(*) FILTER (NOT (${isEdge}))::DOUBLE AS unnamed FROM cells`,
      );
      return {
        name: file.name,
        family: 'graph',
        format: entry.format,
        rows: Number(counts?.['kept'] ?? 0),
        rejected: {
          malformed,
          unrecognised: unrecognised + Number(counts?.['unnamed'] ?? 0),
          bad_time: 0,
        },
        columns: columns.names,
        taken: takenForGraph(entry),
        from: null,
        to: null,
        ...note,
      };
    });
  }

  /** Works out exclusive times and calls, once all files are in; the rows as they were read are not kept. */
  async finish(): Promise<void> {
    await this.reader.run(`CREATE TEMP TABLE resolved_spans AS ${SPAN_TIMES_SQL.resolved}`);
    await this.reader.run('DELETE FROM spans');
    await this.reader.run(`INSERT INTO span_times ${SPAN_TIMES_SQL.times}`);
    await this.reader.run(`INSERT INTO span_calls ${CALLS_SQL}`);
    await this.reader.run('DROP TABLE resolved_spans');
  }

  private async turnMatrix(names: readonly string[]): Promise<void> {
    await this.reader.run('CREATE TEMP TABLE cells (caller VARCHAR, callee VARCHAR)');
    const callees = names.slice(1).map((name, index) => ({ name, column: `c${index + 1}` }));
    if (callees.length === 0) return;
    const columns = callees.map(({ column }) => column).join(', ');
    const pairs = callees.map(({ name, column }) => `(${sqlText(column)}, ${sqlText(name)})`).join(', ');
    await this.reader.run(
      `INSERT INTO cells SELECT trim(u.c0), n.callee FROM (UNPIVOT (SELECT c0, ${columns} FROM lines) ON ${columns} INTO NAME name VALUE cell) u
       JOIN (VALUES ${pairs}) AS n(name, callee) USING (name) WHERE trim(cell) <> '' AND coalesce(try_cast(trim(cell) AS DOUBLE), 1) <> 0`,
    );
  }
}

function matrixColumns({ rows, delimiter }: { rows: string[][]; delimiter: string }): { names: string[]; delimiter: string } {
  return { delimiter, names: rows[0] ?? [] };
}
