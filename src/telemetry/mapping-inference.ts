import type { SkippedFile } from '../ports/telemetry-source.port';
import { jsonObjectOf } from './file-layout';
import { isNamed, isTelemetryLike } from './file-names';
import { CONTINUATION, LINE_SHAPE_NAMES, lineShape } from './line-shapes';
import { inferLogs, logsLack } from './log-inference';
import { inferGraph, inferHeadedMetrics, inferMetrics, inferSpans } from './measure-inference';
import { csvSample, jsonSample, timeColumn, type TableSample } from './table-sample';
import { TOO_DEEP } from './telemetry-files';
import type { ChangeRecords, GraphRecords, LogsMapping, MetricsMapping, SpanRecords } from './telemetry-mapping';
import { columnFor, USUAL } from './usual-names';

/** An entry of a mapping with the family that it stands under. */
export type FamilyEntry =
  | { readonly family: 'logs'; readonly entry: LogsMapping }
  | { readonly family: 'metrics'; readonly entry: MetricsMapping }
  | { readonly family: 'spans'; readonly entry: SpanRecords }
  | { readonly family: 'graph'; readonly entry: GraphRecords }
  | { readonly family: 'changes'; readonly entry: ChangeRecords };

/** What a file was taken for by its name and first lines, or why it was left out. */
export type InferredFile = { readonly entries: readonly FamilyEntry[] } | { readonly reason: string };

/** Reasons by which nothing is missed: a file without a line, a list of ids, a mapping. */
const EMPTY_FILE = 'it is empty';
const ONE_COLUMN = 'it is a list of one column';
const MAPPING_ITSELF = 'it is a mapping file, and no file of telemetry';

/** Whether a file that was left out may have held telemetry. */
export function isMissed({ name, reason }: SkippedFile): boolean {
  if (reason === TOO_DEEP) return true;
  return isTelemetryLike(name) && ![EMPTY_FILE, ONE_COLUMN, MAPPING_ITSELF].includes(reason);
}

const CHANGE_FILE =
  /(?:^|\/)(?:changes?|deploys?|deployments?|releases?|flags?|migrations?|config-?changes?)[^/]*\.(?:jsonl|ndjson|json|csv|tsv|parquet)(?:\.gz)?$/i;
const UNKNOWN_JSON =
  'it is JSON of no known kind: neither lines of telemetry nor a document of OpenTelemetry, Jaeger or Prometheus';
const SAMPLE_LINES = 100;
/** Characters at the start of a document in which its kind shows. */
const DOCUMENT_START = 16 * 1024;
const JOURNAL_START = /^(?:__CURSOR|__REALTIME_TIMESTAMP|_[A-Z_]+|[A-Z][A-Z_]+)=/;
const FILES = { files: ['inferred'] };

function mostly(lines: readonly string[], holds: (line: string) => boolean, share = 0.5): boolean {
  return lines.length > 0 && lines.filter(holds).length >= lines.length * share;
}

function one(item: FamilyEntry): InferredFile {
  return { entries: [item] };
}

function inferChanges(sample: TableSample): InferredFile {
  const { names, format, delimiter } = sample;
  const time = timeColumn(sample);
  const service = columnFor(names, [...USUAL.service, ...USUAL.host]);
  const kind = columnFor(names, USUAL.kind);
  const text = columnFor(
    names.filter((name) => name !== kind),
    USUAL.changeText,
  );
  if (time === undefined || service === undefined || kind === undefined || text === undefined)
    return { reason: 'a file of changes needs time, service, kind and text' };
  const delimited = delimiter === undefined ? {} : { delimiter };
  return one({ family: 'changes', entry: { ...FILES, format, ...delimited, time, service, kind, text } });
}

/** Takes a table for what its names and first rows look like: spans, logs, metrics, changes by the file's name, or calls. */
export function inferTable(name: string, sample: TableSample): InferredFile {
  if (CHANGE_FILE.test(name)) return inferChanges(sample);
  const spans = inferSpans(sample);
  if (spans !== null) return one({ family: 'spans', entry: spans });
  const logs = inferLogs(sample);
  if (logs !== null) return one({ family: 'logs', entry: logs });
  const metrics = inferMetrics(sample);
  if (metrics !== null) return one({ family: 'metrics', entry: metrics });
  const graph = inferGraph(sample);
  if (graph !== null) return one({ family: 'graph', entry: graph });
  return { reason: `no column with a usual name for ${logsLack(sample) ?? 'what it holds'}` };
}

