import type { MetricKind } from '../ports/telemetry-source.port';
import { csvHeaderRows, requireColumns, type FileColumns } from './file-layout';
import { serviceOfFileName } from './file-names';
import { enginePattern, namedGroups } from './line-shapes';
import { sqlText } from './log-tables';
import { kindOfMetric } from './metric-kind';
import { readHead, type TelemetryFile } from './telemetry-files';
import type { DocumentMetrics, HeadedMetrics, LongMetrics, MetricsMapping, ServiceRule, WideMetrics } from './telemetry-mapping';
import { takenForMetrics } from './taken-columns';
import { cellOf, serviceOfRule, type ImportedFile, type ReadTable, type TelemetryReader } from './telemetry-reader';
import { epochNanoseconds } from './time-expression';

/** Texts that stand for a value that is not there. */
const MISSING = `'', 'nan', 'null', 'none', '-'`;
/** A unit in parentheses at the end of a metric's name. */
const UNIT_SUFFIX = '\\(([^()]{1,16})\\)\\s*$';

interface SeriesColumn {
  readonly column: string;
  readonly service: string | null;
  readonly metric: string;
  readonly statistic: string;
  readonly unit: string | null;
}

function columnOfService(rule: ServiceRule | undefined): string[] {
  if (rule === undefined) return [];
  if (typeof rule === 'string') return [rule];
  return 'column' in rule ? [rule.column] : [];
}

/** Fills the tables of metrics, file by file. Values are numbers, missing, or rejected; a value of text is never one. */
export class MetricImport {
  constructor(private readonly reader: TelemetryReader) {}

  /** Imports one file by its entry. MAPPING_INVALID: absent columns or a time format that is none. */
  async metrics(file: TelemetryFile, entry: MetricsMapping): Promise<ImportedFile> {
    if (entry.layout === undefined) return this.document(file, entry);
    await this.reader.requireFormat(file, entry.time.format);
    if (entry.layout === 'headers') return this.headed(file, entry, await readHead(file));
    const columns = await this.reader.columnsOf(file, entry);
    return entry.layout === 'long' ? this.long(file, entry, columns) : this.wide(file, entry, columns);
  }

  /** Gives every series its kind, once all files are in. */
  async finish(): Promise<void> {
    const rows = await this.reader.run('SELECT series_id, metric FROM metric_series ORDER BY series_id');
    const kinds = rows.map((row): readonly [number, MetricKind] => [
      Number(row['series_id']),
      kindOfMetric(String(row['metric'])),
    ]);
    await this.reader.run('CREATE TEMP TABLE series_kinds (series_id INTEGER, kind VARCHAR)');
    await this.reader.database.append('series_kinds', kinds);
    await this.reader.run(
      'UPDATE metric_series SET kind = k.kind FROM series_kinds k WHERE k.series_id = metric_series.series_id',
    );
    await this.reader.run('DROP TABLE series_kinds');
  }

  private async long(file: TelemetryFile, entry: LongMetrics, columns: FileColumns): Promise<ImportedFile> {
    const { metric, statistic, unit, value } = entry;
    const named = [metric, statistic, unit].filter((name) => typeof name === 'string');
    requireColumns(
      [entry.time.column, value, ...named, ...columnOfService(entry.service)],
      file,
      columns,
      entry.format === 'jsonl',
    );
    return this.reader.guarded(file, async () => {
      const read = await this.reader.readTable(file, entry.format, columns);
      const at = cellOf(entry.format, columns);
      const text = (name: LongMetrics['statistic']): string =>
        name === undefined ? `''` : typeof name === 'string' ? at(name) : sqlText(name.constant);
      await this.reader.run(
        `CREATE TEMP TABLE cells AS SELECT ${epochNanoseconds(at(entry.time.column), entry.time)} AS ns,
           ${serviceOfRule(entry.service, sqlText(serviceOfFileName(file.name)), at)} AS service,
           ${text(metric)} AS metric, ${text(statistic)} AS statistic, ${unit === undefined ? 'NULL::VARCHAR' : at(unit)} AS unit, ${at(value)} AS cell FROM lines`,
      );
      return this.stage(file, entry, columns, read);
    });
  }

