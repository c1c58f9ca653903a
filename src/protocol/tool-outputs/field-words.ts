import type { Unit } from '../../vocabulary/evidence-terms';

type Words = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Words for the measures of the built-in tools, by tool and field. `kind` picks among several where a row has one. */
const MEASURES: Readonly<Record<string, Words>> = {
  log_sequences: {
    share: {
      cut: 'share of flows that end or fail right after this step',
      missing: 'share of flows in which it is no longer called after this step',
      error_line: 'share of flows with this error line',
      reroute: 'share of flows that go on differently after this step',
      '': 'share of flows that deviate at this step',
    },
    count: 'number of flows that deviate at this step',
    matched_count: 'number of steps with a changed succession',
  },
  log_patterns: {
    count: 'number of lines like this',
    share: 'share of lines like this among the lines of the service',
    rate_per_min: 'rate of lines like this',
    matched_count: 'number of matching lines',
  },
  error_share: {
    error_share: 'share of error lines',
    error_lines: 'number of error lines',
    lines: 'number of lines',
    rate_per_min: 'rate of lines',
    matched_count: 'number of error lines',
  },
  metric_anomalies: {
    median: {
      error: 'median error metric where it departs most',
      availability: 'median availability where it departs most',
      latency: 'median latency where it departs most',
      traffic: 'median load where it departs most',
      saturation: 'median use of a resource where it departs most',
      '': 'median value where it departs most',
    },
    matched_count: 'number of metric values',
  },
  span_analysis: {
    high_share: 'share of traces with a span far slower than usual',
    high_traces: 'number of traces with a span far slower than usual',
    traces: 'number of traces',
    self_ms: 'median time of a span in the service itself',
    unanswered_share: 'part of its own lost time in calls that no span answers',
    gap_ms: 'median time of a call that the called service does not account for',
    excess_ms: 'time above normal a trace',
    error_share: 'share of failed spans',
    rate_per_min: 'rate of traces',
    matched_count: 'number of spans',
  },
  service_graph: { count: 'number of calls', matched_count: 'number of calls' },
  changes: {
    minutes_before: 'time from the change to the start of the window',
    time: 'time of the change',
    matched_count: 'number of changes',
  },
};

/** Words for `log_sequences` over logs without trace ids: what it counts are places in the stream of an instance, no flows. */
const PLACES: Words = {
  share: {
    cut: 'share of places in the log stream that break off or fail right after this line',
    missing: 'share of places in the log stream at which it is no longer called after this line',
    error_line: 'share of places in the log stream with this error line',
    reroute: 'share of places in the log stream that go on differently after this line',
    '': 'share of places in the log stream that deviate at this line',
  },
  count: 'number of places in the log stream that deviate at this line',
};

/** Units of the measures of the built-in tools, where a value cannot be read without. */
const UNITS_OF: Readonly<Record<string, Unit>> = { share: 'ratio', error_share: 'ratio', rate_per_min: 'per_minute' };

/** Fields that are said in words of their own rather than quoted. */
const CONTEXT: Readonly<Record<string, (text: string) => string | null>> = {
  first_seen: (text) => `first at ${text}`,
  last_seen: (text) => `last at ${text}`,
  covered_from: (text) => `from ${text}`,
  covered_to: (text) => `to ${text}`,
  baseline_covered_from: (text) => `compared with the time from ${text}`,
  baseline_covered_to: (text) => `to ${text}`,
  time: (text) => `at ${text}`,
  unit: (text) => (/^[\p{L}%/]{1,12}$/u.test(text) ? `in ${text}` : null),
  baseline_iqr: (text) => `usual spread ${text}`,
};

/**
 * Words for a measure of a built-in tool, null for one that is not in the table. `baseline_` in front of a field is the same
 * measure. Without traces nothing is called a flow.
 */
export function measureWords(toolName: string, field: string, kind: string | null, hasTraces = true): string | null {
  const name = field.replace(/^baseline_/, '');
  const ofTool = Object.hasOwn(MEASURES, toolName) ? MEASURES[toolName] : undefined;
  const inPlaces = toolName === 'log_sequences' && !hasTraces && Object.hasOwn(PLACES, name);
  const table = inPlaces ? PLACES : ofTool;
  const words = table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
  if (words === undefined || typeof words === 'string') return words ?? null;
  return (kind !== null && Object.hasOwn(words, kind) ? words[kind] : words['']) ?? null;
}

/** The unit of a measure of a built-in tool; undefined for any other field. */
export function measureUnit(toolName: string, field: string): Unit | undefined {
  const name = field.replace(/^baseline_/, '');
  if (!Object.hasOwn(MEASURES, toolName) || !Object.hasOwn(MEASURES[toolName] ?? {}, name)) return undefined;
  return Object.hasOwn(UNITS_OF, name) ? UNITS_OF[name] : undefined;
}

/** Words for a field that stands behind a claim as context; null where its text is to be quoted. */
export function contextWords(toolName: string, field: string, text: string): string | null {
  if (!Object.hasOwn(MEASURES, toolName) || !Object.hasOwn(CONTEXT, field)) return null;
  return CONTEXT[field]?.(text) ?? null;
}
