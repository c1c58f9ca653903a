import type { ChangeRow, MetricAnomalyRow, SpanServiceRow } from '../../ports/telemetry-source.port';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { ClaimRole } from './claim-roles';
import { bindingAt, type EvidenceWriter, summaryBinding } from './evidence-writer';
import type { Candidate } from './family-ranking';
import type { Seen } from './seen';
import type { MetricSuspect, PlacedMetric } from './metric-ranking';
import { halvesOf, metricsQuestion, MIN_METRIC_ROWS, quietStretchOf, spansQuestion } from './questions';
import { gStatistic, riseOf } from './significance';
import type { Answer, TelemetryLook } from './telemetry-look';
import type { Thresholds } from './thresholds';
import { METRIC_ANOMALIES, SPAN_ANALYSIS } from './tool-rows';

const MOST = { series: 3, control: 2, stopped: 4 } as const;
const MEDIANS = { baseline: 'baseline_median', incident: 'median', unit: 'none' } as const;
const HIGH_SHARE = { baseline: 'baseline_high_share', incident: 'high_share', unit: 'ratio', count: 'high_traces' } as const;

/** What spans and metrics say against one service: slow traces and where their time went, then its departing series. */
export function measuresAgainst(role: ClaimRole, candidate: Candidate, seen: Seen, writer: EvidenceWriter): string[] {
  const spans =
    seen.spans === null || candidate.spans === null ? [] : spanClaims(role, candidate.spans.index, seen.spans, writer);
  const metrics =
    seen.metrics === null || candidate.metrics === null ? [] : metricClaims(role, candidate.metrics, seen.metrics, writer);
  return [...spans, ...metrics];
}

/** Whether a service has more slow traces than chance gives. */
export function isSlowed(row: SpanServiceRow, limits: Thresholds): boolean {
  const counts = {
    baseline_count: row.baseline_high_traces ?? 0,
    baseline_total: row.baseline_traces ?? 0,
    count: row.high_traces,
    total: row.traces,
  };
  return gStatistic(counts) >= limits.logs.chanceG && riseOf(counts) >= limits.spans.slowRise;
}

function spanClaims(role: ClaimRole, index: number, answer: Answer<SpanServiceRow>, writer: EvidenceWriter): string[] {
  const row = answer.rows[index];
  if (row === undefined || (row.baseline_high_share ?? Number.POSITIVE_INFINITY) >= row.high_share) return [];
  const times =
    row.role === 'self'
      ? { baseline: 'baseline_self_ms', incident: 'self_ms' }
      : row.role === 'incoming'
        ? { baseline: 'baseline_gap_ms', incident: 'gap_ms' }
        : null;
  const excess = { baseline: 'baseline_excess_ms', incident: 'excess_ms' };
  const rises = ({ baseline, incident }: { baseline: string; incident: string }): boolean => {
    const [before, after] = [row[baseline as keyof SpanServiceRow], row[incident as keyof SpanServiceRow]];
    return typeof before === 'number' && typeof after === 'number' && after > before;
  };
  const time = [times, excess].find((fields) => fields !== null && rises(fields));
  const withStart = row.first_seen === null ? [] : (['first_seen'] as const);
  const ids = [writer.moved(role, answer, index, HIGH_SHARE, withStart)];
  if (time !== undefined && time !== null) {
    const field = { ...time, unit: 'ms' } as { baseline: keyof SpanServiceRow; incident: keyof SpanServiceRow; unit: 'ms' };
    ids.push(writer.moved(role, answer, index, field));
  }
  return ids.filter((id) => id !== null);
}

/** Words that tell one series of a service from its others. */
function namesOf({ statistic, unit }: MetricAnomalyRow): (keyof MetricAnomalyRow)[] {
  return ['kind', 'metric', ...(statistic === null ? [] : ['statistic' as const]), ...(unit === null ? [] : ['unit' as const])];
}