  private async wide(file: TelemetryFile, entry: WideMetrics, columns: FileColumns): Promise<ImportedFile> {
    const owned = [entry.time.column, ...columnOfService(entry.service), ...entry.ignore];
    requireColumns(owned, file, columns, false);
    return this.reader.guarded(file, async () => {
      const read = await this.reader.readTable(file, entry.format, columns);
      const at = cellOf(entry.format, columns);
      const service = serviceOfRule(entry.service, sqlText(serviceOfFileName(file.name)), at);
      const statistic = entry.statistic?.constant ?? '';
      const named = await this.namedColumns(file, entry, columns.names);
      const series = columns.names.flatMap((name, index): SeriesColumn[] =>
        name === '' || owned.includes(name)
          ? []
          : [{ column: `c${index}`, ...(named.get(name) ?? { service: null, metric: name }), statistic, unit: null }],
      );
      await this.turn(epochNanoseconds(at(entry.time.column), entry.time), service, await this.numeric(series));
      return this.stage(file, entry, columns, read);
    });
  }

  /** Service and metric that the names of columns hold, by the entry's pattern. */
  private async namedColumns(
    file: TelemetryFile,
    { column_pattern }: WideMetrics,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly service: string; readonly metric: string }>> {
    if (column_pattern === undefined) return new Map();
    const groups = namedGroups(column_pattern);
    const pattern = enginePattern(column_pattern);
    await this.reader.requirePattern(file, pattern, Math.max(...groups.values()));
    const group = (name: string): string => `regexp_extract(name, ${sqlText(pattern)}, ${groups.get(name) ?? 0})`;
    const rows = await this.reader.run(
      `SELECT name, ${group('service')} AS service, ${group('metric')} AS metric FROM (SELECT unnest([${names.map(sqlText).join(', ')}]) AS name)`,
    );
    const found = rows.map(
      (row) => [String(row['name']), { service: String(row['service']), metric: String(row['metric']) }] as const,
    );
    return new Map(found.filter(([, { service, metric }]) => service !== '' && metric !== ''));
  }

  private async document(file: TelemetryFile, entry: DocumentMetrics): Promise<ImportedFile> {
    return this.reader.guarded(file, async () => {
      const { columns, malformed, note } = await this.reader.documents.read(file, entry.format, 'metrics');
      const [time, service, metric, statistic, unit, value] = columns.map((_, at) => `c${at}`);
      await this.reader.run(
        `CREATE TEMP TABLE cells AS SELECT try_cast(${time} AS BIGINT) AS ns, coalesce(nullif(${service}, ''), ${sqlText(serviceOfFileName(file.name))}) AS service,
           ${metric} AS metric, ${statistic} AS statistic, ${unit} AS unit, ${value} AS cell FROM lines`,
      );
      return this.stage(file, entry, { names: columns, delimiter: '' }, { malformed, unrecognised: 0, note });
    });
  }

  private async headed(file: TelemetryFile, entry: HeadedMetrics, head: readonly string[]): Promise<ImportedFile> {
    const { rows, delimiter } = csvHeaderRows(head, entry.header_rows.length, entry.delimiter);
    const width = rows[0]?.length ?? 0;
    const columns = { delimiter, names: Array.from({ length: width }, (_, index) => `c${index}`) };
    const cell = (role: (typeof entry.header_rows)[number], index: number): string =>
      rows[entry.header_rows.indexOf(role)]?.[index] ?? '';
    const fallback = entry.service?.constant ?? serviceOfFileName(file.name);
    const series = columns.names.flatMap((column, index): SeriesColumn[] =>
      index === 0 || cell('metric', index) === ''
        ? []
        : [
            {
              column,
              service: cell('service', index) === '' ? fallback : cell('service', index),
              metric: cell('metric', index),
              statistic: cell('statistic', index),
              unit: cell('unit', index) === '' ? null : cell('unit', index),
            },
          ],
    );
    return this.reader.guarded(file, async () => {
      const read = await this.reader.readTable(file, 'csv', columns, entry.header_rows.length);
      await this.turn(epochNanoseconds('c0', entry.time), sqlText(fallback), series);
      return this.stage(file, entry, { delimiter, names: series.map(({ metric }) => metric) }, read);
    });
  }

