import type { ErrorShareRow, SpanServiceRow } from '../../ports/telemetry-source.port';
import type { ClaimRole } from './claim-roles';
import type { EvidenceWriter } from './evidence-writer';
import type { Seen } from './seen';
import { errorShareQuestion, halvesOf, spansQuestion } from './questions';
import { quantileOf } from './significance';
import type { Answer, TelemetryLook } from './telemetry-look';
import type { Thresholds } from './thresholds';
import { ERROR_SHARE, SPAN_ANALYSIS } from './tool-rows';

const RATES = { baseline: 'baseline_rate_per_min', incident: 'rate_per_min', unit: 'per_minute' } as const;
/** Services whose silence is looked into. */
const MOST_CHECKED = 4;

interface Rated {
  readonly service: string;
  readonly rate_per_min: number;
  readonly baseline_rate_per_min: number | null;
}

/** A family that knows a service and holds nearly nothing of it now, by its place in the stored output. */
interface PlacedRate {
  readonly index: number;
  readonly row: Rated;
}

/** A service that said something steadily and no longer does. */
export interface Silence {
  readonly service: string;
  readonly lines: PlacedRate | null;
  readonly traces: PlacedRate | null;
  /** Records that were to be expected of it in the window. */
  readonly expected: number;
}

type Verdict = 'silent' | 'speaks' | 'unknown';

/**
 * What a family says of each of its services. What all services lost is no silence of one of them, so it is taken off first;
 * `asWhole` leaves it in, because a system that falls silent altogether is not normal either.
 */
function rated<Row extends Rated>(rows: readonly Row[], minutes: number, limits: Thresholds['silence'], asWhole = false) {
  const known = rows.filter(({ baseline_rate_per_min: rate }) => (rate ?? 0) * minutes >= limits.expected);
  const ratios = known.map(({ rate_per_min, baseline_rate_per_min }) => rate_per_min / (baseline_rate_per_min ?? 1));
  const load = asWhole ? 1 : Math.min(1, quantileOf(ratios, 0.5));
  const expectedOf = (row: Row): number => (row.baseline_rate_per_min ?? 0) * load * minutes;
  const verdictOf = (row: Row | undefined): Verdict => {
    if (row === undefined || expectedOf(row) < limits.expected) return 'unknown';
    return row.rate_per_min * minutes <= expectedOf(row) * limits.left ? 'silent' : 'speaks';
  };
  const isFaded = (row: Row): boolean =>
    expectedOf(row) >= limits.expected && row.rate_per_min * minutes <= expectedOf(row) * limits.faded;
  return { expectedOf, verdictOf, isFaded };
}

/** Services of which far fewer records come than before, in any family, less what all services lost. */
export function fadedServices({ thresholds: { silence: limits }, ...seen }: Seen): string[] {
  const [shares, spans] = [readable(seen.shares, limits), readable(seen.spans, limits)];
  const lines = rated<ErrorShareRow>(shares?.rows ?? [], minutesOf(shares), limits);
  const traces = rated<SpanServiceRow>(spans?.rows ?? [], minutesOf(spans), limits);
  return [
    ...(shares?.rows ?? []).filter((row) => lines.isFaded(row)),
    ...(spans?.rows ?? []).filter((row) => traces.isFaded(row)),
  ].map(({ service }) => service);
}

/** A family's answer, null where so many records could not be read that a missing one need not be missing. */
function readable<Row>(answer: Answer<Row> | null, { unreadable }: Thresholds['silence']): Answer<Row> | null {
  const before = Number(answer?.summary['baseline_records_scanned'] ?? 0);
  const rejected = answer?.records_rejected ?? 0;
  return rejected > 0 && rejected >= before * unreadable ? null : answer;
}

function lengthOf({ from, to }: Seen['query']['window']): number {
  return (Date.parse(to) - Date.parse(from)) / 60_000;
}

function minutesOf(answer: Answer<unknown> | null): number {
  const from = answer?.summary['covered_from'];
  const to = answer?.summary['covered_to'];
  return typeof from === 'string' && typeof to === 'string' ? (Date.parse(to) - Date.parse(from)) / 60_000 : 0;
}

/**
 * Services of which lines or traces come no longer, in every family that knows them well enough to tell, most expected first.
 * Unless asked for the system as a whole, it refuses to call a service silent that only lost what all of them lost, and to
 * take records that could not be read for silence.
 */