function metricClaims(
  role: ClaimRole,
  suspect: MetricSuspect,
  answer: Answer<MetricAnomalyRow>,
  writer: EvidenceWriter,
): string[] {
  return tellingSeries(suspect)
    .slice(0, MOST.series)
    .flatMap(({ index, row }) => {
      const spread = row.baseline_iqr === null ? [] : (['baseline_iqr'] as const);
      return writer.moved(role, answer, index, MEDIANS, [...namesOf(row), 'first_seen', ...spread], comparedWith(answer)) ?? [];
    });
}

/** Series whose medians tell the same as their change, one of each metric first. */
function tellingSeries({ series }: MetricSuspect): PlacedMetric[] {
  const telling = series.filter(({ row }) => {
    const move = row.baseline_median === null ? 0 : row.median - row.baseline_median;
    return row.change !== null && move !== 0 && Math.sign(move) === Math.sign(row.change);
  });
  const isFirst = (placed: PlacedMetric): boolean => telling.find(({ row }) => row.metric === placed.row.metric) === placed;
  const [first, rest] = [telling.filter(isFirst), telling.filter((placed) => !isFirst(placed))];
  // Load that moved explains nothing by itself, so it is told last.
  const isLoad = ({ row }: PlacedMetric): number => Number(row.kind === 'traffic');
  return [...first, ...rest].sort((a, b) => isLoad(a) - isLoad(b));
}

/** Where the baseline of an answer is not the asked one, the claim says from when to when it was. */
function comparedWith(answer: Answer<MetricAnomalyRow>): string[] {
  if (answer.ownBaseline !== true) return [];
  return ['baseline_covered_from', 'baseline_covered_to'].filter((name) => typeof answer.summary[name] === 'string');
}

/** The disproof of a candidate by spans or metrics: the same question about a stretch of the baseline. */
export async function measureControl(
  candidate: Candidate,
  query: DiagnosisQuery,
  seen: Seen,
  look: TelemetryLook,
  writer: EvidenceWriter,
): Promise<string[]> {
  if (query.baseline === null) return [];
  if (candidate.spans !== null && candidate.spans.size > 0 && candidate.standing !== 'metrics' && look.has(SPAN_ANALYSIS)) {
    const { first, second } = halvesOf(query.baseline);
    const answer = await look.ask(SPAN_ANALYSIS, spansQuestion(second, first, candidate.service));
    const ids = answer === null ? [] : spansCompared('control', candidate.service, answer, writer);
    if (ids.length > 0 || candidate.standing === 'spans') return ids;
  }
  if (candidate.metrics === null || seen.metrics === null) return [];
  const baseline = seen.metrics.arguments['baseline'] as { from: string; to: string } | null;
  if (baseline === null) return [];
  const { window, before } = quietStretchOf(baseline, query.window);
  const answer = await look.ask(METRIC_ANOMALIES, metricsQuestion(window, before, candidate.service));
  return answer === null ? [] : metricControl(candidate.metrics, answer, writer);
}

/**
 * A service's share of slow traces in another comparison: that it rose when it did, else, for a control, that it stayed within
 * what is normal. A check has nothing to say of a service that is not slow: it may fail all the same.
 */
export function spansCompared(
  role: ClaimRole,
  service: string,
  answer: Answer<SpanServiceRow>,
  writer: EvidenceWriter,
): string[] {
  const index = answer.rows.findIndex((row) => row.service === service);
  const row = answer.rows[index];
  if (row === undefined) return [];
  if (isSlowed(row, writer.thresholds)) return listed(writer.moved(role, answer, index, HIGH_SHARE));
  return role === 'control' ? listed(writer.withinNormal(role, answer, index, HIGH_SHARE)) : [];
}