function inferCsv(name: string, lines: readonly string[]): InferredFile {
  const sample = csvSample(lines);
  if (sample.names.length < 2) return { reason: ONE_COLUMN };
  const graph = CHANGE_FILE.test(name) ? null : inferGraph(sample);
  if (graph?.layout === 'matrix') return one({ family: 'graph', entry: graph });
  const headed = inferHeadedMetrics(lines, sample.delimiter ?? ',');
  return headed === null ? inferTable(name, sample) : one({ family: 'metrics', entry: headed });
}

/** Documents by the members that their first characters name. */
function inferDocument(text: string): InferredFile | null {
  const start = text.slice(0, DOCUMENT_START);
  if (!/^\s*[{[]/.test(start)) return null;
  const entries: FamilyEntry[] = [];
  // One kind of export may stand far behind another in one file, so all that is there is looked at.
  if (/"resourceLogs"\s*:/.test(text)) entries.push({ family: 'logs', entry: { ...FILES, format: 'otlp' } });
  if (/"resourceMetrics"\s*:/.test(text)) entries.push({ family: 'metrics', entry: { ...FILES, format: 'otlp' } });
  if (/"resourceSpans"\s*:/.test(text)) entries.push({ family: 'spans', entry: { ...FILES, format: 'otlp' } });
  if (entries.length > 0) return { entries };
  if (/"traceID"\s*:/.test(start) && /"spans"\s*:/.test(start))
    return one({ family: 'spans', entry: { ...FILES, format: 'jaeger' } });
  if (/"resultType"\s*:\s*"(?:matrix|vector)"/.test(start))
    return one({ family: 'metrics', entry: { ...FILES, format: 'prometheus' } });
  if (/"schema"\s*:\s*"telemetry_mapping_v1"/.test(start)) return { reason: MAPPING_ITSELF };
  return null;
}

function inferText(lines: readonly string[]): InferredFile {
  const firsts = lines.filter((line) => !new RegExp(CONTINUATION).test(line));
  for (const name of LINE_SHAPE_NAMES) {
    const { head, sure } = lineShape(name);
    const pattern = new RegExp(head);
    const isSure = sure === undefined || mostly(firsts, (line) => new RegExp(sure).test(line), 0.3);
    if (isSure && mostly(firsts, (line) => pattern.test(line)))
      return one({ family: 'logs', entry: { ...FILES, format: 'text', text_pattern: name, time: { zone: 'UTC' } } });
  }
  return {
    reason: `its lines are neither JSON objects nor begin with a time (known shapes: ${LINE_SHAPE_NAMES.join(', ')})`,
  };
}

/** What bytes that are no text begin with, in words. */
function binaryReason(first: string): string | null {
  if (first.startsWith('PK\u0003\u0004')) return 'it is a zip archive; unpack it';
  if (first.startsWith('\u001f\uFFFD')) return 'it is packed with gzip and does not end in .gz';
  if (first.startsWith('(\uFFFD/\uFFFD')) return 'it is packed with zstd; unpack it';
  if (/^\uFFFD\uFFFD|\u0000/.test(first.slice(0, 4096))) return 'it is no text in UTF-8';
  return null;
}

/**
 * Takes a file for what its name and first lines look like. It guesses no zone: a time without one counts as UTC. Parquet
 * files are for `inferTable`, as their columns stand at their end.
 */
export function inferFile(name: string, head: readonly string[]): InferredFile {
  const lines = head.filter((line) => line.trim() !== '').slice(0, SAMPLE_LINES);
  // Lengths of fields stand in eight bytes, so that an export of the journal does not look like text.
  if (JOURNAL_START.test(lines[0] ?? '') && lines.some((line) => line.startsWith('__REALTIME_TIMESTAMP=')))
    return one({ family: 'logs', entry: { ...FILES, format: 'journal_export' } });
  const binary = binaryReason(head[0] ?? '') ?? binaryReason(head.slice(0, 20).join('\n'));
  if (binary !== null) return { reason: binary };
  if (lines.length === 0) return { reason: EMPTY_FILE };
  if (isNamed(name, '.csv', '.tsv')) return inferCsv(name, lines);
  const document = inferDocument(head.join('\n'));
  if (document !== null) return document;
  if (mostly(lines, (line) => jsonObjectOf(line) !== null)) {
    const inferred = inferTable(name, jsonSample(lines));
    if ('entries' in inferred || !isNamed(name, '.json')) return inferred;
  }
  if (isNamed(name, '.json')) return { reason: UNKNOWN_JSON };
  return inferText(lines);
}