  /** Columns that hold a number anywhere: the others are labels. */
  private async numeric(series: readonly SeriesColumn[]): Promise<readonly SeriesColumn[]> {
    if (series.length === 0) return [];
    const tests = series.map(({ column }) => `coalesce(bool_or(try_cast(${column} AS DOUBLE) IS NOT NULL), false) AS ${column}`);
    const [found] = await this.reader.run(`SELECT ${tests.join(', ')} FROM lines`);
    return series.filter(({ column }) => found?.[column] === true);
  }

  /** Turns columns of `lines` into the rows of `cells`. */
  private async turn(time: string, service: string, series: readonly SeriesColumn[]): Promise<void> {
    await this.reader.run(
      'CREATE TEMP TABLE cells (ns BIGINT, service VARCHAR, metric VARCHAR, statistic VARCHAR, unit VARCHAR, cell VARCHAR)',
    );
    if (series.length === 0) return;
    const text = (value: string | null): string => (value === null ? 'NULL::VARCHAR' : sqlText(value));
    const names = series.map((one) => `(${[one.column, one.service, one.metric, one.statistic, one.unit].map(text).join(', ')})`);
    await this.reader.run(
      `CREATE TEMP TABLE column_names AS SELECT * FROM (VALUES ${names.join(', ')}) AS n(name, service, metric, statistic, unit)`,
    );
    const columns = series.map(({ column }) => column).join(', ');
    await this.reader.run(
      `INSERT INTO cells SELECT ns, coalesce(n.service, row_service), n.metric, n.statistic, n.unit, cell FROM (
         UNPIVOT (SELECT ${time} AS ns, ${service} AS row_service, ${columns} FROM lines) ON ${columns} INTO NAME name VALUE cell) u
       JOIN column_names n USING (name)`,
    );
  }

  /** Takes `cells` through time and number into `metric_series` and `metrics`; a row whose time is none is rejected once for each value. */
  private async stage(
    file: TelemetryFile,
    entry: MetricsMapping,
    columns: FileColumns,
    { malformed, unrecognised, note }: ReadTable,
  ): Promise<ImportedFile> {
    await this.reader.run(
      `CREATE TEMP TABLE staged AS SELECT ns, try_cast(trim(cell) AS DOUBLE) AS value,
         CASE WHEN trim(coalesce(service, '')) = '' THEN '(none)' ELSE trim(service) END AS service, trim(coalesce(metric, '')) AS metric,
         trim(coalesce(statistic, '')) AS statistic, nullif(trim(unit), '') AS unit
       FROM cells WHERE lower(trim(coalesce(cell, ''))) NOT IN (${MISSING})`,
    );
    await this.reader.run(
      `INSERT INTO metric_series SELECT (SELECT coalesce(max(series_id), 0) FROM metric_series) + row_number() OVER (ORDER BY service, metric, statistic),
         service, metric, statistic, coalesce(unit, regexp_extract(metric, ${sqlText(UNIT_SUFFIX)}, 1), ''), NULL
       FROM (SELECT service, metric, statistic, min(unit) AS unit FROM staged WHERE ns IS NOT NULL AND isfinite(value) AND metric <> '' GROUP BY ALL) s
       ANTI JOIN metric_series m USING (service, metric, statistic)`,
    );
    await this.reader.run(
      `INSERT INTO metrics SELECT m.series_id, s.ns, s.value FROM staged s JOIN metric_series m USING (service, metric, statistic)
       WHERE s.ns IS NOT NULL AND isfinite(s.value) ORDER BY m.series_id, s.ns, s.value`,
    );
    const [counts] = await this.reader.run(
      `SELECT count(*) FILTER (ns IS NULL)::DOUBLE AS bad_time, count(*) FILTER (ns IS NOT NULL AND (value IS NULL OR metric = ''))::DOUBLE AS bad_value,
         count(*) FILTER (ns IS NOT NULL AND isfinite(value) AND metric <> '')::DOUBLE AS kept FROM staged`,
    );
    return {
      name: file.name,
      family: 'metrics',
      format: entry.format,
      rows: Number(counts?.['kept'] ?? 0),
      rejected: {
        malformed,
        unrecognised: unrecognised + Number(counts?.['bad_value'] ?? 0),
        bad_time: Number(counts?.['bad_time'] ?? 0),
      },
      columns: columns.names,
      taken: takenForMetrics(entry),
      ...(await this.reader.rangeOf('staged', `isfinite(value) AND metric <> ''`)),
      ...note,
    };
  }
}