/** The same of a service's most unusual series: that it moved, else, for a control, that it stayed near its baseline. */
export function metricsCompared(
  role: ClaimRole,
  service: string,
  answer: Answer<MetricAnomalyRow>,
  writer: EvidenceWriter,
): string[] {
  const index = answer.rows.findIndex((row) => row.service === service && row.kind !== 'traffic');
  const row = answer.rows[index];
  if (row === undefined) return [];
  if (row.score >= writer.thresholds.metrics.unusual) return listed(writer.moved(role, answer, index, MEDIANS, namesOf(row)));
  const isNormal = role === 'control' && isNearBaseline(row, writer.thresholds);
  return isNormal ? listed(writer.withinNormal(role, answer, index, MEDIANS, namesOf(row))) : [];
}

function listed(id: string | null): string[] {
  return id === null ? [] : [id];
}

/** Control by metrics: the same series departing as much in the quiet stretch, or staying near its median there. */
export function metricControl(suspect: MetricSuspect, answer: Answer<MetricAnomalyRow>, writer: EvidenceWriter): string[] {
  const ids: string[] = [];
  for (const { row } of tellingSeries(suspect)) {
    if (ids.length >= MOST.control) break;
    const index = answer.rows.findIndex((other) => isSameSeries(other, row));
    const quiet = answer.rows[index];
    if (quiet === undefined) continue;
    const id = departsAsMuch(quiet, row, writer.thresholds)
      ? writer.moved('control', answer, index, MEDIANS, namesOf(quiet))
      : isNearBaseline(quiet, writer.thresholds)
        ? writer.withinNormal('control', answer, index, MEDIANS, namesOf(quiet))
        : null;
    if (id !== null) ids.push(id);
  }
  return ids;
}

function isSameSeries(a: MetricAnomalyRow, b: MetricAnomalyRow): boolean {
  return a.service === b.service && a.metric === b.metric && a.statistic === b.statistic;
}

function departsAsMuch(quiet: MetricAnomalyRow, incident: MetricAnomalyRow, limits: Thresholds): boolean {
  const change = quiet.change ?? 0;
  const asked = incident.change ?? 0;
  return (
    quiet.score >= Math.max(limits.metrics.unusual, incident.score * limits.claims.sameChange) &&
    Math.sign(change) === Math.sign(asked) &&
    Math.abs(change) >= Math.abs(asked) * limits.claims.sameChange
  );
}

function isNearBaseline({ median, baseline_median }: MetricAnomalyRow, limits: Thresholds): boolean {
  if (baseline_median === null) return false;
  if (median === baseline_median) return true;
  const factor = median / baseline_median;
  return factor >= 1 / limits.claims.normalFactor && factor <= limits.claims.normalFactor;
}

/** That a service is within what is normal by spans and by metrics; one claim a family at most, none where it departs. */
export function measuredNormal(role: ClaimRole, service: string, seen: Seen, writer: EvidenceWriter): string[] {
  return [spansNormal(role, service, seen, writer), metricsNormal(role, service, seen, writer)].filter((id) => id !== null);
}

/** Whether spans or metrics show the service departing. */
export function isMeasuredDeparting(
  service: string,
  { spans, metrics, thresholds }: Pick<Seen, 'spans' | 'metrics' | 'thresholds'>,
): boolean {
  return (
    (spans?.rows ?? []).some((row) => row.service === service && isSlowed(row, thresholds)) ||
    (metrics?.rows ?? []).some(
      (row) => row.service === service && row.kind !== 'traffic' && row.score >= thresholds.metrics.unusual,
    )
  );
}

export function spansNormal(
  role: ClaimRole,
  service: string,
  { spans, thresholds }: Seen,
  writer: EvidenceWriter,
): string | null {
  const index = spans?.rows.findIndex((row) => row.service === service) ?? -1;
  const row = spans?.rows[index];
  if (spans === null || row === undefined || row.baseline_high_share === null || isSlowed(row, thresholds)) return null;
  // Of no trace at all nothing is normal.
  if (row.traces === 0) return null;
  return writer.withinNormal(role, spans, index, HIGH_SHARE);
}