function silentServices({ query, thresholds: { silence: limits }, ...seen }: Seen, asWhole: boolean): Silence[] {
  const [shares, spans] = [readable(seen.shares, limits), readable(seen.spans, limits)];
  const lines = rated<ErrorShareRow>(shares?.rows ?? [], asWhole ? lengthOf(query.window) : minutesOf(shares), limits, asWhole);
  const traces = rated<SpanServiceRow>(spans?.rows ?? [], asWhole ? lengthOf(query.window) : minutesOf(spans), limits, asWhole);
  const names = new Set([...(shares?.rows ?? []), ...(spans?.rows ?? [])].map(({ service }) => service));
  return [...names]
    .flatMap((service): Silence[] => {
      const [at, on] = [shares, spans].map((answer) => answer?.rows.findIndex((row) => row.service === service) ?? -1) as [
        number,
        number,
      ];
      const [line, trace] = [shares?.rows[at], spans?.rows[on]];
      const verdicts = [lines.verdictOf(line), traces.verdictOf(trace)] as const;
      if (verdicts.includes('speaks') || !verdicts.includes('silent')) return [];
      return [
        {
          service,
          lines: line !== undefined && verdicts[0] === 'silent' ? { index: at, row: line } : null,
          traces: trace !== undefined && verdicts[1] === 'silent' ? { index: on, row: trace } : null,
          expected: Math.max(line === undefined ? 0 : lines.expectedOf(line), trace === undefined ? 0 : traces.expectedOf(trace)),
        },
      ];
    })
    .sort((a, b) => b.expected - a.expected || (a.service < b.service ? -1 : 1));
}

/** The silent services that were steady before: the same rate in both halves of the baseline. One that comes and goes is none. */
export async function steadySilences(seen: Seen, look: TelemetryLook, asWhole = false): Promise<Silence[]> {
  const steady: Silence[] = [];
  for (const silence of silentServices(seen, asWhole).slice(0, MOST_CHECKED)) {
    const rows = await halvesRows(silence, seen, look);
    const isSteady = rows.every(({ row }) => {
      const [before, after] = [row.baseline_rate_per_min ?? 0, row.rate_per_min];
      return Math.min(before, after) >= Math.max(before, after) * seen.thresholds.silence.steady;
    });
    if (rows.length > 0 && isSteady) steady.push(silence);
  }
  return steady;
}

interface HalvesRow {
  readonly answer: Answer<Rated>;
  readonly index: number;
  readonly row: Rated;
}

/** Rates of a service in the halves of the baseline; the recorder answers the same question from its record. */
async function halvesRows({ service, lines, traces }: Silence, { query }: Seen, look: TelemetryLook): Promise<HalvesRow[]> {
  if (query.baseline === null) return [];
  const { first, second } = halvesOf(query.baseline);
  const answers: (Answer<Rated> | null)[] = [
    lines === null ? null : await look.ask(ERROR_SHARE, errorShareQuestion(second, first, service)),
    traces === null ? null : await look.ask(SPAN_ANALYSIS, spansQuestion(second, first, service)),
  ];
  return answers.flatMap((answer) => {
    const index = answer?.rows.findIndex((row) => row.service === service) ?? -1;
    const row = answer?.rows[index];
    return answer === null || row === undefined ? [] : [{ answer, index, row }];
  });
}

/** That the rate of lines and of traces fell. */
export function silenceClaims(role: ClaimRole, { lines, traces }: Silence, seen: Seen, writer: EvidenceWriter): string[] {
  return [
    lines === null || seen.shares === null ? null : writer.moved(role, seen.shares, lines.index, RATES),
    traces === null || seen.spans === null ? null : writer.moved(role, seen.spans, traces.index, RATES),
  ].filter((id) => id !== null);
}

/** The disproof of a silence: the rates in the halves of the baseline, which stay near each other for a steady service. */
export async function silenceControl(
  silence: Silence,
  seen: Seen,
  look: TelemetryLook,
  writer: EvidenceWriter,
): Promise<string[]> {
  const rows = await halvesRows(silence, seen, look);
  return rows.flatMap(({ answer, index }) => writer.withinNormal('control', answer, index, RATES) ?? []);
}