/** The most unusual series of a service that still lies near its baseline. */
export function metricsNormal(
  role: ClaimRole,
  service: string,
  { metrics, thresholds }: Seen,
  writer: EvidenceWriter,
): string | null {
  if (metrics === null) return null;
  const index = metrics.rows.findIndex(
    (row) =>
      row.service === service &&
      row.kind !== 'traffic' &&
      row.score < thresholds.metrics.unusual &&
      isNearBaseline(row, thresholds),
  );
  const row = metrics.rows[index];
  if (row === undefined) return null;
  return writer.withinNormal(role, metrics, index, MEDIANS, namesOf(row), comparedWith(metrics));
}

/**
 * What metrics say of services that stopped, by service: that no value comes any more where both halves of the baseline held
 * enough, or that load fell to next to nothing. It refuses to name a cause, and to judge where values could not be read.
 */
export async function stoppedMetrics(
  role: ClaimRole,
  seen: Seen,
  look: TelemetryLook,
  writer: EvidenceWriter,
): Promise<ReadonlyMap<string, string[]>> {
  const { metrics, query } = seen;
  const stopped = new Map<string, string[]>();
  const baseline = metrics?.arguments['baseline'] as { from: string; to: string } | null | undefined;
  if (metrics === null || baseline === null || baseline === undefined || metrics.records_rejected > 0) return stopped;
  metrics.rows.forEach((row, index) => {
    const { service, kind, median, baseline_median: before, baseline_rows: rows } = row;
    if (stopped.has(service) || kind !== 'traffic' || before === null || (rows ?? 0) < MIN_METRIC_ROWS) return;
    if (before <= 0 || median > before * seen.thresholds.silence.left) return;
    stopped.set(service, listed(writer.moved(role, metrics, index, MEDIANS, namesOf(row), comparedWith(metrics))));
  });
  const { first, second } = halvesOf(baseline);
  const known = await look.ask(METRIC_ANOMALIES, metricsQuestion(second, first));
  const steady = (known?.rows ?? []).filter((row) => Math.min(row.rows, row.baseline_rows ?? 0) >= MIN_METRIC_ROWS);
  const gone = [...new Set(steady.map(({ service }) => service))].filter(
    (service) => !metrics.rows.some((row) => row.service === service),
  );
  for (const service of gone.slice(0, MOST.stopped)) {
    const answer = await look.ask(METRIC_ANOMALIES, metricsQuestion(query.window, baseline, service));
    if (answer === null || answer.matched_count > 0 || !(Number(answer.summary['baseline_matched_count']) > 0)) continue;
    const bindings = ['baseline_matched_count', 'matched_count'].map((name) => summaryBinding(answer, name));
    const assertion = { op: 'fell', left: 0, right: 1, unit: 'count' } as const;
    stopped.set(service, [writer.add(role, { kind: 'fact', subject: service, assertion, bindings })]);
  }
  return stopped;
}

/** A recorded change of a service as a claim: how long before the window it was, or, inside the window, when it was. */
export function recordedChange(role: ClaimRole, index: number, seen: Seen, writer: EvidenceWriter): string | null {
  const answer = seen.recorded;
  const row = answer?.rows[index];
  if (answer === null || row === undefined) return null;
  const isBefore = row.minutes_before >= 0;
  const of = (...fields: readonly (keyof ChangeRow)[]) => fields.map((field) => bindingAt(answer, index, field));
  return writer.add(role, {
    kind: 'fact',
    subject: row.service,
    assertion: isBefore
      ? { op: 'equals', left: 0, value: row.minutes_before, unit: 'min' }
      : { op: 'equals', left: 0, value: row.time, unit: 'instant' },
    bindings: isBefore ? of('minutes_before', 'service', 'kind', 'time', 'text') : of('time', 'service', 'kind', 'text'),
  });
}
